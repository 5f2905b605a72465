// RUN: %pto-opt %s | %FileCheck %s
// RUN: %pto-opt %s | %pto-opt | %FileCheck %s
// Every way to write an op that is read, in the one way that is printed.
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!H = !pto.tile_buf<vec, 16x64xf16>
!R = !pto.tile_buf<vec, 1x64xi32>
!W = !pto.tile_buf<vec, 1x64xf32>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!S = !pto.tile_buf<scaling, 1x32xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!Q = !pto.partition_tensor_view<16x32xi8>

// CHECK-LABEL: func @positions
func.func @positions(%v: !V, %h: !H, %r: !R, %i: i32) {
  // CHECK: pto.tcvt ins(%{{.*}} {rmode = #pto<round_mode ROUND>} : {{.*}}) outs
  pto.tcvt ins(%v {rmode = #pto<round_mode ROUND>} : !V) outs(%h : !H)
  // CHECK: pto.tcvt ins(%{{.*}} {rmode = #pto<round_mode ROUND>} : {{.*}}) outs
  pto.tcvt ins(%v : !V) outs(%h : !H) {rmode = #pto.round_mode<ROUND>}
  // CHECK: pto.tcvt ins(%{{.*}} {rmode = #pto<round_mode CAST_RINT>} : {{.*}}) outs
  pto.tcvt ins(%v : !V) outs(%h : !H)
  // CHECK-COUNT-2: pto.tci ins(%{{.*}} : i32) outs(%{{.*}} : !pto.tile_buf<vec, 1x64xi32>) {descending = true}
  pto.tci ins(%i {descending = true} : i32) outs(%r : !R)
  pto.tci ins(%i : i32) outs(%r : !R) {descending = true}
  return
}

// CHECK-LABEL: func @optional
func.func @optional(%v: !V, %c: !C, %s: f32, %p: !P, %a: !A, %q: !Q, %fp: !S, %k: i64) {
  // CHECK: pto.trsqrt ins(%{{.*}} : !pto.tile_buf<vec, 16x64xf32>) outs
  pto.trsqrt ins(%v : !V) outs(%v : !V)
  // CHECK: pto.trsqrt ins(%{{.*}}, %{{.*}} : {{.*}}) outs
  pto.trsqrt ins(%v, %v : !V, !V) outs(%v : !V)
  // CHECK: pto.tdivs ins(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 16x64xf32>, f32) outs
  pto.tdivs ins(%v, %s : !V, f32) outs(%v : !V)
  // CHECK: pto.tdivs ins(%{{.*}}, %{{.*}} : f32, !pto.tile_buf<vec, 16x64xf32>) outs
  pto.tdivs ins(%s, %v : f32, !V) outs(%v : !V)
  // CHECK: pto.tstore ins(%{{.*}}, %{{.*}} : !pto.tile_buf<acc, {{.*}}>, i64) outs
  pto.tstore ins(%a : !A, %k : i64) outs(%q : !Q)
  // CHECK: pto.tstore ins(%{{.*}} : !pto.tile_buf<acc, {{.*}}> fp %{{.*}} : !pto.tile_buf<scaling, 1x32xf32>) outs
  pto.tstore ins(%a : !A fp %fp : !S) outs(%q : !Q)
  // CHECK: pto.tstore ins({{.*}}) outs({{.*}}) {atomicType = #pto<atomic_type atomic_add>}
  pto.tstore ins(%v : !V) outs(%p : !P) {atomicType = #pto.atomic_type<atomic_add>, stPhase = #pto<st_phase unspecified>}
  // CHECK: pto.tload ins({{.*}}) outs({{.*}}) pad_mode = <PadValue> pad_value = %{{.*}} : f32
  pto.tload ins(%p : !P) outs(%v : !V) pad_mode = <PadValue> pad_value = %s : f32
  return
}

// CHECK-LABEL: func @forms
func.func @forms(%w: !W, %i: !R, %t: !R, %o: !W, %blk: i32, %n: vector<4xi16>) {
  // CHECK: pto.tgather ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs
  pto.tgather ins(%w, %i, %t : !W, !R, !R) outs(%o : !W)
  // CHECK: pto.tgather ins(%{{.*}}, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 1x64xf32>, "row") outs
  pto.tgather ins(%w, {maskPattern = #pto.mask_pattern<P0101>} : !W, "row") outs(%o : !W)
  // CHECK: pto.tmrgsort ins(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 1x64xf32>, i32) outs
  pto.tmrgsort ins(%w, %blk : !W, i32) outs(%o : !W)
  // CHECK: pto.tmrgsort ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 1x64xf32>, vector<4xi16>) {exhausted = false}
  pto.tmrgsort ins(%w, %w, %o {exhausted = false} : !W, !W, !W) outs(%o, %n : !W, vector<4xi16>)
  return
}
