"""Tiles of one instruction whose capacities or extents differ; reductions over nothing; scales of the fixed pipe."""

from __future__ import annotations

import contextlib
import ctypes

import numpy as np
import pytest
from native import AVX2, DTYPES, HOST, Code, CompileError, Kernel, KernelFault, Program, module


def test_a_source_with_fewer_rows_than_the_result():
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    a, d = p.tile("f32", 4, 16), p.tile("f32", 8, 16, n, 16)
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [a])
    p.op("tadd", [a, a], [d])
    p.store(d, p.view(out, "f32", [8, 16], sizes=[n, 16]))
    kernel, y = Kernel(p.text()), np.zeros((8, 16), np.float32)
    with pytest.raises(
        KernelFault,
        match="'pto.tadd' op the number of rows read from a tile is 5, which must be between 0 and 4",
    ):
        kernel(y, 5)
    assert not y.any()
    kernel(y, 4)
    assert (y[:4] == 2).all() and not y[4:].any()


def test_constants_that_do_not_fit():
    p = Program()
    p.pointer("f32")
    a, d = p.tile("f32", 4, 16), p.tile("f32", 8, 16)
    p.op("tmov", [d], [d])
    p.op("trowexpand", [a], [d])
    with pytest.raises(CompileError, match="(rows read from a tile is 8|valid rows)"):
        Code(p.text())


def test_a_mask_that_is_too_small():
    p = Program()
    n = p.scalar("index")
    a, mask = p.tile("f32", 8, 32, n, 32), p.tile("ui8", 4, 32)
    p.op("tcmps", [a, (p.const("1.0", "f32"), "f32")], [mask], inside="cmpMode = #pto<cmp gt>")
    p.emit(f"pto.tprint ins({mask[0]} : {mask[1]})")
    kernel = Kernel(p.text())
    with pytest.raises(
        KernelFault, match="'pto.tcmps' op the number of rows written to a tile is 5"
    ):
        kernel(5)


NOTHING = {
    "tcolsum": {"f32": 0, "f16": 0, "i32": 0, "i16": 0},
    "tcolprod": {"f32": 1, "f16": 1, "i32": 1, "i16": 1},
    "tcolmax": {"f32": -np.inf, "f16": -np.inf, "i32": -(2**31), "i16": -(2**15)},
    "tcolmin": {"f32": np.inf, "f16": np.inf, "i32": 2**31 - 1, "i16": 2**15 - 1},
}


@pytest.mark.parametrize("op,dtype", [(op, dtype) for op in NOTHING for dtype in NOTHING[op]])
def test_columns_without_rows(op, dtype):
    p = Program()
    x, y, n = p.pointer(dtype), p.pointer(dtype), p.scalar("index")
    a, d = p.tile(dtype, 8, 64, n, 50), p.tile(dtype, 1, 64, 1, 50)
    p.load(p.view(x, dtype, [8, 64], sizes=[n, 50]), a)
    p.op(op, [a], [d])
    p.store(d, p.view(y, dtype, [1, 64], sizes=[1, 50]))
    of = {"tcolsum": np.sum, "tcolprod": np.prod, "tcolmax": np.max, "tcolmin": np.min}[op]
    source = np.random.default_rng(0).integers(1, 3, (8, 64)).astype(DTYPES[dtype])
    for fuse in (True, False):
        for isa in (HOST, AVX2):
            code = Code(p.text(), fuse=fuse, isa=isa)
            for rows in (0, 3):
                got = np.full((1, 64), 7, DTYPES[dtype])
                code("f", source, got, rows)
                want = of(source[:rows, :50], axis=0) if rows else NOTHING[op][dtype]
                np.testing.assert_array_equal(
                    got[0, :50], np.broadcast_to(want, 50).astype(DTYPES[dtype])
                )
                assert (got[0, 50:] == 7).all()


@pytest.mark.parametrize(
    "dtype,wide", [("f32", False), ("i32", False), ("ui64", True), ("i64", True)]
)
def test_scales_for_each_column_are_words_of_64_bits(dtype, wide):
    acc = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    scales = f"!pto.tile_buf<scaling, 1x32x{dtype}>"
    out = "!pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>"
    text = module(
        "a5",
        [
            f"""  func.func @f() {{
    %a = pto.alloc_tile : {acc}
    %s = pto.alloc_tile : {scales}
    %d = pto.alloc_tile : {out}
    pto.tmov ins(%a, %s : {acc}, {scales}) outs(%d : {out})
    return
  }}
"""
        ],
    )
    if wide:
        Code(text)
        return
    with pytest.raises(
        CompileError,
        match=f"'pto.tmov' op quantises with scales of '{dtype}', but a scale for each column is a word of 64 bits",
    ):
        Code(text)


@pytest.mark.parametrize("arch", ["a3", "a5"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 16, 31])
def test_column_sums_in_pairs(arch, dtype, rows):
    """isBinary: the order of the sums, in the element type (pto-isa 6.6)."""
    p = Program(arch)
    x, y = p.pointer(dtype), p.pointer(dtype)
    a, tmp, d = p.tile(dtype, rows, 32), p.tile(dtype, rows, 32), p.tile(dtype, 1, 32)
    p.load(p.view(x, dtype, [rows, 32]), a)
    p.op("tcolsum", [a, tmp], [d], inside="isBinary = true")
    p.store(d, p.view(y, dtype, [1, 32]))
    source = (np.random.default_rng(0).uniform(-100, 100, (rows, 32))).astype(DTYPES[dtype])
    got = np.zeros((1, 32), DTYPES[dtype])
    Code(p.text())("f", source, got)
    level = source
    while len(level) > 1:
        pairs = level[: len(level) // 2 * 2 : 2] + level[1::2]
        if len(level) % 2:
            pairs[-1 if arch == "a5" else 0] += level[-1]
        level = pairs
    np.testing.assert_array_equal(got, level)


@contextlib.contextmanager
def on_vector_core(core: int):
    announce = ctypes.CDLL(None).pto_set_block
    numbers = lambda *values: map(ctypes.c_int64, values)  # noqa: E731
    announce(*numbers(0, 1, core, 2))
    try:
        yield
    finally:
        announce(*numbers(0, 1, 0, 1))


@pytest.mark.parametrize("by_rows", [True, False])
def test_halves_of_an_accumulator(by_rows):
    """Each vector core receives its half."""
    acc = "!pto.tile_buf<acc, 32x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    shape = (16, 64) if by_rows else (32, 32)
    p = Program("a5")
    y = p.pointer("f32")
    a, half = (p.name(), acc), p.tile("f32", *shape)
    pa, pb = p.pointer("f32"), p.pointer("f32")
    nz = ", blayout=col_major, slayout=row_major"
    la, lb = (p.tile("f32", rows, 64, space="mat", extra=nz) for rows in (32, 64))
    left = p.tile("f32", 32, 64, space="left", extra=nz)
    right = p.tile("f32", 64, 64, space="right", extra=", slayout=col_major")
    p.load(p.view(pa, "f32", [32, 64]), la)
    p.load(p.view(pb, "f32", [64, 64]), lb)
    p.op("tmov", [la], [left])
    p.op("tmov", [lb], [right])
    p.emit(f"{a[0]} = pto.alloc_tile : {a[1]}")
    p.op("tmatmul", [left, right], [a])
    mode = "dual_mode_split_m" if by_rows else "dual_mode_split_n"
    p.op("tmov", [a], [half], f"accToVecMode = #pto.acc_to_vec_mode<{mode}>")
    p.store(half, p.view(y, "f32", list(shape)))
    code = Code(p.text())
    rng = np.random.default_rng(0)
    left_value, right_value = rng.integers(-3, 4, (32, 64)), rng.integers(-3, 4, (64, 64))
    whole = left_value @ right_value
    for core in (0, 1):
        got = np.zeros(shape, np.float32)
        with on_vector_core(core):
            code("f", got, left_value.astype(np.float32), right_value.astype(np.float32))
        want = whole[core * 16 :][:16] if by_rows else whole[:, core * 32 :][:, :32]
        np.testing.assert_array_equal(got, want)
