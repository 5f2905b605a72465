"""Extents, offsets, slots and addresses that are wrong only when the code runs: reported, nothing written."""

from __future__ import annotations

import re

import numpy as np
import pytest
from native import Code, CompileError, Kernel, KernelFault, Program


def run(p: Program, outputs, *scalars):
    """The fault of a run, or None; `outputs` come back as the run leaves them."""
    kernel = Kernel(p.text())
    try:
        kernel(*outputs, *scalars)
    except KernelFault as fault:
        return str(fault)
    return None


def check(fault: str | None, text: str, op: str):
    """The report names a place, the instruction and the number."""
    assert fault is not None and re.search(r"k\.pto:\d+:\d+: error: ", fault), fault
    assert f"'pto.{op}' op {text}" in fault


def fill(p: Program, pointer, rows, cols, tile=(8, 16), store=(8, 16)):
    t = p.tile("f32", *tile, rows, cols)
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, p.view(pointer, "f32", list(store), sizes=[rows, cols]))


@pytest.mark.parametrize("extent", [-1, -(2**63), 9, 2**62, 2**63 - 1])
def test_valid_rows_of_an_allocation(extent):
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    fill(p, out, n, 16)
    y = np.zeros((8, 16), np.float32)
    assert run(p, [y], 8) is None and y.all()
    y[:] = 0
    fault = run(p, [y], extent)
    check(
        fault,
        f"the number of valid rows of a tile is {extent}, which must be between 0 and 8",
        "texpands",
    )
    assert not y.any()


def test_valid_columns_of_set_validshape():
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    t = p.tile("f32", 8, 16, p.const(8), p.const(16))
    p.emit(f"pto.set_validshape {t[0]}, {p.const(8)}, {n} : {t[1]}")
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, p.view(out, "f32", [8, 16]))
    y = np.zeros((8, 16), np.float32)
    assert run(p, [y], 3) is None and y[:, :3].all() and not y[:, 3:].any()
    for extent in (-1, 17):
        fault = run(p, [y], extent)
        check(
            fault,
            f"the number of valid columns of a tile is {extent}, which must be between 0 and 16",
            "set_validshape",
        )


def test_first_extents_of_a_tile_that_is_resized():
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    t = p.tile("f32", 8, 16, n, p.const(16))
    p.emit(f"pto.set_validshape {t[0]}, {p.const(8)}, {p.const(16)} : {t[1]}")
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, p.view(out, "f32", [8, 16]))
    y = np.zeros((8, 16), np.float32)
    check(run(p, [y], 9), "the number of valid rows of a tile is 9", "alloc_tile")
    assert not y.any() and run(p, [y], 0) is None and y.all()


@pytest.mark.parametrize("op", ["tload", "tstore"])
def test_size_of_a_window(op):
    p = Program()
    x, n = p.pointer("f32"), p.scalar("index")
    t = p.tile("f32", 8, 16)
    if op == "tstore":
        p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
        p.store(t, p.view(x, "f32", [8, 16], sizes=[8, n]))
    else:
        p.load(p.view(x, "f32", [8, 16], sizes=[8, n]), t)
        p.store(t, p.view(x, "f32", [8, 16]))
    y = np.arange(128, dtype=np.float32).reshape(8, 16)
    before = y.copy()
    check(
        run(p, [y], -5), "the size of a window in dimension 1 is -5, which must not be negative", op
    )
    np.testing.assert_array_equal(y, before)


def test_a_wrong_size_that_nothing_uses():
    """Compilers move extents and handles in front of the branch that uses them."""
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    t = p.tile("f32", 8, 16, n, 16)
    view = p.view(out, "f32", [8, 16], sizes=[n, 16])
    some = p.name()
    p.emit(f"{some} = arith.cmpi sgt, {n}, {p.const(0)} : index")
    p.emit(f"scf.if {some} {{")
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, view)
    p.emit("}")
    y = np.zeros((8, 16), np.float32)
    assert run(p, [y], -3) is None and not y.any()
    assert run(p, [y], 2) is None and y[:2].all() and not y[2:].any()


def test_each_branch_checks_for_itself():
    p = Program()
    out, n, which = p.pointer("f32"), p.scalar("index"), p.scalar("i1")
    t = p.tile("f32", 8, 16, n, 16)
    for branch in (f"scf.if {which} {{", "} else {"):
        p.emit(branch)
        p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.emit("}")
    p.store(t, p.view(out, "f32", [8, 16], sizes=[n, 16]))
    y = np.zeros((8, 16), np.float32)
    for branch in (0, 1):
        check(run(p, [y], 9, branch), "the number of valid rows of a tile is 9", "texpands")
    assert not y.any()


@pytest.mark.parametrize(
    "row,col,text",
    [
        (5, 0, "row offset of a part of a tile is 5, which must be between 0 and 4"),
        (-1, 0, "row offset of a part of a tile is -1"),
        (0, 9, "column offset of a part of a tile is 9"),
    ],
)
def test_offsets_of_a_part(row, col, text):
    p = Program()
    out, r, c = p.pointer("f32"), p.scalar("index"), p.scalar("index")
    whole = p.tile("f32", 8, 16)
    p.op("texpands", [(p.const("0.0", "f32"), "f32")], [whole])
    part = (p.name(), "!pto.tile_buf<vec, 4x8xf32>")
    p.emit(f"{part[0]} = pto.subview {whole[0]}[{r}, {c}] sizes [4, 8] : {whole[1]} -> {part[1]}")
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [part])
    p.store(whole, p.view(out, "f32", [8, 16]))
    y = np.full((8, 16), 7, np.float32)
    check(run(p, [y], row, col), f"the {text}", "texpands")
    assert (y == 7).all()
    assert run(p, [y], 4, 8) is None and y.sum() == y[4:, 8:].sum() == 32


def test_slot_of_a_tile():
    p = Program()
    out, s = p.pointer("f32"), p.scalar("index")
    m = p.name()
    p.emit(f"{m} = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 8x16xf32, count=3>")
    t = (p.name(), "!pto.tile_buf<vec, 8x16xf32>")
    p.emit(
        f"{t[0]} = pto.multi_tile_get {m}[{s}] : !pto.multi_tile_buf<vec, 8x16xf32, count=3> -> {t[1]}"
    )
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, p.view(out, "f32", [8, 16]))
    y = np.zeros((8, 16), np.float32)
    for slot in (-1, 3):
        check(
            run(p, [y], slot),
            f"the slot of a tile is {slot}, which must be between 0 and 2",
            "texpands",
        )
    assert not y.any() and run(p, [y], 2) is None and y.all()


def test_address_of_a_tile():
    p = Program()
    out, a = p.pointer("f32"), p.scalar("i64")
    t = (p.name(), "!pto.tile_buf<vec, 8x16xf32>")
    p.emit(f"{t[0]} = pto.alloc_tile addr = {a} : {t[1]}")
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    p.store(t, p.view(out, "f32", [8, 16]))
    y = np.zeros((8, 16), np.float32)
    last = 512 * 1024 - 512
    for address in (-64, last + 1):
        check(
            run(p, [y], address),
            f"the address of a tile is {address}, which must be between 0 and {last}",
            "texpands",
        )
    assert not y.any() and run(p, [y], last) is None and y.all()


@pytest.mark.parametrize("op", ["textract", "tinsert"])
@pytest.mark.parametrize(
    "row,col,text",
    [(5, 0, "row is 5, which must be between 0 and 4"), (-1, 0, "row is -1"), (0, 9, "col is 9")],
)
def test_windows_of_moves(op, row, col, text):
    p = Program()
    out, r, c = p.pointer("f32"), p.scalar("index"), p.scalar("index")
    large, small = p.tile("f32", 8, 16), p.tile("f32", 4, 8)
    p.op("texpands", [(p.const("2.0", "f32"), "f32")], [large])
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [small])
    src, dst = (large, small) if op == "textract" else (small, large)
    p.op(op, [src, (r, "index"), (c, "index")], [dst])
    p.store(dst, p.view(out, "f32", [4, 8] if op == "textract" else [8, 16]))
    y = np.zeros((4, 8) if op == "textract" else (8, 16), np.float32)
    check(run(p, [y], row, col), text, op)
    assert not y.any() and run(p, [y], 4, 8) is None
    assert y.sum() == 64 if op == "textract" else (y == 1).sum() == (y[4:, 8:] == 1).sum() == 32


@pytest.mark.parametrize("op", ["tgetval", "tsetval"])
def test_offset_of_an_element(op):
    p = Program()
    out, at = p.pointer("f32"), p.scalar("index")
    t = p.tile("f32", 8, 16)
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    if op == "tsetval":
        p.op("tsetval", [(at, "index"), (p.const("3.0", "f32"), "f32")], [t])
        p.store(t, p.view(out, "f32", [8, 16]))
    else:
        v = p.name()
        p.emit(f"{v} = pto.tgetval ins({t[0]}, {at} : {t[1]}, index) outs : f32")
        p.emit(f"pto.store_scalar {v}, {out}[{p.const(0)}] : !pto.ptr<f32>, f32")
    y = np.zeros((8, 16), np.float32)
    for offset in (-1, 128):
        check(run(p, [y], offset), f"the offset is {offset}, which must be between 0 and 127", op)
    assert not y.any() and run(p, [y], 127) is None and y.any()


def test_joined_columns():
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    a, b, d = p.tile("f32", 8, 16, 8, n), p.tile("f32", 8, 16), p.tile("f32", 8, 24)
    for tile in (a, b):
        p.op("texpands", [(p.const("1.0", "f32"), "f32")], [tile])
    p.op("tconcat", [a, b], [d])
    p.store(d, p.view(out, "f32", [8, 24]))
    y = np.zeros((8, 24), np.float32)
    check(
        run(p, [y], 9),
        "the number of joined columns is 25, which must be between 0 and 24",
        "tconcat",
    )
    assert not y.any() and run(p, [y], 8) is None and y.all()


def test_a_report_ends_the_other_members_of_a_cluster_too():
    """Without a cluster the report goes to stderr, and nothing is written."""
    p = Program()
    out, n = p.pointer("f32"), p.scalar("index")
    fill(p, out, n, 16)
    y = np.zeros((8, 16), np.float32)
    Code(p.text())("f", y, 9)
    assert not y.any()


def test_constants_are_errors_of_the_compiler():
    p = Program()
    out = p.pointer("f32")
    t = p.tile("f32", 8, 16)
    p.op("texpands", [(p.const("1.0", "f32"), "f32")], [t])
    v, at = p.name(), p.const(128)
    p.emit(f"{v} = pto.tgetval ins({t[0]}, {at} : {t[1]}, index) outs : f32")
    p.emit(f"pto.store_scalar {v}, {out}[{p.const(0)}] : !pto.ptr<f32>, f32")
    with pytest.raises(CompileError, match="offset.*128"):
        Code(p.text())
