// RUN: %check-text %s
// Flags, barriers, tokens, signals, sections.
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!EA = !pto.eventid_array<2>
module attributes {pto.target_arch = "a5"} {
  func.func @sync(%i: index, %t: !V, %p: !P, %w: !pto.ptr<i32>, %n: i32, %f: !pto.ptr<i64>) {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    %e = pto.declare_eventid_array -> !EA
    %x = pto.eventid_array_get %e[%i] : !EA
    pto.eventid_array_set %e[%i], %x : !EA
    pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.barrier <PIPE_ALL>
    pto.barrier_sync[#pto.pipe_event_type<TVEC>]
    pto.get_buf "PIPE_V", 3, 0
    pto.rls_buf "PIPE_V", 3, 1
    pto.get_buf_dyn "PIPE_V", %i, 0
    pto.rls_buf_dyn "PIPE_V", %i, 1
    pto.mem_bar #pto.membar<VST_VLD>
    pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2 : i32}
    pto.sync.set <PIPE_FIX>, %i
    pto.sync.wait <PIPE_V>, 3
    pto.set_ffts %f : !pto.ptr<i64>
    pto.set_cross_block <PIPE_FIX>, 0
    pto.wait_cross_block <PIPE_FIX>, 0
    pto.set_intra_block <PIPE_MTE1>, 15
    pto.wait_intra_block <PIPE_MTE1>, %i
    pto.tsync ins(%t, %t : !V, !V)
    pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
    pto.syncall(%w, %n : !pto.ptr<i32>, i32) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<aiv_only>
    pto.fence.barrier_all #pto.fence_scope<gm>
    pto.cmo.cacheinvalid all #pto.address_space<gm>
    pto.cmo.cacheinvalid %p single_cache_line : !P
    return
  }
  func.func @sections(%i: index, %t: !V) {
    pto.section.cube {
      pto.barrier <PIPE_M>
    }
    pto.section.vector {
      pto.section.simt <<<%i, 4, 1>>> {
        pto.trap
      }
    }
    pto.fusion_region {
      pto.tabs ins(%t : !V) outs(%t : !V)
    }
    %r = pto.fusion_region {
      pto.yield %t : !V
    } -> !V
    return
  }
}
