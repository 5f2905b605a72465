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

// -----
// A kernel kind says which core a function is compiled for; the text is legal all the same.
!V = !pto.tile_buf<vec, 16x64xf32>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-warning @below {{'pto.tadd' op runs on a vector core, but this function is compiled for a cube core (pto.kernel_kind)}}
  pto.tadd ins(%v, %v : !V, !V) outs(%v : !V)
  return
}
func.func @vector(%l: !L, %k: !K, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-warning @below {{'pto.tmatmul' op runs on a cube core, but this function is compiled for a vector core (pto.kernel_kind)}}
  pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !A)
  return
}
func.func @loads(%p: !pto.partition_tensor_view<16x64xf32>, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-warning @below {{'pto.tload' op moves a tile in loc vec, but this function is compiled for a cube core, which does not reach it}}
  pto.tload ins(%p : !pto.partition_tensor_view<16x64xf32>) outs(%v : !V)
  return
}
func.func @stores(%p: !pto.partition_tensor_view<16x32xf32>, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-warning @below {{'pto.tstore' op moves a tile in loc acc, but this function is compiled for a vector core, which does not reach it}}
  pto.tstore ins(%a : !A) outs(%p : !pto.partition_tensor_view<16x32xf32>)
  return
}
func.func @both(%v: !V, %l: !L, %k: !K, %a: !A) {
  pto.tadd ins(%v, %v : !V, !V) outs(%v : !V)
  pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !A)
  return
}

// -----
func.func @orders() {
  // expected-warning @below {{'pto.alloc_tile' op the matrix unit reads a tile in loc left as slayout row_major}}
  %l = pto.alloc_tile : !pto.tile_buf<left, 16x64xf16>
  // expected-warning @below {{the matrix unit reads a tile in loc right as blayout row_major and slayout col_major}}
  %k = pto.alloc_tile : !pto.tile_buf<right, 64x32xf16>
  // expected-warning @below {{the matrix unit reads a tile in loc acc as blayout col_major and slayout row_major}}
  %a = pto.alloc_tile : !pto.tile_buf<acc, 16x32xf32>
  return
}

// -----
func.func @token() {
  // expected-warning @below {{'pto.get_buf' op names a token of a buffer, which only A5 has}}
  pto.get_buf "PIPE_V", 0, 0
  // expected-warning @below {{'pto.rls_buf' op names a token of a buffer, which only A5 has}}
  pto.rls_buf "PIPE_V", 0, 0
  return
}

// -----
// expected-error @below {{a multi_tile_buf cannot be an argument or a result of a function}}
func.func private @slots(!pto.multi_tile_buf<vec, 16x16xf16, count=2>)
