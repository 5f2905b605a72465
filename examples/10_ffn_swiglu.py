"""A feed-forward network of three SwiGLU layers: 512 tokens, 1024 -> 2816 -> 1024, bf16 with fp32 accumulation.

`layer` is an inline helper that holds two launches: gate and up projection with the activation, then the projection
down. The intermediate lives in global memory between them; the runtime finds the dependency.
"""

import pypto.language as pl
import torch
from program import Program, main

TOKENS, DIM, HIDDEN, LAYERS = 512, 1024, 2816, 3
TM, TK = 128, 256
TH, TN = (
    64,
    128,
)  # columns of a block: of the hidden layer (two accumulators and their product), of the output


@pl.jit.inline
def layer(x, gate, up, down, base, hidden, y):
    """y = (silu(x @ gate) * (x @ up)) @ down, for the weights that begin at row `base` of their stacks."""
    for block in pl.spmd((TOKENS // TM) * (HIDDEN // TH), name_hint="gate_up"):
        i = block % (TOKENS // TM) * TM
        j = block // (TOKENS // TM) * TH
        g = pl.create_tensor([TM, TH], dtype=pl.FP32)
        u = pl.create_tensor([TM, TH], dtype=pl.FP32)
        for k in pl.pipeline(0, DIM, TK, stage=2):
            t = x[i : i + TM, k : k + TK]
            wg = gate[base * DIM + k : base * DIM + k + TK, j : j + TH]
            wu = up[base * DIM + k : base * DIM + k + TK, j : j + TH]
            if k == 0:
                g = pl.matmul(t, wg, out_dtype=pl.FP32)
                u = pl.matmul(t, wu, out_dtype=pl.FP32)
            else:
                g = pl.matmul_acc(g, t, wg)
                u = pl.matmul_acc(u, t, wu)
        act = pl.mul(pl.mul(g, pl.recip(pl.add(pl.exp(pl.neg(g)), 1.0))), u)
        hidden[i : i + TM, j : j + TH] = pl.cast(act, pl.BF16, mode="rint")
    for block in pl.spmd((TOKENS // TM) * (DIM // TN), name_hint="down"):
        i = block % (TOKENS // TM) * TM
        j = block // (TOKENS // TM) * TN
        acc = pl.create_tensor([TM, TN], dtype=pl.FP32)
        for k in pl.pipeline(0, HIDDEN, TK, stage=2):
            t = hidden[i : i + TM, k : k + TK]
            w = down[base * HIDDEN + k : base * HIDDEN + k + TK, j : j + TN]
            if k == 0:
                acc = pl.matmul(t, w, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, t, w)
        y[i : i + TM, j : j + TN] = pl.cast(acc, pl.BF16, mode="rint")
    return y


@pl.jit
def ffn(
    x: pl.Tensor[[TOKENS, DIM], pl.BF16],
    gate: pl.Tensor[[LAYERS * DIM, HIDDEN], pl.BF16],
    up: pl.Tensor[[LAYERS * DIM, HIDDEN], pl.BF16],
    down: pl.Tensor[[LAYERS * HIDDEN, DIM], pl.BF16],
    y: pl.Out[pl.Tensor[[TOKENS, DIM], pl.BF16]],
):
    first = pl.create_tensor([TOKENS, DIM], dtype=pl.BF16)
    second = pl.create_tensor([TOKENS, DIM], dtype=pl.BF16)
    hidden = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.BF16)
    layer(x, gate, up, down, 0, hidden, first)
    layer(first, gate, up, down, 1, hidden, second)
    layer(second, gate, up, down, 2, hidden, y)
    return y


def weights(rows, cols):
    return (torch.randn(rows, cols) / (rows // LAYERS) ** 0.5).bfloat16()


def stages(x, gate, up, down, wide):
    """The same network in torch; `wide` computes in FP32 and rounds where the kernels round."""
    up_cast = (lambda t: t.float()) if wide else (lambda t: t)
    for n in range(LAYERS):
        wg, wu = up_cast(gate[n * DIM : (n + 1) * DIM]), up_cast(up[n * DIM : (n + 1) * DIM])
        wd = up_cast(down[n * HIDDEN : (n + 1) * HIDDEN])
        h = torch.nn.functional.silu(up_cast(x) @ wg) * (up_cast(x) @ wu)
        x = (up_cast(h.bfloat16()) @ wd).bfloat16()
    return x


PROGRAMS = [
    Program(
        name="3-layer SwiGLU FFN",
        entry=ffn,
        inputs=lambda: (
            torch.randn(TOKENS, DIM).bfloat16(),
            weights(LAYERS * DIM, HIDDEN),
            weights(LAYERS * DIM, HIDDEN),
            weights(LAYERS * HIDDEN, DIM),
            torch.empty(TOKENS, DIM, dtype=torch.bfloat16),
        ),
        reference=lambda x, g, u, d, y: {4: stages(x, g, u, d, wide=True)},
        torch=lambda x, g, u, d, y: y.copy_(stages(x, g, u, d, wide=False)),
        rtol=2e-2,
        atol=4e-3,
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
