"""One program in all modes: constant and run-time extents, fused and not, each instruction set."""

from __future__ import annotations

import numpy as np
from native import DTYPES, ISAS, Code

FLOATS = ["f32", "f16", "bf16"]


def random(rng, dtype: str, shape, low=-4, high=4):
    if dtype in FLOATS:
        return rng.uniform(low, high, shape).astype(np.float32).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    return rng.integers(max(info.min, -100), min(info.max, 100) + 1, shape).astype(DTYPES[dtype])


def run_everywhere(build, arrays, outputs):
    """The program in all modes; `build(dynamic)` gives text. Returns outputs of the host's fused code."""
    results = []
    for dynamic in (False, True):
        text, scalars = build(dynamic)
        for isa in ISAS:
            for fuse in (True, False):
                outs = [o.copy() for o in outputs]
                Code(text, fuse=fuse, isa=isa)("f", *arrays, *outs, *scalars)
                results.append((f"dynamic={dynamic} isa={isa} fuse={fuse}", outs))
    for what, outs in results[1:]:
        for got, want in zip(outs, results[0][1]):
            assert got.tobytes() == want.tobytes(), what
    return results[0][1]


def check(got, want, shape, tolerance=0.0):
    rows, cols, vr, vc = shape
    g = got[:vr, :vc].astype(np.float64)
    w = np.asarray(want)[:vr, :vc].astype(np.float64)
    if tolerance:
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(g, w)
    outside = got.copy()
    outside[:vr, :vc] = 7
    assert (outside == np.asarray(7, got.dtype)).all(), "wrote outside the valid region"
