// RUN: %pto-opt %s -pto-structure-control-flow | %FileCheck %s
// RUN: %ptoas %s --enable-insert-sync | %FileCheck %s --check-prefix=CPP
!V = !pto.tile_buf<vec, 8x32xf32>
!P = !pto.partition_tensor_view<8x32xf32>

// A loop of blocks: the addition follows itself, which takes a barrier.
// CHECK-LABEL: func.func @loop
// CHECK: scf.while
// CHECK-NOT: {{ }}cf.
// CPP-LABEL: void loop(
// CPP-NOT: goto
// CPP: while (true)
// CPP: pipe_barrier(PIPE_V)
// CPP-NEXT: TADD(
func.func @loop(%x: !pto.ptr<f32>, %n: index) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<8x32xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<8x32xf32> -> !P
  %t = pto.alloc_tile : !V
  pto.tload ins(%p : !P) outs(%t : !V)
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^done
^body:
  pto.tadd ins(%t, %t : !V, !V) outs(%t : !V)
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^done:
  pto.tstore ins(%t : !V) outs(%p : !P)
  return
}

// CHECK-LABEL: func.func private @choice
// CHECK: %[[THREE:.*]] = arith.cmpi eq, %{{.*}}, %c3
// CHECK: %[[R:.*]] = scf.if %[[THREE]] -> (i32)
// CHECK: } else {
// CHECK: %[[FIVE:.*]] = arith.cmpi eq, %{{.*}}, %c5
// CHECK: %[[S:.*]] = scf.if %[[FIVE]] -> (i32)
// CHECK: scf.yield %[[S]]
// CHECK-NOT: scf.index_switch
// CHECK-NOT: scf.execute_region
// CHECK: return
func.func private @choice(%i: index) -> i32 {
  %r = scf.index_switch %i -> i32
  case 3 {
    %a = arith.constant 30 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 50 : i32
    scf.yield %b : i32
  }
  default {
    %c = arith.constant 7 : i32
    scf.yield %c : i32
  }
  %e = scf.execute_region -> i32 {
    %d = arith.addi %r, %r : i32
    scf.yield %d : i32
  }
  return %e : i32
}

// A switch without a case has its default only.
// CHECK-LABEL: func.func private @no_case
// CHECK-NEXT: %[[C:.*]] = arith.constant 7
// CHECK-NEXT: return %[[C]]
func.func private @no_case(%i: index) -> i32 {
  %r = scf.index_switch %i -> i32
  default {
    %c = arith.constant 7 : i32
    scf.yield %c : i32
  }
  return %r : i32
}

// Blocks that no branch reaches are left out.
// CHECK-LABEL: func.func @unreached
// CHECK-NOT: pto.barrier
// CHECK: scf.if
func.func @unreached(%c: i1) {
  cf.cond_br %c, ^more, ^done
^more:
  pto.trap
  cf.br ^done
^never:
  pto.barrier #pto.pipe<PIPE_ALL>
  cf.br ^again
^again:
  cf.cond_br %c, ^never, ^done
^done:
  return
}
