"""The class form: kernels and their orchestration as methods of one program, compiled ahead with `ir.compile`.

`pl.submit` starts a task and gives its id; `deps=` adds an edge that the data alone would not show.
"""

import pypto.language as pl
import torch
from program import Program, main

from pypto import ir


@pl.program
class Affine:
    @pl.function(type=pl.FunctionType.InCore)
    def scale(
        self,
        x: pl.Tensor[[128, 256], pl.FP32],
        factor: pl.Scalar[pl.FP32],
        y: pl.Out[pl.Tensor[[128, 256], pl.FP32]],
    ) -> pl.Tensor[[128, 256], pl.FP32]:
        t = pl.load(x, [0, 0], [64, 256])
        y = pl.store(pl.mul(t, factor), [0, 0], y)
        u = pl.load(x, [64, 0], [64, 256])
        y = pl.store(pl.mul(u, factor), [64, 0], y)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def shift(
        self, x: pl.Tensor[[128, 256], pl.FP32], y: pl.Out[pl.Tensor[[128, 256], pl.FP32]]
    ) -> pl.Tensor[[128, 256], pl.FP32]:
        for r in pl.range(0, 128, 32):
            t = pl.load(x, [r, 0], [32, 256])
            y = pl.store(pl.add(t, 1.0), [r, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[128, 256], pl.FP32],
        factor: pl.Scalar[pl.FP32],
        y: pl.Out[pl.Tensor[[128, 256], pl.FP32]],
    ) -> pl.Tensor[[128, 256], pl.FP32]:
        scaled = pl.create_tensor([128, 256], dtype=pl.FP32)
        scaled, first = pl.submit(self.scale, x, factor, scaled)
        y, second = pl.submit(self.shift, scaled, y, deps=[first])
        return y


class Compiled:
    """Compiles `Affine` on the first call, so that importing this file costs nothing."""

    program = None

    def __call__(self, *args):
        if self.program is None:
            self.program = ir.compile(Affine, dump_passes=False)
        self.program(*args)


PROGRAMS = [
    Program(
        name="class program",
        entry=Compiled(),
        inputs=lambda: (torch.randn(128, 256), 2.5, torch.empty(128, 256)),
        reference=lambda x, factor, y: {2: x.double() * factor + 1},
        torch=lambda x, factor, y: y.copy_(x * factor + 1),
        rtol=1e-6,
        atol=1e-6,
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
