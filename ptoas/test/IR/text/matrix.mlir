// RUN: %check-text %s
// Matrix products; an A5 accumulator and its operands have other orders than on A2/A3.
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!K = !pto.tile_buf<right, 64x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!B = !pto.tile_buf<bias, 1x32xf32>
!GL = !pto.tile_buf<left, 16x64xf16, valid=1x64, slayout=row_major>
!GA = !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>
!L8 = !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>
!K8 = !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>
!GL8 = !pto.tile_buf<left, 16x64xf8E4M3FN, valid=1x64, blayout=col_major, slayout=row_major>
!SL = !pto.tile_buf<scaling, 16x2x!pto.f8E8M0>
!SK = !pto.tile_buf<scaling, 2x32x!pto.f8E8M0>
module attributes {pto.target_arch = "a2a3"} {
  func.func @plain(%l: !L, %k: !K, %a: !A, %b: !B, %gl: !GL, %ga: !GA) {
    pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !A)
    pto.tmatmul ins(%l, %k : !L, !K) outs(%a : !A) {accPhase = #pto<acc_phase final>}
    pto.tmatmul.acc ins(%a, %l, %k : !A, !L, !K) outs(%a : !A)
    pto.tmatmul.bias ins(%l, %k, %b : !L, !K, !B) outs(%a : !A)
    pto.tgemv ins(%gl, %k : !GL, !K) outs(%ga : !GA)
    pto.tgemv.acc ins(%ga, %gl, %k : !GA, !GL, !K) outs(%ga : !GA)
    pto.tgemv.bias ins(%gl, %k, %b : !GL, !K, !B) outs(%ga : !GA)
    return
  }
}
module attributes {pto.target_arch = "a5"} {
  func.func @scaled(%l: !L8, %k: !K8, %sl: !SL, %sk: !SK, %a: !A, %b: !B, %gl: !GL8, %ga: !GA) {
    pto.tget_scale_addr ins(%l : !L8) outs(%sl : !SL)
    pto.tmatmul.mx ins(%l, %sl, %k, %sk : !L8, !SL, !K8, !SK) outs(%a : !A)
    pto.tmatmul.mx.acc ins(%a, %l, %sl, %k, %sk : !A, !L8, !SL, !K8, !SK) outs(%a : !A)
    pto.tmatmul.mx.bias ins(%l, %sl, %k, %sk, %b : !L8, !SL, !K8, !SK, !B) outs(%a : !A)
    pto.tgemv.mx ins(%gl, %sl, %k, %sk : !GL8, !SL, !K8, !SK) outs(%ga : !GA)
    pto.tgemv.mx.acc ins(%ga, %gl, %sl, %k, %sk : !GA, !GL8, !SL, !K8, !SK) outs(%ga : !GA)
    pto.tgemv.mx.bias ins(%gl, %sl, %k, %sk, %b : !GL8, !SL, !K8, !SK, !B) outs(%ga : !GA)
    return
  }
}
