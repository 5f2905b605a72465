// RUN: %pypto-opt %s --lower-tensor-to-tile | %FileCheck %s

// Windows become loads, broadcasts expansions, the write a store of the window.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[T:.*]] = pypto.load %{{.*}} -> !pypto.tile<16x64xf32, vec>
// CHECK: %[[M:.*]] = pypto.row_max %[[T]]
// CHECK: %[[D:.*]] = pypto.row_expand_sub %[[T]], %[[M]]
// CHECK: pypto.store %[[D]], %{{.*}}shapes = array<i64: 16, 64>
func.func @broadcast(%x: !pypto.tensor<16x64xf32>, %y: !pypto.tensor<16x64xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = "pypto.slice"(%x, %c16, %c64, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<16x64xf32>, index, index, index, index) -> !pypto.tensor<16x64xf32>
  %m = "pypto.row_max"(%t) : (!pypto.tensor<16x64xf32>) -> !pypto.tensor<16x1xf32>
  %d = "pypto.sub"(%t, %m) : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x1xf32>) -> !pypto.tensor<16x64xf32>
  %w = "pypto.assemble"(%y, %d, %c0, %c0) : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>, index, index) -> !pypto.tensor<16x64xf32>
  return
}

// column - wide: the operands keep their order, the column is replicated.
// CHECK-LABEL: func.func @column_first
// CHECK: %[[R:.*]] = pypto.row_expand
// CHECK: pypto.sub %[[R]], %
func.func @column_first(%x: !pypto.tensor<16x64xf32>, %y: !pypto.tensor<16x64xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %m = "pypto.row_max"(%x) : (!pypto.tensor<16x64xf32>) -> !pypto.tensor<16x1xf32>
  %d = "pypto.sub"(%m, %x) : (!pypto.tensor<16x1xf32>, !pypto.tensor<16x64xf32>) -> !pypto.tensor<16x64xf32>
  %w = "pypto.assemble"(%y, %d, %c0, %c0) : (!pypto.tensor<16x64xf32>, !pypto.tensor<16x64xf32>, index, index) -> !pypto.tensor<16x64xf32>
  return
}

// A window that only products read goes to the mat buffer; a rank 3 window is rows.
// CHECK-LABEL: func.func @product
// CHECK: pypto.load %{{.*}}pypto.window = array<i64: 1, 16, 32>{{.*}}target_memory = "mat"{{.*}} -> !pypto.tile<16x32xbf16, mat>
// CHECK: pypto.transpose_view %{{.*}} -> !pypto.tile<32x8xbf16, mat, transposed>
// CHECK: pypto.matmul %{{.*}} -> !pypto.tile<16x8xf32, acc>
func.func @product(%a: !pypto.tensor<3x16x32xbf16>, %b: !pypto.tensor<8x32xbf16>, %y: !pypto.tensor<16x8xf32>) attributes {pypto.func_type = "InCore"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %l = "pypto.slice"(%a, %c1, %c16, %c32, %c1, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 3, 3, 0>, drop_dims = array<i64: 0>}> : (!pypto.tensor<3x16x32xbf16>, index, index, index, index, index, index) -> !pypto.tensor<16x32xbf16>
  %r = "pypto.slice"(%b, %c8, %c32, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 2, 0>}> : (!pypto.tensor<8x32xbf16>, index, index, index, index) -> !pypto.tensor<8x32xbf16>
  %p = "pypto.matmul"(%l, %r) <{out_dtype = f32, b_trans = true}> : (!pypto.tensor<16x32xbf16>, !pypto.tensor<8x32xbf16>) -> !pypto.tensor<16x8xf32>
  %w = "pypto.assemble"(%y, %p, %c0, %c0) : (!pypto.tensor<16x8xf32>, !pypto.tensor<16x8xf32>, index, index) -> !pypto.tensor<16x8xf32>
  return
}
