// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Element sets per architecture, equal types, equal valid shapes, row-major tiles.
!VB = !pto.tile_buf<vec, 16x64xi8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @bytes_a3(%a: !VB) {
    // expected-error @below {{'pto.tadd' op element type 'i8' of operand 'src0' is not supported on A2/A3, expected one of i16, i32, ui16, ui32, f16, f32}}
    pto.tadd ins(%a, %a : !VB, !VB) outs(%a : !VB)
    return
  }
}

// -----
!BF = !pto.tile_buf<vec, 16x64xbf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @bf16_a3(%a: !BF) {
    // expected-error @below {{element type 'bf16' of operand 'src0' is not supported on A2/A3}}
    pto.tmul ins(%a, %a : !BF, !BF) outs(%a : !BF)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!H = !pto.tile_buf<vec, 16x64xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @mixed(%a: !V, %b: !H) {
    // expected-error @below {{element types of 'src0' and 'src1' must be equal, got 'f32' and 'f16'}}
    pto.tadd ins(%a, %b : !V, !H) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VT = !pto.tile_buf<vec, 16x64xf32, valid=16x32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @valid(%a: !V, %b: !VT) {
    // expected-error @below {{valid shapes of 'src0' and 'dst' must be equal, got 16x64 and 16x32}}
    pto.tadd ins(%a, %a : !V, !V) outs(%b : !VT)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!CM = !pto.tile_buf<vec, 16x64xf32, blayout=col_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @order(%a: !CM, %b: !V) {
    // expected-error @below {{'src0' must be row-major (blayout row_major)}}
    pto.tadd ins(%a, %b : !CM, !V) outs(%b : !V)
    return
  }
}

// -----
!H = !pto.tile_buf<vec, 16x64xf16>
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @space(%a: !M, %b: !H) {
    // expected-error @below {{operand 'src0' must have loc vec, but it lies in mat}}
    pto.tadd ins(%a, %b : !M, !H) outs(%b : !H)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @missing(%a: !V) {
    // expected-error @below {{custom op 'pto.tadd' operand 'src1' is missing in ins(...)}}
    pto.tadd ins(%a : !V) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @toomany(%a: !V) {
    // expected-error @below {{has an operand too many or of the wrong type in ins(...): it takes at most 2, got 3}}
    pto.tadd ins(%a, %a, %a : !V, !V, !V) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @kind(%a: !V, %s: f32) {
    // expected-error @below {{operand 'src0' must be a tile, its type is 'f32'}}
    pto.tadd ins(%s, %a : f32, !V) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @types(%a: !V) {
    // expected-error @below {{ins(...) lists 2 operands but 1 type}}
    pto.tadd ins(%a, %a : !V) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @scalar(%a: !V, %s: f16) {
    // expected-error @below {{scalar type 'f16' must be the element type of 'src', 'f32'}}
    pto.tmuls ins(%a, %s : !V, f16) outs(%a : !V)
    return
  }
}

// -----
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @and_i32(%a: !VI) {
    // expected-error @below {{element type 'i32' of operand 'src0' is not supported on A2/A3, expected one of i8, i16, ui8, ui16}}
    pto.tand ins(%a, %a : !VI, !VI) outs(%a : !VI)
    return
  }
}

// -----
!VS = !pto.tile_buf<vec, 16x64xi16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @ands_same(%a: !VS, %s: i16) {
    // expected-error @below {{'src' and 'dst' must be different tiles}}
    pto.tands ins(%a, %s : !VS, i16) outs(%a : !VS)
    return
  }
}

// -----
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @shift(%a: !VI) {
    %s = arith.constant -1 : i32
    // expected-error @below {{the shift must not be negative, got -1}}
    pto.tshls ins(%a, %s : !VI, i32) outs(%a : !VI)
    return
  }
}

// -----
!H = !pto.tile_buf<vec, 16x64xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @slope(%a: !H, %s: f16) {
    // expected-error @below {{the slope must be f32, got 'f16'}}
    pto.tlrelu ins(%a, %s : !H, f16) outs(%a : !H)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!H = !pto.tile_buf<vec, 16x64xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @axpy(%a: !V, %b: !H, %s: f32) {
    // expected-error @below {{element type of dst must be that of src, or f32 for f16, got 'f32' and 'f16'}}
    pto.taxpy ins(%a, %s : !V, f32) outs(%b : !H)
    return
  }
}

// -----
!BF = !pto.tile_buf<vec, 16x64xbf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @expands(%a: !BF, %s: bf16) {
    // expected-error @below {{element type 'bf16' of operand 'dst' is not supported on A2/A3}}
    pto.texpands ins(%s : bf16) outs(%a : !BF)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!RI = !pto.tile_buf<vec, 1x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @cvt(%a: !V, %b: !RI) {
    // expected-error @below {{shapes of 'src' and 'dst' must be equal, got 16x64 and 1x64}}
    pto.tcvt ins(%a : !V) outs(%b : !RI)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!H = !pto.tile_buf<vec, 16x64xf16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @round(%a: !V, %b: !H) {
    // expected-error @below {{unknown round_mode 'UP', expected NONE, RINT, ROUND, FLOOR, CEIL, TRUNC, ODD, CAST_RINT}}
    pto.tcvt ins(%a {rmode = #pto<round_mode UP>} : !V) outs(%b : !H)
    return
  }
}

// -----
!VB = !pto.tile_buf<vec, 16x64xi8>
!VS = !pto.tile_buf<vec, 16x64xi16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @cmp_elem(%a: !VS, %b: !VB) {
    // expected-error @below {{element type 'i16' of operand 'src0' is not supported on A2/A3, expected one of i32, ui32, f16, f32}}
    pto.tcmp ins(%a, %a : !VS, !VS) outs(%b : !VB)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @cmp_shape(%a: !V, %b: !pto.tile_buf<vec, 16x32xui8>) {
    // expected-error @below {{shapes of src0 and dst must be equal on A5, got 16x64 and 16x32}}
    pto.tcmp ins(%a, %a : !V, !V) outs(%b : !pto.tile_buf<vec, 16x32xui8>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @mask(%a: !V) {
    // expected-error @below {{the mask must hold integers, got 'f32'}}
    pto.tsel ins(%a, %a, %a, %a : !V, !V, !V, !V) outs(%a : !V)
    return
  }
}

// -----
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @random(%a: !VI, %k: i32) {
    // expected-error @below {{'pto.trandom' op is not supported on A2/A3, it needs A5}}
    pto.trandom ins(%k, %k, %k, %k, %k, %k : i32, i32, i32, i32, i32, i32) outs(%a : !VI)
    return
  }
}

// -----
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a5"} {
  func.func @rounds(%a: !VI, %k: i32) {
    // expected-error @below {{rounds must be 7 or 10, got 8}}
    pto.trandom ins(%k, %k, %k, %k, %k, %k {rounds = 8 : i32} : i32, i32, i32, i32, i32, i32) outs(%a : !VI)
    return
  }
}

// -----
!RI = !pto.tile_buf<vec, 1x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @ramp(%a: !RI, %k: i64) {
    // expected-error @below {{start must have the element type of dst, got 'i64' and 'i32'}}
    pto.tci ins(%k : i64) outs(%a : !RI)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @tri(%a: !V, %k: i32) {
    // expected-error @below {{upperOrLower must be 0 (lower) or 1 (upper), got 2}}
    pto.ttri ins(%k {upperOrLower = 2 : i32} : i32) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VT = !pto.tile_buf<vec, 16x64xf32, valid=16x32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @part(%a: !V, %b: !VT) {
    // expected-error @below {{the valid shapes of src0 and src1 (16x64, 16x32) must lie inside that of dst, 16x32}}
    pto.tpartadd ins(%a, %b : !V, !VT) outs(%b : !VT)
    return
  }
}
