"""Hello, tile: load two tiles, add them, store the sum.

A kernel is a decorated Python function. Its body is never run by Python: it is read, compiled for this machine's vector
units on the first call, and kept. `pl.Out` marks what it writes; a bare annotation means "read only".
"""

import pypto.language as pl
import torch
from program import Program, main


@pl.jit.incore
def add_tiles(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    ta = pl.load(a, [0, 0], [64, 128])  # global memory -> on-chip tile
    tb = pl.load(b, [0, 0], [64, 128])
    c = pl.store(pl.add(ta, tb), [0, 0], c)
    return c


@pl.jit
def hello_world(
    a: pl.Tensor[[64, 128], pl.FP32],
    b: pl.Tensor[[64, 128], pl.FP32],
    c: pl.Out[pl.Tensor[[64, 128], pl.FP32]],
):
    c = add_tiles(a, b, c)
    return c


PROGRAMS = [
    Program(
        name="hello world",
        entry=hello_world,
        inputs=lambda: (torch.randn(64, 128), torch.randn(64, 128), torch.empty(64, 128)),
        reference=lambda a, b, c: {2: a.double() + b.double()},
        torch=lambda a, b, c: torch.add(a, b, out=c),
        rtol=1e-6,
        atol=1e-6,
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
