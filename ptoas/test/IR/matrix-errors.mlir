// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Elements, spaces and extents of matrix products.
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!AI = !pto.tile_buf<acc, 16x32xi32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @elements(%l: !L, %k: !K, %a: !AI) {
    // expected-error @below {{element types 'f16' * 'f16' into 'i32' are not supported on A2/A3}}
    pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !AI)
    return
  }
}

// -----
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @space(%m: !M, %k: !K, %a: !A) {
    // expected-error @below {{operand 'lhs' must have loc left, but it lies in mat}}
    pto.tmatmul ins(%m, %k : !M, !K) outs(%a : !A)
    return
  }
}

// -----
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K2 = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @inner(%l: !L, %k: !K2, %a: !A) {
    // expected-error @below {{inner valid extent (K) differs: lhs has 64, rhs has 32}}
    pto.tmatmul ins(%l, %k : !L, !K2) outs(%a : !A)
    return
  }
}

// -----
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!BI = !pto.tile_buf<bias, 2x32xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @bias_rows(%l: !L, %k: !K, %b: !BI, %a: !A) {
    // expected-error @below {{bias must have one row, got 2x32}}
    pto.tmatmul.bias ins(%l, %k, %b : !L, !K, !BI) outs(%a : !A)
    return
  }
}

// -----
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!BH = !pto.tile_buf<bias, 1x32xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @bias_elem(%l: !L, %k: !K, %b: !BH, %a: !A) {
    // expected-error @below {{element type of bias must be 'f32', got 'f16'}}
    pto.tmatmul.bias ins(%l, %k, %b : !L, !K, !BH) outs(%a : !A)
    return
  }
}

// -----
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a2a3"} {
  func.func @gemv(%l: !L, %k: !K, %a: !A) {
    // expected-error @below {{lhs must have one valid row, got 16}}
    pto.tgemv ins(%l, %k : !L, !K) outs(%a : !A)
    return
  }
}

// -----
// The order of the boxes of a left tile is the architecture's, whatever is written; that of others is checked.
!R = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=row_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
  func.func @layout_a5(%l: !L, %k: !K, %r: !R, %a: !A) {
    pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)
    // expected-error @below {{layouts on A5 must be lhs col_major/row_major}}
    pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !A)
    return
  }
}
