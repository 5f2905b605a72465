// RUN: %pto-opt %s -pto-plan-memory -split-input-file | %FileCheck %s
!V = !pto.tile_buf<vec, 64x64xf32>
!W = !pto.tile_buf<vec, 16x64xf32>

// Source and target of one op never share bytes; a tile that is done with is reused.
// CHECK-LABEL: func @chain
// CHECK: %[[A0:.*]] = arith.constant 0 : i64
// CHECK: %[[A:.*]] = pto.alloc_tile addr = %[[A0]]
// CHECK: %[[B0:.*]] = arith.constant 16384 : i64
// CHECK: pto.alloc_tile addr = %[[B0]]
// CHECK: %[[C0:.*]] = arith.constant 0 : i64
// CHECK: pto.alloc_tile addr = %[[C0]]
func.func @chain(%s: f32) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  %c = pto.alloc_tile : !V
  pto.texpands ins(%s : f32) outs(%a : !V)
  pto.texp ins(%a : !V) outs(%b : !V)
  pto.texp ins(%b : !V) outs(%c : !V)
  return
}

// -----
!V = !pto.tile_buf<vec, 64x64xf32>

// A tile of the loop's surroundings lives as long as the loop.
// CHECK-LABEL: func @loop
// CHECK: arith.constant 0 : i64
// CHECK: pto.alloc_tile
// CHECK: arith.constant 16384 : i64
// CHECK: pto.alloc_tile
// CHECK: arith.constant 32768 : i64
// CHECK: pto.alloc_tile
func.func @loop(%s: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = pto.alloc_tile : !V
  pto.texpands ins(%s : f32) outs(%sum : !V)
  scf.for %i = %c0 to %n step %c1 {
    %x = pto.alloc_tile : !V
    %y = pto.alloc_tile : !V
    pto.texpands ins(%s : f32) outs(%x : !V)
    pto.tadd ins(%sum, %x : !V, !V) outs(%y : !V)
    pto.texp ins(%y : !V) outs(%sum : !V)
  }
  return
}

// -----
!V = !pto.tile_buf<vec, 64x64xf32>
!N = !pto.tile_buf<vec, 32x64xf32>

// A window keeps its tile alive.
// CHECK-LABEL: func @window
// CHECK: arith.constant 0 : i64
// CHECK: pto.alloc_tile
// CHECK: arith.constant 16384 : i64
// CHECK: pto.alloc_tile
func.func @window(%s: f32) {
  %c0 = arith.constant 0 : index
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  pto.texpands ins(%s : f32) outs(%a : !V)
  %half = pto.subview %a[%c0, %c0] sizes [32, 64] : !V -> !N
  pto.texpands ins(%s : f32) outs(%b : !V)
  pto.texp ins(%half : !N) outs(%half : !N)
  return
}

// -----
// An automatic FIFO buffer is placed on a multiple of 256 bytes.
// CHECK-LABEL: func @fifo
// CHECK: pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = false, base = 32768}
func.func @fifo(%s: f32) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 64x128xf32>
  %q = pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
  pto.texpands ins(%s : f32) outs(%t : !pto.tile_buf<vec, 64x128xf32>)
  return
}
