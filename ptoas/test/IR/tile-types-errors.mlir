// RUN: %pto-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{unknown loc: cache, expected mat, left, right, acc, vec, bias or scaling}}
func.func private @space(!pto.tile_buf<cache, 16x64xf32>)

// -----
// expected-error @below {{duplicate key 'pad' in a tile type}}
func.func private @twice(!pto.tile_buf<vec, 16x64xf32, pad=0, pad=1>)

// -----
// expected-error @below {{unknown key 'padding' in a tile type, expected valid, blayout, slayout, fractal, pad or compact}}
func.func private @key(!pto.tile_buf<vec, 16x64xf32, padding=0>)

// -----
// expected-error @below {{v_row (valid extent) must be '?', -1 or non-negative, got -7}}
func.func private @negative(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=-7, v_col=64>)

// -----
// expected-error @below {{a tile type with loc= needs dtype, rows, cols, v_row and v_col}}
func.func private @missing(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64>)

// -----
// expected-error @below {{rows and columns of a tile must be positive, got 0x64}}
func.func private @empty(!pto.tile_buf<vec, 0x64xf32>)

// -----
// expected-error @below {{valid shape 17x64 is not inside the shape 16x64}}
func.func private @outside(!pto.tile_buf<vec, 16x64xf32, valid=17x64>)

// -----
// expected-error @below {{fractal must be 32, 512 or 1024, got 100}}
func.func private @fractal(!pto.tile_buf<vec, 16x64xf32, fractal=100>)

// -----
// expected-error @below {{unknown blayout 'diagonal', expected row_major, col_major}}
func.func private @blayout(!pto.tile_buf<vec, 16x64xf32, blayout=diagonal>)

// -----
// expected-error @below {{count must be 2 to 16, got 17}}
func.func private @count(!pto.multi_tile_buf<vec, 8x32xf32, count=17>)

// -----
// expected-error @below {{a view has 1 to 5 dimensions, got 6}}
func.func private @rank(!pto.tensor_view<1x1x1x1x1x1xf32>)

// -----
// expected-error @below {{!pto.tile of earlier versions names no memory space here; write !pto.tile_buf with one}}
func.func private @no_space(!pto.tile<16x64xf32>)

// -----
// expected-error @below {{unknown type '!pto.til', expected ptr, tensor_view, partition_tensor_view, tile_buf, multi_tile_buf or another type of the dialect}}
func.func private @unknown(!pto.til<16x64xf32>)

// -----
// expected-error @below {{unknown key 'fractal', expected blayout, slayout, s_fractal_size, pad or compact}}
func.func private @config() attributes {test.config = #pto.tile_buf_config<fractal=512>}

// -----
// expected-error @below {{expected #pto.blayout<…>, got #pto.slayout<none_box>}}
func.func private @config() attributes {test.config = #pto.tile_buf_config<blayout=#pto.slayout<none_box>>}

// -----
func.func @internal(%m: memref<16x64xf32>) {
  // expected-error @below {{'pto.bind_tile' is an internal form of version 0.27, in which tiles were memrefs; write the tile as !pto.tile_buf}}
  %n = pto.bind_tile %m {config = #pto.tile_buf_config<>} : memref<16x64xf32> -> memref<16x64xf32>
  return
}
