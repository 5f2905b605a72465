// RUN: %pypto-opt %s --lower-tensor-to-tile --infer-memory-spaces --tile-matmul-l0 | %FileCheck %s

// 64x512 bf16 and 512x128 bf16: the right operand has 128 KiB, so K goes in two steps.
// CHECK-LABEL: func.func @steps
// CHECK: pypto.extract {{.*}}!pypto.tile<64x256xbf16, left>
// CHECK: pypto.extract {{.*}}!pypto.tile<256x128xbf16, right>
// CHECK: %[[A:.*]] = pypto.matmul %
// CHECK: pypto.matmul_acc %[[A]]
// CHECK-NOT: pypto.matmul_acc
// CHECK: return
func.func @steps(%a: !pypto.tensor<64x512xbf16>, %b: !pypto.tensor<512x128xbf16>, %y: !pypto.tensor<64x128xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %l = "pypto.slice"(%a, %c64, %c512, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<64x512xbf16>, index, index, index, index) -> !pypto.tensor<64x512xbf16>
  %r = "pypto.slice"(%b, %c512, %c128, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<512x128xbf16>, index, index, index, index) -> !pypto.tensor<512x128xbf16>
  %p = "pypto.matmul"(%l, %r) <{out_dtype = f32}> : (!pypto.tensor<64x512xbf16>, !pypto.tensor<512x128xbf16>) -> !pypto.tensor<64x128xf32>
  %w = "pypto.assemble"(%y, %p, %c0, %c0) : (!pypto.tensor<64x128xf32>, !pypto.tensor<64x128xf32>, index, index) -> !pypto.tensor<64x128xf32>
  return
}
