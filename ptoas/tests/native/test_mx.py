"""Shared scales: quantising groups of 32, scale tiles found by their data's address, counted joins of rows."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from elements import E2M1, unpack
from native import DTYPES, Code, CompileError, Program
from test_fp8 import MX

F8 = ml_dtypes.float8_e4m3fn
QUANT = {
    "MXFP8": ("f8E4M3FN", 8, F8),
    "MXFP4_E2M1": (E2M1, 2, ml_dtypes.float4_e2m1fn),
}


def quantise(x, kind: str, src: str, *, along_rows=False, flat=False, valid=None, attrs=""):
    """Results of tquant.mx: data, exponents, maxima and factors, each as it lies in memory."""
    rows, cols = x.shape
    dst, _, _ = QUANT[kind]
    groups = [rows // 32, cols] if along_rows else [rows, cols // 32]
    shape = [1, groups[0] * groups[1]] if flat else groups
    # Tiles are wider than their groups: rows of 32 bytes.
    wide = [shape[0], -(-shape[1] // 32) * 32]
    p = Program()
    pointers = [p.pointer(t) for t in (src, dst, "ui8", src, src)]
    a = p.tile(src, rows, cols)
    q = p.tile(dst, rows, cols)
    small = [p.tile(t, *wide, *shape) for t in ("ui8", src, src)]
    p.load(p.view(pointers[0], src, [rows, cols]), a)
    axis = f", grpAxis = #pto<mx_group_axis axis{0 if along_rows else 1}>"
    p.op("tquant.mx", [a], [q, *small], attrs=f"quant_type = #pto<quant_type {kind}>{axis}{attrs}")
    p.store(q, p.view(pointers[1], dst, [rows, cols]))
    for tile, pointer, type_ in zip(small, pointers[2:], ("ui8", src, src)):
        p.store(tile, p.view(pointer, type_, shape))
    data = np.zeros((rows, cols // 2 if dst == E2M1 else cols), np.uint8)
    results = [np.zeros(shape, t) for t in (np.uint8, x.dtype, x.dtype)]
    Code(p.text())("f", x, data, *results)
    return data, *results


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, shape) * np.exp2(rng.uniform(-12, 9, shape))
    x[0, :32] = 0
    return x


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("along_rows", [False, True])
@pytest.mark.parametrize(
    "kind, src",
    [
        ("MXFP8", "f32"),
        ("MXFP8", "bf16"),
        ("MXFP8", "f16"),
        ("MXFP4_E2M1", "bf16"),
        ("MXFP4_E2M1", "f16"),
    ],
)
def test_groups_share_a_power_of_two(kind, src, along_rows, flat):
    x = numbers(64, 64).astype(DTYPES[src])
    data, exps, maxima, factors = quantise(x, kind, src, along_rows=along_rows, flat=flat)
    _, headroom, dtype = QUANT[kind]
    v = (x.T if along_rows else x).astype(np.float32)
    largest = np.abs(v).reshape(64, 2, 32).max(axis=2)
    exponent = largest.view(np.uint32).astype(np.int64) >> 23
    stored = np.maximum(exponent - headroom, 0)
    want = (v.astype(np.float64) * np.exp2(127.0 - np.repeat(stored, 32, axis=1))).astype(
        np.float32
    )
    limit = 448 if kind == "MXFP8" else 6
    want = np.clip(want, -limit, limit).astype(dtype)
    shape = exps.shape
    orient = lambda a: (a.T if along_rows else a).reshape(shape)  # noqa: E731
    np.testing.assert_array_equal(exps, orient(stored))
    np.testing.assert_array_equal(maxima.astype(np.float32), orient(largest))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(factors, orient(np.exp2(127.0 - stored)).astype(x.dtype))
    got = unpack(data) if kind == "MXFP4_E2M1" else data
    np.testing.assert_array_equal(got, (want.T if along_rows else want).view(np.uint8))


def test_quantised_data_comes_back():
    """What tquant.mx makes is within half a step of the mantissa of what it was given."""
    x = numbers(32, 64, seed=1).astype(np.float32)
    data, exps, _, _ = quantise(x, "MXFP8", "f32")
    back = data.view(F8).astype(np.float64) * np.exp2(
        np.repeat(exps.astype(np.float64), 32, axis=1) - 127
    )
    scale = np.exp2(np.repeat(exps.astype(np.float64), 32, axis=1) - 127)
    assert (np.abs(back - x) <= np.maximum(np.abs(x) / 8, scale * 2.0**-9)).all()


@pytest.mark.parametrize(
    "kind, src, attrs, message",
    [
        ("MXFP8", "f32", ", quantScaleAlg = #pto<quant_scale_alg nv>", "quantScaleAlg = ocp only"),
        ("MXFP8", "f32", ", interleave = true", "no code for interleaved exponents"),
        ("MXFP4_E2M1", "f32", "", "takes f16 or bf16"),
    ],
)
def test_what_is_not_quantised(kind, src, attrs, message):
    with pytest.raises(CompileError, match=message):
        quantise(numbers(32, 64).astype(np.float32), kind, src, attrs=attrs)


@pytest.mark.parametrize("index", ["i16", "i32"])
@pytest.mark.parametrize("with_count", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "i8", "f16"])
def test_rows_joined_by_their_counts(index, dtype, with_count):
    rows, cols = 8, 32
    rng = np.random.default_rng(2)
    x, w = (rng.integers(-100, 100, (rows, cols)).astype(DTYPES[dtype]) for _ in range(2))
    counts = [np.array(c) for c in ([0, 1, 5, 32, 32, 40, 7, 0], [3, 0, 32, 32, 31, 1, 8, 0])]
    unit = DTYPES[index]().nbytes
    p = Program()
    pointers = [p.pointer(t) for t in (dtype, dtype, index, index, dtype, index)]
    a, b = p.tile(dtype, rows, cols), p.tile(dtype, rows, cols)
    ia, ib, out_count = (p.tile(index, rows, 16, rows, 1) for _ in range(3))
    d = p.tile(dtype, rows, 64, rows, 48)
    window = p.view(pointers[4], dtype, [rows, 64], sizes=[rows, 48])
    for tile, pointer, type_, shape in ((a, 0, dtype, [rows, cols]), (b, 1, dtype, [rows, cols])):
        p.load(p.view(pointers[pointer], type_, shape), tile)
    for tile, pointer in ((ia, 2), (ib, 3)):
        p.load(p.view(pointers[pointer], index, [rows, 1]), tile)
    p.load(window, d)
    p.op("tconcatidx", [a, b, ia, ib], [d, out_count] if with_count else [d])
    p.store(d, window)
    if with_count:
        p.store(out_count, p.view(pointers[5], index, [rows, 1]))
    y = np.full((rows, 64), 7, DTYPES[dtype])
    written = np.zeros((rows, 1), DTYPES[index])
    byte_counts = [(c * unit).astype(DTYPES[index]).reshape(rows, 1) for c in counts]
    Code(p.text())("f", x, w, *byte_counts, y, written)
    want = np.full((rows, 64), 7, DTYPES[dtype])
    total = np.zeros(rows, int)
    for r in range(rows):
        joined = np.concatenate([x[r, : min(counts[0][r], cols)], w[r, : min(counts[1][r], cols)]])
        total[r] = min(len(joined), 64)
        want[r, : min(total[r], 48)] = joined[:48]
    np.testing.assert_array_equal(y, want)
    if with_count:
        np.testing.assert_array_equal(written[:, 0], total * unit)


@pytest.mark.parametrize("level3", [False, True])
def test_scales_are_found_by_their_data(level3):
    """Two handles that follow one data tile are the same scales; those of the other side are apart."""
    rng = np.random.default_rng(3)
    x, w = (rng.uniform(-2, 2, s).astype(np.float32).astype(F8) for s in [(16, 64), (64, 32)])
    xs, ws = (rng.integers(120, 134, s).astype(np.uint8) for s in [(16, 2), (2, 32)])
    text = MX.replace(
        "    %a = pto.alloc_tile : !A",
        "    %again = pto.alloc_tile : !SL\n    %a = pto.alloc_tile : !A\n"
        "    pto.tget_scale_addr ins(%l : !L) outs(%ls : !SL)\n"
        "    pto.tget_scale_addr ins(%r : !R) outs(%rs : !SR)\n"
        "    pto.tget_scale_addr ins(%l : !L) outs(%again : !SL)",
    ).replace("ins(%a, %l, %ls,", "ins(%a, %l, %again,")
    assert "%again, %r" in text and text.count("tget_scale_addr") == 3
    if level3:
        # Every tile at the start of its memory, but for what shares one.
        behind = {"wm": 1024, "xsm": 4096, "wsm": 8192, "rs": 512, "again": 1024}
        for name in "xm wm xsm wsm l r ls rs again a".split():
            address = f"%at_{name}"
            text = text.replace(
                f"    %{name} = pto.alloc_tile :",
                f"    {address} = arith.constant {behind.get(name, 0)} : i64\n"
                f"    %{name} = pto.alloc_tile addr = {address} :",
            )
    y = np.zeros((16, 32), np.float32)
    Code(text)("f", x, w, xs, ws, y)
    left = x.astype(np.float64) * np.exp2(np.repeat(xs.astype(np.float64) - 127, 32, axis=1))
    right = w.astype(np.float64) * np.exp2(np.repeat(ws.astype(np.float64) - 127, 32, axis=0))
    np.testing.assert_allclose(y, 2 * (left @ right), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "    pto.tmov ins(%xsm : !SM) outs(%ls : !SL)\n"
            "    pto.tget_scale_addr ins(%l : !L) outs(%ls : !SL)",
            "where it is not sure that tget_scale_addr has found their address",
        ),
        (
            "    pto.tget_scale_addr ins(%l : !L) outs(%ls : !SL)\n"
            "    pto.tget_scale_addr ins(%r : !R) outs(%ls : !SL)\n"
            "    pto.tmov ins(%xsm : !SM) outs(%ls : !SL)",
            "follows another tile already",
        ),
    ],
)
def test_scales_that_are_not_found(line, message):
    text = MX.replace("    pto.tmov ins(%xsm : !SM) outs(%ls : !SL)", line)
    with pytest.raises(CompileError, match=message):
        Code(text)
