"""Eight-bit floats: conversions bit for bit as ml_dtypes has them, copies, products."""

from __future__ import annotations

import ml_dtypes
import native
import numpy as np
import pytest
from native import DTYPES, Code, Program

FORMATS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
HIF8 = "!pto.hif8"  # NumPy has none: as bytes
ALL = {**DTYPES, **FORMATS, HIF8: np.uint8}


def convert(values, src: str, dst: str, attrs: str):
    out = np.zeros(values.shape, ALL[dst])
    return native.convert(values, values.shape, src, dst, attrs, out)


RINT = "rmode = #pto<round_mode RINT>, sat_mode = #pto<saturation_mode {}>"


def interesting() -> np.ndarray:
    """Every half-precision number, which has all ties of both formats, and more in single precision."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    rng = np.random.default_rng(0)
    wide = (rng.uniform(-1, 1, 32768) * np.exp2(rng.uniform(-20, 18, 32768))).astype(np.float32)
    near = np.nextafter(halves[:32768], np.float32(np.inf))
    return np.concatenate([halves, wide, near]).reshape(512, 256)


@pytest.mark.parametrize("name", FORMATS)
def test_narrowing_is_exact(name):
    x = interesting()
    with np.errstate(all="ignore"):
        want = x.astype(FORMATS[name])
    for half in (slice(0, 256), slice(256, 512)):
        got = convert(x[half].copy(), "f32", name, RINT.format("OFF"))
        is_nan = np.isnan(want[half].astype(np.float32))
        np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), is_nan)
        np.testing.assert_array_equal(
            got.view(np.uint8)[~is_nan], want[half].view(np.uint8)[~is_nan]
        )


@pytest.mark.parametrize("name", FORMATS)
def test_saturation(name):
    largest = float(ml_dtypes.finfo(FORMATS[name]).max)
    x = np.array([[1e6, -1e6, np.inf, -np.inf, largest, largest * 1.5, 0.0, 1.0] * 4], np.float32)
    got = convert(x, "f32", name, RINT.format("ON")).astype(np.float32)
    np.testing.assert_array_equal(got, np.clip(x, -largest, largest))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dst", ["f32", "f16", "bf16"])
def test_widening_is_exact(name, dst):
    bits = np.arange(256, dtype=np.uint8).reshape(8, 32)
    got = convert(bits.view(FORMATS[name]), name, dst, "rmode = #pto<round_mode NONE>")
    want = bits.view(FORMATS[name]).astype(np.float32)
    np.testing.assert_array_equal(got.astype(np.float32), want)


@pytest.mark.parametrize("name", [*FORMATS, HIF8])
@pytest.mark.parametrize("shape", [(1, 32, 1, 1), (4, 64, 4, 64), (5, 64, 5, 33), (3, 32, 0, 7)])
def test_copies_keep_bytes(name, shape):
    rows, cols, vr, vc = shape
    x = np.random.default_rng(1).integers(0, 256, (rows, cols)).astype(np.uint8)
    p = Program()
    px, py = p.pointer(name), p.pointer(name)
    t = p.tile(name, rows, cols, vr, vc)
    p.load(p.view(px, name, [rows, cols], sizes=[vr, vc]), t)
    p.store(t, p.view(py, name, [rows, cols], sizes=[vr, vc]))
    y = np.full((rows, cols), 7, np.uint8)
    Code(p.text())("f", x, y)
    want = np.full((rows, cols), 7, np.uint8)
    want[:vr, :vc] = x[:vr, :vc]
    np.testing.assert_array_equal(y, want)


PRODUCT = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%x: !pto.ptr<{0}>, %w: !pto.ptr<{0}>, %y: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?x{0}>
    %wv = pto.make_tensor_view %w, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x{0}>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?x{0}> -> !pto.partition_tensor_view<16x64x{0}>
    %wp = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !pto.tensor_view<?x?x{0}> -> !pto.partition_tensor_view<64x32x{0}>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x32xf32>
    %xm = pto.alloc_tile : !pto.tile_buf<mat, 16x64x{0}, blayout=col_major, slayout=row_major>
    %wm = pto.alloc_tile : !pto.tile_buf<mat, 64x32x{0}, blayout=col_major, slayout=row_major>
    %l = pto.alloc_tile : !pto.tile_buf<left, 16x64x{0}, blayout=col_major, slayout=row_major>
    %r = pto.alloc_tile : !pto.tile_buf<right, 64x32x{0}, slayout=col_major>
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tload ins(%xp : !pto.partition_tensor_view<16x64x{0}>) outs(%xm : !pto.tile_buf<mat, 16x64x{0}, blayout=col_major, slayout=row_major>)
    pto.tload ins(%wp : !pto.partition_tensor_view<64x32x{0}>) outs(%wm : !pto.tile_buf<mat, 64x32x{0}, blayout=col_major, slayout=row_major>)
    pto.tmov ins(%xm : !pto.tile_buf<mat, 16x64x{0}, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<left, 16x64x{0}, blayout=col_major, slayout=row_major>)
    pto.tmov ins(%wm : !pto.tile_buf<mat, 64x32x{0}, blayout=col_major, slayout=row_major>) outs(%r : !pto.tile_buf<right, 64x32x{0}, slayout=col_major>)
    pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 16x64x{0}, blayout=col_major, slayout=row_major>, !pto.tile_buf<right, 64x32x{0}, slayout=col_major>) outs(%a : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    pto.tstore ins(%a : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>) outs(%yp : !pto.partition_tensor_view<16x32xf32>)
    return
  }}
}}"""


@pytest.mark.parametrize("name", FORMATS)
def test_product(name):
    rng = np.random.default_rng(2)
    x, w = (
        rng.uniform(-2, 2, s).astype(np.float32).astype(FORMATS[name]) for s in [(16, 64), (64, 32)]
    )
    y = np.zeros((16, 32), np.float32)
    Code(PRODUCT.format(name))("f", x, w, y)
    np.testing.assert_allclose(y, x.astype(np.float64) @ w.astype(np.float64), rtol=1e-5, atol=1e-5)


MX = """
!M = !pto.tile_buf<mat, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>
!K = !pto.tile_buf<mat, 64x32xf8E4M3FN, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>
!R = !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!SM = !pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>
!SK = !pto.tile_buf<mat, 2x32x!pto.f8E8M0, slayout=row_major, fractal=32>
!SL = !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>
!SR = !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, slayout=row_major, fractal=32>
!T = !pto.tensor_view<?x?xf8E4M3FN>
!TS = !pto.tensor_view<?x?x!pto.f8E8M0>
!TF = !pto.tensor_view<?x?xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<f8E4M3FN>, %w: !pto.ptr<f8E4M3FN>, %xs: !pto.ptr<!pto.f8E8M0>, %ws: !pto.ptr<!pto.f8E8M0>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !T
    %wv = pto.make_tensor_view %w, shape = [%c64, %c32], strides = [%c32, %c1] : !T
    %xsv = pto.make_tensor_view %xs, shape = [%c16, %c2], strides = [%c2, %c1] : !TS
    %wsv = pto.make_tensor_view %ws, shape = [%c2, %c32], strides = [%c32, %c1] : !TS
    %yv = pto.make_tensor_view %y, shape = [%c16, %c32], strides = [%c32, %c1] : !TF
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !T -> !pto.partition_tensor_view<16x64xf8E4M3FN>
    %wp = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !T -> !pto.partition_tensor_view<64x32xf8E4M3FN>
    %xsp = pto.partition_view %xsv, offsets = [%c0, %c0], sizes = [%c16, %c2] : !TS -> !pto.partition_tensor_view<16x2x!pto.f8E8M0>
    %wsp = pto.partition_view %wsv, offsets = [%c0, %c0], sizes = [%c2, %c32] : !TS -> !pto.partition_tensor_view<2x32x!pto.f8E8M0>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c32] : !TF -> !pto.partition_tensor_view<16x32xf32>
    %xm = pto.alloc_tile : !M
    %wm = pto.alloc_tile : !K
    %xsm = pto.alloc_tile : !SM
    %wsm = pto.alloc_tile : !SK
    %l = pto.alloc_tile : !L
    %r = pto.alloc_tile : !R
    %ls = pto.alloc_tile : !SL
    %rs = pto.alloc_tile : !SR
    %a = pto.alloc_tile : !A
    pto.tload ins(%xp : !pto.partition_tensor_view<16x64xf8E4M3FN>) outs(%xm : !M)
    pto.tload ins(%wp : !pto.partition_tensor_view<64x32xf8E4M3FN>) outs(%wm : !K)
    pto.tload ins(%xsp : !pto.partition_tensor_view<16x2x!pto.f8E8M0>) outs(%xsm : !SM)
    pto.tload ins(%wsp : !pto.partition_tensor_view<2x32x!pto.f8E8M0>) outs(%wsm : !SK)
    pto.tmov ins(%xm : !M) outs(%l : !L)
    pto.tmov ins(%wm : !K) outs(%r : !R)
    pto.tmov ins(%xsm : !SM) outs(%ls : !SL)
    pto.tmov ins(%wsm : !SK) outs(%rs : !SR)
    pto.tmatmul.mx ins(%l, %ls, %r, %rs : !L, !SL, !R, !SR) outs(%a : !A)
    pto.tmatmul.mx.acc ins(%a, %l, %ls, %r, %rs : !A, !L, !SL, !R, !SR) outs(%a : !A)
    pto.tstore ins(%a : !A) outs(%yp : !pto.partition_tensor_view<16x32xf32>)
    return
  }
}"""


def test_product_with_shared_scales():
    rng = np.random.default_rng(3)
    f8 = FORMATS["f8E4M3FN"]
    x, w = (rng.uniform(-2, 2, s).astype(np.float32).astype(f8) for s in [(16, 64), (64, 32)])
    xs, ws = (rng.integers(120, 134, s).astype(np.uint8) for s in [(16, 2), (2, 32)])
    y = np.zeros((16, 32), np.float32)
    Code(MX)("f", x, w, xs, ws, y)
    left = x.astype(np.float64) * np.exp2(np.repeat(xs.astype(np.float64) - 127, 32, axis=1))
    right = w.astype(np.float64) * np.exp2(np.repeat(ws.astype(np.float64) - 127, 32, axis=0))
    np.testing.assert_allclose(y, 2 * (left @ right), rtol=1e-5, atol=1e-4)
