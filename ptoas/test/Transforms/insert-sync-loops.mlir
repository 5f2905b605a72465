// RUN: %pto-opt %s -pto-insert-sync | %FileCheck %s
// RUN: %pto-opt %s -pto-insert-sync -pto-check-sync
// Orders from one iteration to the next: flags that are carried around the loop.
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!MA = !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x16xf16, slayout=row_major>
!R = !pto.tile_buf<right, 16x16xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

module attributes {pto.target_arch = "a2a3"} {
  // The load of the next iteration waits for the exponential that reads its tile, and for nothing
  // behind that.
  // CHECK-LABEL: func.func @early
  // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tload
  // CHECK: pto.texp
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: pto.tabs
  // CHECK: }
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: return
  func.func @early(%x: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%a : !V) outs(%b : !V)
      pto.tabs ins(%b : !V) outs(%b : !V)
    }
    return
  }

  // Two tiles by turns: the load of the first waits for the store of the first alone.
  // CHECK-LABEL: func.func @two_tiles
  // CHECK: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: scf.for
  // CHECK: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tload ins(%arg0 : {{.*}}) outs(%[[A:.*]] :
  // CHECK: pto.tstore ins(%[[A]] :
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: pto.tstore
  // CHECK-NEXT: }
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: return
  func.func @two_tiles(%x: !P, %y: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%a : !V) outs(%a : !V)
      pto.tstore ins(%a : !V) outs(%y : !P)
      pto.tload ins(%x : !P) outs(%b : !V)
      pto.texp ins(%b : !V) outs(%b : !V)
      pto.tstore ins(%b : !V) outs(%y : !P)
    }
    return
  }

  // The same with a branch for each tile: an event for each, set on the way that was taken.
  // CHECK-LABEL: func.func @branches
  // CHECK: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
  // CHECK-NEXT: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tload
  // CHECK: pto.tstore
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
  // CHECK: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
  // CHECK-NEXT: return
  func.func @branches(%x: !P, %y: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      %r = arith.remsi %i, %c2 : index
      %c = arith.cmpi eq, %r, %c0 : index
      scf.if %c {
        pto.tload ins(%x : !P) outs(%a : !V)
        pto.texp ins(%a : !V) outs(%a : !V)
        pto.tstore ins(%a : !V) outs(%y : !P)
      } else {
        pto.tload ins(%x : !P) outs(%b : !V)
        pto.texp ins(%b : !V) outs(%b : !V)
        pto.tstore ins(%b : !V) outs(%y : !P)
      }
    }
    return
  }

  // Carried around both loops: the first load of the inner loop does not wait for the end of the
  // inner loop before, which may not have run at all.
  // CHECK-LABEL: func.func @nested
  // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: scf.for
  // CHECK: scf.for
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tload
  // CHECK: pto.tadd
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK-NEXT: }
  // CHECK: pto.tstore
  // CHECK-NEXT: }
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  func.func @nested(%x: !P, %y: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %a = pto.alloc_tile : !V
    %s = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      pto.texpands ins(%z : f32) outs(%s : !V)
      scf.for %j = %c0 to %n step %c1 {
        pto.tload ins(%x : !P) outs(%a : !V)
        pto.tadd ins(%a, %s : !V, !V) outs(%s : !V)
      }
      pto.tstore ins(%s : !V) outs(%y : !P)
    }
    return
  }

  // Nine tiles, eight events: the last loads wait for what the start of the body waits for.
  // CHECK-LABEL: func.func @events_run_out
  // CHECK-COUNT-7: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>
  // CHECK-NOT: pto.set_flag
  // CHECK: scf.for
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID7>]
  // CHECK: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID7>]
  // CHECK: }
  // CHECK-COUNT-7: pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>
  // CHECK-NEXT: return
  func.func @events_run_out(%x: !P, %y: !P, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t0 = pto.alloc_tile : !V
    %t1 = pto.alloc_tile : !V
    %t2 = pto.alloc_tile : !V
    %t3 = pto.alloc_tile : !V
    %t4 = pto.alloc_tile : !V
    %t5 = pto.alloc_tile : !V
    %t6 = pto.alloc_tile : !V
    %t7 = pto.alloc_tile : !V
    %t8 = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c1 {
      pto.tload ins(%x : !P) outs(%t0 : !V)
      pto.tload ins(%x : !P) outs(%t1 : !V)
      pto.tload ins(%x : !P) outs(%t2 : !V)
      pto.tload ins(%x : !P) outs(%t3 : !V)
      pto.tload ins(%x : !P) outs(%t4 : !V)
      pto.tload ins(%x : !P) outs(%t5 : !V)
      pto.tload ins(%x : !P) outs(%t6 : !V)
      pto.tload ins(%x : !P) outs(%t7 : !V)
      pto.tload ins(%x : !P) outs(%t8 : !V)
      pto.tstore ins(%t8 : !V) outs(%y : !P)
      pto.tstore ins(%t0 : !V) outs(%y : !P)
      pto.tstore ins(%t1 : !V) outs(%y : !P)
      pto.tstore ins(%t2 : !V) outs(%y : !P)
      pto.tstore ins(%t3 : !V) outs(%y : !P)
      pto.tstore ins(%t4 : !V) outs(%y : !P)
      pto.tstore ins(%t5 : !V) outs(%y : !P)
      pto.tstore ins(%t6 : !V) outs(%y : !P)
      pto.tstore ins(%t7 : !V) outs(%y : !P)
      pto.tstore ins(%t8 : !V) outs(%y : !P)
    }
    return
  }

  // The condition of a while loop runs once more than its body, and what it loads is waited for.
  // CHECK-LABEL: func.func @while
  // CHECK: } do {
  // CHECK: }
  // CHECK: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>
  // CHECK-NEXT: pto.tabs
  func.func @while(%x: !P, %c: i1) {
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.while : () -> () {
      pto.tload ins(%x : !P) outs(%a : !V)
      scf.condition(%c)
    } do {
      pto.texp ins(%a : !V) outs(%b : !V)
      scf.yield
    }
    pto.tabs ins(%a : !V) outs(%b : !V)
    return
  }

  // A loop that runs once has no next iteration.
  // CHECK-LABEL: func.func @once
  // CHECK: scf.for
  // CHECK-NEXT: pto.tload
  // CHECK-NOT: <PIPE_V>, <PIPE_MTE2>
  // CHECK: return
  func.func @once(%x: !P) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = pto.alloc_tile : !V
    scf.for %i = %c0 to %c1 step %c1 {
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%a : !V) outs(%a : !V)
    }
    return
  }

  // In an unsigned loop -1 is the largest number: the body runs.
  // CHECK-LABEL: func.func @unsigned
  // CHECK: scf.for unsigned
  // CHECK: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>
  // CHECK-NEXT: pto.texp
  func.func @unsigned(%x: !P) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = arith.constant -1 : i32
    %a = pto.alloc_tile : !V
    scf.for unsigned %i = %c0 to %last step %c1 : i32 {
      pto.tload ins(%x : !P) outs(%a : !V)
      pto.texp ins(%a : !V) outs(%a : !V)
    }
    return
  }

  // The first product of a sum and the others are in the two branches of an if, each with a wait for the same event;
  // that both are over is what the next load of the left matrix waits for, so the event is free again.
  // CHECK-LABEL: func.func @first_product
  // CHECK-NOT: PIPE_ALL
  // CHECK: pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tmatmul ins
  // CHECK-NOT: PIPE_ALL
  // CHECK: pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tmatmul.acc
  // CHECK-NOT: PIPE_ALL
  // CHECK: return
  func.func @first_product(%a: !MA, %r: !R, %x: !pto.partition_tensor_view<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %l = pto.alloc_tile : !L
    %sum = pto.alloc_tile : !A
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        pto.tmov ins(%a : !MA) outs(%l : !L)
        %first = arith.cmpi eq, %j, %c0 : index
        scf.if %first {
          pto.tmatmul ins(%l, %r : !L, !R) outs(%sum : !A)
        } else {
          pto.tmatmul.acc ins(%sum, %l, %r : !A, !L, !R) outs(%sum : !A)
        }
      }
      pto.tstore ins(%sum : !A) outs(%x : !pto.partition_tensor_view<16x16xf32>)
    }
    return
  }
}
