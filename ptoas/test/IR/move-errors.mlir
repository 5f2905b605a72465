// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Loads, stores, and the ways between memory spaces.
!H = !pto.tile_buf<vec, 16x64xf16>
!P = !pto.partition_tensor_view<16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @load_width(%p: !P, %h: !H) {
    // expected-error @below {{element types of the view and the tile must have the same width, got 'f32' and 'f16'}}
    pto.tload ins(%p : !P) outs(%h : !H)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!PH = !pto.partition_tensor_view<16x32xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @store_count(%p: !PH, %a: !V) {
    // expected-error @below {{the window has 512 elements, but the valid part of the tile is 16x64}}
    pto.tstore ins(%a : !V) outs(%p : !PH)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @store_relu(%p: !P, %a: !V) {
    // expected-error @below {{quantisation and relu are only possible from loc acc}}
    pto.tstore ins(%a : !V) outs(%p : !P) {reluPreMode = #pto<relu_pre_mode normal_relu>}
    return
  }
}

// -----
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!PB = !pto.partition_tensor_view<16x32xi8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @store_acc(%p: !PB, %a: !A) {
    // expected-error @below {{an accumulator of element type 'f32' cannot become 'i8' on A2/A3, expected one of i32, f16, bf16, f32}}
    pto.tstore ins(%a : !A) outs(%p : !PB)
    return
  }
}

// -----
!H = !pto.tile_buf<vec, 16x64xf16>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @vec_to_left(%h: !H, %l: !L) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // expected-error @below {{no path from loc vec to loc left on A2/A3}}
    pto.tmov ins(%h : !H) outs(%l : !L)
    return
  }
}

// -----
!H = !pto.tile_buf<vec, 16x64xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @vec_to_mat(%h: !H, %m: !pto.tile_buf<mat, 16x64xf16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{no path from loc vec to loc mat on A2/A3}}
    pto.tmov ins(%h : !H) outs(%m : !pto.tile_buf<mat, 16x64xf16>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @insert_acc(%v: !V, %a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{no path from loc vec to loc acc on A2/A3, expected acc to mat; vec to vec}}
    pto.tinsert ins(%v, %c0, %c0 : !V, index, index) outs(%a : !A)
    return
  }
}

// -----
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @extract_bounds(%m: !M, %l: !L) {
    %r = arith.constant 56 : index
    %c0 = arith.constant 0 : index
    // expected-error @below {{the window is out of bounds: row 56 + size 16 exceeds 64}}
    pto.textract ins(%m, %r, %c0 : !M, index, index) outs(%l : !L)
    return
  }
}

// -----
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @extract_layout(%m: !M, %k: !pto.tile_buf<right, 64x32xf16, slayout=row_major>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{a tile in loc right must have slayout col_major}}
    pto.textract ins(%m, %c0, %c0 : !M, index, index) outs(%k : !pto.tile_buf<right, 64x32xf16, slayout=row_major>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @mode(%v: !V) {
    // expected-error @below {{accToVecMode is only possible from loc acc to loc vec}}
    pto.tmov ins(%v : !V) outs(%v : !V) {accToVecMode = #pto.acc_to_vec_mode<single_mode_vec0>}
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @concat(%v: !V) {
    // expected-error @below {{the valid columns of src0 and src1 are 128 wide together, but dst has 64 columns}}
    pto.tconcat ins(%v, %v : !V, !V) outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @pad(%v: !V) {
    // expected-error @below {{dst must name a pad value (pad= zero, max or min)}}
    pto.tfillpad ins(%v : !V) outs(%v : !V)
    return
  }
}

// -----
!R = !pto.tile_buf<vec, 1x64xf32>
!PD = !pto.tile_buf<vec, 16x64xf32, pad=3>
module attributes {pto.target_arch = "a2a3"} {
  func.func @pad_shape(%r: !R, %v: !PD) {
    // expected-error @below {{the shape of dst must be equal to that of src, got 1x64 and 16x64}}
    pto.tfillpad ins(%r : !R) outs(%v : !PD)
    return
  }
}

// -----
!CM = !pto.tile_buf<vec, 16x64xf32, blayout=col_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @trans(%v: !CM) {
    // expected-error @below {{'src' must be row-major on A2/A3}}
    pto.ttrans ins(%v, %v : !CM, !CM) outs(%v : !CM)
    return
  }
}

// -----
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @place(%m: !M, %l: !L, %i: i32, %j: index) {
    // expected-error @below {{operand 'row' must be an index, got 'i32'}}
    pto.textract ins(%m, %i, %j : !M, i32, index) outs(%l : !L)
    return
  }
}
