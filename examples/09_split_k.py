"""Split-K: eight blocks share one output tile and add their parts to it atomically.

Useful when K is long and the output small, so that output tiles alone would not keep the cores busy.
"""

import pypto.language as pl
import torch
from program import Program, main

M, N, K, PARTS = 128, 128, 4096, 8
STEP = K // PARTS


@pl.jit
def split_k(
    a: pl.Tensor[[M, K], pl.FP32],
    b: pl.Tensor[[K, N], pl.FP32],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="clear"):
        c[0:M, 0:N] = pl.full([M, N], dtype=pl.FP32, value=0.0)
    for part in pl.spmd(PARTS, name_hint="split_k"):
        acc = pl.create_tensor([M, N], dtype=pl.FP32)
        for k in pl.pipeline(part * STEP, part * STEP + STEP, 128, stage=2):
            if k == part * STEP:
                acc = pl.matmul(a[0:M, k : k + 128], b[k : k + 128, 0:N], out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, a[0:M, k : k + 128], b[k : k + 128, 0:N])
        c = pl.assemble(c, acc, [0, 0], atomic=pl.AtomicType.Add)
    return c


PROGRAMS = [
    Program(
        name="split-K matmul",
        entry=split_k,
        inputs=lambda: (torch.randn(M, K), torch.randn(K, N), torch.empty(M, N)),
        reference=lambda a, b, c: {2: a.double() @ b.double()},
        torch=lambda a, b, c: torch.mm(a, b, out=c),
        rtol=1e-4,
        atol=1e-3,
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
