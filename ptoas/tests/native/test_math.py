"""Errors of the transcendental functions in units in the last place, over the whole range of FP32."""

from __future__ import annotations

import numpy as np
import pytest
from native import AVX2, HOST, Code, Program

COUNT = 1 << 20


def compute(op, x, isa):
    p = Program()
    source, target = p.pointer("f32"), p.pointer("f32")
    rows, cols = COUNT // 4096, 4096
    a, b = p.tile("f32", rows, cols), p.tile("f32", rows, cols)
    p.load(p.view(source, "f32", [rows, cols]), a)
    p.op(op, [a], [b])
    p.store(b, p.view(target, "f32", [rows, cols]))
    y = np.zeros(COUNT, np.float32)
    Code(p.text(), isa=isa)("f", x, y)
    return y


def ulp_error(got, want):
    """|got - want| in units of FP32 at want, want in FP64."""
    exponent = np.maximum(np.frexp(want)[1] - 24, -149)
    return np.abs(got.astype(np.float64) - want) / np.ldexp(1.0, exponent)


@pytest.mark.parametrize("isa", [HOST, AVX2])
@pytest.mark.parametrize(
    "op,bound", [("texp", 1.01), ("tlog", 1.5), ("trsqrt", 1.5), ("tsqrt", 0.5), ("trecip", 0.5)]
)
def test_error_bound(op, bound, isa):
    bits = np.random.default_rng(1).integers(0, 2**32, COUNT, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32).copy()
    if op == "texp":  # most of FP32 gives 0, 1 or infinity: half of the samples where it does not
        x[: COUNT // 2] = np.random.default_rng(2).uniform(-105, 90, COUNT // 2).astype(np.float32)
    if op == "tlog":  # and close to 1, where the result is small
        x[: COUNT // 4] = np.random.default_rng(3).uniform(0.5, 2, COUNT // 4).astype(np.float32)
    x[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, 3.4e38, 1.1754944e-38]
    function = {
        "texp": np.exp, "tlog": np.log, "trsqrt": lambda v: 1 / np.sqrt(v), "tsqrt": np.sqrt, "trecip": lambda v: 1 / v,
    }[op]  # fmt: skip
    with np.errstate(all="ignore"):
        want = function(x.astype(np.float64))
        rounded = want.astype(np.float32)
        got = compute(op, x, isa)
        special = ~np.isfinite(rounded) | ~np.isfinite(got)
        # At the very end of the range a result may be the largest number or infinity.
        close = special & np.isinf(rounded) & np.isfinite(want) & (np.abs(want) < 3.41e38)
        same = np.where(np.isnan(rounded), np.isnan(got), got == rounded)
        assert (same | close)[special].all(), x[special & ~same & ~close][:5]
        assert np.max(ulp_error(got[~special], want[~special])) <= bound
