// RUN: %pypto-opt %s --outline-scopes --resolve-directions | %FileCheck %s

// What a scope captures becomes parameters, tensors first; constants travel; the write makes y an Out.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !pypto.tensor<16x64xf32> {pypto.direction = "in", pypto.name = "x"}
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !pypto.tensor<16x64xf32> {pypto.direction = "out", pypto.name = "y"}
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32
// CHECK: pypto.slice %[[X]]
// CHECK: pypto.assemble %[[Y]]
// CHECK-LABEL: func.func @entry
// CHECK: pypto.call %{{.*}}, %{{.*}}, %{{.*}} {callee = @k
func.func @entry(%x: !pypto.tensor<16x64xf32> {pypto.name = "x"}, %s: f32, %y: !pypto.tensor<16x64xf32> {pypto.name = "y"}) attributes {pypto.func_type = "Orchestration"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = "pypto.incore"() <{name_hint = "k", operandSegmentSizes = array<i32: 0, 0>}> ({
    %v = "pypto.slice"(%x, %c16, %c64, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<16x64xf32>, index, index, index, index) -> !pypto.tensor<16x64xf32>
    %a = "pypto.add"(%v, %s) : (!pypto.tensor<16x64xf32>, f32) -> !pypto.tensor<16x64xf32>
    %w = "pypto.assemble"(%y, %a, %c0, %c0) : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>, index, index) -> !pypto.tensor<16x64xf32>
    "pypto.yield"() : () -> ()
  }) : () -> !pypto.task_id
  return
}

// A tensor that is computed inside and used after gets memory in the caller.
// CHECK-LABEL: func.func private @make(
// CHECK: pypto.assemble
// CHECK-LABEL: func.func @leaves
// CHECK: %[[M:.*]] = pypto.create_tensor
// CHECK: pypto.call %{{.*}}, %[[M]] {callee = @make
// CHECK: pypto.call %{{.*}}, %[[M]] {callee = @use
func.func @leaves(%x: !pypto.tensor<8x32xf32>, %y: !pypto.tensor<8x32xf32>) attributes {pypto.func_type = "Orchestration"} {
  %c0 = arith.constant 0 : index
  %v, %t = "pypto.incore"() <{name_hint = "make", operandSegmentSizes = array<i32: 0, 0>}> ({
    %a = "pypto.exp"(%x) : (!pypto.tensor<8x32xf32>) -> !pypto.tensor<8x32xf32>
    "pypto.yield"(%a) : (!pypto.tensor<8x32xf32>) -> ()
  }) : () -> (!pypto.tensor<8x32xf32>, !pypto.task_id)
  %u = "pypto.incore"() <{name_hint = "use", operandSegmentSizes = array<i32: 0, 0>}> ({
    %w = "pypto.assemble"(%y, %v, %c0, %c0) : (!pypto.tensor<8x32xf32>, !pypto.tensor<8x32xf32>, index, index) -> !pypto.tensor<8x32xf32>
    "pypto.yield"() : () -> ()
  }) : () -> !pypto.task_id
  return
}
