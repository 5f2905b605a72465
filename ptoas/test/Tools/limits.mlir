// What is no module is refused with a message, at once and without a file left behind.
// RUN: %python -c "open(r'%t.deep', 'w').write('func.func @f() {' + 'scf.execute_region {' * 5000)"
// RUN: %not %ptoas %t.deep --emit-pto-ir -o %t.out 2>&1 | %FileCheck %s --check-prefix=DEEP
// RUN: %not %pto-opt %t.deep -o %t.out 2>&1 | %FileCheck %s --check-prefix=DEEP
// RUN: %python -c "open(r'%t.types', 'w').write('func.func @f(%%a: ' + '!pto.struct<' * 5000 + 'i32' + '>' * 5000 + ') { return }')"
// RUN: %not %pto-opt %t.types 2>&1 | %FileCheck %s --check-prefix=DEEP
// DEEP: :1:{{[0-9]+}}: error: brackets nest deeper than 256 levels
// RUN: %python -c "open(r'%t.bin', 'wb').write(bytes(range(256)) * 64)"
// RUN: %not %ptoas %t.bin -o %t.out 2>&1 | %FileCheck %s --check-prefix=BINARY
// RUN: %not %pto-opt %t.bin -o %t.out 2>&1 | %FileCheck %s --check-prefix=BINARY
// BINARY: :1:1: error: the file is no text: it holds a byte 0 here
// RUN: printf '\357\273\277module {}' > %t.bom && %not %ptoas %t.bom -o %t.out 2>&1 | %FileCheck %s --check-prefix=BOM
// BOM: :1:1: error: the file starts with a byte order mark (bytes EF BB BF): save it as UTF-8 without one
// RUN: %python -c "open(r'%t.big', 'wb').truncate(1 << 30)"
// RUN: %not %ptoas %t.big -o %t.out 2>&1 | %FileCheck %s --check-prefix=LARGE
// RUN: %not %pto-opt %t.big -o %t.out 2>&1 | %FileCheck %s --check-prefix=LARGE
// LARGE: has 1073741824 bytes, more than the 256 MiB that a module may have
// RUN: rm %t.big
// RUN: %not ls %t.out
// RUN: %pto-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{rows and columns of a tile must fit 32 bits, got 2147483648x2147483648}}
func.func @rows(%t: !pto.tile_buf<vec, 2147483648x2147483648xf32>)

// -----
// expected-error @below {{rows and columns of a tile must fit 32 bits}}
func.func @long(%t: !pto.tile_buf<loc=vec, dtype=f32, rows=9223372036854775807, cols=1, v_row=1, v_col=1, blayout=row_major, slayout=none_box, fractal=512, pad=0>)

// -----
// expected-error @below {{invalid dimension}}
func.func @digits(%t: !pto.tile_buf<vec, 99999999999999999999999x8xf32>)

// -----
// expected-error @below {{a view of so many elements has more than 2^63 bytes}}
func.func @view(%t: !pto.tensor_view<9223372036854775807x2xf32>)

// -----
// expected-error @below {{a local array has at most 65536 elements}}
func.func @array(%t: !pto.local_array<65536x65536xi32>)

// -----
// expected-error @below {{rows and columns of a tile must be positive, got 0x64}}
func.func @zero(%t: !pto.tile_buf<vec, 0x64xf32>)

// -----
// expected-error @below {{a tile has two dimensions, got 0; expected positive rows and columns, as in 16x64xf32}}
func.func @minus(%t: !pto.tile_buf<vec, -1x32xf32>)

// -----
// expected-error @below {{v_row (valid extent) must be '?', -1 or non-negative, got -2}}
func.func @negative(%t: !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=-2, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>)

// -----
func.func @dialect() {
  // expected-error @below {{Dialect `foo' not found for custom op 'foo.bar'}}
  // expected-note @below {{Available dialects: }}
  foo.bar
}

// -----
func.func @op() {
  // expected-error @below {{unregistered operation 'pto.nope' found in dialect ('pto')}}
  "pto.nope"() : () -> ()
  return
}

// -----
// expected-note @below {{see existing symbol definition here}}
func.func @twice() { return }
// expected-error @below {{redefinition of symbol named 'twice'}}
func.func @twice() { return }
