"""HiFloat8: every code, conversions against a table made here from the fields of the format, products."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from elements import HIF8_NUMBERS, hif8_number
from native import DTYPES, Code
from test_fp8 import HIF8, PRODUCT, convert


def test_table_is_that_of_the_paper():
    finite = HIF8_NUMBERS[np.isfinite(HIF8_NUMBERS)]
    assert len(set(finite)) == 256 - 3  # one NaN, two infinities, one zero
    assert finite.max() == 2.0**15 and finite[finite > 0].min() == 2.0**-22
    assert hif8_number(0x6F) == np.inf and hif8_number(0x08) == 1.0 and np.isnan(hif8_number(0x80))


@pytest.mark.parametrize("dst", ["f32", "f16", "bf16"])
def test_every_code_widens(dst):
    got = convert(
        np.arange(256, dtype=np.uint8).reshape(8, 32), HIF8, dst, "rmode = #pto<round_mode NONE>"
    )
    want = HIF8_NUMBERS.reshape(8, 32).astype(DTYPES[dst])
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


def samples() -> np.ndarray:
    """All numbers of the format, all halves between neighbours, and their neighbours in single precision."""
    numbers = np.unique(HIF8_NUMBERS[np.isfinite(HIF8_NUMBERS)])
    ties = (numbers[:-1] + numbers[1:]) / 2
    exact = np.concatenate([numbers, ties, [2.0**-23, -(2.0**-23), 40960.0, -40960.0]]).astype(
        np.float32
    )
    up, down = (np.nextafter(exact, np.float32(to)) for to in (np.inf, -np.inf))
    wild = np.array([1e-30, -1e-30, 1e6, -1e6, np.inf, -np.inf, np.nan, 49152.0], np.float32)
    rng = np.random.default_rng(0)
    spread = (rng.uniform(-2, 2, 600) * np.exp2(rng.uniform(-24, 16, 600))).astype(np.float32)
    all_ = np.concatenate([exact, up, down, wild, spread])
    return np.concatenate([all_, np.zeros(-len(all_) % 64, np.float32)]).reshape(-1, 64)


def mantissa_bits(exponent: int) -> int:
    if exponent < -15:
        return 0
    return 3 if abs(exponent) < 4 else 2 if abs(exponent) < 8 else 1


def expected(x: float, mode: str, saturate: bool) -> float:
    if np.isnan(x):
        return np.nan
    above = 2.0**15 if saturate else np.inf
    if np.isinf(x) or x == 0:
        return float(np.copysign(above, x)) if x else 0.0
    exponent = max(int(np.floor(np.log2(abs(x)))), -22)
    unit = Fraction(2) ** (exponent - mantissa_bits(exponent))
    steps = Fraction(x) / unit
    low = steps.numerator // steps.denominator
    part = steps - low
    half = Fraction(1, 2)
    if mode == "RINT":
        low += part > half or (part == half and low % 2 == 1)
    elif mode == "ROUND":
        low += part > half or (part == half and low >= 0)
    elif mode == "CEIL":
        low += part > 0
    elif mode == "TRUNC":
        low += part > 0 and low < 0
    value = float(low * unit)
    return float(np.copysign(above, x)) if abs(value) > 2.0**15 else value


@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
@pytest.mark.parametrize("saturation", ["ON", "OFF"])
def test_narrowing(mode, saturation):
    x = samples()
    attrs = f"rmode = #pto<round_mode {mode}>, sat_mode = #pto<saturation_mode {saturation}>"
    got = HIF8_NUMBERS[convert(x, "f32", HIF8, attrs)]
    want = np.array([expected(float(v), mode, saturation == "ON") for v in x.flat]).reshape(x.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("src", ["f16", "bf16"])
def test_narrowing_of_halves(src):
    x = np.arange(65536, dtype=np.uint16)[::37].copy()[:1728].view(DTYPES[src]).reshape(-1, 64)
    got = HIF8_NUMBERS[convert(x, src, HIF8, "rmode = #pto<round_mode RINT>")]
    want = [expected(float(v), "RINT", False) for v in x.astype(np.float64).flat]
    np.testing.assert_array_equal(got, np.array(want).reshape(x.shape))


def test_product():
    rng = np.random.default_rng(2)
    x, w = (rng.integers(0, 0x60, s).astype(np.uint8) for s in [(16, 64), (64, 32)])
    y = np.zeros((16, 32), np.float32)
    Code(PRODUCT.format(HIF8))("f", x, w, y)
    np.testing.assert_allclose(y, HIF8_NUMBERS[x] @ HIF8_NUMBERS[w], rtol=1e-5)


# An accumulator stored as other elements: the product of PRODUCT in single precision.
EXITS = {
    HIF8: (np.uint8, lambda codes: HIF8_NUMBERS[codes]),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, lambda a: a.astype(np.float64)),
    "f8E5M2": (ml_dtypes.float8_e5m2, lambda a: a.astype(np.float64)),
    "f16": (np.float16, lambda a: a.astype(np.float64)),
    "f32": (np.float32, lambda a: a.astype(np.float64)),
}


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", EXITS)
def test_accumulator_leaves_with_a_scale(name, relu):
    text = PRODUCT.format("f32").replace("%y: !pto.ptr<f32>", f"%y: !pto.ptr<{name}>, %s: i64")
    text = text.replace("%yv = pto.make_tensor_view %y, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>",
                        f"%yv = pto.make_tensor_view %y, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x{name}>")  # fmt: skip
    text = text.replace("!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x32xf32>",
                        f"!pto.tensor_view<?x?x{name}> -> !pto.partition_tensor_view<16x32x{name}>")  # fmt: skip
    acc = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    attrs = " {reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else ""
    text = text.replace(
        f"pto.tstore ins(%a : {acc}) outs(%yp : !pto.partition_tensor_view<16x32xf32>)",
        f"pto.tstore ins(%a : {acc}, %s : i64) outs(%yp : !pto.partition_tensor_view<16x32x{name}>){attrs}",
    )
    assert "%s : i64" in text
    rng = np.random.default_rng(4)
    x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in [(16, 64), (64, 32)])
    dtype, read = EXITS[name]
    y = np.zeros((16, 32), dtype)
    scale = np.float32(0.37)
    Code(text)("f", x, w, y, int(scale.view(np.uint32)))
    product = (x @ w) * scale
    product = np.maximum(product, 0) if relu else product
    if name == HIF8:
        want = np.array([expected(float(v), "RINT", True) for v in product.flat]).reshape(16, 32)
    else:
        want = product.astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(read(y), want)
