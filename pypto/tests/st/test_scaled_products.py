"""Products of block-scaled floats (matmul_mx) against NumPy; a5 only."""

import numpy as np
import pypto.language as pl
import pytest
import torch
from pypto.enums import MemoryPlanner
from pypto.errors import InvalidOperationError, ParserTypeError
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime import run_pto
from pypto.runtime.config import RunConfig

CORE = pl.Level.CORE_GROUP
F8, F52, E8, F32 = pl.FP8E4M3FN, pl.FP8E5M2, pl.FP8E8M0, pl.FP32
Mem = pl.MemorySpace
A5 = RunConfig(platform="a5sim")


@pl.jit
def in_steps(
    a: pl.Tensor[[32, 256], F8],
    sa: pl.Tensor[[32, 8], E8, pl.MX_A_ZZ],
    b: pl.Tensor[[256, 96], F8],
    sb: pl.Tensor[[8, 96], E8, pl.MX_B_NN],
    y: pl.Out[pl.Tensor[[32, 96], F32]],
):
    with pl.at(level=CORE):
        x = pl.load(a, [0, 0], [32, 64], target_memory=Mem.Mat)
        sx = pl.load(sa, [0, 0], [32, 2], target_memory=Mem.Mat)
        w = pl.load(b, [0, 0], [64, 96], target_memory=Mem.Mat)
        sw = pl.load(sb, [0, 0], [2, 96], target_memory=Mem.Mat)
        acc = pl.matmul_mx(x, sx, w, sw)
        for k in pl.range(64, 256, 64):
            x = pl.load(a, [0, k], [32, 64], target_memory=Mem.Mat)
            w = pl.load(b, [k, 0], [64, 96], target_memory=Mem.Mat)
            sx = pl.load(sa, [0, k // 32], [32, 2], target_memory=Mem.Mat)
            sw = pl.load(sb, [k // 32, 0], [2, 96], target_memory=Mem.Mat)
            acc = pl.matmul_mx_acc(acc, x, sx, w, sw)
        y = pl.store(acc, [0, 0], y)
    return y


@pl.jit
def with_bias(
    a: pl.Tensor[[16, 64], F52],
    sa: pl.Tensor[[16, 2], E8, pl.MX_A_ZZ],
    b: pl.Tensor[[64, 32], F8],
    sb: pl.Tensor[[2, 32], E8, pl.MX_B_NN],
    c: pl.Tensor[[1, 32], F32],
    y: pl.Out[pl.Tensor[[16, 32], F32]],
):
    with pl.at(level=CORE):
        x = pl.load(a, [0, 0], [16, 64])  # goes to mat, as products read it
        sx = pl.move(
            pl.load(sa, [0, 0], [16, 2], target_memory=Mem.Mat), target_memory=Mem.LeftScale
        )
        w = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=Mem.Mat), target_memory=Mem.Right)
        sw = pl.load(sb, [0, 0], [2, 32], target_memory=Mem.Mat)
        bias = pl.load(c, [0, 0], [1, 32])
        y = pl.store(pl.matmul_mx_bias(x, sx, w, sw, bias), [0, 0], y)
    return y


def blocks(scales: torch.Tensor) -> torch.Tensor:
    """Scales of an lhs as MX_A_ZZ has them in memory: boxes of 16 x 2, row by row."""
    rows, cols = scales.shape
    boxes = scales.view(torch.uint8).reshape(rows // 16, 16, cols // 2, 2).permute(0, 2, 1, 3)
    return boxes.reshape(rows, cols).contiguous().view(torch.float8_e8m0fnu)


def operands(m: int, k: int, n: int, left=torch.float8_e4m3fn):
    """Data, scales as the memory has them, and what they stand for."""
    a, b = (torch.randn(m, k) * 2).to(left), (torch.randn(k, n) * 2).to(torch.float8_e4m3fn)
    sa, sb = (
        torch.randint(120, 134, shape, dtype=torch.uint8).view(torch.float8_e8m0fnu)
        for shape in [(m, k // 32), (n, k // 32)]
    )
    wide = [
        data.to(torch.float64).numpy()
        * np.exp2(scale.view(torch.uint8).double().numpy() - 127).repeat(32, axis=1)
        for data, scale in [(a, sa), (b.to(torch.float32).T, sb)]
    ]
    # MX_B_NN is MX_A_ZZ of the transposed matrix.
    return (a, blocks(sa), b, blocks(sb).reshape(k // 32, n)), wide[0] @ wide[1].T


def text_of(program, args, folder):
    _compile_artifact(
        program,
        *args,
        contract=ArtifactExecutionMode.PROGRAM,
        platform="a5sim",
        output_dir=folder,
        memory_planner=MemoryPlanner.PTOAS,
    )
    problems = folder / "report/codegen_errors.txt"
    assert not problems.exists(), problems.read_text()
    (file,) = (folder / "ptoas").glob("*.pto")
    assert "TMATMUL_MX" in file.with_suffix(".cpp").read_text()
    return file.read_text()


def check(program, args, want, folder):
    y = args[-1]
    program(*args, config=A5)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, atol=1e-6 * np.abs(want).max())
    y.zero_()
    run_pto(text_of(program, args, folder), *args)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, atol=1e-6 * np.abs(want).max())


def test_accumulated_in_steps(tmp_path):
    torch.manual_seed(0)
    given, want = operands(32, 256, 96)
    check(in_steps, (*given, torch.zeros(32, 96)), want, tmp_path)


def test_with_bias_and_explicit_moves(tmp_path):
    torch.manual_seed(1)
    given, want = operands(16, 64, 32, left=torch.float8_e5m2)
    bias = torch.randn(1, 32)
    check(with_bias, (*given, bias, torch.zeros(16, 32)), want + bias.numpy(), tmp_path)


def test_a2a3_has_no_such_product():
    given, _ = operands(16, 64, 32, left=torch.float8_e5m2)
    with pytest.raises(InvalidOperationError, match="matmul_mx_bias needs platform a5") as e:
        with_bias(*given, torch.zeros(1, 32), torch.zeros(16, 32))
    assert e.value.span["begin_line"] == 61


@pl.jit
def plain_scales(
    a: pl.Tensor[[16, 64], F8],
    sa: pl.Tensor[[16, 2], E8],
    y: pl.Out[pl.Tensor[[16, 64], F8]],
):
    with pl.at(level=CORE):
        s = pl.load(sa, [0, 0], [16, 2], target_memory=Mem.Mat)
        y = pl.store(pl.load(a, [0, 0], [16, 64]), [0, 0], y)
        y = pl.store(s, [0, 0], y)
    return y


@pl.jit
def scales_in_vec(
    sa: pl.Tensor[[16, 2], E8, pl.MX_A_ZZ],
    y: pl.Out[pl.Tensor[[16, 2], E8]],
):
    with pl.at(level=CORE):
        y = pl.store(pl.load(sa, [0, 0], [16, 2]), [0, 0], y)
    return y


@pl.jit
def wrong_scales(
    a: pl.Tensor[[16, 64], F8],
    sa: pl.Tensor[[16, 4], E8, pl.MX_A_ZZ],
    b: pl.Tensor[[64, 32], F8],
    y: pl.Out[pl.Tensor[[16, 32], F32]],
):
    with pl.at(level=CORE):
        x = pl.load(a, [0, 0], [16, 64], target_memory=Mem.Mat)
        w = pl.load(b, [0, 0], [64, 32], target_memory=Mem.Mat)
        s = pl.load(sa, [0, 0], [16, 4], target_memory=Mem.Mat)
        y = pl.store(pl.matmul_mx(x, s, w, s), [0, 0], y)
    return y


@pl.jit
def no_floats_of_8(
    a: pl.Tensor[[16, 64], pl.BF16],
    sa: pl.Tensor[[16, 2], E8, pl.MX_A_ZZ],
    b: pl.Tensor[[64, 32], F8],
    y: pl.Out[pl.Tensor[[16, 32], F32]],
):
    with pl.at(level=CORE):
        x = pl.load(a, [0, 0], [16, 64], target_memory=Mem.Mat)
        w = pl.load(b, [0, 0], [64, 32], target_memory=Mem.Mat)
        s = pl.load(sa, [0, 0], [16, 2], target_memory=Mem.Mat)
        y = pl.store(pl.matmul_mx(x, s, w, s), [0, 0], y)
    return y


@pl.jit
def odd_window(
    sa: pl.Tensor[[32, 4], E8, pl.MX_A_ZZ],
    a: pl.Tensor[[32, 64], F8],
    b: pl.Tensor[[64, 32], F8],
    sb: pl.Tensor[[2, 32], E8, pl.MX_B_NN],
    y: pl.Out[pl.Tensor[[16, 32], F32]],
):
    with pl.at(level=CORE):
        x = pl.load(a, [8, 0], [16, 64], target_memory=Mem.Mat)
        w = pl.load(b, [0, 0], [64, 32], target_memory=Mem.Mat)
        s = pl.load(sa, [8, 0], [16, 2], target_memory=Mem.Mat)
        t = pl.load(sb, [0, 0], [2, 32], target_memory=Mem.Mat)
        y = pl.store(pl.matmul_mx(x, s, w, t), [0, 0], y)
    return y


M = pl.dynamic("M")


@pl.jit
def open_extents(
    a: pl.Tensor[[M, 64], F8],
    sa: pl.Tensor[[M, 2], E8, pl.MX_A_ZZ],
    b: pl.Tensor[[64, 32], F8],
    sb: pl.Tensor[[2, 32], E8, pl.MX_B_NN],
    y: pl.Out[pl.Tensor[[M, 32], F32]],
):
    with pl.at(level=CORE):
        y = pl.store(pl.matmul_mx(a, sa, b, sb), [0, 0], y)
    return y


def floats(kind):
    return lambda *shape: torch.zeros(shape).to(kind)


F8T, E8T = floats(torch.float8_e4m3fn), floats(torch.float8_e8m0fnu)
ERRORS = [
    (
        plain_scales,
        lambda: (F8T(16, 64), E8T(16, 2), F8T(16, 64)),
        InvalidOperationError,
        "a tensor of scales says how they lie",
    ),
    (
        scales_in_vec,
        lambda: (E8T(16, 2), E8T(16, 2)),
        InvalidOperationError,
        "scales are loaded to Mat",
    ),
    (
        wrong_scales,
        lambda: (F8T(16, 64), E8T(16, 4), F8T(64, 32), torch.zeros(16, 32)),
        InvalidOperationError,
        r"'lhs_scale' is \[16, 4\], it must be \[16, 2\]",
    ),
    (
        no_floats_of_8,
        lambda: (torch.zeros(16, 64).bfloat16(), E8T(16, 2), F8T(64, 32), torch.zeros(16, 32)),
        ParserTypeError,
        "'lhs' is a matrix of FP8E4M3FN or FP8E5M2",
    ),
    (
        odd_window,
        lambda: (E8T(32, 4), F8T(32, 64), F8T(64, 32), E8T(2, 32), torch.zeros(16, 32)),
        InvalidOperationError,
        "a window of an MX_A_ZZ tensor starts at a row that is not known to be a multiple of 16",
    ),
    (
        open_extents,
        lambda: (F8T(16, 64), E8T(16, 2), F8T(64, 32), E8T(2, 32), torch.zeros(16, 32)),
        InvalidOperationError,
        r"'lhs' is \[.*, 64\], its extents must be known",
    ),
]


@pytest.mark.parametrize(("program", "args", "error", "message"), ERRORS)
def test_what_is_refused(program, args, error, message):
    with pytest.raises(error, match=message):
        program(*args(), config=A5)
