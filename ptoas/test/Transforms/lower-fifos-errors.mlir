// RUN: %pto-opt %s -pto-lower-fifos -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 8x32xf32>

func.func @nobody(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{receives from pipe 0, but no function of the module sends through it}}
  %t = pto.tpop_from_aic {split = 0} -> !V
  return
}

// -----
!V = !pto.tile_buf<vec, 8x32xf32>
func.func @number(%b: i32, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{pipe id must be between 0 and 1073741823, got 4611686018427387903}}
  pto.aiv_initialize_pipe {id = 4611686018427387903, dir_mask = 2, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{pipe id must be between 0 and 1073741823, got 4611686018427387903}}
  pto.tpush_to_aic(%v : !V) {id = 4611686018427387903, split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!H = !pto.tile_buf<vec, 16x32xf16>
!V = !pto.tile_buf<vec, 16x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @element(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{receives 'f16', but 'f32' is sent}}
  %t = pto.tpop_from_aic {split = 0} -> !H
  return
}
