"""Programs whose ops share loops, bytes or accumulators."""

from __future__ import annotations

import numpy as np
import pytest
from everywhere import check, random, run_everywhere
from native import DTYPES, HOST, Code, Program

# Rows, columns, valid rows, valid columns.
SHAPES = [(1, 16, 1, 1), (8, 64, 8, 64), (5, 48, 5, 33), (3, 160, 2, 131)]


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("shape", SHAPES[1:])
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


@pytest.mark.parametrize("shape", SHAPES)
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


def test_a_product_feeds_the_next_through_l1():
    """The accumulator goes to L1 as halves, and from there into another product, in a section of the cube."""
    p = Program("a5")
    x, w, y = p.pointer("f16"), p.pointer("f16"), p.pointer("f16")
    boxes, turned = ", blayout=col_major, slayout=row_major", ", slayout=col_major"
    xm, wm = (p.tile("f16", *s, space="mat", extra=boxes) for s in ((16, 64), (64, 32)))
    ym, vm = (p.tile("f16", *s, space="mat", extra=boxes) for s in ((16, 32), (32, 32)))
    left, right = (
        p.tile("f16", 16, 64, space="left", extra=boxes),
        p.tile("f16", 64, 32, space="right", extra=turned),
    )
    left2, right2 = (
        p.tile("f16", 16, 32, space="left", extra=boxes),
        p.tile("f16", 32, 32, space="right", extra=turned),
    )
    acc, acc2 = (
        p.tile("f32", 16, 32, space="acc", extra=boxes + ", fractal=1024") for _ in range(2)
    )
    zero = (p.const(0), "index")
    p.load(p.view(x, "f16", [16, 64]), xm)
    p.load(p.view(w, "f16", [64, 32]), wm)
    p.load(p.view(w, "f16", [64, 32], sizes=[32, 32]), vm)
    for source, target in ((xm, left), (wm, right), (vm, right2)):
        p.op("tmov", [source], [target])
    p.op("tmatmul", [left, right], [acc])
    p.op("tinsert", [acc, zero, zero], [ym])
    p.op("tmov", [ym], [left2])
    p.emit("pto.section.cube {")
    p.op("tmatmul", [left2, right2], [acc2])
    p.emit("}")
    p.store(acc2, p.view(y, "f16", [16, 32]))
    rng = np.random.default_rng(14)
    x, w = random(rng, "f16", (16, 64), -1, 1), random(rng, "f16", (64, 32), -1, 1)
    product = (x.astype(np.float64) @ w.astype(np.float64)).astype(np.float16)
    want = product.astype(np.float64) @ w[:32].astype(np.float64)
    for fuse in (True, False):
        y = np.zeros((16, 32), np.float16)
        Code(p.text(), fuse=fuse)("f", x, w, y)
        np.testing.assert_allclose(y, want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", SHAPES[:2])
def test_more_ops_than_one_nest_holds(shape):
    """Tiles and row sums that are made in one nest and read in the next."""
    rows, cols, vr, vc = shape
    p = Program("a2a3")
    x, y = p.pointer("i32"), p.pointer("i32")
    t, u, tmp = (p.tile("i32", rows, cols, vr, vc) for _ in range(3))
    s = p.column("i32", rows, vr)
    p.load(p.view(x, "i32", [rows, cols], sizes=[vr, vc]), t)
    p.op("tadd", [t, t], [u])
    for _ in range(200):
        p.op("trowsum", [t, tmp], [s])
        p.op("tadd", [t, u], [t])
        p.op("trowexpandadd", [t, s], [u])
    p.store(u, p.view(y, "i32", [rows, cols], sizes=[vr, vc]))
    x = np.random.default_rng(11).integers(-9, 9, (rows, cols)).astype(np.int32)
    (got,) = run_everywhere(lambda _: (p.text(), []), [x], [np.full((rows, cols), 7, np.int32)])
    want = x[:vr, :vc]
    added = want + want
    for _ in range(200):
        total = want.sum(1, keepdims=True, dtype=np.int32)
        want = want + added
        added = want + total
    check(got, added, shape)
