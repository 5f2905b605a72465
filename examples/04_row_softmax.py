"""Softmax of each row of a 1024 x 4096 matrix.

Reductions along a row give a column of one value per row, which `row_expand_*` spreads back over the row.
"""

import pypto.language as pl
import torch
from program import Program, main

ROWS, COLS, TILE = 1024, 4096, 2


@pl.jit
def softmax(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    for block in pl.spmd(ROWS // 32, name_hint="softmax"):
        for r in pl.range(block * 32, block * 32 + 32, TILE):
            t = x[r : r + TILE, 0:COLS]
            e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
            y[r : r + TILE, 0:COLS] = pl.row_expand_mul(e, pl.recip(pl.row_sum(e)))
    return y


PROGRAMS = [
    Program(
        name="row softmax",
        entry=softmax,
        inputs=lambda: (torch.randn(ROWS, COLS) * 4, torch.empty(ROWS, COLS)),
        reference=lambda x, y: {1: torch.softmax(x.double(), 1)},
        torch=lambda x, y: torch.softmax(x, 1, out=y),
        rtol=1e-5,
        atol=1e-7,
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
