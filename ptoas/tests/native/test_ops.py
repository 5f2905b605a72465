"""Every regular op against NumPy: element type x shape x valid extents, fused and not, AVX2 and AVX-512."""

from __future__ import annotations

from zlib import crc32

import ml_dtypes
import numpy as np
import pytest
from native import AVX2, AVX512, DTYPES, HOST, Code, Program

bf16 = ml_dtypes.bfloat16
FLOATS = ["f32", "f16", "bf16"]
# rows, cols (capacity), valid rows, valid cols; run-time extents are passed as arguments.
SHAPES = [(1, 16, 1, 1), (8, 64, 8, 64), (5, 48, 5, 33), (3, 160, 2, 131), (4, 32, 0, 7)]


def random(rng, dtype: str, shape, low=-4, high=4):
    if dtype in FLOATS:
        return rng.uniform(low, high, shape).astype(np.float32).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    return rng.integers(max(info.min, -100), min(info.max, 100) + 1, shape).astype(DTYPES[dtype])


def run_everywhere(build, arrays, outputs, exact=True):
    """The program in all modes; `build(dynamic)` gives text. Returns outputs of the host's fused code."""
    results = []
    for dynamic in (False, True):
        text, scalars = build(dynamic)
        for isa in (HOST, AVX512, AVX2):
            for fuse in (True, False):
                outs = [o.copy() for o in outputs]
                Code(text, fuse=fuse, isa=isa)("f", *arrays, *outs, *scalars)
                results.append((f"dynamic={dynamic} isa={isa} fuse={fuse}", outs))
    for what, outs in results[1:]:
        for got, want in zip(outs, results[0][1]):
            assert got.tobytes() == want.tobytes(), what
    return results[0][1]


def elementwise(
    op, dtype, shape, inputs, out_dtype=None, attrs="", inside="", scalar=None, arch="a5"
):
    rows, cols, vr, vc = shape
    out_dtype = out_dtype or dtype

    def build(dynamic):
        p = Program(arch)
        pointers = [p.pointer(d) for d in inputs] + [p.pointer(out_dtype)]
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        views = [
            p.view(x, d, [rows, cols], sizes=[r, c]) for x, d in zip(pointers, [*inputs, out_dtype])
        ]
        tiles = [p.tile(d, rows, cols, r, c) for d in [*inputs, out_dtype]]
        for view, tile in zip(views[:-1], tiles[:-1]):
            p.load(view, tile)
        ins = list(tiles[:-1])
        if scalar is not None:
            ins.append((p.const(scalar, dtype), dtype))
        p.op(op, ins, [tiles[-1]], attrs, inside)
        p.store(tiles[-1], views[-1])
        return p.text(), ([vr, vc] if dynamic else [])

    return build


def check(got, want, shape, tolerance=0.0):
    rows, cols, vr, vc = shape
    g = got[:vr, :vc].astype(np.float64)
    w = np.asarray(want)[:vr, :vc].astype(np.float64)
    if tolerance:
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(g, w)
    outside = got.copy()
    outside[:vr, :vc] = 7
    assert (outside == np.asarray(7, got.dtype)).all(), "wrote outside the valid region"


def floor_mod(a, b):
    return a - np.floor(a / b) * b


BINARY = {
    "tadd": (np.add, FLOATS + ["i8", "i16", "i32", "ui8", "ui16", "ui32"]),
    "tsub": (np.subtract, FLOATS + ["i8", "i16", "i32"]),
    "tmul": (np.multiply, FLOATS + ["i16", "i32", "ui32"]),
    "tdiv": (np.divide, ["f32", "f16"]),
    "tmax": (np.maximum, FLOATS + ["i8", "i16", "i32", "ui16"]),
    "tmin": (np.minimum, FLOATS + ["i8", "i16", "i32", "ui16"]),
    "tand": (np.bitwise_and, ["i8", "i16", "i32"]),
    "tor": (np.bitwise_or, ["i8", "i16", "i32"]),
    "txor": (np.bitwise_xor, ["i8", "i16", "i32"]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op,dtype", [(op, d) for op, (_, ds) in BINARY.items() for d in ds])
def test_binary(op, dtype, shape):
    rng = np.random.default_rng(crc32(f"{op} {dtype}".encode()))
    a, b = (random(rng, dtype, shape[:2]) for _ in range(2))
    out = np.full(shape[:2], 7, DTYPES[dtype])
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype] * 2), [a, b], [out])
    with np.errstate(all="ignore"):
        if dtype == "bf16":  # one rounding from single precision
            want = BINARY[op][0](a.astype(np.float32), b.astype(np.float32)).astype(bf16)
        else:
            want = BINARY[op][0](a, b)
    check(got, want, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["i16", "i32", "ui32", "ui16"])
@pytest.mark.parametrize("op", ["tdiv", "trem", "tfmod"])
def test_integer_division(op, dtype, shape):
    rng = np.random.default_rng(5)
    a, b = random(rng, dtype, shape[:2]), random(rng, dtype, shape[:2])
    info = np.iinfo(DTYPES[dtype])
    a.flat[:3], b.flat[:3] = [info.min, info.max, info.max], [1, 3, 7]
    b[b == 0] = 3
    b[:, -1] = 0
    out = np.full(shape[:2], 7, DTYPES[dtype])
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype] * 2), [a, b], [out])
    x, y = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(y == 0, 1, y)
    quotient = np.where((x < 0) != (safe < 0), -(abs(x) // abs(safe)), abs(x) // abs(safe))
    want = {"tdiv": quotient, "trem": x - (x // safe) * safe, "tfmod": x - quotient * safe}[op]
    check(got, np.where(y == 0, 0, want).astype(DTYPES[dtype]), shape)


@pytest.mark.parametrize("op", ["trem", "tfmod"])
def test_float_remainder(op):
    shape = (4, 64, 4, 61)
    rng = np.random.default_rng(6)
    a, b = random(rng, "f32", shape[:2], -50, 50), random(rng, "f32", shape[:2], 0.5, 9)
    out = np.full(shape[:2], 7, np.float32)
    (got,) = run_everywhere(elementwise(op, "f32", shape, ["f32"] * 2), [a, b], [out])
    check(got, floor_mod(a, b) if op == "trem" else np.fmod(a, b), shape)


UNARY = {
    "tabs": (np.abs, 0, FLOATS[:2]),
    "tneg": (np.negative, 0, FLOATS + ["i8", "i16", "i32"]),
    "trelu": (lambda x: np.maximum(x, 0), 0, ["f32", "f16", "i32"]),
    "texp": (np.exp, 1, FLOATS[:2]),
    "tlog": (np.log, 2, FLOATS[:2]),
    "tsqrt": (np.sqrt, 0, FLOATS[:2]),
    "trsqrt": (lambda x: 1 / np.sqrt(x), 1, FLOATS[:2]),
    "trecip": (lambda x: 1 / x, 0, FLOATS[:2]),
    "tnot": (np.invert, 0, ["i8", "i16", "i32"]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op,dtype", [(op, d) for op, (_, _, ds) in UNARY.items() for d in ds])
def test_unary(op, dtype, shape):
    function, ulps, _ = UNARY[op]
    rng = np.random.default_rng(7)
    positive = op in ("tlog", "tsqrt", "trsqrt", "trecip")
    a = random(rng, dtype, shape[:2], 0.01 if positive else -4, 4)
    out = np.full(shape[:2], 7, DTYPES[dtype])
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype]), [a], [out])
    want = function(a.astype(np.float64) if dtype in FLOATS else a)
    eps = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}.get(dtype, 0)
    if ulps == 0 and dtype in FLOATS:
        want = want.astype(DTYPES[dtype])
        check(got, want, shape)
    else:
        check(got, want, shape, max(ulps, 1) * eps if dtype in FLOATS else 0)


SCALAR = {
    "tadds": np.add, "tsubs": np.subtract, "tmuls": np.multiply, "tmaxs": np.maximum, "tmins": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
@pytest.mark.parametrize("op", SCALAR)
def test_scalar(op, dtype):
    shape = (5, 48, 5, 33)
    rng = np.random.default_rng(8)
    a = random(rng, dtype, shape[:2])
    out = np.full(shape[:2], 7, DTYPES[dtype])
    scalar = "1.5" if dtype in FLOATS else "3"
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype], scalar=scalar), [a], [out])
    check(got, SCALAR[op](a, DTYPES[dtype](float(scalar))), shape)


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "ui16"])
@pytest.mark.parametrize("op", ["tshl", "tshr"])
def test_shift(op, dtype):
    shape = (2, 64, 2, 50)
    rng = np.random.default_rng(9)
    a = random(rng, dtype, shape[:2])
    bits = np.iinfo(DTYPES[dtype]).bits
    s = rng.integers(0, bits + 3, shape[:2]).astype(DTYPES[dtype])
    out = np.full(shape[:2], 7, DTYPES[dtype])
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype] * 2), [a, s], [out])
    wide, amount = a.astype(object), s.astype(object)
    want = wide * 2**amount if op == "tshl" else wide // 2**amount
    modulus = 2**bits
    want = (want % modulus).astype(np.uint64).astype(DTYPES[dtype])
    check(got, want, shape)
