// RUN: %pypto-opt %s --resolve-directions --lower-orchestration | %FileCheck %s

// A task launch: record, tensors, tags (0 in, 3 out, 4 no dependency), options. The module is printed in
// generic form, because the kernel's entry is a func.func that a later step makes.
// CHECK: function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> (), sym_name = "entry"
// CHECK: callee = @simpler_alloc
// CHECK: global_name = @k__record
// CHECK: %[[TASK:.*]] = "func.call"({{.*}}callee = @simpler_submit
// CHECK: value = 4 : i8
// CHECK: "llvm.store"(%[[TASK]],
// CHECK: callee = @simpler_submit
// CHECK: sym_name = "k__record"
// CHECK: global_name = @k__entry
func.func @k(%x: !pypto.tensor<16x64xf32>, %y: !pypto.tensor<16x64xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %w = "pypto.assemble"(%y, %x, %c0, %c0) : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>, index, index) -> !pypto.tensor<16x64xf32>
  return
}
func.func @entry(%x: !pypto.tensor<16x64xf32>, %y: !pypto.tensor<16x64xf32>) attributes {pypto.func_type = "Orchestration"} {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = "pypto.create_tensor"(%c16, %c64) <{dtype = f32}> : (index, index) -> !pypto.tensor<16x64xf32>
  %a = "pypto.call"(%x, %t) <{callee = @k, operandSegmentSizes = array<i32: 2, 0, 0, 0, 0>}> : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>) -> !pypto.task_id
  %b = "pypto.call"(%t, %y, %a) <{callee = @k, no_dep = array<i64: 0>, operandSegmentSizes = array<i32: 2, 0, 1, 0, 0>}> : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>, !pypto.task_id) -> !pypto.task_id
  return
}
