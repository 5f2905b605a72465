// RUN: %pto-opt %s -split-input-file -verify-diagnostics

func.func @element(%p: !pto.ptr<f32>, %n: index) {
  // expected-error @below {{element type 'f16' of the view differs from 'f32', the element type of the pointer}}
  %v = "pto.make_tensor_view"(%p, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!pto.ptr<f32>, index, index) -> !pto.tensor_view<?xf16>
  return
}

// -----
func.func @rank(%p: !pto.ptr<f32>, %n: index) {
  // expected-error @below {{a view of rank 2 needs as many extents and strides, got 1 and 2}}
  %v = pto.make_tensor_view %p, shape = [%n], strides = [%n, %n] : !pto.tensor_view<?x?xf32>
  return
}

// -----
func.func @bounds(%v: !pto.tensor_view<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{the window is out of bounds in dimension 0: offset 8 + size 16 exceeds the extent 16}}
  %w = pto.partition_view %v, offsets = [%c8, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> -> !pto.partition_tensor_view<16x64xf32>
  return
}

// -----
func.func @size(%v: !pto.tensor_view<16x64xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{size 0 must be positive, got 0}}
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c0, %c0] : !pto.tensor_view<16x64xf32> -> !pto.partition_tensor_view<?x?xf32>
  return
}

// -----
func.func @missing(%n: index) {
  // expected-error @below {{needs the operand valid_row, because the type leaves that valid extent open (?)}}
  %t = pto.alloc_tile valid_col = %n : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  return
}

// -----
func.func @fixed(%n: index) {
  // expected-error @below {{has the operand valid_row, but the type fixes that valid extent to 16}}
  %t = pto.alloc_tile valid_row = %n : !pto.tile_buf<vec, 16x64xf32>
  return
}

// -----
func.func @toomany() {
  %c17 = arith.constant 17 : index
  // expected-error @below {{valid_row = 17 is not between 0 and 16}}
  %t = pto.alloc_tile valid_row = %c17 : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
  return
}

// -----
func.func @static(%n: index) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  // expected-error @below {{needs a tile whose valid extents are both dynamic (valid=?x?)}}
  pto.set_validshape %t, %n, %n : !pto.tile_buf<vec, 16x64xf32>
  return
}

// -----
func.func @bytes(%t: !pto.tile_buf<vec, 16x64xf32>) {
  // expected-error @below {{size must stay the same: the source has 4096 bytes, the result 2048 bytes}}
  %u = pto.treshape %t : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 8x64xf32>
  return
}

// -----
func.func @slot(%m: !pto.multi_tile_buf<vec, 16x64xf32, count=2>) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{slot 2 is not between 0 and 1}}
  %t = pto.multi_tile_get %m[%c2] : !pto.multi_tile_buf<vec, 16x64xf32, count=2> -> !pto.tile_buf<vec, 16x64xf32>
  return
}

// -----
func.func @box(%t: !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{row size and offset of a boxed tile must be multiples of the box (16x16)}}
  %u = pto.subview %t[%c8, %c0] sizes [16, 64] : !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major> -> !pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major>
  return
}

// -----
// expected-error @below {{an entry function must return nothing (void), but it has 1 result(s)}}
func.func @entry(%n: i32) -> i32 attributes {pto.entry} {
  return %n : i32
}
