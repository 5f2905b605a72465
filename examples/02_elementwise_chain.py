"""A chain of six elementwise operations with scalars and a cast, over a matrix cut into row blocks.

`pl.spmd(n)` runs the body as n blocks, on all cores. The chain becomes one loop: each element is read once and written
once, whatever the number of operations between.
"""

import pypto.language as pl
import torch
from program import Program, main

ROWS, COLS, TILE = 4096, 4096, 4
STEP = 64  # rows of one block


@pl.jit
def chain(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    for block in pl.spmd(ROWS // STEP, name_hint="chain"):
        for r in pl.range(block * STEP, block * STEP + STEP, TILE):
            t = x[r : r + TILE, 0:COLS]
            t = pl.mul(t, 1.5)
            t = pl.add(t, 0.25)
            t = pl.maximum(t, -1.0)
            t = pl.minimum(t, 1.0)
            t = pl.mul(t, t)
            y[r : r + TILE, 0:COLS] = pl.sub(t, 0.5)
    return y


@pl.jit
def chain_to_bf16(x: pl.Tensor[[1024, 1024], pl.FP32], y: pl.Out[pl.Tensor[[1024, 1024], pl.BF16]]):
    for block in pl.spmd(64, name_hint="chain_cast"):
        t = x[block * 16 : block * 16 + 16, 0:1024]
        y[block * 16 : block * 16 + 16, 0:1024] = pl.cast(
            pl.add(pl.mul(t, 2.0), 1.0), pl.BF16, mode="rint"
        )
    return y


PROGRAMS = [
    Program(
        name="elementwise chain",
        entry=chain,
        inputs=lambda: (torch.randn(ROWS, COLS), torch.empty(ROWS, COLS)),
        reference=lambda x, y: {1: (x.double() * 1.5 + 0.25).clamp(-1, 1) ** 2 - 0.5},
        torch=lambda x, y: y.copy_((x * 1.5 + 0.25).clamp(min=-1.0).clamp(max=1.0).square() - 0.5),
        rtol=1e-6,
        atol=1e-6,
    ),
    Program(
        name="scale and cast to bf16",
        entry=chain_to_bf16,
        inputs=lambda: (torch.randn(1024, 1024), torch.empty(1024, 1024, dtype=torch.bfloat16)),
        reference=lambda x, y: {1: (x * 2 + 1).bfloat16()},
        torch=lambda x, y: y.copy_(x * 2 + 1),
        rtol=0,
        atol=0,
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
