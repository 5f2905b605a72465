"""RMSNorm and LayerNorm over the rows of a 1024 x 4096 matrix, with a gain and a bias row."""

import pypto.language as pl
import torch
from program import Program, main

ROWS, COLS, TILE, EPS = 1024, 4096, 2, 1e-5


@pl.jit
def rms_norm(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    gain: pl.Tensor[[1, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for block in pl.spmd(ROWS // 32, name_hint="rms_norm"):
        g = gain[0:1, 0:COLS]
        for r in pl.range(block * 32, block * 32 + 32, TILE):
            t = x[r : r + TILE, 0:COLS]
            mean = pl.mul(pl.row_sum(pl.mul(t, t)), 1.0 / COLS)
            inverse = pl.rsqrt(pl.add(mean, EPS), high_precision=True)
            y[r : r + TILE, 0:COLS] = pl.col_expand_mul(pl.row_expand_mul(t, inverse), g)
    return y


@pl.jit
def layer_norm(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    gain: pl.Tensor[[1, COLS], pl.FP32],
    bias: pl.Tensor[[1, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for block in pl.spmd(ROWS // 32, name_hint="layer_norm"):
        g = gain[0:1, 0:COLS]
        b = bias[0:1, 0:COLS]
        for r in pl.range(block * 32, block * 32 + 32, TILE):
            t = x[r : r + TILE, 0:COLS]
            d = pl.row_expand_sub(t, pl.mul(pl.row_sum(t), 1.0 / COLS))
            variance = pl.mul(pl.row_sum(pl.mul(d, d)), 1.0 / COLS)
            inverse = pl.rsqrt(pl.add(variance, EPS), high_precision=True)
            n = pl.row_expand_mul(d, inverse)
            y[r : r + TILE, 0:COLS] = pl.col_expand_add(pl.col_expand_mul(n, g), b)
    return y


F = torch.nn.functional
PROGRAMS = [
    Program(
        name="RMSNorm",
        entry=rms_norm,
        inputs=lambda: (torch.randn(ROWS, COLS), torch.randn(1, COLS), torch.empty(ROWS, COLS)),
        reference=lambda x, g, y: {2: F.rms_norm(x.double(), (COLS,), g[0].double(), EPS)},
        torch=lambda x, g, y: y.copy_(F.rms_norm(x, (COLS,), g[0], EPS)),
    ),
    Program(
        name="LayerNorm",
        entry=layer_norm,
        inputs=lambda: (
            torch.randn(ROWS, COLS),
            torch.randn(1, COLS),
            torch.randn(1, COLS),
            torch.empty(ROWS, COLS),
        ),
        reference=lambda x, g, b, y: {
            3: F.layer_norm(x.double(), (COLS,), g[0].double(), b[0].double(), EPS)
        },
        torch=lambda x, g, b, y: y.copy_(F.layer_norm(x, (COLS,), g[0], b[0], EPS)),
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
