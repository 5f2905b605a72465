"""Programs that tests of artifacts compile."""

from __future__ import annotations

import pypto.language as pl

GAIN = """
import pypto.language as pl


@pl.program
class Gain:
    @pl.function(type=pl.FunctionType.InCore)
    def apply(self, x: pl.Tensor[[16, 32], pl.FP32], k: pl.Scalar[pl.FP32],
              y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        t = pl.load(x, [0, 0], [16, 32])
        y = pl.store(pl.mul(t, k), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 32], pl.FP32], k: pl.Scalar[pl.FP32],
             y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        y = self.apply(x, k, y)
        return y
"""

# Two entries; results named twice and in another order than the parameters.
TWO = """
import pypto.language as pl


@pl.program
class Two:
    @pl.function(type=pl.FunctionType.InCore)
    def double(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.mul(pl.load(x, [0, 0], [16, 16]), 2.0), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def twice(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = self.double(x, y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def four_times(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        t = pl.create_tensor([16, 16], dtype=pl.FP32)
        t = self.double(x, t)
        y = self.double(t, y)
        return y
"""

ALIASES = """
import pypto.language as pl


@pl.program
class Aliases:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, n: pl.Scalar[pl.INT32], x: pl.Tensor[[16, 16], pl.FP32],
             a: pl.Out[pl.Tensor[[16, 16], pl.FP32]], b: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        a = self.copy(x, a)
        b = self.copy(a, b)
        return {returned}
"""

FRESH = """
import pypto.language as pl


@pl.program
class Fresh:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32]):
        y = pl.create_tensor([16, 16], dtype=pl.FP32)
        y = self.copy(x, y)
        return y
"""

# The entry reads an element of a tensor to decide what to launch.
HOST_READ = """
import pypto.language as pl


@pl.program
class HostRead:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Tensor[[1], pl.INT32],
             y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        count = pl.read(n, [0])
        for i in pl.range(count):
            y = self.copy(x, y)
        return y
"""

# A condition that the device evaluates, and memory that the runtime allocates inside.
PREDICATE = """
import pypto.language as pl


@pl.program
class Predicate:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Tensor[[1], pl.INT32],
             y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        t = pl.create_tensor([16, 16], dtype=pl.FP32)
        t = self.copy(x, t)
        y, tid = pl.submit(self.copy, t, y, predicate=(n[0] > 0))
        return y
"""


@pl.jit
def add(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = x + y
    return out


@pl.jit
def scaled(x: pl.Tensor, k: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = x * k
    return out


def parse(text: str, name: str = "program.py"):
    return pl.parse(text, filename=name)
