// RUN: %pto-opt %s -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 16x64xf32>

// A pipe carries what its dir_mask says.
module attributes {pto.target_arch = "a5"} {
  func.func @pops(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the pipe is made here}}
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 4096} (v2c_consumer_buf = %b : i32)
    // expected-error @below {{moves data from cube to vector, but pipe 0 has the other direction only (dir_mask = 2)}}
    %t = pto.tpop_from_aic {split = 0} -> !V
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @pushes(%b: i32, %t: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the pipe is made here}}
    pto.aiv_initialize_pipe {id = 2, dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    pto.tpush_to_aic(%t : !V) {split = 0}
    // expected-error @below {{moves data from vector to cube, but pipe 2 has the other direction only (dir_mask = 1)}}
    pto.tpush_to_aic(%t : !V) {id = 2, split = 0}
    return
  }
}

// -----
// Peers find a buffer by its name.
func.func @names() {
  %a = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  %b = pto.reserve_buffer {name = "r", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  // expected-error @below {{reserves a buffer named "q" a second time; names must be unique in a function}}
  %c = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<mat>, auto = true} -> i32
  return
}

// -----
func.func @base() {
  // expected-error @below {{base must not be negative, got -32}}
  %a = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = false, base = -32} -> i32
  return
}

// -----
func.func @sets(%e: !pto.eventid_array<2>, %i: index) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %c2]
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  // expected-error @below {{event id must be between 0 and 7, got 8}}
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %c8]
  return
}

// -----
func.func @waits(%e: !pto.eventid_array<2>, %i: index) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{event id must be between 0 and 7, got 8}}
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %c8]
  return
}

// -----
func.func @reads(%e: !pto.eventid_array<2>, %i: index) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %x = pto.eventid_array_get %e[%i] : !pto.eventid_array<2>
  // expected-error @below {{index 2 is out of range, not between 0 and 1}}
  %y = pto.eventid_array_get %e[%c2] : !pto.eventid_array<2>
  return
}

// -----
func.func @writes(%e: !pto.eventid_array<2>, %i: index) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  pto.eventid_array_set %e[%i], %c2 : !pto.eventid_array<2>
  // expected-error @below {{event id must be between 0 and 7, got 8}}
  pto.eventid_array_set %e[%i], %c8 : !pto.eventid_array<2>
  return
}
