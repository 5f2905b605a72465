// RUN: %pto-opt %s -allow-unregistered-dialect -pto-structure-control-flow -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 8x32xf32>

// A tile is no number that a loop could carry out.
// expected-error @below {{a value of type '!pto.tile_buf<vec, 8x32xf32>' is defined on one way through branches between blocks and used behind them}}
func.func @tile(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %t = pto.alloc_tile : !V
  %next = arith.addi %i, %c1 : index
  %more = arith.cmpi slt, %next, %n : index
  cf.cond_br %more, ^head(%next : index), ^done
^done:
  pto.tadd ins(%t, %t : !V, !V) outs(%t : !V)
  return
}

// -----
// A way that never comes back.
// expected-error @below {{branches between these blocks do not form loops and conditions}}
func.func @no_way_back(%bad: i1) {
  cf.cond_br %bad, ^stop, ^done
^stop:
  pto.trap
  llvm.unreachable
^done:
  return
}

// -----
// A branch of a dialect that nobody knows leads anywhere.
// expected-error @below {{branches between these blocks do not form loops and conditions}}
func.func @unknown(%n: index) {
  // expected-error @below {{does not support terminators with successors not implementing BranchOpInterface}}
  "far.jump"()[^a, ^b] : () -> ()
^a:
  return
^b:
  return
}
