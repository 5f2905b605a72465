"""Conversions beyond the op table: every rounding mode, ties, ends of the ranges, saturation."""

from __future__ import annotations

import numpy as np
import pytest
from everywhere import check, run_everywhere
from native import DTYPES, Program


def conversion(src, dst, shape, inside):
    rows, cols, vr, vc = shape

    def build(dynamic):
        p = Program()
        x, y = p.pointer(src), p.pointer(dst)
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        a, b = p.tile(src, rows, cols, r, c), p.tile(dst, rows, cols, r, c)
        p.load(p.view(x, src, [rows, cols], sizes=[r, c]), a)
        p.op("tcvt", [a], [b], inside=inside)
        p.store(b, p.view(y, dst, [rows, cols], sizes=[r, c]))
        return p.text(), ([vr, vc] if dynamic else [])

    return build


def bf16_round(x, mode):
    bits = x.view(np.uint32).astype(np.int64)
    cut, rest, sign = bits & ~0xFFFF, bits & 0xFFFF, bits >> 31
    grow = {
        "TRUNC": np.zeros_like(rest), "FLOOR": (rest > 0) & (sign == 1), "CEIL": (rest > 0) & (sign == 0),
        "ROUND": rest >= 0x8000, "RINT": (rest > 0x8000) | ((rest == 0x8000) & ((bits >> 16) & 1 == 1)),
    }[mode]  # fmt: skip
    return (cut + grow.astype(np.int64) * 0x10000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
def test_convert_f32(mode):
    shape = (4, 64, 4, 61)
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(shape[:2]) * 10.0 ** rng.integers(-6, 6, shape[:2])).astype(np.float32)
    x[0, :8] = [0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, 0.0]
    x[1, :6] = [65504, 65519, 65520, 65536, 6e-8, -3e-8]
    inside = f"rmode = #pto<round_mode {mode}>"
    rounded = {
        "RINT": np.rint, "FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc,
        "ROUND": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    }[mode](x.astype(np.float64))  # fmt: skip
    for dtype in ("i32", "i16", "bf16", "f16", "f32"):
        inner = inside + (", sat_mode = #pto<saturation_mode ON>" if dtype == "i16" else "")
        out = np.full(shape[:2], 7, DTYPES[dtype])
        (got,) = run_everywhere(conversion("f32", dtype, shape, inner), [x], [out])
        if dtype in ("i32", "i16"):
            info = np.iinfo(DTYPES[dtype])
            want = np.clip(rounded, info.min, info.max)
        elif dtype == "f32":
            want = rounded.astype(np.float32)
        elif dtype == "bf16":
            want = bf16_round(x, mode)
        else:
            with np.errstate(over="ignore"):
                near = x.astype(np.float16)
                down = np.nextafter(near, np.float16(-np.inf))
                up = np.nextafter(near, np.float16(np.inf))
            exact = x.astype(np.float64)
            below = np.where(near.astype(np.float64) <= exact, near, down)
            above = np.where(near.astype(np.float64) >= exact, near, up)
            want = {
                "RINT": near,
                "FLOOR": below,
                "CEIL": above,
                "TRUNC": np.where(x < 0, above, below),
            }.get(mode)
            if mode == "ROUND":
                low, high = below.astype(np.float64), above.astype(np.float64)
                high = np.where(np.isinf(high), 65536.0, high)
                low = np.where(np.isinf(low), -65536.0, low)
                middle = (low + high) / 2
                want = np.where(exact > middle, above, below)
                want = np.where(exact == middle, np.where(exact > 0, above, below), want)
                want = np.where(np.abs(exact) >= 65536, near, want)
        check(got, want, shape)


@pytest.mark.parametrize("saturation", ["ON", "OFF"])
def test_convert_integers(saturation):
    shape = (2, 64, 2, 64)
    x = np.random.default_rng(6).integers(-(2**31), 2**31, shape[:2]).astype(np.int32)
    x[0, :4] = [300, -300, 70000, -70000]
    inside = f"rmode = #pto<round_mode NONE>, sat_mode = #pto<saturation_mode {saturation}>"
    for dtype in ("i16", "ui8", "ui16"):
        out = np.full(shape[:2], 7, DTYPES[dtype])
        (got,) = run_everywhere(conversion("i32", dtype, shape, inside), [x], [out])
        info = np.iinfo(DTYPES[dtype])
        want = np.clip(x, info.min, info.max) if saturation == "ON" else x.astype(DTYPES[dtype])
        check(got, want.astype(DTYPES[dtype]), shape)
