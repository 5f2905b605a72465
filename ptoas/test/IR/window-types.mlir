// RUN: %pto-opt %s | %FileCheck %s
!V = !pto.tile_buf<vec, 8x32xf32>
!TV = !pto.tensor_view<8x32xf32>

// A window whose type is left out takes the one of its first use that names extents; these are its sizes.
// CHECK-LABEL: func.func @by_use
// CHECK: pto.partition_view {{.*}} : !pto.tensor_view<8x32xf32> -> !pto.partition_tensor_view<8x32xf32>
// CHECK: pto.partition_view {{.*}} : !pto.tensor_view<8x32xf32> -> !pto.partition_tensor_view<?x?xf32>
func.func @by_use(%v: !TV, %t: !V) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %named = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c32] : !TV
  pto.tload ins(%named : !pto.partition_tensor_view<8x32xf32>) outs(%t : !V)
  pto.tstore ins(%t : !V) outs(%named : !pto.partition_tensor_view<8x32xf32>)
  %open = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c32] : !TV
  pto.tload ins(%open : !pto.partition_tensor_view<?x?xf32>) outs(%t : !V)
  // CHECK: pto.tile_valid_rows %{{.*}} : !pto.tile_buf<vec, 8x32xf32> -> index
  %r = pto.tile_valid_rows %t : !V
  // CHECK: pto.tile_valid_cols %{{.*}} : !pto.tile_buf<vec, 8x32xf32> -> index
  %c = pto.tile_valid_cols %t : !V -> index
  return
}
