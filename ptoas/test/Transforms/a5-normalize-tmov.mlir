// RUN: %pto-opt %s -pto-a5-normalize-tmov | %FileCheck %s
!C = !pto.tile_buf<vec, 64x1xf32, valid=40x1, blayout=col_major>
!V = !pto.tile_buf<vec, 16x64xf32>
!D = !pto.tile_buf<vec, 64x1xf32, valid=?x1, blayout=col_major>
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @columns
  func.func @columns(%a: !C, %b: !C, %v: !V, %w: !V, %d: !D, %e: !D) {
    // CHECK-NEXT: %[[A:.*]] = pto.treshape %arg0 : {{.*}} -> !pto.tile_buf<vec, 1x64xf32, valid=1x40>
    // CHECK-NEXT: %[[B:.*]] = pto.treshape %arg1 : {{.*}} -> !pto.tile_buf<vec, 1x64xf32, valid=1x40>
    // CHECK-NEXT: pto.tmov ins(%[[A]] : !pto.tile_buf<vec, 1x64xf32, valid=1x40>) outs(%[[B]] :
    pto.tmov ins(%a : !C) outs(%b : !C)
    // CHECK-NEXT: pto.tmov ins(%arg2 :
    pto.tmov ins(%v : !V) outs(%w : !V)
    // A valid extent of run time stays where it is.
    // CHECK-NEXT: pto.tmov ins(%arg4 :
    pto.tmov ins(%d : !D) outs(%e : !D)
    return
  }
}
module attributes {pto.target_arch = "a2a3"} {
  // CHECK-LABEL: func.func @other
  func.func @other(%a: !C, %b: !C) {
    // CHECK-NEXT: pto.tmov ins(%arg0 :
    pto.tmov ins(%a : !C) outs(%b : !C)
    return
  }
}
