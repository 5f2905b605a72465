"""A row count that is known only when the kernel runs: 1, 7, 64 and 1000 rows, one compile.

Tiles have fixed sizes; the last block of rows is ragged, and its valid shape says how many rows are real. Only those
are computed, reduced over and written.
"""

import pypto.language as pl
import torch
from program import Program, main

ROWS = pl.dynamic("ROWS")
COLS, TILE = 512, 16


@pl.jit
def centre(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    x.bind_dynamic(0, ROWS)
    y.bind_dynamic(0, ROWS)
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="centre"):
        live = pl.min(TILE, rows - block * TILE)
        t = pl.slice(x, [TILE, COLS], [block * TILE, 0], valid_shape=[live, COLS])
        mean = pl.mul(pl.row_sum(t), 1.0 / COLS)
        y = pl.assemble(y, pl.row_expand_sub(t, mean), [block * TILE, 0])
    return y


def of_rows(n):
    return Program(
        name=f"dynamic rows, {n}",
        entry=centre,
        inputs=lambda: (torch.randn(n, COLS), torch.empty(n, COLS)),
        reference=lambda x, y: {1: x.double() - x.double().mean(1, keepdim=True)},
        torch=lambda x, y: y.copy_(x - x.mean(1, keepdim=True)),
    )


PROGRAMS = [of_rows(n) for n in (1, 7, 64, 1000)]

if __name__ == "__main__":
    main(PROGRAMS)
