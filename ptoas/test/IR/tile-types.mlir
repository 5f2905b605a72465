// RUN: %pto-opt %s | %FileCheck %s
// RUN: %pto-opt %s | %pto-opt | %FileCheck %s
// Both spellings of a tile type mean the same; defaults are not printed.

// CHECK-LABEL: func.func private @compact
// CHECK-SAME: !pto.tile_buf<vec, 16x64xf32>,
// CHECK-SAME: !pto.tile_buf<vec, 16x64xf32, valid=?x?>,
// CHECK-SAME: !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>,
// CHECK-SAME: !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
// CHECK-SAME: !pto.tile_buf<vec, 8x32xui8, valid=8x?, pad=3, compact=row_plus_one>
func.func private @compact(!pto.tile_buf<vec, 16x64xf32, pad=0, fractal=512>,
                           !pto.tile_buf<vec, 16x64xf32, valid=?x?>,
                           !pto.tile_buf<mat, 64x64xf16, slayout=row_major, blayout=col_major>,
                           !pto.tile_buf<acc, 16x32xf32, fractal=1024, blayout=col_major, slayout=row_major>,
                           !pto.tile_buf<vec, 8x32xui8, compact=2, pad=min, valid=8x?>)

// CHECK-LABEL: func.func private @legacy
// CHECK-SAME: !pto.tile_buf<vec, 16x64xf32>,
// CHECK-SAME: !pto.tile_buf<vec, 16x64xf32, valid=?x?>,
// CHECK-SAME: !pto.tile_buf<left, 16x64xbf16, valid=16x48, slayout=row_major>
func.func private @legacy(
  !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>,
  !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=-1, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=0>,
  !pto.tile_buf<loc=left, dtype=bf16, rows=16, cols=64, v_row=16, v_col=48, blayout=row_major, slayout=row_major, fractal=512, pad=0>)

// CHECK-LABEL: func.func private @others
// CHECK-SAME: !pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<i8, vec>, !pto.tensor_view<?x64xf32>, !pto.partition_tensor_view<1x2x3x4x5xbf16>,
// CHECK-SAME: !pto.multi_tile_buf<vec, 8x32xf32, count=2>, !pto.multi_tile_buf<vec, 8x32xf32, count=2>,
// CHECK-SAME: !pto.eventid_array<2>, !pto.local_array<4x8xi32>, !pto.struct<i32, f32>, !pto.pipe, !pto.hif8
func.func private @others(!pto.ptr<f32>, !pto.ptr<f32, gm>, !pto.ptr<i8, vec>, !pto.tensor_view<?x64xf32>,
                          !pto.partition_tensor_view<1x2x3x4x5xbf16>, !pto.multi_tile_buf<vec, 8x32xf32, count=2>,
                          !pto.multi_tile_buf<!pto.tile_buf<vec, 8x32xf32>, count=2>, !pto.eventid_array<2>,
                          !pto.local_array<4x8xi32>, !pto.struct<i32, f32>, !pto.pipe, !pto.hif8)

// What 0.27 writes beside a tile; parts that are left out have their defaults.
// CHECK-LABEL: func.func private @config
// CHECK-SAME: #pto.tile_buf_config<blayout=#pto.blayout<col_major>, slayout=#pto.slayout<none_box>, s_fractal_size=1024, pad=#pto.pad_value<zero>, compact=#pto.compact_mode<null>>
func.func private @config() attributes {test.config = #pto.tile_buf_config<blayout=#pto.blayout<col_major>, s_fractal_size=1024, pad=1>}
