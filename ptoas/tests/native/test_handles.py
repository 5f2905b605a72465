"""Tile handles and views: parts, other types and names of the same bytes, slots, extents that change."""

from __future__ import annotations

import numpy as np
import pytest
from native import Code, CompileError, Program

rng = np.random.default_rng(3)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_pointers_and_queries():
    """addptr, bitcast, subview, get_validshape, tile_valid_*, queries of tensor views."""
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<i32>, %y: !pto.ptr<f32>, %n: !pto.ptr<i64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %p = pto.addptr %x, %c16 : !pto.ptr<i32> -> !pto.ptr<i32>
    %xv = pto.make_tensor_view %p, shape = [%c4, %c16], strides = [%c16, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xi32>
    %yv = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<4x16xi32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 4x16xi32>
    pto.tload ins(%xp : !pto.partition_tensor_view<4x16xi32>) outs(%t : !pto.tile_buf<vec, 4x16xi32>)
    %u = pto.bitcast %t : !pto.tile_buf<vec, 4x16xi32> -> !pto.tile_buf<vec, 4x16xf32>
    %s = pto.subview %u[%c0, %c8] sizes [4, 8] : !pto.tile_buf<vec, 4x16xf32> -> !pto.tile_buf<vec, 4x8xf32>
    %o = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
    pto.tmov ins(%s : !pto.tile_buf<vec, 4x8xf32>) outs(%o : !pto.tile_buf<vec, 4x8xf32>)
    pto.tstore ins(%o : !pto.tile_buf<vec, 4x8xf32>) outs(%yp : !pto.partition_tensor_view<4x8xf32>)
    %w = pto.alloc_tile valid_row = %c3 valid_col = %c2 : !pto.tile_buf<vec, 4x16xf32, valid=?x?>
    %r, %c = pto.get_validshape %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?>
    %vr = pto.tile_valid_rows %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?> -> index
    %vc = pto.tile_valid_cols %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?> -> index
    %d = pto.get_tensor_view_dim %xv, %c1 : !pto.tensor_view<?x?xi32> -> index
    %st = pto.get_tensor_view_stride %xv, %c0 : !pto.tensor_view<?x?xi32> -> index
    %v0 = arith.index_cast %r : index to i64
    %v1 = arith.index_cast %c : index to i64
    %v2 = arith.index_cast %vr : index to i64
    %v3 = arith.index_cast %vc : index to i64
    %v4 = arith.index_cast %d : index to i64
    %v5 = arith.index_cast %st : index to i64
    %c5 = arith.constant 5 : index
    pto.store_scalar %v0, %n[%c0] : !pto.ptr<i64>, i64
    pto.store_scalar %v1, %n[%c1] : !pto.ptr<i64>, i64
    pto.store_scalar %v2, %n[%c2] : !pto.ptr<i64>, i64
    pto.store_scalar %v3, %n[%c3] : !pto.ptr<i64>, i64
    pto.store_scalar %v4, %n[%c4] : !pto.ptr<i64>, i64
    pto.store_scalar %v5, %n[%c5] : !pto.ptr<i64>, i64
    return
  }
}"""
    x = np.arange(80, dtype=np.int32).reshape(5, 16)
    y, n = np.zeros((4, 8), np.float32), np.zeros(6, np.int64)
    Code(text)("f", x, y, n)
    np.testing.assert_array_equal(y.view(np.int32), x[1:, 8:])
    np.testing.assert_array_equal(n, [3, 2, 3, 2, 16, 16])


@pytest.mark.parametrize("op", ["subset", "subview"])
@pytest.mark.parametrize("row,col", [(0, 0), (3, 8), (8, 24)])
def test_part_of_a_tile(op, row, col):
    """Constant and run-time offsets: the part is read, and what is written through it is seen in the whole."""
    p = Program("a5")
    x, y, z = (p.pointer("f32") for _ in range(3))
    r, c = p.scalar("index"), p.scalar("index")
    whole, read = p.tile("f32", 16, 32), p.tile("f32", 8, 8)
    p.load(p.view(x, "f32", [16, 32]), whole)
    part = "!pto.tile_buf<vec, 8x8xf32, valid=8x8>"
    for name, at in (("%fixed", (p.const(row), p.const(col))), ("%late", (r, c))):
        p.emit(
            f"{name} = pto.{op} {whole[0]}[{at[0]}, {at[1]}] sizes [8, 8] : {whole[1]} -> {part}"
        )
    p.op("tmov", [("%late", part)], [read])
    p.op("tneg", [("%fixed", part)], [("%fixed", part)])
    p.store(read, p.view(y, "f32", [8, 8]))
    p.store(whole, p.view(z, "f32", [16, 32]))
    data = normal(16, 32)
    window = np.s_[row : row + 8, col : col + 8]
    want = data.copy()
    want[window] *= -1
    for fuse in (True, False):
        got, after = np.zeros((8, 8), np.float32), np.zeros((16, 32), np.float32)
        Code(p.text(), fuse=fuse)("f", data, got, after, row, col)
        np.testing.assert_array_equal(got, data[window])
        np.testing.assert_array_equal(after, want)


def test_slots_in_turn_and_sections():
    """Four blocks of rows go through two slots; the code of a section of the vector core runs in place."""
    text = """
!V = !pto.tile_buf<vec, 8x64xf32>
!M = !pto.multi_tile_buf<vec, 8x64xf32, count=2>
!P = !pto.partition_tensor_view<8x64xf32>
!T = !pto.tensor_view<?x?xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
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
    return
  }
}"""
    x, y = normal(32, 64), np.zeros((32, 64), np.float32)
    Code(text)("f", x, y)
    np.testing.assert_array_equal(y, -x)


def test_assigned_address():
    """Two level3 handles on one address see the same bytes."""
    p = Program("a2a3")
    x, y = p.pointer("f32"), p.pointer("f32")
    first, other = p.tile("f32", 8, 64, addr=0), p.tile("f32", 8, 64, addr=4096)
    p.emit(f"%w = pto.tassign {other[0]}, {p.const(0, 'i64')} : {other[1]} -> {other[1]}")
    p.load(p.view(x, "f32", [8, 64]), first)
    p.op("texp", [("%w", other[1])], [other])
    p.store(other, p.view(y, "f32", [8, 64]))
    x, y = normal(8, 64), np.zeros((8, 64), np.float32)
    Code(p.text())("f", x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_elements_steer_extents():
    """Scalars read from a tile set the extents of another."""
    p = Program("a5")
    x, n, y = p.pointer("f32"), p.pointer("i32"), p.pointer("f32")
    counts = p.tile("i32", 1, 32)
    p.load(p.view(n, "i32", [1, 32]), counts)
    whole = p.tile("f32", 4, 32, p.index(4), p.index(32))
    p.load(p.view(x, "f32", [4, 32]), whole)
    p.emit(f"%k = pto.tgetval ins({counts[0]}, {p.const(2)} : {counts[1]}, index) outs : i32")
    p.emit("%ki = arith.index_cast %k : i32 to index")
    p.emit(f"pto.set_validshape {whole[0]}, {p.const(3)}, %ki : {whole[1]}")
    p.op("tmuls", [whole, (p.const("2.0", "f32"), "f32")], [whole])
    p.emit(f"pto.set_validshape {whole[0]}, {p.const(4)}, {p.const(32)} : {whole[1]}")
    p.op("tsetval", [(p.const(33), "index"), (p.const("-5.0", "f32"), "f32")], [whole])
    p.store(whole, p.view(y, "f32", [4, 32]))
    data = normal(4, 32)
    count = np.full((1, 32), 9, np.int32)
    count[0, 2] = 13
    want = data.copy()
    want[:3, :13] *= 2
    want[1, 1] = -5
    for fuse in (True, False):
        got = np.zeros((4, 32), np.float32)
        Code(p.text(), fuse=fuse)("f", data, count, got)
        np.testing.assert_array_equal(got, want)


def test_addresses_end_inside_the_memory():
    p = Program("a5")
    p.tile("f32", 8, 32, addr=9223372036854775776)
    with pytest.raises(CompileError, match="at address 9223372036854775776 ends behind 524288"):
        Code(p.text())
