"""`pl.MemRef` in annotations of tiles: accepted, checked, and without influence on results."""

import pypto.language as pl
import pytest
import torch

from pypto import errors, ir


def test_slots_in_turn(tmp_path):
    @pl.program
    class Slots:
        @pl.function(type=pl.FunctionType.InCore)
        def move(
            self,
            x: pl.Tensor[[64, 32], pl.FP32],
            y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
        ) -> pl.Tensor[[64, 32], pl.FP32]:
            ring = pl.MemRef("ring", slots=2)
            whole = pl.MemRef()
            for i in pl.range(4):
                a: pl.Tile[[16, 32], pl.FP32, ring[i % 2], pl.MemorySpace.Vec] = pl.load(
                    x, [i * 16, 0], [16, 32]
                )
                b: pl.Tile[[16, 32], pl.FP32, pl.MemorySpace.Vec, whole] = pl.mul(a, 2.0)
                y = pl.store(b, [i * 16, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            x: pl.Tensor[[64, 32], pl.FP32],
            y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
        ) -> pl.Tensor[[64, 32], pl.FP32]:
            y = self.move(x, y)
            return y

    x, y = torch.randn(64, 32), torch.zeros(64, 32)
    ir.compile(Slots, output_dir=str(tmp_path / "slots"), dump_passes=False)(x, y)
    assert torch.equal(y, 2 * x)


HEAD = """import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore)
def kernel(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
"""


@pytest.mark.parametrize(
    ("body", "kind", "message", "line"),
    [
        (
            "    r = pl.MemRef()\n"
            "    t: pl.Tile[[16, 32], pl.FP32, r] = pl.load(x, [0, 0], [16, 32])\n",
            errors.ParserTypeError,
            "needs its memory space",
            7,
        ),
        (
            '    r = pl.MemRef("a")\n    s = pl.MemRef("a")\n',
            errors.ParserSyntaxError,
            "'a' already",
            7,
        ),
        ("    r = pl.MemRef()\n    s = r\n", errors.ParserSyntaxError, "one name", 7),
        ("    r = pl.MemRef(slots=0)\n", errors.ParserSyntaxError, "at least 1", 6),
        (
            "    r = pl.MemRef(slots=2)\n"
            "    t: pl.Tile[[16, 32], pl.FP32, r[2], pl.MemorySpace.Vec] = pl.load(x, [0, 0], [16, 32])\n",
            errors.InvalidOperationError,
            "slot 2 of a pl.MemRef with 2",
            7,
        ),
    ],
)
def test_wrong_memrefs(body, kind, message, line, tmp_path):
    source = tmp_path / "wrong.py"
    source.write_text(HEAD + body + "    y[:] = x\n    return y\n")
    with pytest.raises(kind, match=message) as raised:
        exec(compile(source.read_text(), str(source), "exec"), {"__name__": "wrong"})
    assert raised.value.span.begin_line == line
