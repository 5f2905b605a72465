// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Shapes of reductions and broadcasts.
!V = !pto.tile_buf<vec, 16x64xf32>
!C2 = !pto.tile_buf<vec, 16x8xf32, valid=16x2>
module attributes {pto.target_arch = "a2a3"} {
  func.func @columns(%a: !V, %c: !C2) {
    // expected-error @below {{'dst' must have one valid column (valid col = 1), got 2}}
    pto.trowsum ins(%a, %a : !V, !V) outs(%c : !C2)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @rows(%a: !V, %c: !pto.tile_buf<vec, 1x8xf32, valid=1x1>) {
    // expected-error @below {{valid rows of 'src' and 'dst' must be equal, got 16 and 1}}
    pto.trowmax ins(%a, %a : !V, !V) outs(%c : !pto.tile_buf<vec, 1x8xf32, valid=1x1>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @column_tile(%a: !V, %c: !pto.tile_buf<vec, 16x64xf32, valid=16x1, blayout=col_major>) {
    // expected-error @below {{a col_major dst must have exactly one column, got 64}}
    pto.trowsum ins(%a, %a : !V, !V) outs(%c : !pto.tile_buf<vec, 16x64xf32, valid=16x1, blayout=col_major>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
module attributes {pto.target_arch = "a2a3"} {
  func.func @argmax(%a: !V, %c: !C) {
    // expected-error @below {{element type 'f32' of operand 'dst' is not supported on A2/A3, expected one of i32, ui32}}
    pto.trowargmax ins(%a, %a : !V, !V) outs(%c : !C)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!R = !pto.tile_buf<vec, 1x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @tmp(%a: !V, %r: !R) {
    // expected-error @below {{a scratch tile (tmp) needs the attribute isBinary}}
    pto.tcolsum ins(%a, %a : !V, !V) outs(%r : !R)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @colarg(%a: !V, %i: !VI) {
    // expected-error @below {{'dst' must have one valid row, got 16}}
    pto.tcolargmax ins(%a, %a : !V, !V) outs(%i : !VI)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VT = !pto.tile_buf<vec, 16x64xf32, valid=16x32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @expand(%a: !V, %b: !VT) {
    // expected-error @below {{one operand must be row-major with the valid columns of dst, the other hold one value per row: a col_major column, or row-major with 8 valid columns; got 16x64 and 16x32}}
    pto.trowexpandmul ins(%a, %b : !V, !VT) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
module attributes {pto.target_arch = "a5"} {
  func.func @expand_tmp(%a: !V, %c: !C) {
    // expected-error @below {{takes no scratch tile (tmp) on A5}}
    pto.trowexpandmax ins(%a, %c, %a : !V, !C, !V) outs(%a : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!RW = !pto.tile_buf<vec, 1x256xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @colexpand(%a: !V, %r: !RW) {
    // expected-error @below {{valid columns of 'src1' and 'dst' must be equal, got 256 and 64}}
    pto.tcolexpandmul ins(%a, %r : !V, !RW) outs(%a : !V)
    return
  }
}
