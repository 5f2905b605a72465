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

// -----
!AD = !pto.tensor_view<16x?xf32>
func.func @cube(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{works on a slot of the type '!pto.tensor_view<16x?xf32>', whose extents must be numbers}}
  %e = pto.talloc_to_aiv {split = 0} -> !AD
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!H = !pto.tile_buf<vec, 8x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  // expected-error @below {{sends other tiles than an earlier push through the same pipe}}
  pto.tpush_to_aiv(%a : !A) {split = 1}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!A2 = !pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A, %w: !A2) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  // expected-error @below {{sends tiles of 64 columns, an earlier push through the same pipe 32}}
  pto.tpush_to_aiv(%w : !A2) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!S = !pto.tile_buf<scaling, 1x32xf32>
func.func @cube(%b: i32, %a: !A, %s: !S) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322b8_pre, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-note @below {{here}}
  pto.set_quant_vector(%s : !S)
  // expected-error @below {{quantises with one scale, but set_quant_vector comes before it}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A, %s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = vqf322b8_pre, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-note @below {{here}}
  pto.set_quant_scalar(%s : f32)
  // expected-error @below {{quantises with a scale for each column, but set_quant_scalar comes before it}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!S = !pto.tile_buf<scaling, 1x32xf32>
func.func @cube(%b: i32, %a: !A, %s: !S) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = vqf322b8_pre, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{sets scales of 'f32', but a scale for each column is a word of 64 bits}}
  pto.set_quant_vector(%s : !S)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322b8_pre, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{needs scales, but no set_quant_scalar or set_quant_vector of pipe 0 comes before it}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A, %s: f32, %n: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322b8_pre, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-note @below {{scales may be set here}}
  scf.if %n {
    pto.set_quant_scalar(%s : f32)
  }
  // expected-error @below {{uses scales that depend on the way to it; set them in front of it}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = noquant, relu = leaky>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{acc_push_epilogue: relu must be no_relu or normal_relu, got leaky}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = shifts322s16, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{acc_push_epilogue: quant = shifts322s16 has no code on this machine: how it rounds what it shifts out is not known}}
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!B = !pto.tile_buf<vec, 32x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{receives a tile of 32x32, but a slot holds 16x32}}
  %t = pto.tpop_from_aic {split = 0} -> !B
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!T = !pto.tensor_view<16x?xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{works on a slot of the type '!pto.tensor_view<16x?xf32>', which must be a tensor_view whose extents are numbers}}
  %t = pto.tpop_from_aic {split = 0} -> !T
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!G = !pto.tensor_view<16x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nz, quant = noquant, relu = no_relu>, dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{works in place on slots that pushes fill in another order than rows (nz2nd)}}
  %t = pto.tpop_from_aic {split = 0} -> !G
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!G = !pto.tensor_view<2x4x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 1}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{splits a slot, so its tensor must have two dimensions, got 3}}
  %t = pto.tpop_from_aic {split = 1} -> !G
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!G = !pto.tensor_view<16x64xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{works on a tensor of 16x64, but a slot holds 16x32}}
  %t = pto.tpop_from_aic {split = 0} -> !G
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 16x32xf32>
func.func @cube(%b: i32, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  pto.tpush_to_aiv(%a : !A) {split = 0}
  return
}
func.func @vector(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{has another split than the push that it receives from}}
  %t = pto.tpop_from_aic {split = 1} -> !V
  return
}

// -----
!G = !pto.tensor_view<16x32xf32>
func.func @cube(%b: i32, %g: !G) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
  // expected-error @below {{sends a tensor that is no slot of the FIFO: talloc names one}}
  pto.tpush_to_aiv(%g : !G) {split = 0}
  return
}

// -----
!G = !pto.tensor_view<16x32xf32>
func.func @cube(%b: i32, %m: !pto.ptr<f32>, %e: !G) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1 : i64, flag_base = 0 : i64, slot_num = 8 : i64, slot_size = 2048 : i64}(%m : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  // expected-error @below {{binds a tensor that declare_global did not make}}
  pto.talloc(%e, %p : !G, !pto.pipe) {split = 0 : i64}
  return
}

// -----
!G = !pto.tensor_view<16x32xf32>
func.func @cube(%b: i32, %m: !pto.ptr<f32>, %n: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1 : i64, flag_base = 0 : i64, slot_num = 8 : i64, slot_size = 2048 : i64}(%m : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  %e = pto.declare_global -> !G
  scf.if %n {
    // expected-error @below {{binds a tensor that another op binds in another block; declare a tensor for each}}
    pto.talloc(%e, %p : !G, !pto.pipe) {split = 0 : i64}
  }
  // expected-note @below {{bound here}}
  pto.talloc(%e, %p : !G, !pto.pipe) {split = 0 : i64}
  return
}

// -----
!G = !pto.tensor_view<16x32xf32>
!P = !pto.partition_tensor_view<16x32xf32>
!V = !pto.tile_buf<vec, 16x32xf32>
func.func @cube(%b: i32, %m: !pto.ptr<f32>, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1 : i64, flag_base = 0 : i64, slot_num = 8 : i64, slot_size = 2048 : i64}(%m : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  // expected-note @below {{declared here}}
  %e = pto.declare_global -> !G
  // expected-error @below {{uses a tensor before talloc or tpop has bound it to a slot}}
  %w = pto.partition_view %e, offsets = [%c0, %c0], sizes = [%c16, %c32] : !G -> !P
  pto.talloc(%e, %p : !G, !pto.pipe) {split = 0 : i64}
  return
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube(%b: i32, %m: !pto.ptr<f32>, %a: !A, %p: !pto.pipe) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-error @below {{needs a pipe that initialize_l2l_pipe or initialize_l2g2l_pipe of this function makes}}
  pto.tpush(%a, %p : !A, !pto.pipe) {split = 0 : i64}
  return
}

// -----
!G = !pto.tensor_view<16x32xf32>
func.func @either(%b: i32, %m: !pto.ptr<f32>) {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 3 : i64, flag_base = 0 : i64, slot_num = 8 : i64, slot_size = 2048 : i64}(%m : !pto.ptr<f32>, %b : i32, peer %b : i32) -> !pto.pipe
  %e = pto.declare_global -> !G
  // expected-error @below {{uses a pipe of both directions (dir_mask = 3), so its function needs a pto.kernel_kind, which says which way is meant}}
  pto.talloc(%e, %p : !G, !pto.pipe) {split = 0 : i64}
  return
}

// -----
func.func @number(%b: i32, %m: !pto.ptr<f32>) {
  // expected-error @below {{flag_base must be between 0 and 1073741823, got -1}}
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1 : i64, flag_base = -1 : i64, slot_num = 8 : i64, slot_size = 2048 : i64}(%m : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  return
}
