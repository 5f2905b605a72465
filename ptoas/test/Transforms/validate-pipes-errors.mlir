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
