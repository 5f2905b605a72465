// RUN: %pypto-opt %s --lower-tensor-to-tile --infer-memory-spaces --lower-to-pto --text-form | %FileCheck %s

// The accumulator is one buffer in front of the loop, and no copy is made.
// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>
// CHECK: %[[ACC:.*]] = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32
// CHECK: scf.for
// CHECK: scf.if
// CHECK: pto.tmatmul ins({{.*}}) outs(%[[ACC]]
// CHECK: else
// CHECK: pto.tmatmul.acc ins(%[[ACC]], {{.*}}) outs(%[[ACC]]
// CHECK-NOT: pto.tmov ins(%[[ACC]]
// CHECK: pto.tstore ins(%[[ACC]]
func.func @accumulate(%a: !pypto.tensor<16x64xf32>, %b: !pypto.tensor<64x16xf32>, %y: !pypto.tensor<16x16xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %init = "pypto.create_tensor"(%c16, %c16) <{dtype = f32}> : (index, index) -> !pypto.tensor<16x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %init) -> !pypto.tensor<16x16xf32> {
    %l = "pypto.slice"(%a, %c16, %c16, %c0, %k) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<16x64xf32>, index, index, index, index) -> !pypto.tensor<16x16xf32>
    %m = "pypto.slice"(%b, %c16, %c16, %k, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<64x16xf32>, index, index, index, index) -> !pypto.tensor<16x16xf32>
    %first = arith.cmpi eq, %k, %c0 : index
    %n = scf.if %first -> !pypto.tensor<16x16xf32> {
      %p = "pypto.matmul"(%l, %m) : (!pypto.tensor<16x16xf32>, !pypto.tensor<16x16xf32>) -> !pypto.tensor<16x16xf32>
      scf.yield %p : !pypto.tensor<16x16xf32>
    } else {
      %p = "pypto.matmul_acc"(%acc, %l, %m) : (!pypto.tensor<16x16xf32>, !pypto.tensor<16x16xf32>, !pypto.tensor<16x16xf32>) -> !pypto.tensor<16x16xf32>
      scf.yield %p : !pypto.tensor<16x16xf32>
    }
    scf.yield %n : !pypto.tensor<16x16xf32>
  }
  %w = "pypto.assemble"(%y, %r, %c0, %c0) : (!pypto.tensor<16x16xf32>, !pypto.tensor<16x16xf32>, index, index) -> !pypto.tensor<16x16xf32>
  return
}

// Tiles that swap are copied through a third buffer.
// CHECK-LABEL: func.func @fibonacci(
// CHECK: scf.for
// CHECK: pto.tadd ins(%[[A:[0-9a-z_]+]], %[[B:[0-9a-z_]+]] : {{.*}}) outs(%[[C:[0-9a-z_]+]]
// CHECK: pto.tmov ins(%[[B]] {{.*}}) outs(%[[A]]
// CHECK: pto.tmov ins(%[[C]] {{.*}}) outs(%[[B]]
func.func @fibonacci(%x: !pypto.tensor<8x32xf32>, %y: !pypto.tensor<8x32xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %t = "pypto.slice"(%x, %c8, %c32, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<8x32xf32>, index, index, index, index) -> !pypto.tensor<8x32xf32>
  %u = "pypto.neg"(%t) : (!pypto.tensor<8x32xf32>) -> !pypto.tensor<8x32xf32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %t, %b = %u) -> (!pypto.tensor<8x32xf32>, !pypto.tensor<8x32xf32>) {
    %c = "pypto.add"(%a, %b) : (!pypto.tensor<8x32xf32>, !pypto.tensor<8x32xf32>) -> !pypto.tensor<8x32xf32>
    scf.yield %b, %c : !pypto.tensor<8x32xf32>, !pypto.tensor<8x32xf32>
  }
  %w = "pypto.assemble"(%y, %r#1, %c0, %c0) : (!pypto.tensor<8x32xf32>, !pypto.tensor<8x32xf32>, index, index) -> !pypto.tensor<8x32xf32>
  return
}

// A run-time extent travels with the handle and bounds load and store.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index)
// CHECK: pto.make_tensor_view %{{.*}}, shape = [%[[N]], %
// CHECK: %[[LIVE:.*]] = arith.minsi
// CHECK: pto.alloc_tile valid_row = %[[LIVE]]
// CHECK: sizes = [%[[LIVE]], %
// CHECK: pto.texp
// CHECK: sizes = [%[[LIVE]], %
// CHECK: pto.tstore
func.func @rows(%x: !pypto.tensor<?x64xf32> {pypto.dyn = ["N", ""]}, %y: !pypto.tensor<?x64xf32> {pypto.dyn = ["N", ""]}) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %n = "pypto.dim"(%x) <{axis = 0}> : (!pypto.tensor<?x64xf32>) -> index
  %live = arith.minsi %n, %c16 : index
  %t = "pypto.slice"(%x, %c16, %c64, %c0, %c0, %live, %c64) <{operandSegmentSizes = array<i32: 1, 2, 2, 2>}> : (!pypto.tensor<?x64xf32>, index, index, index, index, index, index) -> !pypto.tensor<16x64xf32, valid = [?, 64]>
  %e = "pypto.exp"(%t) : (!pypto.tensor<16x64xf32, valid = [?, 64]>) -> !pypto.tensor<16x64xf32, valid = [?, 64]>
  %w = "pypto.assemble"(%y, %e, %c0, %c0) : (!pypto.tensor<?x64xf32>, !pypto.tensor<16x64xf32, valid = [?, 64]>, index, index) -> !pypto.tensor<?x64xf32>
  return
}
