"""Column reductions and broadcasts: standardise each column of a matrix by its mean and range.

Three tasks follow each other: partial sums per block, their combination, the result. Nobody orders them; the runtime
finds the edges from the regions that they read and write.
"""

import pypto.language as pl
import torch
from program import Program, main

ROWS, COLS, BLOCKS = 2048, 1024, 16
STEP = ROWS // BLOCKS


@pl.jit
def standardise(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    sums = pl.create_tensor([BLOCKS, COLS], dtype=pl.FP32)
    tops = pl.create_tensor([BLOCKS, COLS], dtype=pl.FP32)
    lows = pl.create_tensor([BLOCKS, COLS], dtype=pl.FP32)
    for b in pl.spmd(BLOCKS, name_hint="partial"):
        s = pl.full([1, COLS], dtype=pl.FP32, value=0.0)
        hi = pl.full([1, COLS], dtype=pl.FP32, value=-1e30)
        lo = pl.full([1, COLS], dtype=pl.FP32, value=1e30)
        for r in pl.range(b * STEP, b * STEP + STEP, 8):
            t = x[r : r + 8, 0:COLS]
            s = pl.add(s, pl.col_sum(t))
            hi = pl.maximum(hi, pl.col_max(t))
            lo = pl.minimum(lo, pl.col_min(t))
        sums[b : b + 1, 0:COLS] = s
        tops[b : b + 1, 0:COLS] = hi
        lows[b : b + 1, 0:COLS] = lo
    mean = pl.create_tensor([1, COLS], dtype=pl.FP32)
    inverse = pl.create_tensor([1, COLS], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="combine"):
        mean[0:1, 0:COLS] = pl.mul(pl.col_sum(sums[0:BLOCKS, 0:COLS]), 1.0 / ROWS)
        inverse[0:1, 0:COLS] = pl.recip(
            pl.sub(pl.col_max(tops[0:BLOCKS, 0:COLS]), pl.col_min(lows[0:BLOCKS, 0:COLS]))
        )
    for b in pl.spmd(BLOCKS, name_hint="apply"):
        m = mean[0:1, 0:COLS]
        i = inverse[0:1, 0:COLS]
        for r in pl.range(b * STEP, b * STEP + STEP, 8):
            y[r : r + 8, 0:COLS] = pl.col_expand_mul(pl.col_expand_sub(x[r : r + 8, 0:COLS], m), i)
    return y


def plain(x):
    return (x - x.mean(0)) / (x.amax(0) - x.amin(0))


PROGRAMS = [
    Program(
        name="column statistics",
        entry=standardise,
        inputs=lambda: (torch.randn(ROWS, COLS), torch.empty(ROWS, COLS)),
        reference=lambda x, y: {1: plain(x.double())},
        torch=lambda x, y: y.copy_(plain(x)),
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
