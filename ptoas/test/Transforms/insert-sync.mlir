// RUN: %pto-opt %s -pto-insert-sync | %FileCheck %s
// RUN: %pto-opt %s -pto-insert-sync -pto-check-sync
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>

module attributes {pto.target_arch = "a2a3"} {
  // Load, compute, store: one flag from queue to queue, a barrier inside the vector queue.
  // CHECK-LABEL: func.func @chain
  // CHECK: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.texp
  // CHECK-NEXT: pto.barrier <PIPE_V>
  // CHECK-NEXT: pto.tadd
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tstore
  func.func @chain(%x: !P, %y: !P) {
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    pto.texp ins(%a : !V) outs(%b : !V)
    pto.tadd ins(%b, %b : !V, !V) outs(%b : !V)
    pto.tstore ins(%b : !V) outs(%y : !P)
    return
  }

  // A flag is set behind what it is for: the second load does not hold the first exponential up.
  // CHECK-LABEL: func.func @two_loads
  // CHECK: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.texp
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
  // CHECK-NEXT: pto.texp
  func.func @two_loads(%x: !P) {
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    pto.tload ins(%x : !P) outs(%b : !V)
    pto.texp ins(%a : !V) outs(%a : !V)
    pto.texp ins(%b : !V) outs(%b : !V)
    return
  }

  // What was loaded once, in front of the loops, is waited for once, in front of the outer one.
  // CHECK-LABEL: func.func @weights
  // CHECK: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>
  // CHECK-NEXT: pto.wait_flag
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: pto.barrier <PIPE_V>
  // CHECK-NEXT: pto.tadd
  // CHECK-NOT: pto.set_flag
  // CHECK: return
  func.func @weights(%x: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        pto.tadd ins(%a, %a : !V, !V) outs(%b : !V)
      }
    }
    return
  }

  // Two buffers: the load of the next one runs beside the work on this one. What the vector queue
  // waits for was set in front of that load.
  // CHECK-LABEL: func.func @ping_pong
  // CHECK: scf.for
  // CHECK: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <[[EVENT:EVENT_ID.]]>]
  // CHECK-NOT: pto.texp
  // CHECK: pto.tload
  // CHECK-NOT: pto.set_flag
  // CHECK: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <[[EVENT]]>]
  // CHECK-NEXT: pto.texp
  func.func @ping_pong(%x: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%b : !V)
      pto.texp ins(%a : !V) outs(%a : !V)
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%b : !V) outs(%b : !V)
    }
    return
  }

  // Unrelated tiles need nothing.
  // CHECK-LABEL: func.func @apart
  // CHECK-NOT: pto.set_flag
  // CHECK-NOT: pto.barrier
  // CHECK: return
  func.func @apart(%x: !P, %s: f32) {
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    pto.texpands ins(%s : f32) outs(%b : !V)
    return
  }

  // The next load must not overwrite what the last iteration still reads.
  // CHECK-LABEL: func.func @loop
  // CHECK: scf.for
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: pto.tload
  func.func @loop(%x: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%a : !V) outs(%b : !V)
    }
    return
  }

  // Tiles at addresses that overlap share bytes, whatever they are called.
  // CHECK-LABEL: func.func @addresses
  // CHECK: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>
  // CHECK-NEXT: pto.wait_flag
  // CHECK-NEXT: pto.texpands
  func.func @addresses(%x: !P, %s: f32) {
    %c0 = arith.constant 0 : i64
    %c4064 = arith.constant 4064 : i64
    %a = pto.alloc_tile addr = %c0 : !V
    %b = pto.alloc_tile addr = %c4064 : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    pto.texpands ins(%s : f32) outs(%b : !V)
    return
  }

  // A wait in one branch says nothing about the other.
  // CHECK-LABEL: func.func @branch
  // CHECK: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.texp
  // CHECK-NEXT: }
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
  // CHECK-NEXT: pto.tabs
  func.func @branch(%x: !P, %c: i1) {
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    %d = pto.alloc_tile : !V
    pto.tload ins(%x : !P) outs(%a : !V)
    scf.if %c {
      pto.texp ins(%a : !V) outs(%b : !V)
    }
    pto.tabs ins(%a : !V) outs(%d : !V)
    return
  }

  // Scalars wait for the vector queue; the vector queue is issued behind scalars anyway.
  // CHECK-LABEL: func.func @scalar
  // CHECK: pto.set_flag[<PIPE_V>, <PIPE_S>
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_S>
  // CHECK-NEXT: pto.tgetval
  // CHECK-NEXT: pto.tsetval
  // CHECK-NEXT: pto.texp
  func.func @scalar(%s: f32) {
    %c0 = arith.constant 0 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    pto.texpands ins(%s : f32) outs(%a : !V)
    %v = pto.tgetval ins(%a, %c0 : !V, index) outs : f32
    pto.tsetval ins(%c0, %v : index, f32) outs(%a : !V)
    pto.texp ins(%a : !V) outs(%b : !V)
    return
  }
}
