// RUN: %check-text %s
// Gather, scatter, sort, quantise.
!V = !pto.tile_buf<vec, 16x64xf32>
!VI = !pto.tile_buf<vec, 16x64xi32>
!U = !pto.tile_buf<vec, 16x64xui32>
!B = !pto.tile_buf<vec, 16x64xui8>
!B8 = !pto.tile_buf<vec, 16x64xi8>
!C = !pto.tile_buf<vec, 16x8xi32, valid=16x1>
!W = !pto.tile_buf<vec, 16x128xf32>
!R = !pto.tile_buf<vec, 1x64xf32>
!R2 = !pto.tile_buf<vec, 1x128xf32>
!S = !pto.tile_buf<vec, 16x8xf32, valid=16x1>
!E8 = !pto.tile_buf<vec, 16x64xf8E4M3FN>
!E = !pto.tile_buf<vec, 16x32xui8, valid=16x2>
!X = !pto.tile_buf<vec, 16x8xf32, valid=16x2>
module attributes {pto.target_arch = "a2a3"} {
  func.func @gather(%a: !V, %i: !VI, %t: !VI, %d: !V, %x: f32, %b: !B, %c: !C, %di: !VI) {
    pto.tgather ins(%a, %i, %t : !V, !VI, !VI) outs(%d : !V)
    pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : !V, "row") outs(%d : !V)
    pto.tgather ins(%a, %x, %b : !V, f32, !B) outs(%di, %c : !VI, !C) {cmpMode = #pto<cmp gt>, offset = 0 : i32}
    pto.tgatherb ins(%a, %i : !V, !VI) outs(%d : !V)
    pto.tscatter ins(%a, %i : !V, !VI) outs(%d : !V)
    pto.tscatter ins(%a, {maskPattern = #pto.mask_pattern<P1010>} : !V, "col") outs(%d : !V)
    return
  }
  func.func @sort(%a: !V, %i: !U, %t: !V, %w: !W, %r: !R, %q: !R, %d: !R2, %s: !R2, %n: vector<4xi16>, %k: i32) {
    pto.tsort32 ins(%a, %i : !V, !U) outs(%w : !W)
    pto.tsort32 ins(%a, %i, %t : !V, !U, !V) outs(%w : !W)
    pto.tmrgsort ins(%r, %k : !R, i32) outs(%q : !R)
    pto.tmrgsort ins(%r, %q, %s : !R, !R, !R2) outs(%d, %n : !R2, vector<4xi16>) {exhausted = false}
    pto.tmrgsort ins(%r, %q : !R, !R) outs(%d, %n : !R2, vector<4xi16>) {exhausted = true, no_tmp}
    return
  }
  func.func @quantise(%a: !V, %s: !S, %b: !B, %b8: !B8, %d: !V) {
    pto.tquant ins(%a, %s : !V, !S) outs(%b8 : !B8) {quant_type = #pto<quant_type INT8_SYM>}
    pto.tquant ins(%a, %s, %s : !V, !S, !S) outs(%b : !B) {quant_type = #pto<quant_type INT8_ASYM>}
    pto.tdequant ins(%b8, %s, %s : !B8, !S, !S) outs(%d : !V)
    return
  }
}
module attributes {pto.target_arch = "a5"} {
  func.func @groups(%a: !V, %d: !E8, %e: !E, %x: !X) {
    pto.tquant.mx ins(%a : !V) outs(%d, %e, %x, %x : !E8, !E, !X, !X) {grpAxis = #pto<mx_group_axis axis1>, interleave = true, quantScaleAlg = #pto<quant_scale_alg ocp>, quant_type = #pto<quant_type MXFP8>, storeMode = #pto<vec_store_mode nz>}
    pto.tquant.mx ins(%a : !V) outs(%d, %e, %x, %x, %e : !E8, !E, !X, !X, !E) {quant_type = #pto<quant_type MXFP8>}
    return
  }
}
