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
    // expected-warning @below {{'pto.tpop_from_aic' op takes slots of pipe 0, which this function never gives back (tfree_from_aic): the sender stops when all slots are taken}}
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

// -----
// The two ends of a FIFO must say the same of it.
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    // expected-note @below {{the other end}}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @below {{says slot_size = 2048, but the other end of the FIFO says 4096}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    // expected-note @below {{the other end}}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096, slot_num = 4} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @below {{says slot_num = 8, but the other end of the FIFO says 4}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    // expected-note @below {{the other end}}
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 4096} (c2v_consumer_buf = %c : i32, v2c_consumer_buf = %z : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @below {{says dir_mask = 1, but the other end of the FIFO says 3}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    // expected-note @below {{the other end}}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096, nosplit = true} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @below {{says nosplit = 0, but the other end of the FIFO says 1}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096, nosplit = false} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!A = !pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %c : i32)
    %a = pto.alloc_tile : !A
    // expected-note @below {{used here}}
    pto.tpush_to_aiv(%a : !A) {split = 0}
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    // expected-error @below {{has split = 1, but the other end of the FIFO is used with split = 0}}
    %t = pto.tpop_from_aic {split = 1} -> !V
    pto.tfree_from_aic {split = 1}
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the buffer is reserved here}}
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<mat>, auto = true} -> i32
    // expected-error @below {{receives on a vector core, so its buffer must have location = vec, but "q" lies in mat}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // expected-note @below {{the buffer is reserved here}}
    %b = pto.reserve_buffer {name = "q", size = 32768, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @below {{receives on a cube core, so its buffer must have location = mat, but "q" lies in vec}}
    pto.aic_initialize_pipe {dir_mask = 2, slot_size = 4096} (v2c_consumer_buf = %b : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 4096} (v2c_consumer_buf = %c : i32)
    return
  }
}

// -----
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the buffer is reserved here}}
    %b = pto.reserve_buffer {name = "q", size = 32767, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-warning @below {{'pto.aiv_initialize_pipe' op receives 8 slot(s) of 4096 bytes, but "q" has only 32767 bytes}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!A = !pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %c : i32)
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the buffer is reserved here}}
    %b = pto.reserve_buffer {name = "q", size = 16383, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-warning @below {{'pto.aiv_initialize_pipe' op receives 8 slot(s) of 4096 bytes (half of each), but "q" has only 16383 bytes}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32)
    %t = pto.tpop_from_aic {split = 1} -> !V
    pto.tfree_from_aic {split = 1}
    return
  }
}

// -----
// Slots in global memory: only one needs room where it is received; absent numbers are 8.
!V = !pto.tile_buf<vec, 16x64xf32>
!A = !pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @cube(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (gm_slot_buffer = %g : !pto.ptr<f32>, c2v_consumer_buf = %c : i32)
    pto.aic_initialize_pipe {id = 1, dir_mask = 2, slot_size = 4096} (gm_slot_buffer = %g : !pto.ptr<f32>, v2c_consumer_buf = %z : i32)
    // expected-warning @below {{'pto.tpop_from_aiv' op takes slots of pipe 1, which this function never gives back (tfree_from_aiv)}}
    %t = pto.tpop_from_aiv {id = 1, split = 0} -> !V
    return
  }
  func.func @vector(%z: i32, %g: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8} (gm_slot_buffer = %g : !pto.ptr<f32>, c2v_consumer_buf = %b : i32)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 4096} (gm_slot_buffer = %g : !pto.ptr<f32>, v2c_consumer_buf = %z : i32)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @received(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-note @below {{the pipe is made here}}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4095} (c2v_consumer_buf = %b : i32)
    // expected-error @below {{receives a tile of 4096 bytes from a slot of 4095 bytes}}
    %t = pto.tpop_from_aic {split = 0} -> !V
    pto.tfree_from_aic {split = 0}
    return
  }
}
