"""Tiles that are loaded to vec and multiplied: A2/A3 has no way from vec to mat, so what products read is
loaded to mat, and what vector instructions read too is loaded twice."""

import re

import pypto.language as pl
import pytest
import torch
from pypto.enums import MemoryPlanner
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime import run_pto

CORE = pl.Level.CORE_GROUP
BF, F32 = pl.BF16, pl.FP32
Mem = pl.MemorySpace


@pl.jit
def plain(
    a: pl.Tensor[[32, 64], F32], b: pl.Tensor[[64, 32], F32], y: pl.Out[pl.Tensor[[32, 32], F32]]
):
    with pl.at(level=CORE):
        t = pl.load(a, [0, 0], [32, 64])
        y = pl.store(pl.matmul(t, pl.load(b, [0, 0], [64, 32])), [0, 0], y)
    return y


@pl.jit
def moved(
    a: pl.Tensor[[32, 64], F32], b: pl.Tensor[[64, 32], F32], y: pl.Out[pl.Tensor[[32, 32], F32]]
):
    with pl.at(level=CORE):
        s = pl.move(pl.load(a, [0, 0], [32, 64]), target_memory=Mem.Mat)
        t = pl.move(pl.load(b, [0, 0], [64, 32]), target_memory=pl.MemorySpace.Mat)
        y = pl.store(pl.matmul(s, t), [0, 0], y)
    return y


@pl.jit
def windows(
    a: pl.Tensor[[32, 64], F32], b: pl.Tensor[[64, 32], F32], y: pl.Out[pl.Tensor[[32, 32], F32]]
):
    with pl.at(level=CORE):
        s = pl.load(a, [0, 0], [32, 64])
        t = pl.load(b, [0, 0], [64, 32])
        acc = pl.matmul(pl.slice(s, [32, 32], [0, 0]), pl.slice(t, [32, 32], [0, 0]))
        acc = pl.matmul_acc(acc, pl.slice(s, [32, 32], [0, 32]), pl.slice(t, [32, 32], [32, 0]))
        y = pl.store(acc, [0, 0], y)
    return y


@pl.jit
def partly_valid(
    a: pl.Tensor[[32, 64], F32], b: pl.Tensor[[64, 32], F32], y: pl.Out[pl.Tensor[[32, 32], F32]]
):
    with pl.at(level=CORE):
        s = pl.load(a, [0, 0], [32, 64], valid_shape=[32, 48])
        t = pl.set_validshape(pl.load(b, [0, 0], [64, 32]), 48, 32)
        y = pl.store(pl.matmul(s, t), [0, 0], y)
    return y


@pl.jit
def carried(
    a: pl.Tensor[[32, 256], F32],
    b: pl.Tensor[[256, 32], F32],
    y: pl.Out[pl.Tensor[[32, 32], F32]],
):
    with pl.at(level=CORE):
        s = pl.load(a, [0, 0], [32, 64])
        t = pl.load(b, [0, 0], [64, 32])
        acc = pl.matmul(s, t)
        s = pl.load(a, [0, 64], [32, 64])
        t = pl.load(b, [64, 0], [64, 32])
        for k in pl.range(1, 4):
            acc = pl.matmul_acc(acc, s, t)
            if k < 3:
                s = pl.load(a, [0, (k + 1) * 64], [32, 64])
                t = pl.load(b, [(k + 1) * 64, 0], [64, 32])
        y = pl.store(acc, [0, 0], y)
    return y


@pl.jit
def with_bias(
    a: pl.Tensor[[32, 64], BF],
    b: pl.Tensor[[64, 32], BF],
    c: pl.Tensor[[1, 32], F32],
    y: pl.Out[pl.Tensor[[32, 32], F32]],
):
    with pl.at(level=CORE):
        s = pl.load(a, [0, 0], [32, 64])
        t = pl.load(b, [0, 0], [64, 32])
        y = pl.store(pl.matmul_bias(s, t, pl.load(c, [0, 0], [1, 32])), [0, 0], y)
    return y


@pl.jit
def read_by_both(
    a: pl.Tensor[[32, 64], F32],
    b: pl.Tensor[[64, 32], F32],
    y: pl.Out[pl.Tensor[[32, 32], F32]],
    z: pl.Out[pl.Tensor[[32, 64], F32]],
):
    with pl.at(level=CORE):
        s = pl.load(a, [0, 0], [32, 64])
        part = pl.slice(s, [32, 32], [0, 32])
        y = pl.store(pl.matmul(part, pl.load(b, [32, 0], [32, 32])), [0, 0], y)
        z = pl.store(pl.mul(s, 2.0), [0, 0], z)
    return y, z


def half(a, b, *_):
    return (a[:, 32:] @ b[32:], 2 * a)


def numbers(*shapes, dtype=torch.float32):
    return tuple(torch.randn(shape).to(dtype) for shape in shapes)


TWO = lambda: numbers((32, 64), (64, 32))  # noqa: E731
CASES = [  # program, operands, results, loads to vec in the text
    (plain, TWO, lambda a, b: (a @ b,), 0),
    (moved, TWO, lambda a, b: (a @ b,), 0),
    (windows, TWO, lambda a, b: (a @ b,), 0),
    (partly_valid, TWO, lambda a, b: (a[:, :48] @ b[:48],), 0),
    (carried, lambda: numbers((32, 256), (256, 32)), lambda a, b: (a @ b,), 0),
    (
        with_bias,
        lambda: (*numbers((32, 64), (64, 32), dtype=torch.bfloat16), torch.randn(1, 32)),
        lambda a, b, c: (a.float() @ b.float() + c,),
        0,
    ),
    (read_by_both, TWO, half, 1),
]


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize(
    ("program", "inputs", "reference", "vec"), CASES, ids=lambda c: getattr(c, "__name__", None)
)
def test_products_read_mat(program, inputs, reference, vec, platform, tmp_path):
    torch.manual_seed(3)
    operands = inputs()
    wanted = reference(*operands)
    args = (*operands, *(torch.zeros_like(w) for w in wanted))
    _compile_artifact(
        program,
        *args,
        contract=ArtifactExecutionMode.PROGRAM,
        platform=platform,
        output_dir=tmp_path,
        memory_planner=MemoryPlanner.PYPTO,
    )
    assert not (tmp_path / "report/codegen_errors.txt").exists()
    (file,) = (tmp_path / "ptoas").glob("*.pto")
    text = file.read_text()
    if program is not carried or platform == "a2a3sim":  # A5 carries in vec, and moves from there
        assert len(re.findall(r"tload ins\(.*outs\(.*<vec,|tload ins\(.*loc=vec", text)) == vec
        assert not re.findall(r"tmov ins\([^)]*(?:<|loc=)vec\b", text)
    for run in (lambda: run_pto(text, *args), lambda: program(*args)):
        for result, want in zip(args[len(operands) :], wanted, strict=True):
            result.zero_()
        run()
        for result, want in zip(args[len(operands) :], wanted, strict=True):
            torch.testing.assert_close(result, want, rtol=1e-4, atol=1e-4)
