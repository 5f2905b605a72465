// RUN: %pto-opt %s -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 8x32xf32>
!TV = !pto.tensor_view<8x32xf32>
func.func @other(%v: !TV, %t: !V) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  // expected-note @below {{prior use here}}
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c4, %c32] : !TV
  // expected-error @below {{expects different type than prior uses}}
  pto.tload ins(%w : !pto.partition_tensor_view<8x32xf32>) outs(%t : !V)
  return
}

// -----
!V = !pto.tile_buf<vec, 8x32xf32>
!H = !pto.tile_buf<vec, 8x32xf16>
// Only a mask pattern stands behind a comma.
func.func @comma(%t: !V, %h: !H) {
  // expected-error @below {{expected an operand behind the comma; attributes follow the last operand without one}}
  pto.tcvt ins(%t, {rmode = #pto<round_mode RINT>} : !V) outs(%h : !H)
  return
}

// -----
!V = !pto.tile_buf<vec, 8x32xf32>
func.func @comma_at_the_end(%t: !V) {
  // expected-error @below {{expected an operand behind the comma}}
  pto.tabs ins(%t, : !V) outs(%t : !V)
  return
}

// -----
!TV = !pto.tensor_view<8x32xf32>
func.func @dimension(%v: !TV) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{dimension 2 is out of range: a view of rank 2 has the dimensions 0 to 1}}
  %d = pto.get_tensor_view_dim %v, %c2 : !TV -> index
  return
}

// -----
!TV = !pto.tensor_view<8x32xf32>
func.func @stride(%v: !TV, %n: index) {
  %m = arith.constant -1 : index
  %t = pto.get_tensor_view_stride %v, %n : !TV -> index
  // expected-error @below {{dimension -1 is out of range}}
  %s = pto.get_tensor_view_stride %v, %m : !TV -> index
  return
}

// -----
!V = !pto.tile_buf<vec, 8x32xf32>
func.func @result(%t: !V) {
  // expected-error @below {{the result is an index, got 'i32'}}
  %r = pto.tile_valid_rows %t : !V -> i32
  return
}
