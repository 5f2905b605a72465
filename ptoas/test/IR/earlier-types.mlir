// RUN: %ptoas %s --emit-pto-ir 2>&1 | %FileCheck %s
// Types of 0.27 that have another name today are read, one line says so.
// A comment with !pto.tile<vec, 16x64xf32> is none.
// CHECK: earlier-types.mlir:[[@LINE+2]]:23: remark: '!pto.tile' is an earlier name of '!pto.tile_buf'
// CHECK-NOT: earlier name
func.func @level1(%a: !pto.tile<vec, 16x64xf32>, %b: !pto.tile<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>) {
  pto.tabs ins(%a : !pto.tile<vec, 16x64xf32>) outs(%b : !pto.tile_buf<vec, 16x64xf32>)
  return
}
