// RUN: %pto-opt %s -pto-check-sync -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>

func.func @race(%x: !P) {
  %c0 = arith.constant 0 : i64
  %c4096 = arith.constant 4096 : i64
  %a = pto.alloc_tile addr = %c0 : !V
  %b = pto.alloc_tile addr = %c4096 : !V
  // expected-note @below {{the earlier instruction, on PIPE_MTE2}}
  pto.tload ins(%x : !P) outs(%a : !V)
  // expected-error @below {{may run before an earlier 'pto.tload' is done: both touch vec bytes 0 to 4096; missing: set_flag and wait_flag[<PIPE_MTE2>, <PIPE_V>, …]}}
  pto.texp ins(%a : !V) outs(%b : !V)
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
// The flag goes the wrong way round.
func.func @reversed(%x: !pto.partition_tensor_view<16x64xf32>) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  // expected-note @below {{the earlier instruction, on PIPE_MTE2}}
  pto.tload ins(%x : !pto.partition_tensor_view<16x64xf32>) outs(%a : !V)
  pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // expected-error @below {{both touch the same tile in vec}}
  pto.texp ins(%a : !V) outs(%b : !V)
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
// The set must stand behind the load.
func.func @early(%x: !pto.partition_tensor_view<16x64xf32>) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // expected-note @below {{the earlier instruction, on PIPE_MTE2}}
  pto.tload ins(%x : !pto.partition_tensor_view<16x64xf32>) outs(%a : !V)
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // expected-error @below {{may run before an earlier 'pto.tload' is done}}
  pto.texp ins(%a : !V) outs(%b : !V)
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
func.func @barrier(%a: !V, %s: f32) {
  %t = pto.alloc_tile : !V
  // expected-note @below {{the earlier instruction, on PIPE_V}}
  pto.texpands ins(%s : f32) outs(%t : !V)
  // expected-error @below {{missing: barrier <PIPE_V>}}
  pto.texp ins(%t : !V) outs(%t : !V)
  return
}

// -----
func.func @unset() {
  // expected-error @below {{waits for EVENT_ID0 from PIPE_MTE2 to PIPE_V, which nothing has set}}
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  return
}

// -----
func.func @twice() {
  // expected-note @below {{set here}}
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // expected-error @below {{sets EVENT_ID0 from PIPE_MTE2 to PIPE_V again before anything waits for its last set}}
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
// Well ordered: the second iteration's load waits for the first's computation.
module attributes {pto.target_arch = "a5"} {
  func.func @fine(%x: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    scf.for %i = %c0 to %n step %c1 {
      pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.barrier <PIPE_MTE2>
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
      pto.texp ins(%a : !V) outs(%b : !V)
      pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    return
  }
}

// -----
// The order that buffer tokens make is not known.
module attributes {pto.target_arch = "a5"} {
  func.func @unknown() {
    // expected-warning @below {{order of instructions not checked: 'pto.get_buf' is beyond the check}}
    pto.get_buf "PIPE_V", 0, 0
    pto.rls_buf "PIPE_V", 0, 0
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
// Deep loops: between two rounds of the innermost one, and of one around it.
func.func @deep(%x: !pto.partition_tensor_view<16x64xf32>, %n: index) {
  %c0 = arith.constant 0 : i64
  %c4096 = arith.constant 4096 : i64
  %a = pto.alloc_tile addr = %c0 : !V
  %b = pto.alloc_tile addr = %c4096 : !V
  scf.for %i0 = %n to %n step %n {
    scf.for %i1 = %n to %n step %n {
      scf.for %i2 = %n to %n step %n {
        scf.for %i3 = %n to %n step %n {
          scf.for %i4 = %n to %n step %n {
            scf.for %i5 = %n to %n step %n {
              scf.for %i6 = %n to %n step %n {
                // expected-error @below {{both touch vec bytes 0 to 4096; missing: set_flag and wait_flag[<PIPE_V>, <PIPE_MTE2>, …]}}
                pto.tload ins(%x : !pto.partition_tensor_view<16x64xf32>) outs(%a : !V)
                pto.barrier <PIPE_ALL>
                // expected-note @below {{the earlier instruction, on PIPE_V}}
                pto.texp ins(%a : !V) outs(%b : !V)
              }
            }
          }
        }
      }
    }
  }
  return
}
