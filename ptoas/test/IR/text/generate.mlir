// RUN: %check-text %s
// Compare, select, generate.
!V = !pto.tile_buf<vec, 16x64xf32>
!I = !pto.tile_buf<vec, 16x64xi32>
!R = !pto.tile_buf<vec, 1x64xi32>
!N = !pto.tile_buf<vec, 1x64xi16>
!B = !pto.tile_buf<vec, 16x32xui8, valid=16x8>
!TS = !pto.tile_buf<vec, 1x16xui32>
!TC = !pto.tile_buf<vec, 1x192xf32>
!H = !pto.tile_buf<vec, 16x64xui16>
!HX = !pto.tile_buf<vec, 32x1xui8, blayout=col_major>
!HD = !pto.tile_buf<vec, 16x256xui32>
!B5 = !pto.tile_buf<vec, 16x64xi8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @compare(%a: !V, %b: !V, %d: !V, %m: !B, %x: f32, %ts: !TS, %i: i32, %s: i16, %r: !R, %n: !N, %tc: !TC) {
    pto.tcmp ins(%a, %b {cmpMode = #pto<cmp gt>} : !V, !V) outs(%m : !B) // A2/A3
    pto.tcmps ins(%a, %x {cmpMode = #pto<cmp lt>} : !V, f32) outs(%m : !B)
    pto.tsel ins(%m, %a, %b : !B, !V, !V) outs(%d : !V)
    pto.tsel ins(%m, %a, %b, %ts : !B, !V, !V, !TS) outs(%d : !V)
    pto.tsels ins(%m, %a, %x : !B, !V, f32) outs(%d : !V)
    pto.tsels ins(%m, %a, %b, %x : !B, !V, !V, f32) outs(%d : !V)
    pto.tci ins(%i : i32) outs(%r : !R) {descending = false}
    pto.tci ins(%s, %tc : i16, !TC) outs(%n : !N) {descending = true}
    pto.ttri ins(%i {upperOrLower = 1} : i32) outs(%d : !V)
    return
  }
}
module attributes {pto.target_arch = "a5"} {
  func.func @a5(%k: i32, %i: !I, %h: !H, %x: !HX, %d: !HD, %a: !V, %b: !V, %m: !B5) {
    pto.tcmp ins(%a, %b {cmpMode = #pto<cmp gt>} : !V, !V) outs(%m : !B5)
    pto.trandom ins(%k, %k, %k, %k, %k, %k {rounds = 7} : i32, i32, i32, i32, i32, i32) outs(%i : !I)
    pto.thistogram ins(%h, %x : !H, !HX) outs(%d : !HD) {byte = 1}
    pto.thistogram ins(%h, %x : !H, !HX) outs(%d : !HD) {isMSB = true}
    return
  }
}
