// RUN: %pypto-opt %s --lower-tensor-to-tile --infer-memory-spaces --check-capacity --verify-diagnostics

// Two tiles of 128 KiB are alive at once.
func.func @large(%x: !pypto.tensor<256x128xf32>, %y: !pypto.tensor<256x128xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  // expected-error @+1 {{the tiles of kernel 'large' need 262144 bytes of vec memory at once, a2a3 has 196608}}
  %t = "pypto.slice"(%x, %c256, %c128, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<256x128xf32>, index, index, index, index) -> !pypto.tensor<256x128xf32>
  %e = "pypto.exp"(%t) : (!pypto.tensor<256x128xf32>) -> !pypto.tensor<256x128xf32>
  %s = "pypto.add"(%e, %t) : (!pypto.tensor<256x128xf32>, !pypto.tensor<256x128xf32>) -> !pypto.tensor<256x128xf32>
  %w = "pypto.assemble"(%y, %s, %c0, %c0) : (!pypto.tensor<256x128xf32>, !pypto.tensor<256x128xf32>, index, index) -> !pypto.tensor<256x128xf32>
  return
}
