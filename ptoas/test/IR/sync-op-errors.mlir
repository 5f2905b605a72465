// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Flags, tokens, FIFOs and sections.
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @event(%v: !V) {
    // expected-error @below {{unknown event 'EVENT_ID9', expected EVENT_ID0, EVENT_ID1}}
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID9>]
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @kind(%v: !V) {
    // expected-error @below {{unknown sync_op_type 'TCOFFEE', expected TLOAD, TSTORE_ACC}}
    pto.barrier_sync[#pto.sync_op_type<TCOFFEE>]
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @token(%v: !V) {
    // expected-error @below {{buffer id must be between 0 and 31, got 32}}
    pto.get_buf "PIPE_V", 32, 0
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @ffts(%v: !V) {
    // expected-error @below {{ffts_mode must be 0, 1 or 2, got 3}}
    pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 3 : i32}
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @pipe_a5(%v: !V) {
    // expected-error @below {{pipe PIPE_V is not supported on A5}}
    pto.sync.set <PIPE_V>, 3
    return
  }
}

// -----
module attributes {pto.target_arch = "a2a3"} {
  func.func @hard(%w: !pto.ptr<i32>) {
    // expected-error @below {{mode hard takes no workspace}}
    pto.syncall(%w : !pto.ptr<i32>) mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @soft(%v: !V) {
    // expected-error @below {{mode soft needs an i32 workspace in global memory}}
    pto.syncall() mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @base(%v: !V) {
    // expected-error @below {{needs base, because auto = false}}
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false} -> i32
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @place(%v: !V) {
    // expected-error @below {{location must be vec or mat, got acc}}
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<acc>, auto = true} -> i32
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @peer(%v: !V) {
    // expected-error @below {{peer function '@nobody' does not exist}}
    %b = pto.import_reserved_buffer {name = "q", peer_func = @nobody} -> i32
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @dir(%z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{dir_mask must be 1 (cube to vector), 2 (vector to cube) or 3 (both), got 4}}
    pto.aiv_initialize_pipe {dir_mask = 4, slot_size = 64} (c2v_consumer_buf = %z : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @twice(%z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{operand 'c2v_consumer_buf' is given twice}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %z : i32, c2v_consumer_buf = %z : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @core(%z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{belongs in a cube function (aic), but the kernel kind is vector}}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %z : i32)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @nopipe(%v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{uses pipe 0, but this function has no aiv_initialize_pipe for it}}
    %t = pto.tpop_from_aic {split = 0} -> !V
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @split(%v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{needs the attribute split}}
    %t = pto.tpop_from_aic {id = 0} -> !V
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @section(%v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{is a cube section in a vector function}}
    pto.section.cube { }
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
// A pipe carries data in the directions that its mask names.
func.func @to_cube(%b: i32, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-note @below {{the pipe is made here}}
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{moves data from vector to cube, but pipe 0 has the other direction only (dir_mask = 1)}}
  pto.tpush_to_aic(%v : !V) {split = 0}
  return
}
func.func @to_vector(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-note @below {{the pipe is made here}}
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 2048} (v2c_consumer_buf = %b : i32)
  // expected-error @below {{moves data from cube to vector, but pipe 0 has the other direction only (dir_mask = 2)}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
