"""The scalar unit: local arrays, structs, pointers as integers, arithmetic, text, scalars of the caller."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from native import DTYPES, Code, Kernel, KernelFault, Program

rng = np.random.default_rng(5)


def filled_array(element: str) -> str:
    """Writes x[i, j] to place (i, j) of a local array, then reads places (i, j) given by `at` into y."""
    type_ = f"!pto.local_array<4x8x{element}>"
    return f"""
module {{
  func.func @f(%x: !pto.ptr<{element}>, %at: !pto.ptr<i64>, %y: !pto.ptr<{element}>, %n: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %a = pto.declare_local_array -> {type_}
    %b = pto.declare_local_array -> {type_}
    scf.for %i = %c0 to %c4 step %c1 {{
      scf.for %j = %c0 to %c8 step %c1 {{
        %r = arith.muli %i, %c8 : index
        %p = arith.addi %r, %j : index
        %v = pto.load_scalar %x[%p] : !pto.ptr<{element}> -> {element}
        pto.local_array_set %a[%i, %j], %v : {type_}, {element}
        %z = pto.load_scalar %x[%c0] : !pto.ptr<{element}> -> {element}
        pto.local_array_set %b[%i, %j], %z : {type_}, {element}
      }}
    }}
    scf.for %k = %c0 to %n step %c1 {{
      %d = arith.muli %k, %c2 : index
      %e = arith.addi %d, %c1 : index
      %iw = pto.load_scalar %at[%d] : !pto.ptr<i64> -> i64
      %jw = pto.load_scalar %at[%e] : !pto.ptr<i64> -> i64
      %i = arith.index_cast %iw : i64 to index
      %j = arith.index_cast %jw : i64 to index
      %v = pto.local_array_get %a[%i, %j] : {type_} -> {element}
      pto.store_scalar %v, %y[%k] : !pto.ptr<{element}>, {element}
    }}
    return
  }}
}}"""


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i8", "i16", "i32", "i64"])
def test_local_arrays_give_back_what_was_set(element):
    x = rng.integers(-100, 100, (4, 8)).astype(DTYPES[element])
    at = np.stack([rng.integers(0, 4, 20), rng.integers(0, 8, 20)], axis=1)
    y = np.zeros(20, x.dtype)
    Code(filled_array(element))("f", x, at, y, 20)
    np.testing.assert_array_equal(y, x[at[:, 0], at[:, 1]])


@pytest.mark.parametrize("number", [8, -1, 2**40])
@pytest.mark.parametrize("op", ["get", "set"])
@pytest.mark.parametrize("kind", ["local", "eventid"])
def test_an_index_outside_its_array_is_a_fault(kind, op, number):
    element, type_ = ("index", "!pto.eventid_array<8>")
    if kind == "local":
        element, type_ = "i64", "!pto.local_array<4x8xi64>"
    at = "%c1, %n" if kind == "local" else "%n"
    typed = f"{type_}, {element}" if kind == "local" else type_
    get = f"%v = pto.{kind}_array_get %a[{at}] : {type_}" + (" -> i64" if kind == "local" else "")
    lines = {"get": get, "set": f"pto.{kind}_array_set %a[{at}], %one : {typed}"}
    text = f"""
module {{
  func.func @f(%x: !pto.ptr<i64>, %n: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : {element}
    %word = arith.constant 1 : i64
    %a = pto.declare_{kind}_array -> {type_}
    pto.store_scalar %word, %x[%c0] : !pto.ptr<i64>, i64
    {lines[op]}
    pto.store_scalar %word, %x[%c1] : !pto.ptr<i64>, i64
    return
  }}
}}"""
    kernel, x = Kernel(text), np.zeros(2, np.int64)
    place = rf"k.pto:10:\d+: error: 'pto.{kind}_array_{op}' op index .*is {number}, which must be"
    with pytest.raises(KernelFault, match=place):
        kernel(x, number)
    np.testing.assert_array_equal(x, [1, 0])
    kernel(x, 7)
    np.testing.assert_array_equal(x, [1, 1])


def test_a_trap_ends_the_run():
    """Also the functions that have called its function."""
    text = """
module {
  func.func @check(%x: !pto.ptr<i64>, %bad: i1) {
    scf.if %bad {
      pto.trap
    }
    return
  }
  func.func @f(%x: !pto.ptr<i64>, %n: i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    pto.store_scalar %one, %x[%c0] : !pto.ptr<i64>, i64
    %bad = arith.cmpi slt, %n, %zero : i64
    func.call @check(%x, %bad) : (!pto.ptr<i64>, i1) -> ()
    pto.store_scalar %one, %x[%c1] : !pto.ptr<i64>, i64
    return
  }
}"""
    kernel, x = Kernel(text, entry="f"), np.zeros(2, np.int64)
    with pytest.raises(KernelFault, match=r"k.pto:5:7: error: 'pto.trap' op was reached"):
        kernel(x, -1)
    np.testing.assert_array_equal(x, [1, 0])
    kernel(x, 1)
    np.testing.assert_array_equal(x, [1, 1])


STRUCTS = """
!ST = !pto.struct<i32, !pto.struct<i64, f32>>
module {
  func.func @f(%n: !pto.ptr<i64>, %y: !pto.ptr<f32>, %e: i64, %g: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %seven = arith.constant 7 : i32
    %r = pto.declare_struct -> !ST
    pto.struct_set %r [0], %seven : !ST, i32
    pto.struct_set %r [1, 0], %e : !ST, i64
    pto.struct_set %r [1, 1], %g : !ST, f32
    %f = pto.struct_get %r [1, 0] : !ST -> i64
    %h = pto.struct_get %r [1, 1] : !ST -> f32
    pto.store_scalar %f, %n[%c0] : !pto.ptr<i64>, i64
    pto.store_scalar %h, %y[%c0] : !pto.ptr<f32>, f32
    %s = pto.struct_get %r [0] : !ST -> i32
    %t = arith.extsi %s : i32 to i64
    %w = pto.ptrtoint %n : !pto.ptr<i64> -> i64
    %q = pto.inttoptr %w : i64 -> !pto.ptr<i64>
    pto.store_scalar %t, %q[%c1] : !pto.ptr<i64>, i64
    return
  }
}"""


def test_structs_and_pointers_as_integers():
    n, y = np.zeros(2, np.int64), np.zeros(1, np.float32)
    Code(STRUCTS)("f", n, y, 1 << 40, ctypes.c_float(2.5))
    np.testing.assert_array_equal(n, [1 << 40, 7])
    assert y[0] == 2.5


def test_extended_products_and_sums():
    text = """
module {
  func.func @f(%x: !pto.ptr<i32>, %a: i32, %b: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %s, %o = arith.addui_extended %a, %b : i32, i1
    %w = arith.extui %o : i1 to i32
    %sl, %sh = arith.mulsi_extended %a, %b : i32
    %ul, %uh = arith.mului_extended %a, %b : i32
    pto.store_scalar %s, %x[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %w, %x[%c1] : !pto.ptr<i32>, i32
    pto.store_scalar %sh, %x[%c2] : !pto.ptr<i32>, i32
    pto.store_scalar %uh, %x[%c3] : !pto.ptr<i32>, i32
    return
  }
}"""
    x = np.zeros(4, np.int32)
    Code(text)("f", x, ctypes.c_int32(-2), ctypes.c_int32(3))
    np.testing.assert_array_equal(x, [1, 1, -1, 2])


def test_division_never_traps():
    text = """module {
      func.func @f(%p: !pto.ptr<i64>, %a: i64, %b: i64) {
        %0 = arith.constant 0 : index
        %1 = arith.constant 1 : index
        %2 = arith.constant 2 : index
        %q = arith.divsi %a, %b : i64
        %r = arith.remsi %a, %b : i64
        %f = arith.floordivsi %a, %b : i64
        pto.store_scalar %q, %p[%0] : !pto.ptr<i64>, i64
        pto.store_scalar %r, %p[%1] : !pto.ptr<i64>, i64
        pto.store_scalar %f, %p[%2] : !pto.ptr<i64>, i64
        return
      }
    }"""
    code, out = Code(text), np.zeros(3, np.int64)
    for a, b, want in [
        (7, 2, [3, 1, 3]),
        (-7, 2, [-3, -1, -4]),
        (7, 0, [0, 0, 0]),
        (-(2**63), -1, [-(2**63), 0, -(2**63)]),
    ]:
        code("f", out, ctypes.c_int64(a), ctypes.c_int64(b))
        assert out.tolist() == want


def test_text(capfd):
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%s: f32, %n: i32) {
    %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
    pto.texpands ins(%s : f32) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
    pto.tprint ins(%t : !pto.tile_buf<vec, 1x8xf32>)
    pto.print ins("n=%d.", %n : i32)
    return
  }
}"""
    Code(text)("f", ctypes.c_float(2.5), ctypes.c_int32(7))
    said = capfd.readouterr().out
    assert said.count("2.5000") == 8 and "tile 1x8" in said and "n=7." in said


def test_bfloat16_scalars_of_the_caller():
    p = Program("a5")
    x, y, z = p.pointer("bf16"), p.pointer("bf16"), p.pointer("bf16")
    s = p.scalar("bf16")
    t = p.tile("bf16", 8, 32)
    p.load(p.view(x, "bf16", [8, 32]), t)
    p.op("tadds", [t, (s, "bf16")], [t])
    p.store(t, p.view(y, "bf16", [8, 32]))
    p.emit(f"scf.for %i = {p.const(0)} to {p.const(4)} step {p.const(1)} {{")
    p.emit(f"pto.store_scalar {s}, {z}[%i] : !pto.ptr<bf16>, bf16")
    p.emit("}")
    data = rng.standard_normal((8, 32)).astype(DTYPES["bf16"])
    out, few = np.zeros_like(data), np.zeros(4, data.dtype)
    Kernel(p.text())(data, out, few, -2.25)
    np.testing.assert_array_equal(
        out, (data.astype(np.float32) - np.float32(2.25)).astype(data.dtype)
    )
    np.testing.assert_array_equal(few.astype(np.float32), -2.25)
