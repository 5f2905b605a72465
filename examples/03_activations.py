"""relu, silu, gelu and swiglu: helpers that are expanded where they are called (`@pl.jit.inline`)."""

import pypto.language as pl
import torch
from program import Program, main

ROWS, COLS, TILE = 1024, 2048, 4


@pl.jit.inline
def sigmoid(t):
    return pl.recip(pl.add(pl.exp(pl.neg(t)), 1.0))


@pl.jit
def relu(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    for b in pl.spmd(ROWS // TILE, name_hint="relu"):
        y[b * TILE : b * TILE + TILE, 0:COLS] = pl.maximum(
            x[b * TILE : b * TILE + TILE, 0:COLS], 0.0
        )
    return y


@pl.jit
def silu(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    for b in pl.spmd(ROWS // TILE, name_hint="silu"):
        t = x[b * TILE : b * TILE + TILE, 0:COLS]
        y[b * TILE : b * TILE + TILE, 0:COLS] = pl.mul(t, sigmoid(t))
    return y


@pl.jit
def gelu(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    for b in pl.spmd(ROWS // TILE, name_hint="gelu"):
        t = x[b * TILE : b * TILE + TILE, 0:COLS]
        inner = pl.mul(pl.add(t, pl.mul(pl.mul(pl.mul(t, t), t), 0.044715)), 1.5957691216057308)
        y[b * TILE : b * TILE + TILE, 0:COLS] = pl.mul(t, sigmoid(inner))
    return y


@pl.jit
def swiglu(
    gate: pl.Tensor[[ROWS, COLS], pl.FP32],
    up: pl.Tensor[[ROWS, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for b in pl.spmd(ROWS // TILE, name_hint="swiglu"):
        g = gate[b * TILE : b * TILE + TILE, 0:COLS]
        u = up[b * TILE : b * TILE + TILE, 0:COLS]
        y[b * TILE : b * TILE + TILE, 0:COLS] = pl.mul(pl.mul(g, sigmoid(g)), u)
    return y


def one_input():
    return torch.randn(ROWS, COLS) * 3, torch.empty(ROWS, COLS)


F = torch.nn.functional
PROGRAMS = [
    Program(
        "relu", relu, one_input, lambda x, y: {1: x.double().relu()}, lambda x, y: y.copy_(x.relu())
    ),
    Program(
        "silu",
        silu,
        one_input,
        lambda x, y: {1: F.silu(x.double())},
        lambda x, y: y.copy_(F.silu(x)),
    ),
    Program(
        "gelu (tanh form)",
        gelu,
        one_input,
        lambda x, y: {1: F.gelu(x.double(), approximate="tanh")},
        lambda x, y: y.copy_(F.gelu(x, approximate="tanh")),
    ),
    Program(
        "swiglu",
        swiglu,
        lambda: (torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), torch.empty(ROWS, COLS)),
        lambda g, u, y: {2: F.silu(g.double()) * u.double()},
        lambda g, u, y: y.copy_(F.silu(g) * u),
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
