"""Integers that FP32 cannot hold in every rounding mode; moves, conversions and ramps that write a
part of their result; quotients of the smallest integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from everywhere import run_everywhere
from native import DTYPES, Code, Program

VALUES = [
    0, 1, -1, 2**24 + 1, 2**24 + 3, -(2**24) - 1, -(2**24) - 3, 2**25 + 2, 2**25 + 6, 123456789,
    2**31 - 1, 2**31 - 65, 2**31 - 64, -(2**31), -(2**31) + 1, -(2**31) + 64, -(2**31) + 193,
]  # fmt: skip
WIDE = [
    2**40 + 1, -(2**40) - 1, 2**53 + 1, 2**54 + 2**30, 2**54 + 2**30 + 1, 2**54 + 2**30 - 1,
    3 * 2**53 + 2**30, 2**62 + 2**38 + 1, 2**63 - 1, -(2**63), -(2**63) + 1, -(2**54) - 2**30 - 1,
]  # fmt: skip


def to_f32(value: int, mode: str) -> float:
    """The multiple of the last place of FP32 that `mode` chooses, in exact arithmetic."""
    ulp = 1 << max(abs(value).bit_length() - 24, 0)
    floor = value // ulp
    rest = Fraction(value, ulp) - floor
    up = {
        "FLOOR": False,
        "CEIL": rest > 0,
        "TRUNC": rest > 0 and value < 0,
        "ODD": rest > 0 and floor % 2 == 0,
        "ROUND": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0),
        "RINT": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1),
    }[mode]
    return float((floor + up) * ulp)


@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"])
@pytest.mark.parametrize("dtype", ["i32", "ui32", "i64"])
def test_integers_round_to_f32_in_the_mode(dtype, mode):
    values = VALUES + (WIDE if dtype == "i64" else [])
    if dtype == "ui32":
        values = [abs(v) for v in values] + [2**32 - 1, 2**32 - 128, 2**32 - 129]
    x = np.resize(np.array(values, object), 64).astype(DTYPES[dtype]).reshape(2, 32)

    def build(dynamic):
        p = Program()
        source, target = p.pointer(dtype), p.pointer("f32")
        rows = p.scalar("index") if dynamic else 2
        a, b = p.tile(dtype, 2, 32, rows, 32), p.tile("f32", 2, 32, rows, 32)
        p.load(p.view(source, dtype, [2, 32], sizes=[rows, 32]), a)
        p.op("tcvt", [a], [b], inside=f"rmode = #pto<round_mode {mode}>")
        p.store(b, p.view(target, "f32", [2, 32], sizes=[rows, 32]))
        return p.text(), ([2] if dynamic else [])

    (got,) = run_everywhere(build, [x], [np.zeros((2, 32), np.float32)])
    want = [to_f32(int(v), mode) for v in x.flat]
    np.testing.assert_array_equal(got.ravel().astype(np.float64), want)


@pytest.mark.parametrize("op", ["tmov", "tcvt"])
def test_what_a_smaller_source_does_not_have_stays(op):
    src = "f32" if op == "tmov" else "i32"

    def build(dynamic):
        p = Program()
        source, target = p.pointer(src), p.pointer("f32")
        rows, cols = p.scalar("index"), p.scalar("index")
        d = p.tile("f32", 6, 24, *(2 * [None]))
        p.op("texpands", [(p.const("5.0", "f32"), "f32")], [d])
        a = p.tile(src, 6, 24, rows, cols)
        p.load(p.view(source, src, [4, 13], sizes=[rows, cols]), a)
        p.op(op, [a], [d])
        p.store(d, p.view(target, "f32", [6, 24]))
        return p.text(), [4, 13]

    x = np.arange(52).reshape(4, 13).astype(DTYPES[src])
    (got,) = run_everywhere(build, [x], [np.zeros((6, 24), np.float32)])
    want = np.full((6, 24), 5, np.float32)
    want[:4, :13] = x
    np.testing.assert_array_equal(got, want)


def test_a_ramp_is_one_row():
    def build(dynamic):
        p = Program()
        target = p.pointer("i32")
        d = p.tile("i32", 3, 16)
        p.op("texpands", [(p.const(5, "i32"), "i32")], [d])
        p.op("tci", [(p.const(7, "i32"), "i32")], [d], attrs="descending = true")
        p.store(d, p.view(target, "i32", [3, 16]))
        return p.text(), []

    (got,) = run_everywhere(build, [], [np.zeros((3, 16), np.int32)])
    want = np.full((3, 16), 5)
    want[0] = 7 - np.arange(16)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64"])
def test_quotients_of_the_smallest_integer(dtype):
    low = int(np.iinfo(DTYPES[dtype]).min)
    pairs = [
        (low, low + 1),
        (low, -low - 1),
        (low, 2),
        (low, 1),
        (low, low),
        (low + 1, low),
        (3, low),
    ]
    p = Program()
    source, target = p.pointer(dtype), p.pointer(dtype)
    for i in range(len(pairs)):
        x, y = p.name(), p.name()
        for value, at in ((x, 2 * i), (y, 2 * i + 1)):
            p.emit(
                f"{value} = pto.load_scalar {source}[{p.const(at)}] : !pto.ptr<{dtype}> -> {dtype}"
            )
        for k, op in enumerate(("floordivsi", "ceildivsi")):
            q = p.name()
            p.emit(f"{q} = arith.{op} {x}, {y} : {dtype}")
            p.emit(
                f"pto.store_scalar {q}, {target}[{p.const(2 * i + k)}] : !pto.ptr<{dtype}>, {dtype}"
            )
    out = np.zeros(2 * len(pairs), DTYPES[dtype])
    Code(p.text())("f", np.array(pairs, DTYPES[dtype]).ravel(), out)
    want = [q for x, y in pairs for q in (x // y, -((-x) // y))]
    np.testing.assert_array_equal(out, want)


def test_what_lies_outside_narrowed_extents_stays():
    """A load that a narrower op has read already, and that a narrower op overwrites later."""

    def build(dynamic):
        p = Program()
        source, target = p.pointer("f32"), p.pointer("f32")
        rows, cols, few = p.const(4), p.const(32), p.const(7)
        a, d = (p.tile("f32", 4, 32, rows, cols) for _ in range(2))
        for t in (a, d):
            p.load(p.view(source, "f32", [4, 32]), t)
        for t in (a, d):
            p.emit(f"pto.set_validshape {t[0]}, {rows}, {few} : {t[1]}")
        p.op("tadd", [d, d], [a])
        one = p.name()
        p.emit(f"{one} = pto.tgetval ins({a[0]}, {p.const(33)} : {a[1]}, index) outs : f32")
        p.op("tadds", [a, (one, "f32")], [d])
        p.emit(f"pto.set_validshape {d[0]}, {rows}, {cols} : {d[1]}")
        p.store(d, p.view(target, "f32", [4, 32]))
        return p.text(), []

    x = np.arange(128, dtype=np.float32).reshape(4, 32)
    (got,) = run_everywhere(build, [x], [np.zeros((4, 32), np.float32)])
    want = x.copy()
    want[:, :7] = 2 * x[:, :7] + 2 * x[1, 1]
    np.testing.assert_array_equal(got, want)
