"""Ops that depend on positions, gathers, scatters, sorts, single elements, atomic stores, and refusals."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest
from native import DTYPES, Code, CompileError, Kernel, Program

rng = np.random.default_rng(21)


def run(p, arrays, outputs, *scalars):
    results = []
    for fuse in (True, False):
        outs = [o.copy() for o in outputs]
        Code(p.text(), fuse=fuse)("f", *arrays, *outs, *scalars)
        results.append(outs)
    for a, b in zip(*results):
        assert a.tobytes() == b.tobytes()
    return results[0]


def in_out(p, dtype, shape, out_dtype=None, out_shape=None):
    out_dtype, out_shape = out_dtype or dtype, out_shape or shape
    x, y = p.pointer(dtype), p.pointer(out_dtype)
    return p.view(x, dtype, list(shape)), p.view(y, out_dtype, list(out_shape))


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8", "i32"])
def test_transpose(dtype):
    p = Program("a2a3")
    x, y = in_out(p, dtype, (16, 32), out_shape=(32, 16))
    a, tmp, b = p.tile(dtype, 16, 32), p.tile(dtype, 16, 32), p.tile(dtype, 32, 16)
    p.load(x, a)
    p.op("ttrans", [a, tmp], [b])
    p.store(b, y)
    data = rng.integers(-9, 9, (16, 32)).astype(DTYPES[dtype])
    (got,) = run(p, [data], [np.zeros((32, 16), DTYPES[dtype])])
    np.testing.assert_array_equal(got, data.T)


@pytest.mark.parametrize("vr,vc", [(8, 16), (5, 9), (1, 1), (0, 3)])
@pytest.mark.parametrize(
    "dtype,pad,value", [("f32", 3, -np.inf), ("f32", 1, 0), ("i16", 2, 32767), ("f16", 2, np.inf)]
)
def test_fillpad(dtype, pad, value, vr, vc):
    p = Program("a2a3")
    x, y = p.pointer(dtype), p.pointer(dtype)
    r, c = p.scalar("index"), p.scalar("index")
    a, b = p.tile(dtype, 8, 16, r, c), p.tile(dtype, 8, 16, extra=f", pad={pad}")
    p.load(p.view(x, dtype, [8, 16], sizes=[r, c]), a)
    p.op("tfillpad", [a], [b])
    p.store(b, p.view(y, dtype, [8, 16]))
    data = rng.integers(-9, 9, (8, 16)).astype(DTYPES[dtype])
    (got,) = run(p, [data], [np.zeros((8, 16), DTYPES[dtype])], vr, vc)
    want = np.full((8, 16), value, DTYPES[dtype])
    want[:vr, :vc] = data[:vr, :vc]
    np.testing.assert_array_equal(got, want)


def test_concat_and_windows():
    p = Program("a2a3")
    x, y, z = p.pointer("f32"), p.pointer("f32"), p.pointer("f32")
    a, b, c = p.tile("f32", 4, 16, 4, 11), p.tile("f32", 4, 16, 4, 5), p.tile("f32", 4, 32, 4, 16)
    p.load(p.view(x, "f32", [4, 16], sizes=[4, 11]), a)
    p.load(p.view(y, "f32", [4, 16], sizes=[4, 5]), b)
    p.op("tconcat", [a, b], [c])
    p.store(c, p.view(z, "f32", [4, 16]))
    u, v = (rng.standard_normal((4, 16)).astype(np.float32) for _ in range(2))
    (got,) = run(p, [u, v], [np.zeros((4, 16), np.float32)])
    np.testing.assert_array_equal(got, np.hstack([u[:, :11], v[:, :5]]))


@pytest.mark.parametrize(
    "op,function", [("tpartadd", np.add), ("tpartmax", np.maximum), ("tpartmul", np.multiply)]
)
def test_partial(op, function):
    p = Program("a2a3")
    x, y, z = p.pointer("f32"), p.pointer("f32"), p.pointer("f32")
    a, b, c = p.tile("f32", 6, 40), p.tile("f32", 6, 40, 4, 40), p.tile("f32", 6, 40)
    p.load(p.view(x, "f32", [6, 40]), a)
    p.load(p.view(y, "f32", [4, 40]), b)
    p.op(op, [a, b], [c])
    p.store(c, p.view(z, "f32", [6, 40]))
    u, v = (
        rng.standard_normal((6, 40)).astype(np.float32),
        rng.standard_normal((4, 40)).astype(np.float32),
    )
    (got,) = run(p, [u, v], [np.zeros((6, 40), np.float32)])
    want = u.copy()
    want[:4] = function(u[:4], v)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("diagonal", [-3, 0, 2, 40])
def test_triangle(upper, diagonal):
    p = Program("a5")
    y = p.pointer("f32")
    t = p.tile("f32", 9, 32)
    p.op("ttri", [(p.const(diagonal, "i32"), "i32")], [t], inside=f"upperOrLower = {upper} : i32")
    p.store(t, p.view(y, "f32", [9, 32]))
    (got,) = run(p, [], [np.zeros((9, 32), np.float32)])
    i, j = np.indices((9, 32))
    np.testing.assert_array_equal(got, (j >= i + diagonal) if upper else (j <= i + diagonal))


@pytest.mark.parametrize("down", ["false", "true"])
def test_ramp(down):
    p = Program("a5")
    y = p.pointer("i32")
    t = p.tile("i32", 1, 96, 1, 77)
    p.op("tci", [(p.const(5, "i32"), "i32")], [t], attrs=f"descending = {down}")
    p.store(t, p.view(y, "i32", [1, 77]))
    (got,) = run(p, [], [np.zeros((1, 77), np.int32)])
    np.testing.assert_array_equal(
        got[0], 5 - np.arange(77) if down == "true" else 5 + np.arange(77)
    )


def test_gather_scatter():
    p = Program("a5")
    x, i, y, z = p.pointer("f32"), p.pointer("i32"), p.pointer("f32"), p.pointer("f32")
    a, n, t, b, c = (
        p.tile("f32", 4, 32),
        *(p.tile("i32", 4, 32) for _ in range(2)),
        *(p.tile("f32", 4, 32) for _ in range(2)),
    )
    p.load(p.view(x, "f32", [4, 32]), a)
    p.load(p.view(i, "i32", [4, 32]), n)
    p.op("tgather", [a, n, t], [b])
    p.op("tscatter", [a, n], [c])
    p.store(b, p.view(y, "f32", [4, 32]))
    p.store(c, p.view(z, "f32", [4, 32]))
    data = rng.standard_normal((4, 32)).astype(np.float32)
    index = rng.permutation(128).reshape(4, 32).astype(np.int32)
    index[0, 0], index[3, 31] = 5000, -7  # outside: zero, and nothing written
    gathered, scattered = run(p, [data, index], [np.zeros((4, 32), np.float32)] * 2)
    inside = (index >= 0) & (index < 128)
    np.testing.assert_array_equal(
        gathered, np.where(inside, data.ravel()[np.clip(index, 0, 127)], 0)
    )
    want = np.zeros(128, np.float32)
    want[index[inside]] = data[inside]
    np.testing.assert_array_equal(scattered.ravel(), want)


def test_sort32_is_stable():
    p = Program("a2a3")
    x, i, y = p.pointer("f32"), p.pointer("ui32"), p.pointer("f32")
    a, n, d = p.tile("f32", 2, 64), p.tile("ui32", 2, 64), p.tile("f32", 2, 128)
    p.load(p.view(x, "f32", [2, 64]), a)
    p.load(p.view(i, "ui32", [2, 64]), n)
    p.op("tsort32", [a, n], [d])
    p.store(d, p.view(y, "f32", [2, 128]))
    data = rng.integers(0, 6, (2, 64)).astype(np.float32)  # many ties
    index = np.arange(128, dtype=np.uint32).reshape(2, 64)
    (got,) = run(p, [data, index], [np.zeros((2, 128), np.float32)])
    for r in range(2):
        for g in range(0, 64, 32):
            order = np.argsort(-data[r, g : g + 32], kind="stable") + g
            np.testing.assert_array_equal(got[r, 2 * g : 2 * g + 64 : 2], data[r, order])
            np.testing.assert_array_equal(
                got.view(np.uint32)[r, 2 * g + 1 : 2 * g + 64 : 2], index[r, order]
            )


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("lengths", [(64, 64), (64, 32, 96), (32, 32, 32, 32)])
def test_merge_of_lists(arch, lengths):
    p = Program(arch)
    pointers, y = [p.pointer("f32") for _ in lengths], p.pointer("f32")
    lists = [p.tile("f32", 1, 2 * n) for n in lengths]
    total = sum(lengths)
    for pointer, n, tile in zip(pointers, lengths, lists):
        p.load(p.view(pointer, "f32", [1, 2 * n]), tile)
    tmp, d = p.tile("f32", 1, 2 * total), p.tile("f32", 1, 2 * total)
    p.emit("%taken = arith.constant dense<0> : vector<4xi16>")
    p.op("tmrgsort", [*lists, tmp], [d, ("%taken", "vector<4xi16>")], "exhausted = false")
    p.store(d, p.view(y, "f32", [1, 2 * total]))
    values = [np.sort(rng.integers(0, 99, n).astype(np.float32))[::-1] for n in lengths]
    index = np.arange(total, dtype=np.uint32)
    pairs, start = [], 0
    for v in values:
        pair = np.stack([v.view(np.uint32), index[start : start + len(v)]], axis=1)
        pairs.append(pair.reshape(1, -1).view(np.float32))
        start += len(v)
    (got,) = run(p, pairs, [np.zeros((1, 2 * total), np.float32)])
    every = np.concatenate(values)
    order = np.argsort(-every, kind="stable")
    np.testing.assert_array_equal(got[0, ::2], every[order])
    np.testing.assert_array_equal(got.view(np.uint32)[0, 1::2], index[order])


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i16", "i8"])
def test_atomic_store(dtype):
    """Four threads add to one tensor at once; nothing is lost."""
    p = Program("a2a3")
    x, y = p.pointer(dtype), p.pointer(dtype)
    t = p.tile(dtype, 8, 32)
    p.load(p.view(x, dtype, [8, 32]), t)
    p.store(t, p.view(y, dtype, [8, 32]), "atomicType = #pto<atomic_type atomic_add>")
    code = Code(p.text())
    one, total = np.ones((8, 32), DTYPES[dtype]), np.zeros((8, 32), DTYPES[dtype])
    threads = [
        threading.Thread(target=lambda: [code("f", one, total) for _ in range(25)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(total.astype(np.float32), 100)


def test_single_elements_and_extents():
    """Scalars read from a tile steer the extents of another."""
    p = Program("a5")
    x, n, y = p.pointer("f32"), p.pointer("i32"), p.pointer("f32")
    counts = p.tile("i32", 1, 32)
    p.load(p.view(n, "i32", [1, 32]), counts)
    whole = p.tile("f32", 4, 32, p.index(4), p.index(32))
    p.load(p.view(x, "f32", [4, 32]), whole)
    p.emit(f"%k = pto.tgetval ins({counts[0]}, {p.const(2)} : {counts[1]}, index) outs : i32")
    p.emit("%ki = arith.index_cast %k : i32 to index")
    p.emit(f"pto.set_validshape {whole[0]}, {p.const(3)}, %ki : {whole[1]}")
    p.op("tmuls", [whole, (p.const("2.0", "f32"), "f32")], [whole])
    p.emit(f"pto.set_validshape {whole[0]}, {p.const(4)}, {p.const(32)} : {whole[1]}")
    p.op("tsetval", [(p.const(33), "index"), (p.const("-5.0", "f32"), "f32")], [whole])
    p.store(whole, p.view(y, "f32", [4, 32]))
    data = rng.standard_normal((4, 32)).astype(np.float32)
    count = np.full((1, 32), 9, np.int32)
    count[0, 2] = 13
    (got,) = run(p, [data, count], [np.zeros((4, 32), np.float32)])
    want = data.copy()
    want[:3, :13] *= 2
    want[1, 1] = -5
    np.testing.assert_array_equal(got, want)


def test_extents_beyond_a_tile_are_cut():
    """A run-time extent larger than its tile must not reach the bytes of another."""
    p = Program("a5")
    y, z = p.pointer("f32"), p.pointer("f32")
    r, c = p.scalar("index"), p.scalar("index")
    a, b = p.tile("f32", 4, 32, r, c), p.tile("f32", 4, 32)
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [b])
    p.op("texpands", [(p.const("2.0", "f32"), "f32")], [a])
    p.store(a, p.view(y, "f32", [4, 32], sizes=[r, c]))
    p.store(b, p.view(z, "f32", [4, 32]))
    for rows, cols in ((4, 32), (100, 1000), (-3, 5)):
        first, second = run(p, [], [np.zeros((4, 32), np.float32)] * 2, rows, cols)
        assert (second == 1).all()
        assert first.sum() == 2 * min(max(rows, 0), 4) * min(cols, 32)


def test_scalar_division_never_traps():
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


def test_addresses_end_inside_the_memory():
    p = Program("a5")
    p.tile("f32", 8, 32, addr=9223372036854775776)
    with pytest.raises(CompileError, match="at address 9223372036854775776 ends behind 524288"):
        Code(p.text())


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


@pytest.mark.parametrize(
    "lines,message",
    [
        (
            "%t = pto.alloc_tile : !pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major>\n"
            "%u = pto.treshape %t : !pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major> -> "
            "!pto.tile_buf<mat, 64x32xf16, blayout=col_major, slayout=row_major>",
            "reshaping a tile with boxes",
        ),
    ],
)
def test_refusals_name_the_reason(lines, message):
    with pytest.raises(CompileError, match=message) as error:
        Code(f"module {{\n func.func @f() {{\n{lines}\nreturn\n}}\n}}")
    line = 4 if "treshape" in lines else 3
    assert f'"-":{line}:' in str(error.value)
