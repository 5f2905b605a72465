"""The kernels of this folder: how each is written, called and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from builder import NUMPY, Module


@dataclass
class Case:
    """Arguments are the inputs, the outputs, then scratch memory (slots of FIFOs)."""

    name: str
    build: Callable[[Module], None]
    inputs: list
    outputs: list
    reference: Callable
    tolerance: tuple[float, float]  # relative, absolute
    arch: str = "a2a3"
    zero: bool = False  # outputs start as zero
    view: Callable | None = None  # the part of an output that the reference gives
    scratch: int = 0  # words of FP32 behind the outputs

    def text(self, level: int) -> str:
        module = Module(level, self.arch)
        self.build(module)
        return module.text()

    def arrays(self, seed: int):
        rng = np.random.default_rng(seed)
        inputs = []
        for dtype, shape, *limits in self.inputs:
            low, high = limits or (-4, 4)
            if dtype in ("f32", "f16", "bf16"):
                inputs.append(rng.uniform(low, high, shape).astype(np.float32).astype(NUMPY[dtype]))
            else:
                inputs.append(rng.integers(low, high + 1, shape).astype(NUMPY[dtype]))
        outputs = [
            np.full(shape, 0 if self.zero else 77, NUMPY[dtype]) for dtype, shape in self.outputs
        ]
        return inputs, outputs, [np.zeros(self.scratch, np.float32)] if self.scratch else []

    def check(self, inputs, outputs) -> None:
        exact = [x.astype(np.float64 if x.dtype.kind not in "iu" else np.int64) for x in inputs]
        for got, want in zip(outputs, self.reference(*exact)):
            got = got if self.view is None else self.view(got)
            rtol, atol = self.tolerance
            np.testing.assert_allclose(
                got.astype(np.float64),
                np.broadcast_to(want, got.shape).astype(np.float64),
                rtol,
                atol,
            )


CASES: dict[str, Case] = {}


def case(name, inputs, outputs, reference, tolerance=(1e-6, 1e-6), **more):
    inputs = [i if isinstance(i[0], str) else (i[1], i[0]) for i in inputs]

    def register(build):
        assert name not in CASES
        CASES[name] = Case(name, build, inputs, outputs, reference, tolerance, **more)
        return build

    return register
