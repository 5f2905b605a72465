// RUN: %pto-opt %s -verify-diagnostics
// RUN: %pto-opt %s 2>&1 | %FileCheck %s
// Ops under their names of earlier versions, each with a remark.
!B = !pto.tile_buf<vec, 1x256xui8>
!F = !pto.partition_tensor_view<1x1024xf32>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!S = !pto.tile_buf<scaling, 1x32xf32>
!Q = !pto.partition_tensor_view<16x32xi8>
// CHECK-LABEL: func @names
func.func @names(%b: !B, %k: !pto.ptr<i8>, %f: !F, %a: !A, %fp: !S, %q: !Q) {
  // expected-remark @below {{'pto.build_async_session' is an earlier name of 'pto.comm.build_async_session'}}
  %x = pto.build_async_session(%b, %k : !B, !pto.ptr<i8>) {sync_id = 0 : i32} -> !pto.async_session
  // CHECK: pto.comm.tput_async(
  // expected-remark @below {{earlier name of 'pto.comm.tput_async'}}
  %e = pto.tput_async(%f, %f, %x : !F, !F, !pto.async_session) -> !pto.async_event
  // CHECK: pto.comm.tget_async(
  // expected-remark @below {{earlier name of 'pto.comm.tget_async'}}
  %g = pto.tget_async(%f, %f, %x : !F, !F, !pto.async_session) -> !pto.async_event
  // CHECK: pto.comm.wait_async_event(
  // expected-remark @below {{earlier name of 'pto.comm.wait_async_event'}}
  %d = pto.wait_async_event(%e, %x : !pto.async_event, !pto.async_session) -> i1
  // CHECK: pto.comm.test_async_event(
  // expected-remark @below {{earlier name of 'pto.comm.test_async_event'}}
  %o = pto.test_async_event(%g, %x : !pto.async_event, !pto.async_session) -> i1
  // CHECK: pto.tstore_fp ins(
  // expected-remark @below {{'pto.tstore.fp' is an earlier name of 'pto.tstore_fp'}}
  pto.tstore.fp ins(%a, %fp : !A, !S) outs(%q : !Q)
  return
}
