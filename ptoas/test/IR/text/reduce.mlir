// RUN: %check-text %s
// Reductions and broadcasts.
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!CI = !pto.tile_buf<vec, 16x1xi32, blayout=col_major>
!N = !pto.tile_buf<vec, 16x8xf32>
!R = !pto.tile_buf<vec, 1x64xf32>
!RI = !pto.tile_buf<vec, 1x64xi32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @reduce(%a: !V, %t: !V, %c: !C, %ci: !CI, %r: !R, %ri: !RI) {
    pto.trowsum ins(%a : !V) outs(%c : !C)
    pto.trowsum ins(%a, %t : !V, !V) outs(%c : !C)
    pto.trowmax ins(%a : !V) outs(%c : !C)
    pto.trowmax ins(%a, %t : !V, !V) outs(%c : !C)
    pto.trowmin ins(%a : !V) outs(%c : !C)
    pto.trowmin ins(%a, %t : !V, !V) outs(%c : !C)
    pto.trowprod ins(%a : !V) outs(%c : !C)
    pto.trowprod ins(%a, %t : !V, !V) outs(%c : !C)
    pto.trowargmax ins(%a : !V) outs(%ci : !CI)
    pto.trowargmax ins(%a, %t : !V, !V) outs(%ci : !CI)
    pto.trowargmin ins(%a : !V) outs(%ci : !CI)
    pto.trowargmin ins(%a, %t : !V, !V) outs(%ci : !CI)
    pto.tcolsum ins(%a : !V) outs(%r : !R)
    pto.tcolmax ins(%a : !V) outs(%r : !R)
    pto.tcolmin ins(%a : !V) outs(%r : !R)
    pto.tcolprod ins(%a : !V) outs(%r : !R)
    pto.tcolsum ins(%a, %t {isBinary = true} : !V, !V) outs(%r : !R)
    pto.tcolargmax ins(%a : !V) outs(%ri : !RI)
    pto.tcolargmax ins(%a, %t : !V, !V) outs(%ri : !RI)
    pto.tcolargmin ins(%a : !V) outs(%ri : !RI)
    pto.tcolargmin ins(%a, %t : !V, !V) outs(%ri : !RI)
    return
  }
  func.func @expand(%a: !V, %t: !V, %c: !C, %n: !N, %r: !R, %d: !V) {
    pto.trowexpand ins(%c : !C) outs(%d : !V)
    pto.trowexpandadd ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandadd ins(%a, %c, %t : !V, !C, !V) outs(%d : !V)
    pto.trowexpandadd ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpandsub ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandsub ins(%a, %c, %t : !V, !C, !V) outs(%d : !V)
    pto.trowexpandsub ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpandmul ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandmul ins(%a, %c, %t : !V, !C, !V) outs(%d : !V)
    pto.trowexpandmul ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpanddiv ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpanddiv ins(%a, %c, %t : !V, !C, !V) outs(%d : !V)
    pto.trowexpanddiv ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpandmax ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandmax ins(%a, %c, %t : !V, !C, !V) outs(%d : !V) // A2/A3
    pto.trowexpandmax ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpandmin ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandmin ins(%a, %c, %t : !V, !C, !V) outs(%d : !V) // A2/A3
    pto.trowexpandmin ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpandexpdif ins(%a, %c : !V, !C) outs(%d : !V)
    pto.trowexpandexpdif ins(%a, %c, %t : !V, !C, !V) outs(%d : !V) // A2/A3
    pto.trowexpandexpdif ins(%a, %n : !V, !N) outs(%d : !V)
    pto.trowexpanddiv ins(%a, %c : !V, !C) outs(%d : !V) {precisionType = #pto<div_precision high_precision>}
    pto.tcolexpand ins(%r : !R) outs(%d : !V)
    pto.tcolexpandadd ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpandsub ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpandmul ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpanddiv ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpandmax ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpandmin ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpandexpdif ins(%a, %r : !V, !R) outs(%d : !V)
    pto.tcolexpanddiv ins(%a, %r : !V, !R) outs(%d : !V) {precisionType = #pto<div_precision high_precision>}
    return
  }
}
