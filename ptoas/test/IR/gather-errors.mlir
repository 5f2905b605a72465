// RUN: %pto-opt %s -split-input-file -verify-diagnostics
// Forms and index types of gathers, scatters, sorts and quantisation.
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @floats(%v: !V) {
    // expected-error @below {{indices must be integers (i32, ui32), got 'f32'}}
    pto.tgather ins(%v, %v, %v : !V, !V, !V) outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @notmp(%v: !V, %i: !VI) {
    // expected-error @below {{the index form needs a scratch tile; expected ins(src, indices, tmp), or a maskPattern, or a value to compare with}}
    pto.tgather ins(%v, %i : !V, !VI) outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @forms(%v: !V, %i: !VI) {
    // expected-error @below {{expected exactly one form: indices, a value to compare with, or a maskPattern; got 2}}
    pto.tgather ins(%v, %i, %i {maskPattern = #pto.mask_pattern<P0101>} : !V, !VI, !VI) outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @axis(%v: !V) {
    // expected-error @below {{the axis of a mask must be "row" or "col", got "diagonal"}}
    pto.tgather ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : !V, "diagonal") outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
!VB = !pto.tile_buf<vec, 16x64xi8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @mode(%v: !V, %i: !VI, %s: f32, %t: !VB) {
    // expected-error @below {{the compare form knows eq and gt, got lt}}
    pto.tgather ins(%v, %s, %t : !V, f32, !VB) outs(%i, %i : !VI, !VI) {cmpMode = #pto<cmp lt>, offset = 0 : i32}
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VS = !pto.tile_buf<vec, 16x64xi16>
module attributes {pto.target_arch = "a2a3"} {
  func.func @scatter(%v: !V, %i: !VS) {
    // expected-error @below {{indices must be integers of 32 bits for 'f32' data, got 'i16'}}
    pto.tscatter ins(%v, %i : !V, !VS) outs(%v : !V)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @sort_idx(%v: !V, %i: !VI) {
    // expected-error @below {{element type 'i32' of operand 'indices' is not supported on A2/A3, expected one of ui32}}
    pto.tsort32 ins(%v, %i : !V, !VI) outs(%v : !V)
    return
  }
}

// -----
!RW = !pto.tile_buf<vec, 1x256xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @run(%v: !RW) {
    %b = arith.constant 48 : i32
    // expected-error @below {{the run length (block) must be a positive multiple of 64, got 48}}
    pto.tmrgsort ins(%v, %b : !RW, i32) outs(%v : !RW)
    return
  }
}

// -----
!RW = !pto.tile_buf<vec, 1x256xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @lists(%v: !RW, %n: vector<4xi16>) {
    // expected-error @below {{merges two to four lists, got 1}}
    pto.tmrgsort ins(%v : !RW) outs(%v, %n : !RW, vector<4xi16>)
    return
  }
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!R = !pto.tile_buf<vec, 1x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @quant(%v: !V, %r: !R, %o: !pto.tile_buf<vec, 16x64xui8>) {
    // expected-error @below {{INT8_SYM takes no offset and writes i8, got 'ui8'}}
    pto.tquant ins(%v, %r : !V, !R) outs(%o : !pto.tile_buf<vec, 16x64xui8>) {quant_type = #pto<quant_type INT8_SYM>}
    return
  }
}
