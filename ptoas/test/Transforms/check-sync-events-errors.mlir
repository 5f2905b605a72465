// RUN: %pto-opt %s -pto-check-sync -split-input-file -verify-diagnostics
func.func @left() {
  // expected-error @below {{sets EVENT_ID3 from PIPE_MTE2 to PIPE_V, and nothing waits for it until the function ends}}
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
  return
}

// -----
// On one of two ways.
func.func @left_in_branch(%c: i1) {
  scf.if %c {
    // expected-error @below {{sets EVENT_ID0 from PIPE_MTE3 to PIPE_V, and nothing waits}}
    pto.record_event[#pto.pipe_event_type<TSTORE_VEC>, #pto.pipe_event_type<TVEC>, <EVENT_ID0>]
  }
  return
}

// -----
func.func @waits_on_one_way(%c: i1) {
  scf.if %c {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  }
  // expected-error @below {{waits for EVENT_ID0 from PIPE_MTE2 to PIPE_V, which is not set on every way here}}
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  return
}

// -----
// Set behind each iteration, without the one in front of the loop.
func.func @no_preset(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @below {{waits for EVENT_ID1 from PIPE_V to PIPE_MTE2, which nothing has set}}
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    // expected-error @below {{sets EVENT_ID1 from PIPE_V to PIPE_MTE2 again before the wait for its last set is known to have run}}
    // expected-error @below {{sets EVENT_ID1 from PIPE_V to PIPE_MTE2, and nothing waits}}
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
  }
  return
}

// -----
// A value is one event: set twice, whatever it is.
func.func @value(%i: index) {
  // expected-note @below {{set here}}
  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %i]
  // expected-error @below {{sets the event of its value from PIPE_V to PIPE_MTE2 again before anything waits for its last set}}
  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %i]
  pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %i]
  return
}

// -----
// A constant is an event like any other.
func.func @constant() {
  %c2 = arith.constant 2 : index
  // expected-error @below {{sets the event of its value from PIPE_V to PIPE_MTE2, and nothing waits}}
  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %c2]
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
// One value, one event: what is told is known. Another value may be any of the events that are set.
func.func @values(%x: !P, %i: index, %j: index, %k: index) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  pto.tload ins(%x : !P) outs(%a : !V)
  // expected-note @below {{the event that is not known here}}
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  pto.texp ins(%a : !V) outs(%a : !V)
  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %i]
  // expected-note @below {{the earlier instruction, on PIPE_V}}
  pto.texp ins(%b : !V) outs(%b : !V)
  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %j]
  pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %k]
  pto.tstore ins(%a : !V) outs(%x : !P)
  pto.barrier <PIPE_MTE3>
  // expected-warning @below {{'pto.tstore' op is not proven to wait until an earlier 'pto.texp' is done, since only the program knows the event of 'pto.set_flag_dyn': both touch the same tile in vec}}
  pto.tstore ins(%b : !V) outs(%x : !P)
  return
}

// -----
// Set again, though another event may have been waited for.
func.func @again(%i: index, %n: index) {
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  // expected-note @below {{the event that is not known here}}
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %n]
  // expected-warning @below {{'pto.set_flag' op is not proven to set EVENT_ID0 from PIPE_V to PIPE_MTE3 after the wait for its last set}}
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  return
}
