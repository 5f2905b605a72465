"""Gathers, scatters and merges beyond the op table: places outside, places that meet, threads that meet."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from native import DTYPES, Code, Program

rng = np.random.default_rng(21)


def run(p, arrays, outputs):
    """Fused and not: equal bits."""
    results = []
    for fuse in (True, False):
        outs = [o.copy() for o in outputs]
        Code(p.text(), fuse=fuse)("f", *arrays, *outs)
        results.append(outs)
    for a, b in zip(*results):
        assert a.tobytes() == b.tobytes()
    return results[0]


def test_places_outside():
    """Read as zero, not written."""
    p = Program("a5")
    x, i, y, z = p.pointer("f32"), p.pointer("i32"), p.pointer("f32"), p.pointer("f32")
    a, b, c = (p.tile("f32", 4, 32) for _ in range(3))
    n, t = (p.tile("i32", 4, 32) for _ in range(2))
    p.load(p.view(x, "f32", [4, 32]), a)
    p.load(p.view(i, "i32", [4, 32]), n)
    p.op("tgather", [a, n, t], [b])
    p.op("tscatter", [a, n], [c])
    p.store(b, p.view(y, "f32", [4, 32]))
    p.store(c, p.view(z, "f32", [4, 32]))
    data = rng.standard_normal((4, 32)).astype(np.float32)
    index = rng.permutation(128).reshape(4, 32).astype(np.int32)
    index[0, 0], index[3, 31] = 5000, -7
    gathered, scattered = run(p, [data, index], [np.zeros((4, 32), np.float32)] * 2)
    inside = (index >= 0) & (index < 128)
    np.testing.assert_array_equal(
        gathered, np.where(inside, data.ravel()[np.clip(index, 0, 127)], 0)
    )
    want = np.zeros(128, np.float32)
    want[index[inside]] = data[inside]
    np.testing.assert_array_equal(scattered.ravel(), want)


def test_rows_that_meet_add_up():
    p = Program()
    x, i, z = p.pointer("f32"), p.pointer("i32"), p.pointer("f32")
    rows, t = p.tile("i32", 1, 8, 1, 4), p.tile("f32", 4, 64)
    p.load(p.view(i, "i32", [1, 4]), rows)
    p.load(p.view(x, "f32", [4, 64]), t)
    attrs = "coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>"
    p.op("mscatter", [t, rows], [p.view(z, "f32", [16, 64])], attrs)
    data = rng.integers(-9, 9, (4, 64)).astype(np.float32)
    index = np.array([[3, 0, 15, 3]], np.int32)
    want = np.ones((16, 64), np.float32)
    np.add.at(want, index[0], data)
    (got,) = run(p, [data, index], [np.ones((16, 64), np.float32)])
    np.testing.assert_array_equal(got, want)


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
