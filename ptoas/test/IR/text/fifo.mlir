// RUN: %check-text %s
// FIFOs between the cores of a cluster.
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 16x32xf32>
!D = !pto.tile_buf<vec, 8x32xf32, valid=?x?>
!S = !pto.tile_buf<scaling, 1x32xf32>
!G = !pto.tensor_view<16x32xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%z: i32, %a: !A, %g: !pto.ptr<f32>, %s: !S, %x: f32, %i: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %b = pto.reserve_buffer {name = "c", size = 8192, location = #pto.address_space<mat>, auto = true} -> i32
    %c = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 3, local_slot_num = 4, slot_num = 8, slot_size = 2048} (c2v_consumer_buf = %c : i32, v2c_consumer_buf = %b : i32)
    pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f322f16, relu = normal_relu>, dir_mask = 1, id = 1, nosplit = true, slot_size = 2048} (gm_slot_buffer = %g : !pto.ptr<f32>, c2v_consumer_buf = %c : i32)
    pto.tpush_to_aiv(%a : !A) {split = 1}
    pto.tpush_to_aiv(%a : !A) {split = 1} aiv_subblockid(%i : index)
    pto.set_quant_scalar(%x : f32) {id = 1 : i64}
    pto.set_quant_vector(%s : !S) {id = 1 : i64}
    %e = pto.talloc_to_aiv {id = 1, split = 0} -> !G
    pto.tpush_to_aiv(%e : !G) {id = 1, split = 0}
    %t = pto.tpop_from_aiv {split = 1} -> !V
    pto.tfree_from_aiv {split = 1}
    return
  }
  func.func @vector(%z: i32, %n: index, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
    %c = pto.import_reserved_buffer {name = "c", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 2048} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %c : i32)
    pto.aiv_initialize_pipe {dir_mask = 1, id = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32)
    %t = pto.tpop_from_aic(%n, %n) {split = 1} -> !D
    pto.tfree_from_aic {split = 1}
    %w = pto.tpop_from_aic {id = 1, split = 0} -> !G
    pto.tfree_from_aic(%w : !G) {id = 1, split = 0}
    pto.tpush_to_aic(%v : !V) {split = 1}
    %e = pto.talloc_to_aic {split = 1} -> !G
    return
  }
  func.func @handles(%z: i32, %g: !pto.ptr<f32>, %a: !A, %v: !V) {
    %p = pto.initialize_l2l_pipe {dir_mask = 1 : i64, flag_base = 0 : i64, nosplit = false, slot_num = 8 : i64, slot_size = 1024 : i64}(%z : i32) -> !pto.pipe
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1 : i64, flag_base = 0 : i64, local_slot_num = 8 : i64, slot_num = 8 : i64, slot_size = 1024 : i64}(%g : !pto.ptr<f32>, %z : i32) -> !pto.pipe
    pto.tpush(%a, %p : !A, !pto.pipe) {split = 1 : i64}
    pto.tpop(%v, %p : !V, !pto.pipe) {split = 1 : i64}
    %e = pto.declare_global -> !G
    pto.talloc(%e, %q : !G, !pto.pipe) {split = 0 : i64}
    pto.tfree(%p : !pto.pipe) {split = 1 : i64}
    return
  }
}
