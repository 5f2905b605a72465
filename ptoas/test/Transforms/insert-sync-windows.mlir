// RUN: %pto-opt %s -pto-insert-sync | %FileCheck %s
// RUN: %pto-opt %s -pto-insert-sync -pto-check-sync
// Loads and stores of one tensor need no order when their windows are surely apart.
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!T = !pto.tensor_view<?x?xf32>

module attributes {pto.target_arch = "a2a3"} {
  // Two halves of the columns; then a window across them.
  // CHECK-LABEL: func.func @constants
  // CHECK: pto.tstore
  // CHECK-NOT: pto.barrier
  // CHECK: pto.tstore
  // CHECK: pto.barrier <PIPE_MTE3>
  // CHECK-NEXT: pto.tstore
  func.func @constants(%p: !pto.ptr<f32>, %a: !V, %b: !V) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %v = pto.make_tensor_view %p, shape = [%c16, %c128], strides = [%c128, %c1] : !T
    %left = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : !T -> !P
    %right = pto.partition_view %v, offsets = [%c0, %c64], sizes = [%c16, %c64] : !T -> !P
    %across = pto.partition_view %v, offsets = [%c0, %c32], sizes = [%c16, %c64] : !T -> !P
    pto.tstore ins(%a : !V) outs(%left : !P)
    pto.tstore ins(%b : !V) outs(%right : !P)
    pto.tstore ins(%a : !V) outs(%across : !P)
    return
  }

  // In place, two blocks of rows in each iteration: no store waits for another, no load for one of
  // another block, in this iteration or the last one.
  // CHECK-LABEL: func.func @rows
  // CHECK-NOT: pto.barrier
  // CHECK: return
  func.func @rows(%p: !pto.ptr<f32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%n, %c64], strides = [%c64, %c1] : !T
    %a = pto.alloc_tile : !V
    %b = pto.alloc_tile : !V
    scf.for %i = %c0 to %n step %c32 {
      %j = arith.addi %i, %c16 : index
      %x = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c64] : !T -> !P
      %y = pto.partition_view %v, offsets = [%j, %c0], sizes = [%c16, %c64] : !T -> !P
      pto.tstore ins(%a : !V) outs(%x : !P)
      pto.tstore ins(%b : !V) outs(%y : !P)
    }
    return
  }

  // Windows that reach into those of the next iteration; a step that only the caller knows.
  // CHECK-LABEL: func.func @too_near
  // CHECK: scf.for
  // CHECK: pto.barrier <PIPE_MTE3>
  // CHECK-NEXT: pto.tstore
  // CHECK: scf.for
  // CHECK: pto.barrier <PIPE_MTE3>
  // CHECK-NEXT: pto.tstore
  func.func @too_near(%p: !pto.ptr<f32>, %n: index, %a: !V) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%n, %c64], strides = [%c64, %c1] : !T
    scf.for %i = %c0 to %n step %c15 {
      %x = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c64] : !T -> !P
      pto.tstore ins(%a : !V) outs(%x : !P)
    }
    scf.for %i = %c0 to %n step %n {
      %x = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c64] : !T -> !P
      pto.tstore ins(%a : !V) outs(%x : !P)
    }
    return
  }

  // Elements that share an address: rows that overlap, as their stride is smaller than they are.
  // CHECK-LABEL: func.func @shared
  // CHECK: pto.barrier <PIPE_MTE3>
  // CHECK-NEXT: pto.tstore
  func.func @shared(%p: !pto.ptr<f32>, %a: !V, %b: !V) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%c32, %c64], strides = [%c16, %c1] : !T
    %x = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : !T -> !P
    %y = pto.partition_view %v, offsets = [%c16, %c0], sizes = [%c16, %c64] : !T -> !P
    pto.tstore ins(%a : !V) outs(%x : !P)
    pto.tstore ins(%b : !V) outs(%y : !P)
    return
  }

  // The counter of an outer loop keeps what is stored in its iterations apart, that of the inner
  // one, which starts again, does not.
  // CHECK-LABEL: func.func @outer
  // CHECK-NOT: pto.barrier
  // CHECK: return
  // CHECK-LABEL: func.func @inner
  // CHECK: pto.barrier <PIPE_MTE3>
  // CHECK-NEXT: pto.tstore
  func.func @outer(%p: !pto.ptr<f32>, %n: index, %a: !V) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %c1] : !T
    scf.for %i = %c0 to %n step %c16 {
      scf.for %j = %c0 to %n step %c64 {
        %x = pto.partition_view %v, offsets = [%i, %j], sizes = [%c16, %c64] : !T -> !P
        pto.tstore ins(%a : !V) outs(%x : !P)
      }
    }
    return
  }
  func.func @inner(%p: !pto.ptr<f32>, %n: index, %a: !V) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %c1] : !T
    scf.for %i = %c0 to %n step %c16 {
      scf.for %j = %c0 to %n step %c64 {
        %x = pto.partition_view %v, offsets = [%c0, %j], sizes = [%c16, %c64] : !T -> !P
        pto.tstore ins(%a : !V) outs(%x : !P)
      }
    }
    return
  }
}
