"""The kernels of these tests: rows of 64 FP32 elements, any number of rows."""

from __future__ import annotations

import pypto.language as pl

N = pl.dynamic("N")
COLS, TILE = 64, 16


@pl.jit
def add(
    x: pl.Tensor[[N, COLS], pl.FP32],
    y: pl.Tensor[[N, COLS], pl.FP32],
    out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]],
):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="add"):
        live = pl.min(TILE, rows - block * TILE)
        a = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        b = pl.slice(y, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        out = pl.assemble(out, pl.add(a, b), [block * TILE, 0])
    return out


@pl.jit
def silu(x: pl.Tensor[[N, COLS], pl.FP32], out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]]):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="silu"):
        live = pl.min(TILE, rows - block * TILE)
        a = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        s = pl.recip(pl.add(pl.exp(pl.neg(a)), 1.0))
        out = pl.assemble(out, pl.mul(a, s), [block * TILE, 0])
    return out


@pl.jit
def silu_grad(
    grad_out: pl.Tensor[[N, COLS], pl.FP32],
    x: pl.Tensor[[N, COLS], pl.FP32],
    grad_x: pl.Out[pl.Tensor[[N, COLS], pl.FP32]],
):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="silu_grad"):
        live = pl.min(TILE, rows - block * TILE)
        g = pl.slice(grad_out, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        a = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        s = pl.recip(pl.add(pl.exp(pl.neg(a)), 1.0))
        d = pl.mul(s, pl.add(pl.mul(a, pl.sub(1.0, s)), 1.0))
        grad_x = pl.assemble(grad_x, pl.mul(g, d), [block * TILE, 0])
    return grad_x


@pl.jit
def scale(
    x: pl.Tensor[[N, COLS], pl.FP32],
    factor: pl.Scalar[pl.FP32],
    out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]],
):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="scale"):
        live = pl.min(TILE, rows - block * TILE)
        a = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        out = pl.assemble(out, pl.mul(a, factor), [block * TILE, 0])
    return out


@pl.jit
def increase(x: pl.InOut[pl.Tensor[[N, COLS], pl.FP32]], y: pl.Tensor[[N, COLS], pl.FP32]):
    """x += y"""
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="increase"):
        live = pl.min(TILE, rows - block * TILE)
        a = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        b = pl.slice(y, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        x = pl.assemble(x, pl.add(a, b), [block * TILE, 0])
    return x


@pl.jit
def blocks(
    x: pl.Tensor[[N, COLS], pl.FP32],
    count: pl.Scalar[pl.INDEX],
    out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]],
):
    """Doubles the first `count` blocks of rows; fails when it runs with a negative count."""
    for block in pl.spmd(count, name_hint="blocks"):
        r = block * TILE
        out[r : r + TILE, 0:COLS] = pl.mul(x[r : r + TILE, 0:COLS], 2.0)
    return out


@pl.jit
def bare(x, y, out):
    """Nothing but the arguments says what the parameters are."""
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, 0:64] = pl.add(x[0:16, 0:64], y[0:16, 0:64])
    return out


@pl.jit
def scale_by_default(
    x: pl.Tensor[[N, COLS], pl.FP32],
    out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]],
    factor: pl.Scalar[pl.FP32] = 2.5,
    times: pl.Scalar[pl.INDEX] = 1,
):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE * times, name_hint="scale_by_default"):
        at = block // times * TILE
        live = pl.min(TILE, rows - at)
        a = pl.slice(x, [TILE, COLS], [at, 0], valid_shape=[live, COLS])
        out = pl.assemble(out, pl.mul(a, factor), [at, 0])
    return out


@pl.jit
def window(
    x: pl.Tensor[[N, COLS], pl.FP32],
    at: pl.Scalar[pl.INDEX],
    y: pl.InOut[pl.Tensor[[N, COLS], pl.FP32]],
):
    """Adds 1 to TILE rows of x from `at` on, into y; nothing says that x has these rows."""
    with pl.at(level=pl.Level.CORE_GROUP):
        y[at : at + TILE, 0:COLS] = pl.add(x[at : at + TILE, 0:COLS], 1.0)
    return y
