// RUN: %check-text %s
// Element-wise instructions.
!V = !pto.tile_buf<vec, 16x64xf32>
!H = !pto.tile_buf<vec, 16x64xf16>
!I = !pto.tile_buf<vec, 16x64xi32>
!S = !pto.tile_buf<vec, 16x64xi16>
!U = !pto.tile_buf<vec, 32x32xui8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @two_tiles(%a: !V, %b: !V, %c: !V, %t: !V, %d: !V, %i: !I, %j: !I, %k: !I, %s: !S, %u: !S, %w: !S, %x: !S, %m: !U) {
    pto.tadd ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tsub ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tmul ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tdiv ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tmax ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tmin ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tfmod ins(%a, %b : !V, !V) outs(%d : !V)
    pto.trem ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tpow ins(%a, %b : !V, !V) outs(%d : !V)
    pto.taddrelu ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tpartadd ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tpartmul ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tpartmax ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tpartmin ins(%a, %b : !V, !V) outs(%d : !V)
    pto.trem ins(%a, %b, %t : !V, !V, !V) outs(%d : !V)
    pto.tpow ins(%a, %b, %t : !V, !V, !V) outs(%d : !V)
    pto.tdiv ins(%a, %b : !V, !V) outs(%d : !V) {precisionType = #pto<div_precision high_precision>}
    pto.tfmod ins(%a, %b : !V, !V) outs(%d : !V) {precisionType = #pto<fmod_precision high_precision>}
    pto.trem ins(%a, %b : !V, !V) outs(%d : !V) {precisionType = #pto<rem_precision high_precision>}
    pto.tpow ins(%a, %b : !V, !V) outs(%d : !V) {precisionType = #pto<pow_precision high_precision>}
    pto.tprelu ins(%a, %b : !V, !V) outs(%d : !V)
    pto.tprelu ins(%a, %b, %m : !V, !V, !U) outs(%d : !V)
    pto.tand ins(%s, %u : !S, !S) outs(%w : !S)
    pto.tor ins(%s, %u : !S, !S) outs(%w : !S)
    pto.tshl ins(%s, %u : !S, !S) outs(%w : !S)
    pto.tshr ins(%s, %u : !S, !S) outs(%w : !S)
    pto.txor ins(%s, %u : !S, !S) outs(%w : !S)
    pto.txor ins(%s, %u, %x : !S, !S, !S) outs(%w : !S)
    pto.taddc ins(%a, %b, %c : !V, !V, !V) outs(%d : !V)
    pto.tsubc ins(%a, %b, %c : !V, !V, !V) outs(%d : !V)
    pto.tpartargmax ins(%a, %b, %i, %j : !V, !V, !I, !I) outs(%d, %k : !V, !I)
    pto.tpartargmin ins(%a, %b, %i, %j : !V, !V, !I, !I) outs(%d, %k : !V, !I)
    return
  }
  func.func @tile_and_scalar(%a: !V, %b: !V, %t: !V, %d: !V, %x: f32, %s: !S, %u: !S, %w: !S, %n: i16) {
    pto.tadds ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tsubs ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tmuls ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tdivs ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tmaxs ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tmins ins(%a, %x : !V, f32) outs(%d : !V)
    pto.trems ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tfmods ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tpows ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tlrelu ins(%a, %x : !V, f32) outs(%d : !V)
    pto.taxpy ins(%a, %x : !V, f32) outs(%d : !V)
    pto.tdivs ins(%x, %a : f32, !V) outs(%d : !V)
    pto.tdivs ins(%a, %x : !V, f32) outs(%d : !V) {precisionType = #pto<div_precision high_precision>}
    pto.trems ins(%a, %x, %t : !V, f32, !V) outs(%d : !V)
    pto.tpows ins(%a, %x, %t : !V, f32, !V) outs(%d : !V)
    pto.tands ins(%s, %n : !S, i16) outs(%w : !S)
    pto.tors ins(%s, %n : !S, i16) outs(%w : !S)
    pto.tshls ins(%s, %n : !S, i16) outs(%w : !S)
    pto.tshrs ins(%s, %n : !S, i16) outs(%w : !S)
    pto.txors ins(%s, %n : !S, i16) outs(%w : !S)
    pto.txors ins(%s, %n, %u : !S, i16, !S) outs(%w : !S)
    pto.taddsc ins(%a, %x, %b : !V, f32, !V) outs(%d : !V)
    pto.tsubsc ins(%a, %x, %b : !V, f32, !V) outs(%d : !V)
    pto.texpands ins(%x : f32) outs(%d : !V)
    return
  }
  func.func @one_tile(%a: !V, %t: !V, %d: !V, %s: !S, %w: !S, %h: !H) {
    pto.tabs ins(%a : !V) outs(%d : !V)
    pto.texp ins(%a : !V) outs(%d : !V)
    pto.tlog ins(%a : !V) outs(%d : !V)
    pto.tsqrt ins(%a : !V) outs(%d : !V)
    pto.trsqrt ins(%a : !V) outs(%d : !V)
    pto.trecip ins(%a : !V) outs(%d : !V)
    pto.tneg ins(%a : !V) outs(%d : !V)
    pto.trelu ins(%a : !V) outs(%d : !V)
    pto.texp ins(%a : !V) outs(%d : !V) {precisionType = #pto<exp_precision high_precision>}
    pto.tlog ins(%a : !V) outs(%d : !V) {precisionType = #pto<log_precision high_precision>}
    pto.tsqrt ins(%a : !V) outs(%d : !V) {precisionType = #pto<sqrt_precision high_precision>}
    pto.trsqrt ins(%a : !V) outs(%d : !V) {precisionType = #pto<rsqrt_precision high_precision>}
    pto.trecip ins(%a : !V) outs(%d : !V) {precisionType = #pto<recip_precision high_precision>}
    pto.trsqrt ins(%a, %t : !V, !V) outs(%d : !V)
    pto.tnot ins(%s : !S) outs(%w : !S)
    pto.tcvt ins(%a {rmode = #pto<round_mode ROUND>, sat_mode = #pto<saturation_mode ON>} : !V) outs(%h : !H)
    pto.tcvt ins(%a, %t {rmode = #pto<round_mode CAST_RINT>} : !V, !V) outs(%h : !H)
    return
  }
}
