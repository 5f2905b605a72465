// RUN: %pto-opt %s -pto-materialize-implicit-tmp | %FileCheck %s
// RUN: %ptoas %s --emit-pto-ir --enable-insert-sync | %FileCheck %s --check-prefix=PLANNED
// Each op that needs scratch memory and names none gets the tile that its instruction asks for.
!V = !pto.tile_buf<vec, 16x64xf32>
!H = !pto.tile_buf<vec, 16x64xf16>
!S = !pto.tile_buf<vec, 16x64xi16>
!B = !pto.tile_buf<vec, 16x64xi8>
!T = !pto.tile_buf<vec, 64x16xf32>
!C = !pto.tile_buf<vec, 16x8xf32, valid=16x1>
!CC = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!N = !pto.tile_buf<vec, 16x8xf32>
!CI = !pto.tile_buf<vec, 16x8xi32, valid=16x1>
!R = !pto.tile_buf<vec, 1x64xf32>
!R2 = !pto.tile_buf<vec, 1x128xf32>
!RI = !pto.tile_buf<vec, 1x64xi32>
!RS = !pto.tile_buf<vec, 1x64xi16>
!M = !pto.tile_buf<vec, 16x32xui8, valid=16x8>
!U = !pto.tile_buf<vec, 16x40xui32>
!X = !pto.tile_buf<vec, 16x40xf32>
!Y = !pto.tile_buf<vec, 16x128xf32>
module attributes {pto.target_arch = "a2a3"} {
  // CHECK-LABEL: func.func @a3
  // PLANNED-LABEL: func.func @a3
  func.func @a3(%f: f32, %i: i32, %s16: i16, %counts: vector<4xi16>) {
    %v = pto.alloc_tile : !V
    %w = pto.alloc_tile : !V
    %d = pto.alloc_tile : !V
    %h = pto.alloc_tile : !H
    %s = pto.alloc_tile : !S
    %s2 = pto.alloc_tile : !S
    %b = pto.alloc_tile : !B
    %t = pto.alloc_tile : !T
    %c = pto.alloc_tile : !C
    %cc = pto.alloc_tile : !CC
    %n = pto.alloc_tile : !N
    %ci = pto.alloc_tile : !CI
    %r = pto.alloc_tile : !R
    %r2 = pto.alloc_tile : !R2
    %ri = pto.alloc_tile : !RI
    %rs = pto.alloc_tile : !RS
    %m = pto.alloc_tile : !M
    %u = pto.alloc_tile : !U
    %x = pto.alloc_tile : !X
    %y = pto.alloc_tile : !Y
    // CHECK: pto.barrier <PIPE_V>
    // PLANNED: pto.barrier <PIPE_V>
    pto.barrier <PIPE_V>
    // CHECK-NEXT: %[[A:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.trowsum ins(%{{.*}}, %[[A]] :
    // PLANNED: pto.alloc_tile addr = %{{.*}} : !pto.tile_buf<vec, 16x64xf32>
    // PLANNED: pto.trowsum ins(%{{.*}}, %{{.*}} :
    pto.trowsum ins(%v : !V) outs(%c : !C)
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.trowargmax ins(%{{.*}}, %{{.*}} :
    pto.trowargmax ins(%v : !V) outs(%ci : !CI)
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.tcolargmin
    pto.tcolargmin ins(%v : !V) outs(%ri : !RI)
    // A plain column sum needs nothing, a tree of sums does.
    // CHECK-NOT: alloc_tile
    // CHECK: pto.tcolsum ins(%{{[^,]*}} :
    pto.tcolsum ins(%v : !V) outs(%r : !R)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.tcolsum ins(%{{.*}}, %{{.*}} {isBinary = true} :
    pto.tcolsum ins(%v {isBinary = true} : !V) outs(%r : !R)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    // CHECK-NEXT: pto.ttrans
    pto.ttrans ins(%v : !V) outs(%t : !T)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x64xi16>
    // CHECK-NEXT: pto.txor
    pto.txor ins(%s, %s2 : !S, !S) outs(%s : !S)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x64xi16>
    // CHECK-NEXT: pto.txors
    pto.txors ins(%s, %s16 : !S, i16) outs(%s2 : !S)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 2x64xf32>
    // CHECK-NEXT: pto.trem
    pto.trem ins(%v, %w : !V, !V) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    // CHECK-NEXT: pto.trems
    pto.trems ins(%v, %f : !V, f32) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 17x32xi8>
    // CHECK-NEXT: pto.tprelu
    pto.tprelu ins(%v, %w : !V, !V) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x16xui32>
    // CHECK-NEXT: pto.tsel
    pto.tsel ins(%m, %v, %w : !M, !V, !V) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    // CHECK-NEXT: pto.tsels
    pto.tsels ins(%m, %v, %f : !M, !V, f32) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x192xf32>
    // CHECK-NEXT: pto.tci ins(%{{.*}}, %{{.*}} : i32,
    pto.tci ins(%i : i32) outs(%ri : !RI)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x448xf32>
    // CHECK-NEXT: pto.tci
    pto.tci ins(%s16 : i16) outs(%rs : !RS)
    // A column of values per row needs a block for each; blocks of a row hold them already.
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x2048xf32>
    // CHECK-NEXT: pto.trowexpandmul ins(%{{.*}}, %{{.*}}, %{{.*}} :
    pto.trowexpandmul ins(%v, %cc : !V, !CC) outs(%d : !V)
    // CHECK-NEXT: pto.trowexpandmul ins(%{{.*}}, %{{[^,]*}} : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x8xf32>)
    pto.trowexpandmul ins(%v, %n : !V, !N) outs(%d : !V)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 16x40xf32>
    // CHECK-NEXT: pto.tsort32
    pto.tsort32 ins(%x, %u : !X, !U) outs(%y : !Y)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x128xf32>
    // CHECK-NEXT: pto.tmrgsort ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs({{.*}}) {exhausted = false}
    pto.tmrgsort ins(%r, %r : !R, !R) outs(%r2, %counts : !R2, vector<4xi16>) {exhausted = false, no_tmp}
    // Conversions that keep low bits: 32 bytes for every 8 columns, 256 for every 64.
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x256xi8>
    // CHECK-NEXT: pto.tcvt
    pto.tcvt ins(%v : !V) outs(%s : !S)
    // CHECK-NEXT: pto.alloc_tile : !pto.tile_buf<vec, 1x256xi8>
    // CHECK-NEXT: pto.tcvt
    pto.tcvt ins(%h : !H) outs(%b : !B)
    // CHECK-NEXT: pto.tcvt
    pto.tcvt ins(%v {sat_mode = #pto<saturation_mode ON>} : !V) outs(%s : !S)
    // CHECK-NEXT: pto.tcvt
    pto.tcvt ins(%v : !V) outs(%h : !H)
    // CHECK-NEXT: return
    return
  }
}
