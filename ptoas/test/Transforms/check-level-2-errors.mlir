// RUN: %pto-opt %s -pto-check-level=level=2 -split-input-file -verify-diagnostics

func.func @address() {
  %c0 = arith.constant 0 : i64
  // expected-error @below {{unexpected 'addr' operand: only supported when --pto-level=level3}}
  %t = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x64xf32>
  return
}

// -----
func.func @narrow() {
  // expected-error @below {{a row of an unboxed tile must be a multiple of 32 bytes (32-byte alignment), got 20 bytes}}
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x5xf32>
  return
}

// -----
func.func @box() {
  // expected-error @below {{columns of a boxed tile must be a multiple of the box width 16, got 24}}
  %t = pto.alloc_tile : !pto.tile_buf<mat, 32x24xf16, blayout=col_major, slayout=row_major>
  return
}

// -----
func.func @boxrows() {
  // expected-error @below {{rows of a boxed tile must be a multiple of the box height 16, got 24}}
  %t = pto.alloc_tile : !pto.tile_buf<mat, 24x32xf16, blayout=col_major, slayout=row_major>
  return
}

// -----
func.func @reserve() {
  // expected-error @below {{fixes its base, which is only possible when --pto-level=level3; use auto = true}}
  %b = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  return
}

// -----
func.func @assign(%t: !pto.tile_buf<vec, 16x64xf32>, %a: i64) {
  // expected-error @below {{is only supported when --pto-level=level3}}
  %u = pto.tassign %t, %a : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xf32>
  return
}
