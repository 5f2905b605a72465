"""Tensors of columns, [.., M, 1]: the planes of a packed one follow each other in memory."""

import pypto.language as pl
import pytest
import torch

import pypto

CORE = pl.Level.CORE_GROUP
PLANES = pl.dynamic("PLANES")


@pl.jit
def plus_one(x: pl.Tensor[[4, 8, 1], pl.FP32], y: pl.Out[pl.Tensor[[4, 8, 1], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, 0:8, 0:1] = pl.add(x[0:4, 0:8, 0:1], 1.0)
    return y


@pl.jit
def scale_rows(
    w: pl.Tensor[[4, 8, 32], pl.FP32],
    x: pl.Tensor[[4, 8, 1], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]],
):
    with pl.at(level=CORE):
        y[0:4, 0:8, 0:32] = pl.mul(w[0:4, 0:8, 0:32], x[0:4, 0:8, 0:1])
    return y


@pl.jit
def inner_rows(x: pl.Tensor[[4, 8, 1], pl.FP32], y: pl.InOut[pl.Tensor[[4, 8, 1], pl.FP32]]):
    with pl.at(level=CORE):
        for b in pl.range(4):
            y[b : b + 1, 2:6, 0:1] = pl.mul(x[b : b + 1, 2:6, 0:1], 2.0)
    return y


@pl.jit
def pairs_of_planes(
    x: pl.Tensor[[PLANES, 8, 1], pl.FP32], y: pl.Out[pl.Tensor[[PLANES, 8, 1], pl.FP32]]
):
    x.bind_dynamic(0, PLANES)
    y.bind_dynamic(0, PLANES)
    with pl.at(level=CORE):
        for b in pl.range(0, pl.tensor.dim(x, 0), 2):
            y[b : b + 2, 0:8, 0:1] = pl.mul(x[b : b + 2, 0:8, 0:1], 2.0)
    return y


@pl.jit
def parts_of_planes(x: pl.Tensor[[4, 8, 1], pl.FP32], y: pl.Out[pl.Tensor[[4, 8, 1], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, 2:6, 0:1] = pl.mul(x[0:4, 2:6, 0:1], 2.0)
    return y


def test_whole_planes():
    x, y = torch.randn(4, 8, 1), torch.zeros(4, 8, 1)
    plus_one(x, y)
    assert torch.equal(y, x + 1)
    w, y = torch.randn(4, 8, 32), torch.zeros(4, 8, 32)
    scale_rows(w, x, y)
    assert torch.equal(y, w * x)


def test_part_of_one_plane():
    x, y = torch.randn(4, 8, 1), torch.zeros(4, 8, 1)
    inner_rows(x, y)
    expected = torch.zeros(4, 8, 1)
    expected[:, 2:6] = x[:, 2:6] * 2
    assert torch.equal(y, expected)


@pytest.mark.parametrize("planes", [2, 6])
def test_dynamic_planes(planes):
    x, y = torch.randn(planes, 8, 1), torch.zeros(planes, 8, 1)
    pairs_of_planes(x, y)
    assert torch.equal(y, x * 2)


def test_parts_of_several_planes_are_refused():
    with pytest.raises(pypto.InvalidOperationError, match="one column at a time"):
        parts_of_planes(torch.randn(4, 8, 1), torch.zeros(4, 8, 1))
