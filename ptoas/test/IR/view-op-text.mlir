// RUN: %pto-opt %s | %FileCheck %s
// RUN: %pto-opt %s | %pto-opt | %FileCheck %s
// Types are printed in full, so that other readers of .pto text understand them.
!TV = !pto.tensor_view<?x?xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!V = !pto.tile_buf<vec, 16x64xf32>
!D = !pto.tile_buf<vec, 16x64xf32, valid=?x?>

// CHECK-LABEL: func @views
func.func @views(%p: !pto.ptr<f32>, %m: index, %n: index, %k: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: pto.addptr %{{.*}}, %{{.*}} : !pto.ptr<f32> -> !pto.ptr<f32>
  %q = pto.addptr %p, %m : !pto.ptr<f32> -> !pto.ptr<f32>
  // CHECK: pto.load_scalar %{{.*}}[%{{.*}}] : !pto.ptr<f32> -> f32
  %v = pto.load_scalar %q[%n] : !pto.ptr<f32> -> f32
  // CHECK: pto.store_scalar %{{.*}}, %{{.*}}[%{{.*}}] : !pto.ptr<f32>, f32
  pto.store_scalar %v, %q[%n] : !pto.ptr<f32>, f32
  // CHECK: pto.make_tensor_view %{{.*}}, shape = [%{{.*}}, %{{.*}}], strides = [%{{.*}}, %{{.*}}] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
  %t = pto.make_tensor_view %q, shape = [%m, %n], strides = [%n, %c1] {layout = #pto<layout nd>} : !TV
  // CHECK: pto.partition_view %{{.*}}, offsets = [{{.*}}], sizes = [{{.*}}] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x?xf32>
  %w = pto.partition_view %t, offsets = [%c0, %c0], sizes = [%m, %n] : !TV
  // CHECK: pto.get_tensor_view_dim %{{.*}}, %{{.*}} : !pto.tensor_view<?x?xf32> -> index
  %d = pto.get_tensor_view_dim %t, %c0 : !TV -> index
  // CHECK: pto.alloc_tile addr = %{{.*}} valid_row = %{{.*}} valid_col = %{{.*}} : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  %a = pto.alloc_tile addr = %k valid_row = %m valid_col = %n : !D
  // CHECK: pto.set_validshape %{{.*}}, %{{.*}}, %{{.*}} : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  pto.set_validshape %a, %m, %n : !D
  // CHECK: pto.subview %{{.*}}[%{{.*}}, %{{.*}}] sizes [8, 32] : !pto.tile_buf<vec, 16x64xf32, valid=?x?> -> !pto.tile_buf<vec, 8x32xf32>
  %s = pto.subview %a[%c0, %c0] sizes [8, 32] : !D -> !pto.tile_buf<vec, 8x32xf32>
  // CHECK: pto.treshape %{{.*}} : !pto.tile_buf<vec, 16x64xf32, valid=?x?> -> !pto.tile_buf<vec, 32x32xf32>
  %r = pto.treshape %a : !D -> !pto.tile_buf<vec, 32x32xf32>
  // CHECK: pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x64xf32, count=2>
  %x = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x64xf32, count=2>
  // CHECK: pto.multi_tile_get %{{.*}}[%{{.*}}] : !pto.multi_tile_buf<vec, 16x64xf32, count=2> -> !pto.tile_buf<vec, 16x64xf32>
  %y = pto.multi_tile_get %x[%c0] : !pto.multi_tile_buf<vec, 16x64xf32, count=2> -> !V
  // CHECK: pto.tgetval ins(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 16x64xf32>, index) outs : f32
  %e = pto.tgetval ins(%y, %c0 : !V, index) outs : f32
  // CHECK: pto.local_array_set %{{.*}}[%{{.*}}], %{{.*}} : !pto.local_array<8xi64>, i64
  %l = pto.declare_local_array -> !pto.local_array<8xi64>
  pto.local_array_set %l[%c0], %k : !pto.local_array<8xi64>, i64
  return
}
