"""Four-bit floats, two to a byte with the low half first: copies, windows, conversions, products with scales."""

from __future__ import annotations

import ml_dtypes
import native
import numpy as np
import pytest
from elements import E1M2, E2M1, FP4_MAGNITUDES, NUMBERS, pack, unpack
from native import DTYPES, Code, CompileError, Program
from test_fp8 import MX


def random_codes(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 16, shape).astype(np.uint8)


@pytest.mark.parametrize("name", FP4_MAGNITUDES)
@pytest.mark.parametrize(
    "shape", [(1, 64, 1, 1), (1, 64, 1, 2), (4, 64, 4, 64), (5, 64, 5, 33), (3, 64, 0, 7)]
)
def test_copies(name, shape):
    """An odd extent leaves the other half of its last byte alone."""
    rows, cols, vr, vc = shape
    x = random_codes(rows, cols)
    p = Program()
    px, py = p.pointer(name), p.pointer(name)
    t = p.tile(name, rows, cols, vr, vc)
    p.load(p.view(px, name, [rows, cols], sizes=[vr, vc]), t)
    p.store(t, p.view(py, name, [rows, cols], sizes=[vr, vc]))
    y = pack(np.full((rows, cols), 9))
    Code(p.text())("f", pack(x), y)
    want = np.full((rows, cols), 9)
    want[:vr, :vc] = x[:vr, :vc]
    np.testing.assert_array_equal(unpack(y), want)


@pytest.mark.parametrize("at", [(0, 0), (1, 2), (2, 5), (3, 31)])
def test_windows_start_at_either_half_of_a_byte(at):
    x = random_codes(8, 96)
    p = Program()
    px, py = p.pointer(E2M1), p.pointer(E2M1)
    t = p.tile(E2M1, 4, 64)
    p.load(p.view(px, E2M1, [8, 96], offsets=list(at), sizes=[4, 64]), t)
    p.store(t, p.view(py, E2M1, [8, 96], offsets=[4, 96 - 64 - at[1]], sizes=[4, 64]))
    y = pack(np.full((8, 96), 6))
    Code(p.text())("f", pack(x), y)
    want = np.full((8, 96), 6)
    want[4:, 32 - at[1] : 96 - at[1]] = x[at[0] : at[0] + 4, at[1] : at[1] + 64]
    np.testing.assert_array_equal(unpack(y), want)


def test_moves_between_tiles():
    """The second tile lies behind the first at its bytes: half of its columns."""
    x = random_codes(4, 64)
    p = Program()
    px, py = p.pointer(E1M2), p.pointer(E1M2)
    a, b = p.tile(E1M2, 4, 64, addr=0), p.tile(E1M2, 4, 64, addr=4 * 32)
    p.load(p.view(px, E1M2, [4, 64]), a)
    p.op("tmov", [a], [b])
    p.load(p.view(px, E1M2, [4, 64], offsets=[0, 0], sizes=[1, 64]), a)
    p.store(b, p.view(py, E1M2, [4, 64]))
    y = np.zeros((4, 32), np.uint8)
    Code(p.text())("f", pack(x), y)
    np.testing.assert_array_equal(unpack(y), x)


def convert(values, src: str, dst: str, attrs: str, out):
    rows, cols = values.shape if src in DTYPES else (values.shape[0], 2 * values.shape[1])
    return native.convert(values, (rows, cols), src, dst, attrs, out)


@pytest.mark.parametrize("name", FP4_MAGNITUDES)
@pytest.mark.parametrize("dst", ["bf16", "f32"])
def test_every_code_widens(name, dst):
    codes = np.arange(64, dtype=np.uint8).reshape(1, 64) % 16
    got = convert(
        pack(codes), name, dst, "rmode = #pto<round_mode NONE>", np.zeros((1, 64), DTYPES[dst])
    )
    np.testing.assert_array_equal(got.astype(np.float64), NUMBERS[name][codes])


@pytest.mark.parametrize("name", FP4_MAGNITUDES)
@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
def test_narrowing(name, mode):
    """All of bfloat16 but NaN: what is too large becomes the largest number."""
    x = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
    x = x[~np.isnan(x.astype(np.float32))]
    x = (
        np.concatenate([x, np.zeros(-len(x) % 1024, ml_dtypes.bfloat16)])
        .reshape(-1, 1024)[::3]
        .copy()
    )
    got = convert(
        x, "bf16", name, f"rmode = #pto<round_mode {mode}>", np.zeros((len(x), 512), np.uint8)
    )
    numbers = FP4_MAGNITUDES[name]
    v = x.astype(np.float64)
    magnitude = np.minimum(np.abs(v), numbers[-1])
    low = numbers[np.searchsorted(numbers, magnitude, side="right") - 1]
    high = numbers[np.searchsorted(numbers, magnitude, side="left")]
    even = np.searchsorted(numbers, low) % 2 == 0
    middle = (low + high) / 2
    up = {
        "RINT": (magnitude > middle) | ((magnitude == middle) & ~even),
        "ROUND": magnitude >= middle,
        "FLOOR": np.signbit(v),
        "CEIL": ~np.signbit(v),
        "TRUNC": np.zeros(v.shape, bool),
    }[mode]
    np.testing.assert_array_equal(
        NUMBERS[name][unpack(got)], np.copysign(np.where(up, high, low), v)
    )


def test_e2m1_as_ml_dtypes_has_it():
    x = np.random.default_rng(3).uniform(-8, 8, (32, 64)).astype(np.float32)
    got = convert(x, "f32", E2M1, "rmode = #pto<round_mode RINT>", np.zeros((32, 32), np.uint8))
    np.testing.assert_array_equal(unpack(got), x.astype(ml_dtypes.float4_e2m1fn).view(np.uint8))


@pytest.mark.parametrize("name", FP4_MAGNITUDES)
def test_product_with_shared_scales(name):
    rng = np.random.default_rng(5)
    x, w = random_codes(16, 64, seed=6), random_codes(64, 32, seed=7)
    xs, ws = (rng.integers(120, 134, s).astype(np.uint8) for s in [(16, 2), (2, 32)])
    y = np.zeros((16, 32), np.float32)
    Code(MX.replace("f8E4M3FN", name))("f", pack(x), pack(w), xs, ws, y)
    left = NUMBERS[name][x] * np.exp2(np.repeat(xs.astype(np.float64) - 127, 32, axis=1))
    right = NUMBERS[name][w] * np.exp2(np.repeat(ws.astype(np.float64) - 127, 32, axis=0))
    np.testing.assert_allclose(y, 2 * (left @ right), rtol=1e-5, atol=1e-4)


def test_what_packed_elements_cannot_do():
    p = Program()
    p.pointer(E2M1)
    t = p.tile(E2M1, 4, 64)
    p.op("tconcat", [t, t], [p.tile(E2M1, 4, 128)])
    with pytest.raises(CompileError, match="'pto.tconcat' has no code for packed elements|elem"):
        Code(p.text())
    p = Program()
    part = p.view(p.pointer(E2M1), E2M1, [4, 64])
    p.load(part, p.tile("ui8", 4, 64))
    with pytest.raises(CompileError, match="between packed elements and others"):
        Code(p.text())
