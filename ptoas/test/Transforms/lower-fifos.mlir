// RUN: %pto-opt %s -pto-lower-fifos | %FileCheck %s
// A push becomes a store to a slot, a pop a load of the lane's half of it; nothing of the FIFO is left.
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 8x32xf32>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube
  // CHECK-NOT: initialize_pipe
  // CHECK: %[[PLACE:.*]] = call @pto_place() : () -> !llvm.ptr
  // CHECK: %[[SLOT:.*]] = call @pto_fifo_produce(%[[PLACE]], %c0_i32{{.*}}, %c2048_i64, %c4_i64, %c1_i32, %c2_i32, %[[WHERE:.*]]) : (!llvm.ptr, i32, i64, i64, i32, i32, !llvm.ptr) -> !llvm.ptr
  // CHECK: %[[PTR:.*]] = builtin.unrealized_conversion_cast %[[SLOT]] : !llvm.ptr to !pto.ptr<f32>
  // CHECK: pto.make_tensor_view %[[PTR]]
  // CHECK: pto.tstore ins(%{{.*}} : !pto.tile_buf<acc{{.*}}) outs(%{{.*}} : !pto.partition_tensor_view<16x32xf32>)
  // CHECK: call @pto_fifo_publish
  func.func @cube(%a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %peer = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048, slot_num = 4} (c2v_consumer_buf = %peer : i32)
    pto.tpush_to_aiv(%a : !A) {split = 1}
    return
  }

  // CHECK-LABEL: func.func @vector
  // CHECK-NOT: reserve_buffer
  // CHECK: %[[LANE:.*]] = pto.get_subblock_idx
  // CHECK: %[[TILE:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>
  // CHECK: call @pto_fifo_consume
  // CHECK: %[[ROW:.*]] = arith.muli
  // CHECK: pto.partition_view %{{.*}}, offsets = [%[[ROW]], %{{.*}}]
  // CHECK: pto.tload ins(%{{.*}} : !pto.partition_tensor_view<8x32xf32>) outs(%[[TILE]] :
  // CHECK: call @pto_fifo_release
  // CHECK: pto.texp ins(%[[TILE]] :
  // CHECK-NOT: tfree
  // CHECK: return
  func.func @vector(%o: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048, slot_num = 4} (c2v_consumer_buf = %b : i32)
    %t = pto.tpop_from_aic {split = 1} -> !V
    pto.texp ins(%t : !V) outs(%o : !V)
    pto.tfree_from_aic {split = 1}
    return
  }
}
