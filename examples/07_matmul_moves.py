"""A product with every data path written out: GM -> Mat -> Left/Right -> Acc -> GM.

Most programs leave this to the compiler (see the next example); kernels that tune for the device spell it.
"""

import pypto.language as pl
import torch
from program import Program, main


@pl.jit.incore
def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    mat_a = pl.load(a, [0, 0], [128, 128], target_memory=pl.MemorySpace.Mat)
    mat_b = pl.load(b, [0, 0], [128, 128], target_memory=pl.MemorySpace.Mat)
    left = pl.move(mat_a, target_memory=pl.MemorySpace.Left)
    right = pl.move(mat_b, target_memory=pl.MemorySpace.Right)
    acc = pl.matmul(left, right)
    c = pl.store(acc, [0, 0], c)
    return c


@pl.jit
def matmul_fp32(
    a: pl.Tensor[[128, 128], pl.FP32],
    b: pl.Tensor[[128, 128], pl.FP32],
    c: pl.Out[pl.Tensor[[128, 128], pl.FP32]],
):
    c = product(a, b, c)
    return c


@pl.jit
def matmul_bf16(
    a: pl.Tensor[[128, 128], pl.BF16],
    b: pl.Tensor[[128, 128], pl.BF16],
    c: pl.Out[pl.Tensor[[128, 128], pl.FP32]],
):
    c = product(a, b, c)
    return c


PROGRAMS = [
    Program(
        name="matmul tile fp32",
        entry=matmul_fp32,
        inputs=lambda: (torch.randn(128, 128), torch.randn(128, 128), torch.empty(128, 128)),
        reference=lambda a, b, c: {2: a.double() @ b.double()},
        torch=lambda a, b, c: torch.mm(a, b, out=c),
        rtol=1e-5,
        atol=1e-4,
    ),
    Program(
        name="matmul tile bf16",
        entry=matmul_bf16,
        inputs=lambda: (
            torch.randn(128, 128).bfloat16(),
            torch.randn(128, 128).bfloat16(),
            torch.empty(128, 128),
        ),
        reference=lambda a, b, c: {2: a.double() @ b.double()},
        torch=lambda a, b, c: torch.mm(a, b),
        rtol=1e-5,
        atol=1e-3,
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
