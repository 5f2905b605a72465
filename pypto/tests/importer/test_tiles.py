"""Random tile programs: what a kernel computes equals what torch computes from the same text.

The text is run by the compiler and, with a stand-in for `pl` on torch tensors, by Python. Names hold whole
tiles, columns and rows; loops carry them, branches on a run-time scalar choose between them.
"""

from __future__ import annotations

import random
import types

import pytest
import torch

from pypto import ir
from pypto import language as pl

PROGRAM = """import pypto.language as pl


@pl.program
class Tiles:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        x: pl.Tensor[[{m}, {n}], pl.FP32],
        z: pl.Tensor[[{m}, {n}], pl.FP32],
        r: pl.Tensor[[1, {n}], pl.FP32],
        k: pl.Tensor[[1], pl.INT32],
        y: pl.Out[pl.Tensor[[{m}, {n}], pl.FP32]],
    ):
        with pl.at(level=pl.Level.CORE_GROUP):
{body}
        return y
"""
SHAPES = [(16, 32), (8, 64), (5, 40), (1, 24), (33, 16), (16, 100), (7, 7)]


class Writer:
    """Writes random statements; names start with their kind: t tile, c column, r row."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.m, self.n = self.random.choice(SHAPES)
        # Tiles that are larger than the tensor, of which only a part is valid.
        self.padded = self.random.random() < 0.4
        self.lines: list[str] = []
        self.names: dict[str, list[str]] = {"t": ["t0", "t1"], "c": ["c0"], "r": ["r0"]}

    def write(self) -> str:
        m, n = self.m, self.n
        if self.padded:
            rows, cols = (m + 7) // 8 * 8, (n + 15) // 16 * 16
            window = f"[{rows}, {cols}], [0, 0], valid_shape=[{m}, {n}]"
            self.line(0, f"t0 = pl.slice(x, {window})")
            self.line(0, f"t1 = pl.slice(z, {window})")
            self.line(0, f"r0 = pl.slice(r, [1, {cols}], [0, 0], valid_shape=[1, {n}])")
        else:
            self.line(0, f"t0 = x[0:{m}, 0:{n}]")
            self.line(0, f"t1 = z[0:{m}, 0:{n}]")
            self.line(0, f"r0 = r[0:1, 0:{n}]")
        self.line(0, "c0 = pl.row_max(t0)")
        self.line(0, "s = pl.read(k, [0])")
        self.block(0, 8, 0)
        last = f"pl.add({self.any('t')}, pl.mul({self.any('t')}, 0.5))"
        if self.padded:
            self.line(0, f"y = pl.assemble(y, {last}, [0, 0])")
        else:
            self.line(0, f"y[0:{m}, 0:{n}] = {last}")
        if m > 1 and not self.padded:
            half = m // 2
            window = f"y[0:{half}, 0:{n}]"
            self.line(0, f"{window} = pl.sub(x[{half}:{2 * half}, 0:{n}], {window})")
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("            " + "    " * depth + text)

    def any(self, kind: str) -> str:
        return self.random.choice(self.names[kind])

    def tile(self) -> str:
        a, b, c, r = self.any("t"), self.any("t"), self.any("c"), self.any("r")
        s = self.random.choice(["0.5", "-1.25", "0.75"])
        return self.random.choice(
            [
                f"pl.add({a}, {b})",
                f"pl.sub({a}, {b})",
                f"pl.mul(pl.minimum({a}, 2.0), {s})",
                f"pl.maximum({a}, {b})",
                f"pl.minimum({a}, {s})",
                f"pl.neg({a})",
                f"pl.abs({a})",
                f"pl.exp(pl.minimum({a}, 1.0))",
                f"pl.sqrt(pl.abs({a}))",
                f"pl.recip(pl.add(pl.abs({a}), 1.0))",
                f"pl.row_expand_add({a}, {c})",
                f"pl.row_expand_sub({a}, {c})",
                f"pl.row_expand_mul({a}, pl.minimum({c}, 1.5))",
                f"pl.col_expand_add({a}, {r})",
                f"pl.col_expand_mul({a}, pl.minimum({r}, 1.5))",
                f"pl.col_expand_max({a}, {r})",
                f"pl.mul(pl.cmp({a}, {b}, cmp_type=5), {a})",
                f"{a} * {s} + {b}",
                f"{s} - {a}",
            ]
        )

    def column(self) -> str:
        a, c, d = self.any("t"), self.any("c"), self.any("c")
        return self.random.choice(
            [
                f"pl.row_max({a})",
                f"pl.mul(pl.row_sum({a}), {1.0 / self.n})",
                f"pl.row_min({a})",
                f"pl.add({c}, {d})",
                f"pl.maximum({c}, {d})",
                f"pl.mul({c}, 0.5)",
            ]
        )

    def row(self) -> str:
        a, r, q = self.any("t"), self.any("r"), self.any("r")
        return self.random.choice(
            [
                f"pl.col_max({a})",
                f"pl.mul(pl.col_sum({a}), {1.0 / self.m})",
                f"pl.col_min({a})",
                f"pl.sub({r}, {q})",
                f"pl.minimum({r}, {q})",
            ]
        )

    def block(self, depth: int, size: int, loops: int) -> None:
        for _ in range(self.random.randint(1, size)):
            kind = self.random.randint(0, 9)
            if kind >= 8 and depth < 3:
                self.nest(depth, loops)
                continue
            what = self.random.choice("tttcr")
            value = {"t": self.tile, "c": self.column, "r": self.row}[what]()
            fresh = self.random.random() < 0.4 and depth == 0
            name = f"{what}{len(self.names[what])}" if fresh else self.any(what)
            self.line(depth, f"{name} = {value}")
            if fresh:
                self.names[what].append(name)

    def nest(self, depth: int, loops: int) -> None:
        if self.random.random() < 0.5 and loops < 2:
            self.line(depth, f"for i{depth} in pl.range({self.random.randint(1, 3)}):")
            self.block(depth + 1, 4, loops + 1)
            return
        self.line(depth, f"if s > {self.random.randint(-1, 2)}:")
        self.block(depth + 1, 3, loops)
        if self.random.random() < 0.6:
            self.line(depth, "else:")
            self.block(depth + 1, 3, loops)


def by_torch(body: str, x, z, r, k):
    """Runs the text as Python on torch tensors."""
    y = torch.zeros_like(x)
    keep = {"keepdim": True}
    shim = types.SimpleNamespace(
        add=lambda a, b: a + b,
        sub=lambda a, b: a - b,
        mul=lambda a, b: a * b,
        maximum=lambda a, b: torch.maximum(a, torch.as_tensor(b, dtype=a.dtype)),
        minimum=lambda a, b: torch.minimum(a, torch.as_tensor(b, dtype=a.dtype)),
        neg=torch.neg,
        abs=torch.abs,
        exp=torch.exp,
        sqrt=torch.sqrt,
        recip=torch.reciprocal,
        row_expand_add=lambda a, c: a + c,
        row_expand_sub=lambda a, c: a - c,
        row_expand_mul=lambda a, c: a * c,
        col_expand_add=lambda a, c: a + c,
        col_expand_mul=lambda a, c: a * c,
        col_expand_max=torch.maximum,
        cmp=lambda a, b, cmp_type: (a >= b).to(a.dtype),
        row_max=lambda a: a.amax(1, **keep),
        row_min=lambda a: a.amin(1, **keep),
        row_sum=lambda a: a.sum(1, **keep),
        col_max=lambda a: a.amax(0, **keep),
        col_min=lambda a: a.amin(0, **keep),
        col_sum=lambda a: a.sum(0, **keep),
        read=lambda t, index: int(t[index[0]]),
        slice=lambda t, shape, offset, valid_shape: t,
        assemble=lambda t, value, offset: t.copy_(value),
        range=range,
    )
    lines = "\n".join(line[12:] for line in body.split("\n"))
    names = {"pl": shim, "x": x, "z": z, "r": r, "k": k, "y": y}
    exec(compile(lines, "body", "exec"), names)
    return y


@pytest.mark.parametrize("seed", range(60))
def test_kernel_computes_what_torch_computes(seed):
    writer = Writer(seed)
    body = writer.write()
    text = PROGRAM.format(m=writer.m, n=writer.n, body=body)
    program = ir.compile(pl.parse(text), dump_passes=False)
    for scalar in (0, 2):
        torch.manual_seed(seed)
        x, z = torch.randn(writer.m, writer.n), torch.randn(writer.m, writer.n)
        r = torch.randn(1, writer.n)
        k = torch.tensor([scalar], dtype=torch.int32)
        y = torch.empty_like(x)
        program(x, z, r, k, y)
        # Comparisons of nearly equal values may go either way, so both sides compute in FP32.
        want = by_torch(body, x.clone(), z.clone(), r.clone(), k)
        torch.testing.assert_close(y, want, rtol=1e-3, atol=1e-3, msg=lambda m: f"{m}\n{body}")
