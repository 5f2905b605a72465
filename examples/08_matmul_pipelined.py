"""1024 x 1024 x 1024 at tensor level: one output block per SPMD block, a pipelined loop over K.

The compiler chooses the memory spaces, inserts the moves and keeps the accumulator on chip.
"""

import pypto.language as pl
import torch
from program import Program, main

N, TM, TN, TK = 1024, 256, 128, 256


@pl.jit
def matmul(
    a: pl.Tensor,  # a bare annotation takes shape and element type from the argument
    b: pl.Tensor,
    c: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    for block in pl.spmd((N // TM) * (N // TN), name_hint="matmul"):
        # neighbours share the columns of b, which then stay in the cache
        i = block % (N // TM) * TM
        j = block // (N // TM) * TN
        acc = pl.create_tensor([TM, TN], dtype=pl.FP32)
        for k in pl.pipeline(0, N, TK, stage=2):
            x = a[i : i + TM, k : k + TK]
            w = b[k : k + TK, j : j + TN]
            if k == 0:
                acc = pl.matmul(x, w, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, x, w)
        c[i : i + TM, j : j + TN] = acc
    return c


def pair(dtype):
    return lambda: (torch.randn(N, N).to(dtype), torch.randn(N, N).to(dtype), torch.empty(N, N))


PROGRAMS = [
    Program(
        name="matmul 1024 fp32",
        entry=matmul,
        inputs=pair(torch.float32),
        reference=lambda a, b, c: {2: a.double() @ b.double()},
        torch=lambda a, b, c: torch.mm(a, b, out=c),
        rtol=1e-4,
        atol=1e-3,
    ),
    Program(
        name="matmul 1024 bf16",
        entry=matmul,
        inputs=pair(torch.bfloat16),
        reference=lambda a, b, c: {2: a.double() @ b.double()},
        torch=lambda a, b, c: torch.mm(a, b),
        rtol=1e-4,
        atol=1e-3,
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
