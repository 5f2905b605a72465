"""Reductions, broadcasts, conversions, masks, and programs whose ops share loops."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from native import DTYPES, HOST, Code, Program
from test_ops import FLOATS, SHAPES, check, elementwise, random, run_everywhere

bf16 = ml_dtypes.bfloat16
LIVE = [s for s in SHAPES if s[2] > 0]


def reduction(op, dtype, shape, out_dtype=None):
    rows, cols, vr, vc = shape
    out_dtype = out_dtype or dtype

    def build(dynamic):
        p = Program()
        x, y = p.pointer(dtype), p.pointer(out_dtype)
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        source, column = p.tile(dtype, rows, cols, r, c), p.column(out_dtype, rows, r)
        p.load(p.view(x, dtype, [rows, cols], sizes=[r, c]), source)
        p.op(op, [source], [column])
        p.store(column, p.view(y, out_dtype, [rows, 1], sizes=[r, 1]))
        return p.text(), ([vr, vc] if dynamic else [])

    return build


@pytest.mark.parametrize("shape", LIVE)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
@pytest.mark.parametrize("op", ["trowsum", "trowmax", "trowmin", "trowprod"])
def test_row_reduction(op, dtype, shape):
    rng = np.random.default_rng(1)
    x = random(rng, dtype, shape[:2], 0.5, 1.5)
    out = np.full((shape[0], 1), 7, DTYPES[dtype])
    (got,) = run_everywhere(reduction(op, dtype, shape), [x], [out])
    valid = x[: shape[2], : shape[3]]
    wide = valid.astype(np.float64) if dtype in FLOATS else valid
    function = {"trowsum": np.sum, "trowmax": np.max, "trowmin": np.min, "trowprod": np.prod}[op]
    with np.errstate(over="ignore"):
        want = function(wide, axis=1, keepdims=True)
        if dtype not in FLOATS:
            want = want.astype(DTYPES[dtype])
    tolerance = {"f32": 1e-5, "f16": 2e-3}.get(dtype, 0) if op in ("trowsum", "trowprod") else 0
    if dtype == "f16":
        want = want.astype(np.float16)
    check(got, want, (shape[0], 1, shape[2], 1), tolerance)


@pytest.mark.parametrize("shape", LIVE)
@pytest.mark.parametrize("op", ["trowargmax", "trowargmin"])
def test_row_arg(op, shape):
    x = np.random.default_rng(2).integers(-5, 5, shape[:2]).astype(np.float32)  # many ties
    out = np.full((shape[0], 1), 7, np.int32)
    (got,) = run_everywhere(reduction(op, "f32", shape, "i32"), [x], [out])
    valid = x[: shape[2], : shape[3]]
    want = (np.argmax if op.endswith("max") else np.argmin)(valid, axis=1)[:, None]
    check(got, want, (shape[0], 1, shape[2], 1))


@pytest.mark.parametrize("shape", LIVE)
@pytest.mark.parametrize(
    "op,dtype", [("tcolsum", "f32"), ("tcolmax", "f32"), ("tcolmin", "i32"), ("tcolsum", "i16")]
)
def test_column_reduction(op, dtype, shape):
    rows, cols, vr, vc = shape

    def build(dynamic):
        p = Program()
        x, y = p.pointer(dtype), p.pointer(dtype)
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        source, line = p.tile(dtype, rows, cols, r, c), p.tile(dtype, 1, cols, 1, c)
        p.load(p.view(x, dtype, [rows, cols], sizes=[r, c]), source)
        p.op(op, [source], [line])
        p.store(line, p.view(y, dtype, [1, cols], sizes=[1, c]))
        return p.text(), ([vr, vc] if dynamic else [])

    x = random(np.random.default_rng(3), dtype, (rows, cols))
    out = np.full((1, cols), 7, DTYPES[dtype])
    (got,) = run_everywhere(build, [x], [out])
    valid = x[:vr, :vc]
    want = valid[0].copy()
    for row in valid[1:]:  # in this order, in the element type
        want = {"tcolsum": np.add, "tcolmax": np.maximum, "tcolmin": np.minimum}[op](want, row)
    check(got, want[None], (1, cols, 1, vc))


ROW_EXPAND = {
    "trowexpandadd": np.add, "trowexpandsub": np.subtract, "trowexpandmul": np.multiply,
    "trowexpanddiv": np.divide, "trowexpandmax": np.maximum, "trowexpandmin": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("shape", LIVE[1:])
@pytest.mark.parametrize("op", [*ROW_EXPAND, "trowexpand", "tcolexpand", "tcolexpandmul"])
def test_expand(op, shape):
    rows, cols, vr, vc = shape
    by_row = op.startswith("trow")
    small = (rows, 1) if by_row else (1, cols)

    def build(dynamic):
        p = Program()
        x, v, y = (p.pointer("f32") for _ in range(3))
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        full, out = p.tile("f32", rows, cols, r, c), p.tile("f32", rows, cols, r, c)
        vector = p.column("f32", rows, r) if by_row else p.tile("f32", 1, cols, 1, c)
        p.load(p.view(x, "f32", [rows, cols], sizes=[r, c]), full)
        p.load(p.view(v, "f32", list(small), sizes=[r, 1] if by_row else [1, c]), vector)
        p.op(op, [vector] if op.endswith("expand") else [full, vector], [out])
        p.store(out, p.view(y, "f32", [rows, cols], sizes=[r, c]))
        return p.text(), ([vr, vc] if dynamic else [])

    rng = np.random.default_rng(4)
    x, v = random(rng, "f32", (rows, cols)), random(rng, "f32", small, 1, 2)
    (got,) = run_everywhere(build, [x, v], [np.full((rows, cols), 7, np.float32)])
    functions = {**ROW_EXPAND, "tcolexpandmul": np.multiply}
    want = np.broadcast_to(v, x.shape) if op.endswith("expand") else functions[op](x, v)
    check(got, want, shape)


def bf16_round(x, mode):
    bits = x.view(np.uint32).astype(np.int64)
    cut, rest, sign = bits & ~0xFFFF, bits & 0xFFFF, bits >> 31
    grow = {
        "TRUNC": np.zeros_like(rest), "FLOOR": (rest > 0) & (sign == 1), "CEIL": (rest > 0) & (sign == 0),
        "ROUND": rest >= 0x8000, "RINT": (rest > 0x8000) | ((rest == 0x8000) & ((bits >> 16) & 1 == 1)),
    }[mode]  # fmt: skip
    return (cut + grow.astype(np.int64) * 0x10000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
def test_convert_f32(mode):
    shape = (4, 64, 4, 61)
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(shape[:2]) * 10.0 ** rng.integers(-6, 6, shape[:2])).astype(np.float32)
    x[0, :8] = [0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, 0.0]
    x[1, :6] = [65504, 65519, 65520, 65536, 6e-8, -3e-8]
    inside = f"rmode = #pto<round_mode {mode}>"
    rounded = {
        "RINT": np.rint, "FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc,
        "ROUND": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    }[mode](x.astype(np.float64))  # fmt: skip
    for dtype in ("i32", "i16", "bf16", "f16", "f32"):
        inner = inside + (", sat_mode = #pto<saturation_mode ON>" if dtype == "i16" else "")
        out = np.full(shape[:2], 7, DTYPES[dtype])
        (got,) = run_everywhere(
            elementwise("tcvt", "f32", shape, ["f32"], dtype, inside=inner), [x], [out]
        )
        if dtype in ("i32", "i16"):
            info = np.iinfo(DTYPES[dtype])
            want = np.clip(rounded, info.min, info.max)
        elif dtype == "f32":
            want = rounded.astype(np.float32)
        elif dtype == "bf16":
            want = bf16_round(x, mode)
        else:
            with np.errstate(over="ignore"):
                near = x.astype(np.float16)
                down = np.nextafter(near, np.float16(-np.inf))
                up = np.nextafter(near, np.float16(np.inf))
            exact = x.astype(np.float64)
            below = np.where(near.astype(np.float64) <= exact, near, down)
            above = np.where(near.astype(np.float64) >= exact, near, up)
            want = {
                "RINT": near,
                "FLOOR": below,
                "CEIL": above,
                "TRUNC": np.where(x < 0, above, below),
            }.get(mode)
            if mode == "ROUND":
                low, high = below.astype(np.float64), above.astype(np.float64)
                high = np.where(np.isinf(high), 65536.0, high)
                low = np.where(np.isinf(low), -65536.0, low)
                middle = (low + high) / 2
                want = np.where(exact > middle, above, below)
                want = np.where(exact == middle, np.where(exact > 0, above, below), want)
                want = np.where(np.abs(exact) >= 65536, near, want)
        check(got, want, shape)


@pytest.mark.parametrize("saturation", ["ON", "OFF"])
def test_convert_integers(saturation):
    shape = (2, 64, 2, 64)
    x = np.random.default_rng(6).integers(-(2**31), 2**31, shape[:2]).astype(np.int32)
    x[0, :4] = [300, -300, 70000, -70000]
    inside = f"rmode = #pto<round_mode NONE>, sat_mode = #pto<saturation_mode {saturation}>"
    for dtype in ("i16", "ui8", "ui16"):
        out = np.full(shape[:2], 7, DTYPES[dtype])
        (got,) = run_everywhere(
            elementwise("tcvt", "i32", shape, ["i32"], dtype, inside=inside), [x], [out]
        )
        info = np.iinfo(DTYPES[dtype])
        want = np.clip(x, info.min, info.max) if saturation == "ON" else x.astype(DTYPES[dtype])
        check(got, want.astype(DTYPES[dtype]), shape)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("shape", LIVE[1:])
def test_compare_select(dtype, shape):
    rows, cols, vr, vc = shape

    def build(dynamic):
        p = Program("a2a3")
        a, b, y = (p.pointer(dtype) for _ in range(3))
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        views = [p.view(x, dtype, [rows, cols], sizes=[r, c]) for x in (a, b, y)]
        ta, tb, to = (p.tile(dtype, rows, cols, r, c) for _ in range(3))
        mask = p.tile("ui8", rows, (cols + 31) // 32 * 32, r)
        p.load(views[0], ta)
        p.load(views[1], tb)
        p.op("tcmp", [ta, tb], [mask], inside="cmpMode = #pto<cmp lt>")
        p.op("tsel", [mask, ta, tb], [to])
        p.store(to, views[2])
        return p.text(), ([vr, vc] if dynamic else [])

    rng = np.random.default_rng(7)
    a, b = random(rng, dtype, (rows, cols)), random(rng, dtype, (rows, cols))
    (got,) = run_everywhere(build, [a, b], [np.full((rows, cols), 7, DTYPES[dtype])])
    check(got, np.minimum(a, b), shape)


def softmax(rows, cols, vr, vc):
    p = Program("a2a3")
    x, y = p.pointer("f32"), p.pointer("f32")
    t, e, o = (p.tile("f32", rows, cols, vr, vc) for _ in range(3))
    m, s = p.column("f32", rows, vr), p.column("f32", rows, vr)
    tmp = p.tile("f32", rows, cols, vr, vc)
    p.load(p.view(x, "f32", [rows, cols], sizes=[vr, vc]), t)
    p.op("trowmax", [t, tmp], [m])
    p.op("trowexpandsub", [t, m], [e])
    p.op("texp", [e], [e])
    p.op("trowsum", [e, tmp], [s])
    p.op("trowexpanddiv", [e, s], [o])
    p.store(o, p.view(y, "f32", [rows, cols], sizes=[vr, vc]))
    return p.text()


@pytest.mark.parametrize("shape", LIVE)
def test_softmax(shape):
    rows, cols, vr, vc = shape
    x = np.random.default_rng(8).standard_normal((rows, cols)).astype(np.float32)
    (got,) = run_everywhere(
        lambda dynamic: (softmax(*shape), []), [x], [np.full((rows, cols), 7, np.float32)]
    )
    e = np.exp(x[:vr, :vc].astype(np.float64))
    check(got, e / e.sum(1, keepdims=True), shape, 1e-6)


@pytest.mark.parametrize("shift", [0, 1, 8, 64, -64])
def test_overlapping_arguments(shift):
    """A store must not be seen by the loads before it, wherever the two tensors lie."""
    rows, cols = 8, 32
    p = Program()
    x, y = p.pointer("f32"), p.pointer("f32")
    t = p.tile("f32", rows, cols)
    p.load(p.view(x, "f32", [rows, cols]), t)
    p.op("tmuls", [t, (p.const("2.0", "f32"), "f32")], [t])
    p.store(t, p.view(y, "f32", [rows, cols]))
    for fuse in (True, False):
        memory = np.arange(1000, dtype=np.float32)
        source, target = (
            memory[300 : 300 + rows * cols],
            memory[300 + shift : 300 + shift + rows * cols],
        )
        want = source * 2
        Code(p.text(), fuse=fuse)("f", source, target)
        np.testing.assert_array_equal(target, want)


def test_pad_then_accumulate():
    """A load that fills part of a tile keeps the rest of what was there."""
    p = Program()
    x, y = p.pointer("f32"), p.pointer("f32")
    t = p.tile("f32", 4, 32)
    p.op("texpands", [(p.const("-1.0", "f32"), "f32")], [t])
    p.load(p.view(x, "f32", [4, 32], sizes=[4, 20]), t)
    p.store(t, p.view(y, "f32", [4, 32]))
    x = np.random.default_rng(9).standard_normal((4, 32)).astype(np.float32)
    for fuse in (True, False):
        y = np.zeros((4, 32), np.float32)
        Code(p.text(), fuse=fuse)("f", x, y)
        np.testing.assert_array_equal(y, np.where(np.arange(32) < 20, x, np.float32(-1)))


def test_level3_bytes_are_shared():
    """Tiles at equal and overlapping addresses share bytes, in loops too."""
    p = Program("a2a3")
    x, y = p.pointer("f32"), p.pointer("f32")
    total, part = p.tile("f32", 4, 32, addr=0), p.tile("f32", 4, 32, addr=512)
    low = p.tile("f32", 2, 32, addr=256)  # rows 2 and 3 of total
    again = p.tile("f32", 4, 32, addr=0)  # total under another name
    zero = (p.const("0.0", "f32"), "f32")
    p.op("texpands", [zero], [total])
    p.emit(f"scf.for %i = {p.const(0)} to {p.const(12)} step {p.const(4)} {{")
    p.load(p.view(x, "f32", [12, 32], offsets=["%i", 0], sizes=[4, 32]), part)
    p.op("tadd", [again, part], [again])
    p.emit("}")
    p.op("tmuls", [low, (p.const("2.0", "f32"), "f32")], [low])
    p.store(total, p.view(y, "f32", [4, 32]))
    x = np.random.default_rng(10).integers(-9, 9, (12, 32)).astype(np.float32)
    want = x.reshape(3, 4, 32).sum(0)
    want[2:] *= 2
    for fuse in (True, False):
        y = np.zeros((4, 32), np.float32)
        Code(p.text(), fuse=fuse)("f", x, y)
        np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize(
    "dtype,acc", [("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), ("i8", "i32")]
)
@pytest.mark.parametrize("m,k,n", [(16, 32, 32), (48, 64, 80)])
def test_matmul_loop(dtype, acc, m, k, n):
    """Two halves of k through mat, left and right tiles into one accumulator; views and copies agree."""
    p = Program("a5")
    a, b, c = p.pointer(dtype), p.pointer(dtype), p.pointer(acc)
    nz, zn = ", blayout=col_major, slayout=row_major", ", slayout=col_major"
    half = k // 2
    out = p.tile(acc, m, n, space="acc", extra=nz + ", fractal=1024")
    ta, tb = (
        p.tile(dtype, m, half, space="mat", extra=nz),
        p.tile(dtype, half, n, space="mat", extra=nz),
    )
    la, rb = (
        p.tile(dtype, m, half, space="left", extra=nz),
        p.tile(dtype, half, n, space="right", extra=zn),
    )
    for step in range(2):
        p.load(p.view(a, dtype, [m, k], offsets=[0, step * half], sizes=[m, half]), ta)
        p.load(p.view(b, dtype, [k, n], offsets=[step * half, 0], sizes=[half, n]), tb)
        p.op("tmov", [ta], [la])
        p.op("tmov", [tb], [rb])
        p.op("tmatmul.acc" if step else "tmatmul", ([out] if step else []) + [la, rb], [out])
    p.store(out, p.view(c, acc, [m, n]))
    rng = np.random.default_rng(11)
    a, b = random(rng, dtype, (m, k), -1, 1), random(rng, dtype, (k, n), -1, 1)
    results = []
    for fuse in (True, False):
        c = np.zeros((m, n), DTYPES[acc])
        Code(p.text(), fuse=fuse)("f", a, b, c)
        results.append(c)
    wide = np.int64 if dtype == "i8" else np.float64
    want = a.astype(wide) @ b.astype(wide)
    np.testing.assert_allclose(results[0], want, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(results[0], results[1])


def test_view_is_read_after_more_row_ops():
    """A tile made by row ops goes to a product by moves that are views; the product runs after more row ops."""
    n = 32
    p = Program("a5")
    x, b, c, r = (p.pointer("f32") for _ in range(4))
    nz, zn = ", blayout=col_major, slayout=row_major", ", slayout=col_major"
    t, e, o, tmp = (p.tile("f32", n, n) for _ in range(4))
    sums = p.column("f32", n)
    pm, bm = (p.tile("f32", n, n, space="mat", extra=nz) for _ in range(2))
    left, right = (
        p.tile("f32", n, n, space="left", extra=nz),
        p.tile("f32", n, n, space="right", extra=zn),
    )
    acc = p.tile("f32", n, n, space="acc", extra=nz + ", fractal=1024")
    p.load(p.view(b, "f32", [n, n]), bm)
    p.op("tmov", [bm], [right])
    p.load(p.view(x, "f32", [n, n]), t)
    p.op("texp", [t], [e])
    p.op("tmov", [e], [pm])
    p.op("tmov", [pm], [left])
    p.op("trowsum", [e, tmp], [sums])
    p.op("trowexpandmul", [t, sums], [o])
    p.op("tmatmul", [left, right], [acc])
    p.store(o, p.view(r, "f32", [n, n]))
    p.store(acc, p.view(c, "f32", [n, n]))
    rng = np.random.default_rng(13)
    x, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    e = np.exp(x.astype(np.float64))
    for fuse in (True, False):
        c, r = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
        Code(p.text(), fuse=fuse)("f", x, b, c, r)
        np.testing.assert_allclose(c, e @ b, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(r, x * e.sum(1, keepdims=True), rtol=1e-4, atol=1e-4)


def test_reuse_changes_nothing():
    text = softmax(8, 64, 8, 64)
    x = np.random.default_rng(12).standard_normal((8, 64)).astype(np.float32)
    outputs = []
    for reuse in (True, False):
        for fuse in (True, False):
            y = np.zeros_like(x)
            Code(text, fuse=fuse, reuse=reuse, isa=HOST)("f", x, y)
            outputs.append(y.tobytes())
    assert len(set(outputs)) == 1
