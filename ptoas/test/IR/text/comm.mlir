// RUN: %check-text %s
// Copies and signals between devices.
!V = !pto.tile_buf<vec, 16x64xf32>
!B = !pto.tile_buf<vec, 1x256xui8>
!G = !pto.partition_tensor_view<1x1xi32>
!P = !pto.partition_tensor_view<16x64xf32>
!F = !pto.partition_tensor_view<1x1024xf32>
!T = !pto.partition_tensor_view<32x64xf32>
module {
  func.func @comm(%s: !G, %n: i32, %p: !P, %q: !P, %t: !T, %v: !V, %w: !V, %b: !B, %k: !pto.ptr<i8>, %f: !F) {
    pto.comm.tnotify(%s, %n : !G, i32) {notifyOp = #pto<notify_op atomic_add>}
    pto.comm.twait(%s, %n : !G, i32) {cmp = #pto<wait_cmp ge>}
    %r = pto.comm.ttest(%s, %n : !G, i32) {cmp = #pto<wait_cmp eq>} -> i1
    pto.comm.tput(%p, %q, buf(%v) : !P, !P, !V)
    pto.comm.tput(%p, %q, buf(%v, %w) : !P, !P, !V, !V) {atomicType = #pto<atomic_type atomic_add>}
    pto.comm.tget(%p, %q, buf(%v) : !P, !P, !V)
    pto.comm.tbroadcast(%p, recv(%v), group(%p, %q) : !P, !V, !P, !P) {root = 0 : i32}
    pto.comm.tgather(%t, recv(%v, %w), group(%p, %q) : !T, !V, !V, !P, !P) {root = 1 : i32}
    pto.comm.tscatter(%t, recv(%v), group(%p, %q) : !T, !V, !P, !P) {root = 0 : i32}
    pto.comm.treduce(%p, %v, recv(%w), group(%p, %q) : !P, !V, !V, !P, !P) {reduceOp = #pto<reduce_op sum>, root = 0 : i32}
    %x = pto.comm.build_async_session(%b, %k : !B, !pto.ptr<i8>) {sync_id = 0 : i32} -> !pto.async_session
    %e = pto.comm.tput_async(%f, %f, %x : !F, !F, !pto.async_session) -> !pto.async_event
    %g = pto.comm.tget_async(%f, %f, %x : !F, !F, !pto.async_session) -> !pto.async_event
    %d = pto.comm.wait_async_event(%e, %x : !pto.async_event, !pto.async_session) -> i1
    %o = pto.comm.test_async_event(%g, %x : !pto.async_event, !pto.async_session) -> i1
    %c = pto.make_prefetch_async_context(%k : !pto.ptr<i8>) -> !pto.prefetch_async_context
    %y = pto.get_prefetch_async_session(%c : !pto.prefetch_async_context) -> !pto.async_session
    %z = pto.tprefetch_async(%p, %c : !P, !pto.prefetch_async_context) -> !pto.async_event
    return
  }
}
