// RUN: %pypto-opt %s --lower-tensor-to-tile --infer-memory-spaces --tile-matmul-l0 --lower-to-pto --text-form --tight | %FileCheck %s

// A result takes the buffer of an operand that nobody reads later; never that of the broadcast
// column, nor of what `recip` reads. A column of two rows lies in a whole lane.
// CHECK-LABEL: func.func @chain(
// CHECK: pto.tload {{.*}} outs(%[[T:[0-9a-z]+]] :
// CHECK: %[[M:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 8x1xf32, valid=2x1, blayout=col_major>
// CHECK: pto.trowmax {{.*}} outs(%[[M]] :
// CHECK: pto.trowexpandsub ins(%[[T]], %[[M]] {{.*}} outs(%[[T]] :
// CHECK: pto.texp ins(%[[T]] {{.*}} outs(%[[T]] :
// CHECK: pto.trecip ins(%[[T]] {{.*}} outs(%[[R:[0-9a-z]+]] :
// CHECK: pto.tstore ins(%[[R]] :
func.func @chain(%x: !pypto.tensor<2x64xf32>, %y: !pypto.tensor<2x64xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %t = "pypto.slice"(%x, %c2, %c64, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<2x64xf32>, index, index, index, index) -> !pypto.tensor<2x64xf32>
  %m = "pypto.row_max"(%t) : (!pypto.tensor<2x64xf32>) -> !pypto.tensor<2x1xf32>
  %d = "pypto.row_expand_sub"(%t, %m) : (!pypto.tensor<2x64xf32>, !pypto.tensor<2x1xf32>) -> !pypto.tensor<2x64xf32>
  %e = "pypto.exp"(%d) : (!pypto.tensor<2x64xf32>) -> !pypto.tensor<2x64xf32>
  %r = "pypto.recip"(%e) : (!pypto.tensor<2x64xf32>) -> !pypto.tensor<2x64xf32>
  %w = "pypto.assemble"(%y, %r, %c0, %c0) : (!pypto.tensor<2x64xf32>, !pypto.tensor<2x64xf32>, index, index) -> !pypto.tensor<2x64xf32>
  return
}

// What is read later keeps its buffer.
// CHECK-LABEL: func.func @kept(
// CHECK: pto.tload {{.*}} outs(%[[T:[0-9a-z]+]] :
// CHECK: pto.texp ins(%[[T]] {{.*}} outs(%[[E:[0-9a-z]+]] :
// CHECK: pto.tadd ins(%[[E]], %[[T]] {{.*}} outs(%[[E]] :
func.func @kept(%x: !pypto.tensor<8x64xf32>, %y: !pypto.tensor<8x64xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %t = "pypto.slice"(%x, %c8, %c64, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<8x64xf32>, index, index, index, index) -> !pypto.tensor<8x64xf32>
  %e = "pypto.exp"(%t) : (!pypto.tensor<8x64xf32>) -> !pypto.tensor<8x64xf32>
  %s = "pypto.add"(%e, %t) : (!pypto.tensor<8x64xf32>, !pypto.tensor<8x64xf32>) -> !pypto.tensor<8x64xf32>
  %w = "pypto.assemble"(%y, %s, %c0, %c0) : (!pypto.tensor<8x64xf32>, !pypto.tensor<8x64xf32>, index, index) -> !pypto.tensor<8x64xf32>
  return
}
