// RUN: %pto-opt %s -pto-validate-pipes -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 16x64xf32>

module attributes {pto.target_arch = "a5"} {
  func.func @split(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    // expected-note @below {{used here}}
    %s = pto.tpop_from_aic {split = 0} -> !V
    pto.tfree_from_aic {split = 0}
    // expected-error @below {{has split = 1, but pipe 0 is also used with split = 0}}
    %t = pto.tpop_from_aic {split = 1} -> !V
    pto.tfree_from_aic {split = 0}
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @order(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{may run before the pipe is initialized}}
    %s = pto.tpop_from_aic {split = 0} -> !V
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @twice(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{first here}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    // expected-error @below {{joins pipe 0 a second time}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a2a3"} {
  func.func @memory(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{requires 'gm_slot_buffer' when lowering to a2/a3}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @slot(%b: i32, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the pipe is made here}}
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 4095} (v2c_consumer_buf = %b : i32)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 4096} (v2c_consumer_buf = %b : i32)
    pto.tpush_to_aic(%v : !V) {id = 1, split = 0}
    // expected-error @below {{pushes a tile of 4096 bytes into a slot of 4095 bytes, slot_size must be at least the whole tile}}
    pto.tpush_to_aic(%v : !V) {split = 0}
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @handle(%b: i32, %v: !V) {
    // expected-note @below {{the pipe is made here}}
    %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_num = 8, slot_size = 64} (%b : i32) -> !pto.pipe
    // expected-error @below {{pushes a tile of 4096 bytes into a slot of 64 bytes}}
    pto.tpush(%v, %p : !V, !pto.pipe) {split = 0}
    return
  }
}

// -----
// The elements shrink on the way out of the accumulator.
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
  func.func @narrow(%c: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f322f16>, dir_mask = 1, nosplit = true, slot_size = 1024} (c2v_consumer_buf = %c : i32)
    pto.tpush_to_aiv(%a : !A) {split = 0}
    return
  }
}
