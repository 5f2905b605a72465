// RUN: %pto-opt %s | %FileCheck %s
// RUN: %pto-opt %s | %pto-opt | %FileCheck %s
// Queues, events and kinds of instruction are read in every form.

// CHECK-LABEL: func @flags
func.func @flags(%i: index) {
  // CHECK-COUNT-4: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.set_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.set_flag[PIPE_MTE2, PIPE_V, EVENT_ID0]
  // CHECK: pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %{{.*}}]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  // CHECK: pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
  pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID1>]
  // CHECK: pto.barrier <PIPE_ALL>
  pto.barrier <PIPE_ALL>
  // CHECK: pto.barrier_sync[#pto.pipe_event_type<TVEC>]
  pto.barrier_sync[#pto.sync_op_type<TVEC>]
  // CHECK-COUNT-2: pto.get_buf "PIPE_V", 3, 0
  pto.get_buf[#pto.pipe_event_type<TVEC>, 3]
  pto.get_buf "PIPE_V", 3, 0
  // CHECK: pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2 : i32}
  pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2 : i32}
  // CHECK: pto.sync.wait <PIPE_V>, %{{.*}}
  pto.sync.wait <PIPE_V>, %i
  // CHECK: pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  // CHECK: pto.fence.barrier_all #pto.fence_scope<gm>
  pto.fence.barrier_all #pto.fence_scope<gm>
  // CHECK: pto.cmo.cacheinvalid all #pto.address_space<gm>
  pto.cmo.cacheinvalid all #pto.address_space<gm>
  return
}

// The parenthesised part may stand on its own line; keys come in any order.
// CHECK-LABEL: func @cube
func.func @cube(%z: i32, %a: !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %{{.*}} : i32, v2c_consumer_buf = %{{.*}} : i32)
  pto.aic_initialize_pipe {slot_size = 1024, dir_mask = 1}
    (v2c_consumer_buf = %z : i32, c2v_consumer_buf = %z : i32)
  // CHECK: pto.tpush_to_aiv(%{{.*}} : !pto.tile_buf<acc, {{.*}}>) {split = 1}
  pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
  return
}

// CHECK-LABEL: func @vector
func.func @vector(%z: i32, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)
  // CHECK: pto.tpop_from_aic(%{{.*}}, %{{.*}}) {split = 1} -> !pto.tile_buf<vec, 8x32xf32, valid=?x?>
  %t = pto.tpop_from_aic(%n, %n) {split = 1} -> !pto.tile_buf<vec, 8x32xf32, valid=?x?>
  pto.tfree_from_aic {split = 1}
  return
}
