"""Sizes that are known at run time only, and tiles that no memory holds: an error, no crash and no other size."""

from __future__ import annotations

import pytest
import torch

import pypto
from pypto import language as pl


@pl.jit
def temporary(
    x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
):
    t = pl.create_tensor([n, 32], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[0:16, 0:32] = pl.add(x[0:16, 0:32], 1.0)
    with pl.at(level=pl.Level.CORE_GROUP):
        y[0:16, 0:32] = pl.add(t[0:16, 0:32], 1.0)
    return y


@pl.jit
def blocks(
    x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
):
    for b in pl.spmd(n):
        y[8 * b : 8 * b + 8, 0:32] = pl.add(x[8 * b : 8 * b + 8, 0:32], 2.0)
    return y


@pl.jit
def huge_tile(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.full([2147483647, 134217728], dtype=pl.FP32, value=0.0)
        u = pl.full([2147483647, 134217728], dtype=pl.FP32, value=1.0)
        w = pl.add(t, u)
        y[0:16, 0:32] = pl.add(x[0:16, 0:32], w[0:16, 0:32])
    return y


def data():
    return torch.randn(16, 32), torch.zeros(16, 32)


@pytest.mark.parametrize("extent", [2**31, 2**32 + 16, 2**62, -1])
def test_extent_at_run_time(extent):
    x, y = data()
    with pytest.raises(RuntimeError, match=r"test_sizes.py:16: create_tensor: extent 0 is outside"):
        temporary(x, extent, y)
    temporary(x, 16, y)
    torch.testing.assert_close(y, x + 1 + 1)


@pytest.mark.parametrize("count", [2**31, 2**32 + 1, -(2**40)])
def test_blocks_at_run_time(count):
    x, y = data()
    with pytest.raises(RuntimeError, match="the number of blocks does not fit into 32 bits"):
        blocks(x, count, y)
    assert not y.any()
    blocks(x, 2, y)
    torch.testing.assert_close(y, x + 2)


def test_tiles_beyond_64_bits_of_bytes():
    with pytest.raises(ValueError, match="bytes of vec memory"):
        huge_tile(*data())


def test_argument_with_a_large_extent():
    @pl.jit
    def keep(x: pl.Tensor, y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y[0:16, 0:32] = pl.add(x[0:16, 0:32], 1.0)
        return y

    _, y = data()
    with pytest.raises(pypto.ParserTypeError, match="extent 2147483648 of axis 1"):
        keep(torch.empty(0, 2**31), y)


@pl.jit
def extreme_constants(
    x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        k = pl.max(pl.min(n, 9223372036854775807), -9223372036854775807 - 1)
        a = x[k : k + 8, 0:32]
        if n < 9223372036854775807:
            a = pl.add(a, 1.0)
        y[k : k + 8, 0:32] = a
    return y


def test_the_largest_and_the_least_integer():
    x, y = data()
    extreme_constants(x, 8, y)
    torch.testing.assert_close(y[8:], x[8:] + 1)
    assert not y[:8].any()
