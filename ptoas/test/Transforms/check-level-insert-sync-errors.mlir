// RUN: %pto-opt %s -pto-check-level="level=3 insert-sync=true" -allow-unregistered-dialect -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 16x64xf32>

// Where a tile lies would be known to the program only.
func.func @assigned() {
  %c0 = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %c0 : !V
  // expected-error @below {{requires --enable-insert-sync to be off}}
  %u = pto.tassign %t, %c0 : !V -> !V
  return
}

// -----
func.func @foreign() {
  // expected-error @below {{operation 'other.op' belongs to no dialect that can be assembled}}
  "other.op"() : () -> ()
  return
}
