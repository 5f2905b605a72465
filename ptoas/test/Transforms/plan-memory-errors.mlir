// RUN: %pto-opt %s -pto-plan-memory -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 128x256xf32>

module attributes {pto.target_arch = "a2a3"} {
  func.func @overflow(%s: f32) {
    // expected-note @below {{131072 bytes are live from here}}
    %a = pto.alloc_tile : !V
    // expected-error @below {{vec overflow: the tiles need 262144 bytes at once, the capacity is 196608 bytes}}
    // expected-note @below {{131072 bytes are live from here}}
    %b = pto.alloc_tile : !V
    pto.texpands ins(%s : f32) outs(%a : !V)
    pto.texp ins(%a : !V) outs(%b : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 128x256xf32>

// One after the other they fit.
func.func @fits(%s: f32) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  pto.texpands ins(%s : f32) outs(%a : !V)
  pto.texpands ins(%s : f32) outs(%b : !V)
  return
}
