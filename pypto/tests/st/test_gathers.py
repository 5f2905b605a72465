"""Gathers, scatters and selections against torch: tensor forms keep torch's meaning, tile forms the instruction's."""

import pypto.language as pl
import pytest
import torch

import pypto

CORE = pl.Level.CORE_GROUP


def unique_columns(rows: int, count: int, columns: int) -> torch.Tensor:
    return torch.stack([torch.randperm(columns)[:count] for _ in range(rows)])


@pl.jit
def gather_last(
    x: pl.Tensor[[16, 64], pl.FP32],
    index: pl.Tensor[[16, 8], pl.INT32],
    y: pl.Out[pl.Tensor[[16, 8], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:8] = pl.gather(x[0:16, 0:64], -1, index[0:16, 0:8])
    return y


@pl.jit
def gather_rows(
    x: pl.Tensor[[16, 64], pl.FP32],
    index: pl.Tensor[[4, 64], pl.INT32],
    y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:4, 0:64] = pl.gather(x[0:16, 0:64], -2, index[0:4, 0:64])
    return y


def test_gather_counts_axes_from_the_end():
    x = torch.randn(16, 64)
    index = torch.randint(0, 64, (16, 8), dtype=torch.int32)
    y = torch.zeros(16, 8)
    gather_last(x, index, y)
    assert torch.equal(y, x.gather(1, index.long()))
    index = torch.randint(0, 16, (4, 64), dtype=torch.int32)
    y = torch.zeros(4, 64)
    gather_rows(x, index, y)
    assert torch.equal(y, x.gather(0, index.long()))


@pl.jit
def scatter_fp32(
    x: pl.Tensor[[16, 64], pl.FP32],
    index: pl.Tensor[[16, 8], pl.INT32],
    src: pl.Tensor[[16, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:64] = pl.scatter(x[0:16, 0:64], -1, index[0:16, 0:8], src[0:16, 0:8])
    return y


@pl.jit
def scatter_bf16(
    x: pl.Tensor[[16, 64], pl.BF16],
    index: pl.Tensor[[16, 16], pl.INT16],
    src: pl.Tensor[[16, 16], pl.BF16],
    y: pl.Out[pl.Tensor[[16, 64], pl.BF16]],
):
    with pl.at(level=CORE):
        y[0:16, 0:64] = pl.scatter(x[0:16, 0:64], -1, index[0:16, 0:16], src[0:16, 0:16])
    return y


@pl.jit
def scatter_int32(
    x: pl.Tensor[[16, 64], pl.INT32],
    index: pl.Tensor[[16, 8], pl.INT32],
    src: pl.Tensor[[16, 8], pl.INT32],
    y: pl.Out[pl.Tensor[[16, 64], pl.INT32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:64] = pl.scatter(x[0:16, 0:64], -1, index[0:16, 0:8], src[0:16, 0:8])
    return y


@pytest.mark.parametrize(
    "program, dtype, index_dtype, count",
    [
        (scatter_fp32, torch.float32, torch.int32, 8),
        (scatter_bf16, torch.bfloat16, torch.int16, 16),
        (scatter_int32, torch.int32, torch.int32, 8),
    ],
)
def test_scatter_keeps_what_it_does_not_write(program, dtype, index_dtype, count):
    x = (torch.randn(16, 64) * 100).to(dtype)
    src = (torch.randn(16, count) * 100).to(dtype)
    src[:, 0] = 0  # a written zero is not a place that stays
    index = unique_columns(16, count, 64)
    y = torch.zeros(16, 64, dtype=dtype)
    program(x, index.to(index_dtype), src, y)
    assert torch.equal(y, x.scatter(1, index, src))


@pl.jit
def scatter_rows(
    x: pl.Tensor[[16, 64], pl.FP32],
    index: pl.Tensor[[4, 64], pl.INT32],
    src: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:64] = pl.scatter(x[0:16, 0:64], -2, index[0:4, 0:64], src[0:4, 0:64])
    return y


@pl.jit
def scatter_nowhere(
    x: pl.Tensor[[16, 64], pl.FP32],
    index: pl.Tensor[[4, 64], pl.INT32],
    src: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:16, 0:64] = pl.scatter(x[0:16, 0:64], 2, index[0:4, 0:64], src[0:4, 0:64])
    return y


def test_scatter_counts_axes_from_the_end():
    x, src, y = torch.randn(16, 64), torch.randn(4, 64), torch.zeros(16, 64)
    index = unique_columns(64, 4, 16).t().contiguous()
    scatter_rows(x, index.int(), src, y)
    assert torch.equal(y, x.scatter(0, index, src))
    with pytest.raises(pypto.InvalidOperationError, match="'dim' is a constant axis"):
        scatter_nowhere(x, index.int(), src, y)


@pl.jit
def scatter_vector(
    x: pl.Tensor[[64], pl.FP32],
    index: pl.Tensor[[8], pl.INT32],
    src: pl.Tensor[[8], pl.FP32],
    y: pl.Out[pl.Tensor[[64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:64] = pl.scatter(x[0:64], 0, index[0:8], src[0:8])
    return y


def test_scatter_into_a_vector():
    x, src, y = torch.randn(64), torch.randn(8), torch.zeros(64)
    index = unique_columns(1, 8, 64)[0].contiguous()
    scatter_vector(x, index.int(), src, y)
    assert torch.equal(y, x.scatter(0, index, src))


@pl.jit
def scatter_odd(
    src: pl.Tensor[[8, 32], pl.FP32],
    x: pl.Tensor[[8, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:8, 0:64] = pl.scatter(
            src[0:8, 0:32], mask_pattern=pl.tile.MaskPattern.P1010, dst=x[0:8, 0:64]
        )
    return y


def test_scatter_by_pattern_keeps_the_other_columns():
    src, x, y = torch.randn(8, 32), torch.randn(8, 64), torch.zeros(8, 64)
    scatter_odd(src, x, y)
    expected = x.clone()
    expected[:, 1::2] = src
    assert torch.equal(y, expected)


@pl.jit.incore
def select_larger(
    x: pl.Tensor[[16, 40], pl.FP32],
    z: pl.Tensor[[16, 40], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 40], pl.FP32]],
):
    a = pl.load(x, [0, 0], [16, 40])
    b = pl.load(z, [0, 0], [16, 40])
    scratch = pl.create_tile([1, 32], pl.UINT8)
    y = pl.store(pl.sel(pl.cmp(a, b, cmp_type=4), a, b, scratch), [0, 0], y)
    return y


@pl.jit
def larger(
    x: pl.Tensor[[16, 40], pl.FP32],
    z: pl.Tensor[[16, 40], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 40], pl.FP32]],
):
    y = select_larger(x, z, y)
    return y


def test_comparing_tiles_gives_bits_for_sel():
    x, z, y = torch.randn(16, 40), torch.randn(16, 40), torch.zeros(16, 40)
    larger(x, z, y)
    assert torch.equal(y, torch.maximum(x, z))


@pl.jit
def paged(
    cache: pl.Tensor[[64, 32], pl.FP32],
    rows: pl.Tensor[[16], pl.INT32],
    table: pl.Tensor[[1, 8], pl.INT32],
    count: pl.Tensor[[1], pl.INT32],
    y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
    with pl.at(level=CORE):
        live = pl.cast(pl.read(count, [0]), pl.INDEX)
        found = pl.paged_gather(cache, rows, table, 8, live, 16, space=pl.MemorySpace.Vec)
        for i in pl.range(live):
            y[i : i + 1, 0:32] = found[i : i + 1, 0:32]
    return y


@pl.jit
def paged_product(
    q: pl.Tensor[[16, 32], pl.FP32],
    cache: pl.Tensor[[64, 32], pl.FP32],
    rows: pl.Tensor[[1, 16], pl.INT32],
    table: pl.Tensor[[8], pl.INT32],
    y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    with pl.at(level=CORE):
        keys = pl.paged_gather(cache, rows, table, 8, 16, 16, is_trans=True)
        y[0:16, 0:16] = pl.matmul(q[0:16, 0:32], keys)
    return y


def test_paged_gather_follows_the_table():
    cache = torch.randn(64, 32)
    table = torch.randperm(8).int()
    rows = torch.randint(0, 64, (16,), dtype=torch.int32)
    physical = table[rows.long() // 8].long() * 8 + rows % 8
    y = torch.zeros(16, 32)
    paged(cache, rows, table.reshape(1, 8), torch.tensor([11], dtype=torch.int32), y)
    expected = torch.zeros(16, 32)
    expected[:11] = cache[physical[:11]]
    assert torch.equal(y, expected)
    q, scores = torch.randn(16, 32), torch.zeros(16, 16)
    paged_product(q, cache, rows.reshape(1, 16), table, scores)
    torch.testing.assert_close(scores, q @ cache[physical].t(), rtol=1e-5, atol=1e-4)


@pl.jit
def clone_planes(x: pl.Tensor[[1, 8, 32], pl.FP32], y: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y = pl.expand_clone(x, y)
    return y


@pl.jit
def clone_rows(x: pl.Tensor[[4, 1, 32], pl.FP32], y: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y = pl.expand_clone(x, y)
    return y


@pl.jit
def clone_columns(x: pl.Tensor[[4, 8, 1], pl.FP32], y: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y = pl.expand_clone(x, y)
    return y


@pytest.mark.parametrize(
    "program, shape",
    [(clone_planes, (1, 8, 32)), (clone_rows, (4, 1, 32)), (clone_columns, (4, 8, 1))],
)
def test_expand_clone_repeats_one_axis(program, shape):
    x, y = torch.randn(shape), torch.zeros(4, 8, 32)
    program(x, y)
    assert torch.equal(y, x.expand(4, 8, 32))
