"""Kernels as `.pto` text: what the assembler takes, and the same values as the program itself."""

import pypto.language as pl
import pytest
import torch
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime import run_pto

CORE = pl.Level.CORE_GROUP
BF, F32, I32 = pl.BF16, pl.FP32, pl.INT32


@pl.jit
def narrow_and_wide(
    x: pl.Tensor[[16, 40], BF], y: pl.Out[pl.Tensor[[16, 40], BF]]
):  # 80 bytes a row as BF16, 160 as FP32
    with pl.at(level=CORE):
        t = pl.cast(x[0:16, 0:40], F32)
        y[0:16, 0:40] = pl.cast(pl.mul(t, -0.5), BF, mode="rint")
    return y


@pl.jit
def picked(
    x: pl.Tensor[[16, 64], F32],
    index: pl.Tensor[[16, 8], I32],
    y: pl.Out[pl.Tensor[[16, 8], F32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:8] = pl.gather(x[0:16, 0:64], -1, index[0:16, 0:8])
    return y


@pl.jit
def odd_steps(
    a: pl.Tensor[[20, 100], F32], b: pl.Tensor[[100, 28], F32], y: pl.Out[pl.Tensor[[20, 28], F32]]
):
    with pl.at(level=CORE):
        acc = pl.matmul(a[0:20, 0:50], b[0:50, 0:28])
        y[0:20, 0:28] = pl.matmul_acc(acc, a[0:20, 50:100], b[50:100, 0:28])
    return y


@pl.jit
def one_row(
    a: pl.Tensor[[1, 16], BF], b: pl.Tensor[[16, 5], BF], y: pl.Out[pl.Tensor[[1, 5], F32]]
):
    with pl.at(level=CORE):
        y[0:1, 0:5] = pl.matmul(a[0:1, 0:16], b[0:16, 0:5], out_dtype=F32)
    return y


@pl.jit
def short_columns(x: pl.Tensor[[3, 9], F32], y: pl.Out[pl.Tensor[[3, 9], F32]]):
    with pl.at(level=CORE):
        t = x[0:3, 0:9]
        y[0:3, 0:9] = pl.col_expand_sub(pl.row_expand_div(t, pl.row_max(t)), pl.col_sum(t))
    return y


@pl.jit
def other_rows(x: pl.Tensor[[7, 5], F32], y: pl.Out[pl.Tensor[[5, 7], F32]]):
    with pl.at(level=CORE):
        y[0:5, 0:7] = pl.reshape(pl.mul(x[0:7, 0:5], 2.0), [5, 7])
    return y


@pl.jit
def wide_bits(
    x: pl.Tensor[[16, 40], I32],
    z: pl.Tensor[[16, 40], I32],
    y: pl.Out[pl.Tensor[[16, 40], I32]],
):  # A2/A3 has and, or, xor on 16 bits
    with pl.at(level=CORE):
        a, b = x[0:16, 0:40], z[0:16, 0:40]
        t = pl.xor(pl.or_(a, pl.ands(b, 65535)), pl.and_(a, b))
        left = pl.slice(t, [16, 24], [0, 8])
        y[0:16, 0:40] = pl.ors(t, 1 << 30)
        y[0:16, 0:24] = pl.xors(left, -5)
    return y


@pl.jit
def column_bits(x: pl.Tensor[[24, 1], I32], y: pl.Out[pl.Tensor[[24, 1], I32]]):
    with pl.at(level=CORE):
        t = pl.load(x, [0, 0], [24, 1], valid_shape=[19, 1])
        y = pl.store(pl.ands(t, 255), [0, 0], y)
    return y


@pl.jit
def larger_of(
    x: pl.Tensor[[16, 64], F32],
    z: pl.Tensor[[16, 64], F32],
    y: pl.Out[pl.Tensor[[16, 64], F32]],
):  # A5 compares into a mask of the operands' shape
    with pl.at(level=CORE):
        a, b = pl.load(x, [0, 0], [16, 64]), pl.load(z, [0, 0], [16, 64])
        tmp = pl.create_tile([1, 32], dtype=pl.UINT8)
        y = pl.store(pl.sel(pl.cmp(a, b, cmp_type="gt"), a, b, tmp), [0, 0], y)
    return y


@pl.jit
def rows_replaced(
    x: pl.Tensor[[32, 64], F32],
    index: pl.Tensor[[2, 4], I32],
    rows: pl.Tensor[[8, 64], F32],
    y: pl.Out[pl.Tensor[[32, 64], F32]],
):  # the index has rows of 16 bytes, of which single elements are read
    with pl.at(level=CORE):
        y[0:32, 0:64] = pl.scatter_update(x[0:32, 0:64], -2, index[0:2, 0:4], rows[0:8, 0:64])
    return y


@pl.jit
def elements(x: pl.Tensor[[3, 5], F32], y: pl.Out[pl.Tensor[[3, 5], F32]]):
    with pl.at(level=CORE):
        t = pl.load(x, [0, 0], [3, 5])
        u = pl.neg(t)
        for i in pl.range(3):
            u = pl.write(u, [i, 4 - i], pl.read(t, [2 - i, i]) * 2.0)
        y = pl.store(u, [0, 0], y)
    return y


@pl.jit
def some_columns(
    n: pl.Tensor[[1], I32], x: pl.Tensor[[16, 48], F32], y: pl.Out[pl.Tensor[[16, 48], F32]]
):
    with pl.at(level=CORE):  # how many rows of a column are valid is known at run time
        rows = pl.cast(pl.read(n, [0]), pl.INDEX)
        t = pl.slice(x, [16, 48], [0, 0], valid_shape=[rows, 48])
        y[0:16, 0:48] = pl.row_expand_mul(t, pl.recip(pl.row_sum(t)))
    return y


@pl.jit
def odd_masks(x: pl.Tensor[[8, 40], F32], y: pl.Out[pl.Tensor[[8, 40], F32]]):
    with pl.at(level=CORE):  # a mask on A5 has rows of bytes, 40 of them
        y[0:8, 0:40] = pl.cmp(x[0:8, 0:40], 0.5, cmp_type=4)
    return y


@pl.jit
def merged(x: pl.Tensor[[1, 256], F32], y: pl.Out[pl.Tensor[[1, 256], F32]]):
    with pl.at(level=CORE):
        order = pl.arange(0, [1, 128], dtype=pl.UINT32)
        a = pl.mrgsort(pl.sort32(x[0:1, 0:128], order), block_len=64)
        b = pl.mrgsort(pl.sort32(x[0:1, 128:256], order), block_len=64)
        y[0:1, 0:256] = pl.gather(pl.mrgsort(a, b), mask_pattern=1)
    return y


@pl.jit
def counted(x: pl.Tensor[[8, 64], F32], y: pl.Out[pl.Tensor[[1, 8], I32]]):
    with pl.at(level=CORE):
        _, found = pl.gather(x[0:8, 0:64], kvalue=0.25, cmp_mode="gt", out_cols=64)
        y[0:1, 0:8] = found
    return y


@pl.jit
def both_turned(
    a: pl.Tensor[[40, 20], pl.FP16],
    b: pl.Tensor[[24, 40], pl.FP16],
    y: pl.Out[pl.Tensor[[20, 24], F32]],
):
    with pl.at(level=CORE):
        y[0:20, 0:24] = pl.matmul(a, b, a_trans=True, b_trans=True, out_dtype=F32)
    return y


@pl.jit
def computed_factor(
    a: pl.Tensor[[20, 40], F32], b: pl.Tensor[[24, 40], F32], y: pl.Out[pl.Tensor[[20, 24], F32]]
):
    with pl.at(level=CORE):
        y[0:20, 0:24] = pl.matmul(a[0:20, 0:40], pl.mul(b[0:24, 0:40], 2.0), b_trans=True)
    return y


@pl.jit
def rows_joined(x: pl.Tensor[[6, 20], F32], y: pl.Out[pl.Tensor[[12, 20], F32]]):
    with pl.at(level=CORE):  # whole rows of 80 bytes
        t = pl.create_tensor([12, 20], dtype=F32)
        t[0:6, :] = pl.mul(x[0:6, 0:20], 2.0)
        t[6:12, :] = pl.mul(x[0:6, 0:20], 3.0)
        y[0:12, 0:20] = t
    return y


def replaced(x, y):
    y = -x
    for i in range(3):
        y[i, 4 - i] = x[2 - i, i] * 2
    return y


def bits(x, z, y):
    t = (x | z & 65535) ^ (x & z)
    out = t | 1 << 30
    out[:, :24] = t[:, 8:32] ^ -5
    return out


def integers(*shape):
    return torch.randint(-(2**31), 2**31, shape).int()


def bf16(*shape):
    return torch.randn(*shape).bfloat16()


CASES = [
    (
        narrow_and_wide,
        lambda: (bf16(16, 40), torch.zeros(16, 40).bfloat16()),
        lambda x, y: x * -0.5,
    ),
    (
        picked,
        lambda: (torch.randn(16, 64), torch.randint(64, (16, 8)).int(), torch.zeros(16, 8)),
        lambda x, i, y: x.gather(1, i.long()),
    ),
    (
        odd_steps,
        lambda: (torch.randn(20, 100), torch.randn(100, 28), torch.zeros(20, 28)),
        lambda a, b, y: a @ b,
    ),
    (
        one_row,
        lambda: (bf16(1, 16), bf16(16, 5), torch.zeros(1, 5)),
        lambda a, b, y: a.float() @ b.float(),
    ),
    (
        short_columns,
        lambda: (torch.rand(3, 9) + 0.1, torch.zeros(3, 9)),
        lambda x, y: x / x.amax(1, keepdim=True) - x.sum(0, keepdim=True),
    ),
    (wide_bits, lambda: (integers(16, 40), integers(16, 40), torch.zeros(16, 40).int()), bits),
    (
        rows_replaced,
        lambda: (
            torch.randn(32, 64),
            torch.randperm(32)[:8].int().view(2, 4),
            torch.randn(8, 64),
            torch.zeros(32, 64),
        ),
        lambda x, i, r, y: x.index_put((i.flatten().long(),), r),
    ),
    (elements, lambda: (torch.randn(3, 5), torch.zeros(3, 5)), replaced),
    (
        column_bits,
        lambda: (integers(24, 1), torch.zeros(24, 1).int()),
        lambda x, y: torch.cat([x[:19] & 255, torch.zeros(5, 1).int()]),
    ),
    (
        some_columns,
        lambda: (torch.tensor([11]).int(), torch.rand(16, 48) + 1, torch.zeros(16, 48)),
        lambda n, x, y: torch.cat([x[:11] / x[:11].sum(1, keepdim=True), torch.zeros(5, 48)]),
    ),
    (odd_masks, lambda: (torch.randn(8, 40), torch.zeros(8, 40)), lambda x, y: (x > 0.5).float()),
    (
        merged,
        lambda: (torch.randn(1, 256), torch.zeros(1, 256)),
        lambda x, y: x.sort(descending=True)[0],
    ),
    (
        counted,
        lambda: (torch.randn(8, 64), torch.zeros(1, 8, dtype=torch.int32)),
        lambda x, y: (x > 0.25).sum(1).int().reshape(1, 8),
    ),
    (
        both_turned,
        lambda: (torch.randn(40, 20).half(), torch.randn(24, 40).half(), torch.zeros(20, 24)),
        lambda a, b, y: a.float().t() @ b.float().t(),
    ),
    (
        computed_factor,
        lambda: (torch.randn(20, 40), torch.randn(24, 40), torch.zeros(20, 24)),
        lambda a, b, y: a @ (2 * b).t(),
    ),
    (
        rows_joined,
        lambda: (torch.randn(6, 20), torch.zeros(12, 20)),
        lambda x, y: torch.cat([2 * x, 3 * x]),
    ),
    (
        larger_of,
        lambda: (torch.randn(16, 64), torch.randn(16, 64), torch.zeros(16, 64)),
        lambda x, z, y: torch.maximum(x, z),
    ),
]


def text_of(program, args, folder, platform="a2a3sim"):
    """Its only kernel's text, and what the assembler has against it."""
    _compile_artifact(
        program,
        *args,
        contract=ArtifactExecutionMode.PROGRAM,
        platform=platform,
        output_dir=str(folder),
    )
    problems = folder / "report/codegen_errors.txt"
    (text,) = (folder / "ptoas").glob("*.pto")
    return text.read_text(), problems.read_text() if problems.exists() else ""


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize(
    ("program", "inputs", "reference"), CASES, ids=lambda c: getattr(c, "__name__", None)
)
def test_the_text_computes_what_the_program_says(program, inputs, reference, platform, tmp_path):
    torch.manual_seed(2)
    args = inputs()
    wanted = reference(*args)
    text, problems = text_of(program, args, tmp_path, platform)
    assert not problems
    run_pto(text, *args)
    close = {"rtol": 1e-4, "atol": 1e-4} if wanted.is_floating_point() else {"rtol": 0, "atol": 0}
    torch.testing.assert_close(args[-1].double(), wanted.double(), **close)
    args[-1].zero_()
    program(*args)
    close = {"rtol": 1e-4, "atol": 1e-4} if wanted.is_floating_point() else {"rtol": 0, "atol": 0}
    torch.testing.assert_close(args[-1].double(), wanted.double(), **close)


def test_a_view_that_no_memory_has_is_said(tmp_path):
    """Rows of 20 bytes that are read as rows of 28: native code does it, the assembler cannot."""
    x, y = torch.randn(7, 5), torch.zeros(5, 7)
    _, problems = text_of(other_rows, (x, y), tmp_path)
    assert "multiple of 32 bytes" in problems
    other_rows(x, y)
    assert torch.equal(y, x.reshape(5, 7) * 2)
