// RUN: %check-text %s
// Pointers, views and tile handles.
!V = !pto.tile_buf<vec, 16x64xf32>
!D = !pto.tile_buf<vec, 16x64xf32, valid=?x?>
!H = !pto.tile_buf<vec, 16x16xf32>
!I = !pto.tile_buf<vec, 16x64xi32>
!F = !pto.tile_buf<vec, 64x16xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
!TV = !pto.tensor_view<?x64xf32>
!W = !pto.tensor_view<16x16xf32>
!P = !pto.partition_tensor_view<16x64xf32>
module {
  func.func @pointers(%p: !pto.ptr<f32>, %i: index, %x: f32, %a: i64) {
    %q = pto.addptr %p, %i : !pto.ptr<f32> -> !pto.ptr<f32>
    %v = pto.load_scalar %q[%i] : !pto.ptr<f32> -> f32
    pto.store_scalar %x, %p[%i] : !pto.ptr<f32>, f32
    %n = pto.ptrtoint %p : !pto.ptr<f32> -> i64
    %r = pto.inttoptr %a : i64 -> !pto.ptr<i32>
    %c = pto.castptr %p : !pto.ptr<f32> -> !pto.ptr<i32>
    return
  }
  func.func @views(%p: !pto.ptr<f32>, %i: index) {
    %t = pto.make_tensor_view %p, shape = [%i, %i], strides = [%i, %i] {layout = #pto.layout<nd>} : !TV
    %w = pto.partition_view %t, offsets = [%i, %i], sizes = [%i, %i] : !TV -> !P
    %d = pto.get_tensor_view_dim %t, %i : !TV -> index
    %s = pto.get_tensor_view_stride %w, %i : !P -> index
    return
  }
  func.func @tiles(%addr: i64, %m: index, %n: index, %x: !V) {
    %t = pto.alloc_tile : !V
    %a = pto.alloc_tile addr = %addr valid_row = %m valid_col = %n : !D
    %b = pto.alloc_multi_tile addr = %addr : !M
    %c = pto.alloc_multi_tile : !M
    %g = pto.multi_tile_get %c[%m] : !M -> !V
    %d = pto.declare_tile -> !V
    %e = pto.declare_global -> !W
    %s = pto.subview %t[%m, %n] sizes [16, 16] : !V -> !H
    %k = pto.subset %t[%m, %n] sizes [16, 16] : !V -> !H
    pto.set_validshape %a, %m, %n : !D
    %r, %l = pto.get_validshape %a : !D
    %rows = pto.tile_valid_rows %a : !D -> index
    %cols = pto.tile_valid_cols %a : !D -> index
    %f = pto.treshape %t : !V -> !F
    %i = pto.bitcast %t : !V -> !I
    %j = pto.tassign %t, %addr : !V -> !V
    return
  }
}
