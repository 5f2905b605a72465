// RUN: %pto-opt %s -pto-infer-layout | %FileCheck %s
// The layout follows from the strides; a column is what its tile says.

// CHECK-LABEL: func @layouts
func.func @layouts(%p: !pto.ptr<f32>, %q: !pto.ptr<f16>, %n: index, %t: !pto.tile_buf<vec, 64x8xf32, valid=64x1>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %c0 = arith.constant 0 : index
  // CHECK: shape = [{{.*}}], strides = [%c64, %c1] {layout = #pto.layout<nd>
  %nd = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  // CHECK: shape = [{{.*}}], strides = [%c1, %c16] {layout = #pto.layout<dn>
  %dn = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c1, %c16] : !pto.tensor_view<?x?xf32>
  // CHECK: shape = [{{.*}}], strides = [%{{.*}}, %{{.*}}] {layout = #pto.layout<nd>
  %dynamic = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%n, %n] : !pto.tensor_view<?x?xf32>
  // CHECK: {layout = #pto.layout<nz>
  %nz = pto.make_tensor_view %q, shape = [%c1, %c2, %c2, %c16, %c16], strides = [%c512, %c512, %c256, %c16, %c1] : !pto.tensor_view<?x?x?x?x?xf16>
  // CHECK: shape = [%c64, %c1], strides = [%c1, %c1] {layout = #pto.layout<dn>
  %column = pto.make_tensor_view %p, shape = [%c64, %c1], strides = [%c1, %c1] : !pto.tensor_view<?x?xf32>
  // CHECK: shape = [%c64, %c1], strides = [%c1, %c1] {layout = #pto.layout<nd>
  %rows = pto.make_tensor_view %p, shape = [%c64, %c1], strides = [%c1, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.partition_view %rows, offsets = [%c0, %c0], sizes = [%c64, %c1] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x1xf32>
  pto.tload ins(%w : !pto.partition_tensor_view<64x1xf32>) outs(%t : !pto.tile_buf<vec, 64x8xf32, valid=64x1>)
  return
}
