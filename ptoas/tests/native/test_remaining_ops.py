"""Ops that need operands of their own: masks, quantisation, indices, slots, structs, sections, text."""

from __future__ import annotations

import numpy as np
import pytest
from native import Code, Program
from test_more_ops import program
from test_ops import SHAPES, check, random, run_everywhere

rng = np.random.default_rng(0)


def one_shot(build, arrays, outputs):
    (text, scalars), outs = build(False), [o.copy() for o in outputs]
    Code(text)("f", *arrays, *outs, *scalars)
    return outs


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
def test_select_against_a_scalar(dtype):
    shape = (4, 64, 4, 61)
    a = random(rng, dtype, (4, 64))
    tile = (dtype, 4, 64)

    def body(p, tiles, out):
        mask = p.tile("ui8", 4, 64)
        p.op(
            "tcmps",
            [tiles[0], (p.const("1.0" if dtype[0] == "f" else "1", dtype), dtype)],
            [mask],
            inside="cmpMode = #pto<cmp gt>",
        )
        p.op(
            "tsels",
            [mask, tiles[0], (p.const("7.0" if dtype[0] == "f" else "7", dtype), dtype)],
            [out],
        )

    (got,) = run_everywhere(program(shape, [tile], tile, body), [a], [np.full((4, 64), 7, a.dtype)])
    check(got, np.where(a > 1, a, 7), shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["INT8_SYM", "INT8_ASYM"])
def test_quantise(kind, shape):
    rows, cols = shape[:2]
    a = random(rng, "f32", (rows, cols), -3, 3)
    scale = random(rng, "f32", (rows, 1), 10, 30)
    offset = random(rng, "f32", (rows, 1), 100, 120)
    symmetric = kind == "INT8_SYM"
    out = "i8" if symmetric else "ui8"
    ins = [("f32", rows, cols), ("f32", rows, 1)] + ([] if symmetric else [("f32", rows, 1)])
    build = program(
        shape, ins, (out, rows, cols),
        lambda p, t, o: p.op("tquant", t, [o], f"quant_type = #pto<quant_type {kind}>"),
    )  # fmt: skip
    arrays = [a, scale] + ([] if symmetric else [offset])
    (got,) = run_everywhere(
        build, arrays, [np.full((rows, cols), 7, np.dtype(np.int8 if symmetric else np.uint8))]
    )
    want = np.rint(a * scale + (0 if symmetric else offset))
    check(got, np.clip(want, *((-128, 127) if symmetric else (0, 255))), shape, 1.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["i8", "i16"])
def test_dequantise(dtype, shape):
    rows, cols = shape[:2]
    a = random(rng, dtype, (rows, cols))
    scale, offset = random(rng, "f32", (rows, 1), 0.5, 2), random(rng, "f32", (rows, 1), -9, 9)
    build = program(
        shape, [(dtype, rows, cols), ("f32", rows, 1), ("f32", rows, 1)], ("f32", rows, cols),
        lambda p, t, o: p.op("tdequant", t, [o]),
    )  # fmt: skip
    (got,) = run_everywhere(build, [a, scale, offset], [np.full((rows, cols), 7, np.float32)])
    check(got, (a.astype(np.float64) - offset) * scale, shape, 1e-5)


@pytest.mark.parametrize("op", ["tcolargmax", "tcolargmin"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[2]])
def test_column_arg(op, shape):
    rows, cols, vr, vc = shape
    a = random(rng, "f32", (rows, cols))
    build = program(
        (rows, cols, vr, vc), [("f32", rows, cols)], ("i32", 1, cols),
        lambda p, t, o: p.op(op, t, [o]),
    )  # fmt: skip
    got = one_shot(build, [a], [np.full((1, cols), 7, np.int32)])[0]
    want = getattr(a[:vr, :vc], op[4:])(0)
    np.testing.assert_array_equal(got[0, :vc], want)


@pytest.mark.parametrize("op", ["tpartargmax", "tpartargmin"])
def test_part_arg(op):
    a, b = (random(rng, "f32", (4, 32)) for _ in range(2))
    b[:, ::5] = a[:, ::5]  # a tie goes to the second
    i, j = (np.arange(s, s + 128, dtype=np.int32).reshape(4, 32) for s in (0, 1000))
    p = Program()
    names = [p.pointer(d) for d in ("f32", "f32", "i32", "i32", "f32", "i32")]
    views = [
        p.view(x, d, [4, 32]) for x, d in zip(names, ("f32", "f32", "i32", "i32", "f32", "i32"))
    ]
    tiles = [p.tile(d, 4, 32) for d in ("f32", "f32", "i32", "i32", "f32", "i32")]
    for view, tile in zip(views[:4], tiles[:4]):
        p.load(view, tile)
    p.op(op, tiles[:4], tiles[4:])
    for view, tile in zip(views[4:], tiles[4:]):
        p.store(tile, view)
    d, e = np.zeros((4, 32), np.float32), np.zeros((4, 32), np.int32)
    Code(p.text())("f", a, b, i, j, d, e)
    first = a > b if op == "tpartargmax" else a < b
    np.testing.assert_array_equal(d, np.where(first, a, b))
    np.testing.assert_array_equal(e, np.where(first, i, j))


def test_gather_and_scatter_of_rows():
    x = random(rng, "f32", (16, 64))
    index = np.array([[3, 0, 15, 3]], np.int32)
    p = Program()
    px, pi, py, pz = p.pointer("f32"), p.pointer("i32"), p.pointer("f32"), p.pointer("f32")
    vx, vi = p.view(px, "f32", [16, 64]), p.view(pi, "i32", [1, 4])
    vy, vz = p.view(py, "f32", [4, 64]), p.view(pz, "f32", [16, 64])
    rows = p.tile("i32", 1, 8, 1, 4)
    p.load(vi, rows)
    t = p.tile("f32", 4, 64)
    p.op("mgather", [vx, rows], [t], "coalesce = #pto<coalesce row>")
    p.store(t, vy)
    p.op(
        "mscatter",
        [t, rows],
        [vz],
        "coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>",
    )
    y, z = np.zeros((4, 64), np.float32), np.ones((16, 64), np.float32)
    Code(p.text())("f", x, index, y, z)
    np.testing.assert_array_equal(y, x[index[0]])
    want = np.ones((16, 64), np.float32)
    np.add.at(want, index[0], x[index[0]])
    np.testing.assert_array_equal(z, want)


@pytest.mark.parametrize("op", ["tfillpad", "tfillpad_inplace", "tfillpad_expand"])
def test_fill(op):
    x = random(rng, "f32", (4, 64))
    p = Program()
    px, py = p.pointer("f32"), p.pointer("f32")
    src = p.tile("f32", 4, 64, 3, 50)
    cols = 128 if op == "tfillpad_expand" else 64
    dst = p.tile("f32", 4, cols, extra=", pad=3")
    p.load(p.view(px, "f32", [4, 64], sizes=[3, 50]), src)
    if op == "tfillpad_inplace":
        dst = p.tile("f32", 4, 64, 3, 50, extra=", pad=3")
        p.op("tmov", [src], [dst])
        p.op(op, [dst], [dst])
        p.store(dst, p.view(py, "f32", [4, 64], sizes=[3, 50]))
    else:
        p.op(op, [src], [dst])
        p.store(dst, p.view(py, "f32", [4, cols]))
    y = np.zeros((4, cols), np.float32)
    Code(p.text())("f", x, y)
    np.testing.assert_array_equal(y[:3, :50], x[:3, :50])
    if op != "tfillpad_inplace":
        outside = y.copy()
        outside[:3, :50] = outside[3, 50]
        assert (outside == outside[3, 50]).all() and outside[3, 50] <= np.finfo(np.float32).min


def test_pack_keeps_the_low_bytes():
    x = rng.integers(-(2**31), 2**31 - 1, (4, 64)).astype(np.int32)
    for dtype, wide in (("i16", np.int16), ("i8", np.int8)):
        p = Program()
        px, py = p.pointer("i32"), p.pointer(dtype)
        src, dst = p.tile("i32", 4, 64), p.tile(dtype, 4, 64)
        p.load(p.view(px, "i32", [4, 64]), src)
        p.op("tpack", [src], [dst])
        p.store(dst, p.view(py, dtype, [4, 64]))
        y = np.zeros((4, 64), wide)
        Code(p.text())("f", x, y)
        np.testing.assert_array_equal(y, x.astype(wide))


SLOTS = """
!V = !pto.tile_buf<vec, 8x64xf32>
!M = !pto.multi_tile_buf<vec, 8x64xf32, count=2>
!P = !pto.partition_tensor_view<8x64xf32>
!T = !pto.tensor_view<?x?xf32>
!ST = !pto.struct<i32, !pto.struct<i64, f32>>
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: !pto.ptr<i64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %e = arith.constant 5 : i64
    %xv = pto.make_tensor_view %x, shape = [%c32, %c64], strides = [%c64, %c1] : !T
    %yv = pto.make_tensor_view %y, shape = [%c32, %c64], strides = [%c64, %c1] : !T
    %m = pto.alloc_multi_tile : !M
    scf.for %i = %c0 to %c32 step %c8 {
      %k = arith.divui %i, %c8 : index
      %s = arith.remui %k, %c2 : index
      %t = pto.multi_tile_get %m[%s] : !M -> !V
      %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !T -> !P
      %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !T -> !P
      pto.tload ins(%xp : !P) outs(%t : !V)
      pto.section.vector {
        pto.tneg ins(%t : !V) outs(%t : !V)
      }
      pto.tstore ins(%t : !V) outs(%yp : !P)
    }
    %r = pto.declare_struct -> !ST
    pto.struct_set %r [1, 0], %e : !ST, i64
    %f = pto.struct_get %r [1, 0] : !ST -> i64
    pto.store_scalar %f, %n[%c0] : !pto.ptr<i64>, i64
    %w = pto.ptrtoint %n : !pto.ptr<i64> -> i64
    %q = pto.inttoptr %w : i64 -> !pto.ptr<i64>
    pto.store_scalar %e, %q[%c1] : !pto.ptr<i64>, i64
    return
  }
}"""


def test_slots_structs_sections_and_pointers():
    x, y, n = random(rng, "f32", (32, 64)), np.zeros((32, 64), np.float32), np.zeros(2, np.int64)
    Code(SLOTS)("f", x, y, n)
    np.testing.assert_array_equal(y, -x)
    np.testing.assert_array_equal(n, [5, 5])


def test_text(capfd):
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%s: f32, %n: i32) {
    %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
    pto.texpands ins(%s : f32) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
    pto.tprint ins(%t : !pto.tile_buf<vec, 1x8xf32>)
    pto.print ins("n=%d.", %n : i32)
    return
  }
}"""
    import ctypes

    Code(text)("f", ctypes.c_float(2.5), ctypes.c_int32(7))
    said = capfd.readouterr().out
    assert said.count("2.5000") == 8 and "tile 1x8" in said and "n=7." in said


def test_extended_integers():
    text = """
module {
  func.func @f(%x: !pto.ptr<i32>, %a: i32, %b: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %s, %o = arith.addui_extended %a, %b : i32, i1
    %w = arith.extui %o : i1 to i32
    %sl, %sh = arith.mulsi_extended %a, %b : i32
    %ul, %uh = arith.mului_extended %a, %b : i32
    pto.store_scalar %s, %x[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %w, %x[%c1] : !pto.ptr<i32>, i32
    pto.store_scalar %sh, %x[%c2] : !pto.ptr<i32>, i32
    pto.store_scalar %uh, %x[%c3] : !pto.ptr<i32>, i32
    return
  }
}"""
    import ctypes

    x = np.zeros(4, np.int32)
    Code(text)("f", x, ctypes.c_int32(-2), ctypes.c_int32(3))
    np.testing.assert_array_equal(x, [1, 1, -1, 2])


CUBE = """
!M = !pto.tile_buf<mat, {0}, blayout=col_major, slayout=row_major>
!K = !pto.tile_buf<mat, 64x32xf16, blayout=col_major, slayout=row_major>
!MO = !pto.tile_buf<mat, {1}xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, {0}, blayout=col_major, slayout=row_major>
!R = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, {1}xf32, blayout=col_major, slayout=row_major, fractal=1024>
!BM = !pto.tile_buf<mat, 1x32xf32>
!B = !pto.tile_buf<bias, 1x32xf32>
!T = !pto.tensor_view<?x?xf16>
!TF = !pto.tensor_view<?x?xf32>
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %z: !pto.ptr<f32>, %y: !pto.ptr<f32>, %h: !pto.ptr<f16>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant {2} : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%m, %c64], strides = [%c64, %c1] : !T
    %wv = pto.make_tensor_view %w, shape = [%c64, %c32], strides = [%c32, %c1] : !T
    %zv = pto.make_tensor_view %z, shape = [%c1, %c32], strides = [%c32, %c1] : !TF
    %yv = pto.make_tensor_view %y, shape = [%m, %c32], strides = [%c32, %c1] : !TF
    %hv = pto.make_tensor_view %h, shape = [%m, %c32], strides = [%c32, %c1] : !T
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%m, %c64] : !T -> !pto.partition_tensor_view<?x?xf16>
    %wp = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !T -> !pto.partition_tensor_view<?x?xf16>
    %zp = pto.partition_view %zv, offsets = [%c0, %c0], sizes = [%c1, %c32] : !TF -> !pto.partition_tensor_view<?x?xf32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%m, %c32] : !TF -> !pto.partition_tensor_view<?x?xf32>
    %hp = pto.partition_view %hv, offsets = [%c0, %c0], sizes = [%m, %c32] : !T -> !pto.partition_tensor_view<?x?xf16>
    %xm = pto.alloc_tile : !M
    %wm = pto.alloc_tile : !K
    %zm = pto.alloc_tile : !BM
    %l = pto.alloc_tile : !L
    %r = pto.alloc_tile : !R
    %b = pto.alloc_tile : !B
    %a = pto.alloc_tile : !A
    pto.tload ins(%xp : !pto.partition_tensor_view<?x?xf16>) outs(%xm : !M)
    pto.tload ins(%wp : !pto.partition_tensor_view<?x?xf16>) outs(%wm : !K)
    pto.tload ins(%zp : !pto.partition_tensor_view<?x?xf32>) outs(%zm : !BM)
    pto.tmov ins(%xm : !M) outs(%l : !L)
    pto.tmov ins(%wm : !K) outs(%r : !R)
    pto.tmov ins(%zm : !BM) outs(%b : !B)
    pto.section.cube {{
{3}
    }}
    return
  }}
}}"""


def cube(shape, out, rows, body):
    x, w = random(rng, "f16", (rows, 64), -1, 1), random(rng, "f16", (64, 32), -1, 1)
    z, y, h = (
        random(rng, "f32", (1, 32)),
        np.zeros((rows, 32), np.float32),
        np.zeros((rows, 32), np.float16),
    )
    Code(CUBE.format(f"{shape}xf16", out, rows, body))("f", x, w, z, y, h)
    return x.astype(np.float64) @ w.astype(np.float64), w, z, y, h


STORE = "pto.tstore ins(%a : !A) outs(%yp : !pto.partition_tensor_view<?x?xf32>)"


def test_vector_times_matrix():
    product, _, z, y, _ = cube(
        "1x64", "1x32", 1,
        "pto.tgemv.bias ins(%l, %r, %b : !L, !R, !B) outs(%a : !A)\n"
        "pto.tgemv.acc ins(%a, %l, %r : !A, !L, !R) outs(%a : !A)\n" + STORE,
    )  # fmt: skip
    np.testing.assert_allclose(y, 2 * product + z, rtol=1e-5, atol=1e-5)


def test_insert_into_l1():
    product, w, _, _, h = cube(
        "16x64", "16x32", 16,
        "pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)\n"
        "%o = pto.alloc_tile : !MO\n"
        "pto.tinsert ins(%a, %c0, %c0 : !A, index, index) outs(%o : !MO)\n"
        "%l2 = pto.alloc_tile : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>\n"
        "pto.tmov ins(%o : !MO) outs(%l2 : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>)\n"
        "%w2 = pto.alloc_tile : !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>\n"
        "%wq = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c32, %c32] : !T -> !pto.partition_tensor_view<?x?xf16>\n"
        "pto.tload ins(%wq : !pto.partition_tensor_view<?x?xf16>) outs(%w2 : !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>)\n"
        "%r2 = pto.alloc_tile : !pto.tile_buf<right, 32x32xf16, slayout=col_major>\n"
        "pto.tmov ins(%w2 : !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>) outs(%r2 : !pto.tile_buf<right, 32x32xf16, slayout=col_major>)\n"
        "%a2 = pto.alloc_tile : !A\n"
        "pto.tmatmul ins(%l2, %r2 : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>, !pto.tile_buf<right, 32x32xf16, slayout=col_major>) outs(%a2 : !A)\n"
        "pto.tstore ins(%a2 : !A) outs(%hp : !pto.partition_tensor_view<?x?xf16>)",
    )  # fmt: skip
    want = product.astype(np.float16).astype(np.float64) @ w[:32].astype(np.float64)
    np.testing.assert_allclose(h, want, rtol=2e-3, atol=2e-3)


def test_assigned_address():
    """Two level3 handles on one address see the same bytes."""
    text = """
!V = !pto.tile_buf<vec, 8x64xf32>
!P = !pto.partition_tensor_view<8x64xf32>
!T = !pto.tensor_view<?x?xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !T
    %yv = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : !T
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !T -> !P
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !T -> !P
    %t = pto.alloc_tile addr = %a0 : !V
    %u = pto.alloc_tile addr = %a1 : !V
    %w = pto.tassign %u, %a0 : !V -> !V
    pto.tload ins(%xp : !P) outs(%t : !V)
    pto.texp ins(%w : !V) outs(%u : !V)
    pto.tstore ins(%u : !V) outs(%yp : !P)
    return
  }
}"""
    x, y = random(rng, "f32", (8, 64)), np.zeros((8, 64), np.float32)
    Code(text)("f", x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_gather_of_blocks():
    """Offsets in bytes, one for each block of 32."""
    x = np.arange(256, dtype=np.float32).reshape(4, 64)
    offsets = np.array([[96, 0, 32, 64, 224, 192, 160, 128]] * 4, np.uint32)
    p = Program()
    px, po, py = p.pointer("f32"), p.pointer("ui32"), p.pointer("f32")
    src, at, dst = p.tile("f32", 4, 64), p.tile("ui32", 4, 8), p.tile("f32", 4, 64)
    p.load(p.view(px, "f32", [4, 64]), src)
    p.load(p.view(po, "ui32", [4, 8]), at)
    p.op("tgatherb", [src, at], [dst])
    p.store(dst, p.view(py, "f32", [4, 64]))
    y = np.zeros((4, 64), np.float32)
    Code(p.text())("f", x, offsets, y)
    want = x[0].reshape(8, 8)[offsets[0] // 32].reshape(64)
    np.testing.assert_array_equal(y[0], want)
