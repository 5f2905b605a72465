// RUN: %pto-opt %s -pto-materialize-implicit-tmp | %FileCheck %s
// RUN: %pto-opt %s -pto-materialize-implicit-tmp -pto-materialize-implicit-tmp | %FileCheck %s
// A5: one block where the instruction library takes a tile, nothing elsewhere.
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x8xf32, valid=16x1>
!CC = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!R = !pto.tile_buf<vec, 1x64xi32>
!T = !pto.tile_buf<vec, 64x16xf32>
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @a5
  func.func @a5(%v: !V, %w: !V, %d: !V, %c: !C, %cc: !CC, %r: !R, %t: !T, %i: i32) {
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
    // CHECK-NEXT: pto.trowsum
    pto.trowsum ins(%v : !V) outs(%c : !C)
    // The rules of trowmin ask for a scratch tile like its source.
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.trowmin
    pto.trowmin ins(%v : !V) outs(%c : !C)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
    // CHECK-NEXT: pto.ttrans
    pto.ttrans ins(%v : !V) outs(%t : !T)
    // CHECK-NEXT: pto.tci ins(%{{[^,]*}} : i32)
    pto.tci ins(%i : i32) outs(%r : !R)
    // CHECK-NEXT: pto.trowexpandmul ins(%{{[^,]*}}, %{{[^,]*}} : !pto.tile_buf<vec, 16x64xf32>,
    pto.trowexpandmul ins(%v, %cc : !V, !CC) outs(%d : !V)
    // CHECK-NEXT: return
    return
  }
}
