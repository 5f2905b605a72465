// RUN: %ptobc encode %s -o %t.ptobc
// RUN: %ptobc decode %t.ptobc -o %t.pto && %pto-opt %s -o %t.want && diff %t.pto %t.want
// RUN: %pto-opt %t.ptobc -o %t.opt && diff %t.opt %t.want
// RUN: %ptoas %t.ptobc --emit-pto-ir | %FileCheck %s
// RUN: env PTOBC_PRINT_LOC=1 %ptobc decode %t.ptobc | %FileCheck %s --check-prefix=LOC
// RUN: env PTOBC_EMIT_DEBUGINFO=0 %ptobc encode %s -o %t.bare && env PTOBC_PRINT_LOC=1 %ptobc decode %t.bare | %FileCheck %s --check-prefix=BARE
// What is wrong with the command is 2, what is wrong with the file 1.
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]) != 2)" %ptobc 2>&1 | %FileCheck %s --check-prefix=NOTHING
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]) != 2)" %ptobc convert %s 2>&1 | %FileCheck %s --check-prefix=WORD
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]) != 1)" %ptobc encode %t.absent -o %t.none 2>&1 | %FileCheck %s --check-prefix=ABSENT
// RUN: %not ls %t.none
// RUN: echo old > %t.stale && %not %ptobc encode %t.absent -o %t.stale && %not ls %t.stale
// RUN: %ptobc --help | %FileCheck %s --check-prefix=HELP
// A file of the older layout, one that ends early, and one of which a number is wrong.
// RUN: printf 'PTOBC\000\000\000\000\000' > %t.old && %not %ptoas %t.old 2>&1 | %FileCheck %s --check-prefix=OLD
// RUN: head -c 100 %t.ptobc > %t.cut && %not %ptoas %t.cut 2>&1 | %FileCheck %s --check-prefix=CUT
// NOTHING: what to do is missing, encode or decode
// WORD: unknown command 'convert', expected encode or decode
// HELP: usage: ptobc encode <input.pto or -> -o <output.ptobc or ->
// ABSENT: Error: could not open input file:
// OLD: .old:1:1: error: bytecode: version 0 is not supported, only version 1
// CUT: .cut:1:1: error: bytecode: {{.*}} do not fit into the rest of the file
!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: attributes {pto.entry}
  // LOC: loc("{{.*}}ptobc.mlir":32:10)
  // BARE-NOT: ptobc.mlir":
  func.func @main(%n: index, %f: f32) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = pto.alloc_tile : !V
    // CHECK: scf.for
    // CHECK: pto.tadds ins(
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (index) {
      pto.tadds ins(%t, %f : !V, f32) outs(%t : !V)
      %y = arith.addi %x, %i : index
      scf.yield %y : index
    }
    return
  }
  // CHECK-LABEL: func.func private @blocks
  func.func private @blocks(%a: i1, %b: i32) -> i32 {
    cf.cond_br %a, ^second(%b : i32), ^third
  ^second(%x: i32):
    return %x : i32
  ^third:
    cf.br ^second(%b : i32)
  }
}
