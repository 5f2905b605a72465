// RUN: %check-text %s
// Data movement.
!V = !pto.tile_buf<vec, 16x64xf32>
!VH = !pto.tile_buf<vec, 16x64xf16>
!VI = !pto.tile_buf<vec, 16x64xi32>
!RI = !pto.tile_buf<vec, 1x16xi32>
!T = !pto.tile_buf<vec, 64x16xf32>
!W = !pto.tile_buf<vec, 16x128xf32>
!Z = !pto.tile_buf<vec, 16x64xf32, pad=1>
!BIG = !pto.tile_buf<vec, 32x64xf32, pad=3>
!M = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x64xf16, slayout=row_major>
!LM = !pto.tile_buf<left, 64x64xf16, slayout=row_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!AM = !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>
!AQ = !pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>
!S = !pto.tile_buf<scaling, 1x32xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!PA = !pto.partition_tensor_view<16x32xf32>
!PQ = !pto.partition_tensor_view<16x32xi8>
module attributes {pto.target_arch = "a2a3"} {
  func.func @memory(%p: !P, %t: !V, %a: !A, %pa: !PA, %pq: !PQ, %s: !S, %q: i64, %f: f32, %n: index, %c: i1, %i: !RI) {
    pto.tload ins(%p : !P) outs(%t : !V)
    pto.tload ins(%p : !P) outs(%t : !V) pad_mode = <PadValue> pad_value = %f : f32 left_padding_num = %n : index init_out_buffer = true right_padding_num = %n : index init_condition = %c : i1
    pto.tprefetch ins(%p : !P) outs(%t : !V)
    pto.tstore ins(%t : !V) outs(%p : !P) {atomicType = #pto<atomic_type atomic_add>}
    pto.tstore ins(%a : !A) outs(%pa : !PA) {reluPreMode = #pto<relu_pre_mode normal_relu>, stPhase = #pto<st_phase final>}
    pto.tstore ins(%a, %q : !A, i64) outs(%pq : !PQ)
    pto.tstore ins(%a : !A fp %s : !S) outs(%pq : !PQ)
    pto.tstore_fp ins(%a, %s : !A, !S) outs(%pq : !PQ)
    pto.mgather ins(%p, %i : !P, !RI) outs(%t : !V) {coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob zero>}
    pto.mscatter ins(%t, %i : !V, !RI) outs(%p : !P) {coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>, scatterConflict = #pto<scatter_conflict last>, scatterOob = #pto<scatter_oob skip>}
    return
  }
  func.func @spaces(%m: !M, %l: !LM, %a: !A, %am: !AM, %aq: !AQ, %s: !S, %q: i64, %r: index, %c: index, %w: !L) {
    pto.tmov ins(%m : !M) outs(%l : !LM)
    pto.tmov ins(%a, %q : !A, i64) outs(%aq : !AQ)
    pto.tmov ins(%a, %s : !A, !S) outs(%aq : !AQ) {reluPreMode = #pto<relu_pre_mode normal_relu>}
    pto.tmov.fp ins(%a, %s : !A, !S) outs(%aq : !AQ)
    pto.textract ins(%m, %r, %c : !M, index, index) outs(%w : !L)
    pto.tinsert ins(%a, %r, %c : !A, index, index) outs(%am : !AM)
    pto.textract_fp ins(%a, %s, %r, %c : !A, !S, index, index) outs(%aq : !AQ)
    pto.tinsert_fp ins(%a, %s, %r, %c : !A, !S, index, index) outs(%aq : !AQ)
    return
  }
  func.func @vector(%a: !V, %b: !V, %i: !VI, %t: !T, %w: !W, %z: !Z, %big: !BIG) {
    pto.ttrans ins(%a : !V) outs(%t : !T)
    pto.ttrans ins(%a, %b : !V, !V) outs(%t : !T)
    pto.tconcat ins(%a, %b : !V, !V) outs(%w : !W)
    pto.tconcatidx ins(%a, %b, %i, %i : !V, !V, !VI, !VI) outs(%w : !W)
    pto.tconcatidx ins(%a, %b, %i, %i : !V, !V, !VI, !VI) outs(%w, %i : !W, !VI)
    pto.tfillpad ins(%a : !V) outs(%z : !Z)
    pto.tfillpad ins(%a : !V) outs(%b : !V) {padValue = #pto.pad_value<max>}
    pto.tfillpad_inplace ins(%z : !Z) outs(%z : !Z)
    pto.tfillpad_expand ins(%a : !V) outs(%big : !BIG)
    return
  }
}
module attributes {pto.target_arch = "a5"} {
  func.func @a5(%a: !V, %h: !VH, %x: !V) {
    pto.tpack ins(%a : !V) outs(%h : !VH)
    pto.tmov ins(%a : !V) outs(%x : !V) {grpAxis = #pto<mx_group_axis axis1>} // A5
    return
  }
}
