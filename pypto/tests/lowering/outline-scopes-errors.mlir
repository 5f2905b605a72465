// RUN: %pypto-opt %s --outline-scopes --verify-diagnostics

func.func @scalar_leaves(%x: !pypto.tensor<8x32xf32>, %y: !pypto.tensor<8x32xf32>) attributes {pypto.func_type = "Orchestration"} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a scalar or tile computed in a kernel cannot leave it}}
  %v, %t = "pypto.incore"() <{name_hint = "k", operandSegmentSizes = array<i32: 0, 0>}> ({
    %a = "pypto.read"(%x, %c0, %c0) : (!pypto.tensor<8x32xf32>, index, index) -> f32
    "pypto.yield"(%a) : (f32) -> ()
  }) : () -> (f32, !pypto.task_id)
  %w = "pypto.write"(%y, %v, %c0, %c0) : (!pypto.tensor<8x32xf32>, f32, index, index) -> !pypto.tensor<8x32xf32>
  return
}
