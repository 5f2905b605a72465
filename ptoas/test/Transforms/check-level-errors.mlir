// RUN: %pto-opt %s -pto-check-level=level=3 -split-input-file -verify-diagnostics
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>

func.func @address(%n: i32) {
  // expected-error @below {{requires 'addr' operand when --pto-level=level3}}
  %t = pto.alloc_tile : !V
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
// Nobody finds room for a scratch tile when memory is not planned; A5 needs none.
func.func @scratch(%a: !V, %c: !C) {
  // expected-error @below {{requires explicit tmp when PlanMemory is skipped (--pto-level=level3)}}
  pto.trowsum ins(%a : !V) outs(%c : !C)
  return
}

// -----
// A producer that placed its tiles is warned, not stopped, where no second row depends on the first.
func.func @narrow() {
  %c0 = arith.constant 0 : i64
  // expected-error @below {{a row of an unboxed tile must be a multiple of 32 bytes (32-byte alignment), got 20 bytes}}
  %t = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x5xf32>
  // expected-warning @below {{a row of an unboxed tile must be a multiple of 32 bytes (32-byte alignment), got 20 bytes}}
  %u = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 1x5xf32>
  return
}

// -----
// The vector memory of A2/A3 has 192 KiB.
func.func @behind_the_end() {
  %fits = arith.constant 192512 : i64
  %late = arith.constant 192513 : i64
  %huge = arith.constant 9223372036854775776 : i64
  %a = pto.alloc_tile addr = %fits : !pto.tile_buf<vec, 16x64xf32>
  // expected-error @below {{a tile of 4096 bytes at address 192513 ends beyond the capacity of vec, 196608 bytes}}
  %b = pto.alloc_tile addr = %late : !pto.tile_buf<vec, 16x64xf32>
  // expected-error @below {{at address 9223372036854775776 ends beyond the capacity of vec}}
  %c = pto.alloc_multi_tile addr = %huge : !pto.multi_tile_buf<vec, 16x64xf32, count=2>
  return
}

// -----
func.func @reserved_behind_the_end() {
  %a = pto.reserve_buffer {name = "a", size = 8192, location = #pto.address_space<vec>, auto = false, base = 188416} -> i32
  // expected-error @below {{a buffer of 8192 bytes at base 188448 ends beyond the capacity of vec, 196608 bytes}}
  %b = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = false, base = 188448} -> i32
  return
}

// -----
func.func @endless(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the step of a loop must be positive, got 0}}
  scf.for %i = %c0 to %n step %c0 {
  }
  return
}

// -----
// expected-error @below {{the only function of a module is its entry, which must return nothing (void), but it has 1 result(s)}}
func.func @entry(%n: i32) -> i32 {
  return %n : i32
}

// -----
// expected-error @below {{a function needs a name}}
func.func @""() {
  return
}

// -----
// Functions that call each other in a circle.
func.func @a() {
  func.call @b() : () -> ()
  return
}
func.func @b() {
  func.call @c() : () -> ()
  return
}
func.func @c() {
  // expected-error @below {{recursion: '@a' calls itself, here or through the functions that it calls}}
  func.call @a() : () -> ()
  // expected-error @below {{recursion: '@c' calls itself}}
  func.call @c() : () -> ()
  return
}

// -----
!V = !pto.tile_buf<vec, 16x64xf32>
!R = !pto.tile_buf<vec, 1x64xf32>
func.func @binary(%v: !V, %r: !R) {
  // expected-error @below {{requires explicit tmp when PlanMemory is skipped (--pto-level=level3)}}
  pto.tcolsum ins(%v {isBinary = true} : !V) outs(%r : !R)
  return
}

// -----
func.func @address() {
  %c36 = arith.constant 36 : i64
  // expected-warning @below {{'pto.alloc_tile' op address 36 is no multiple of 32 bytes, where the blocks of local memory begin}}
  %t = pto.alloc_tile addr = %c36 : !pto.tile_buf<vec, 16x64xf32>
  return
}

// -----
// expected-error @below {{'hacc.entry' on a declaration: an entry needs a body}}
func.func private @declared() attributes {hacc.entry}
// expected-error @below {{a function with hacc.entry must return nothing (void), but it has 1 result(s)}}
func.func @returns(%x: i32) -> i32 attributes {hacc.entry} {
  return %x : i32
}
func.func @other() { return }
