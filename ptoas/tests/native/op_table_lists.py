"""The op table of test_matrix.py: merges of sorted lists, joins by counts, groups with a scale, single elements,
printing and order (pto-isa 6.10, 6.11, 6.13)."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
from elements import E1M2, E2M1, E8M0, HIF8
from matrix import COLS, DTYPES, FLOATS, FULL, LINE, ROWS, Operand, Row
from op_table_moves import EVERY, MEMORY, same

WORDS8 = ("i64", "ui64")


# ---- merges -------------------------------------------------------------------------------------
RECORD = 8  # bytes: a value, padding of f16, an index
BLOCK = 64  # columns of a run
RUNS = {
    "one": (1, BLOCK),
    "odd": (1, 3 * BLOCK),
    "aligned": (1, 8 * BLOCK),
    "tail": (1, 5 * BLOCK + 20),
    "empty": (1, 0),
}
LISTS = {
    "one": (4, 4, 4),
    "odd": (12, 36, 20),
    "aligned": (64, 64, 64),
    "tail": (28, 60, 52),
    "empty": (0, 28, 64),
}
NO_RECORDS = {"no_columns": (16, 0, 32), "no_inner": (16, 12, 0)}


def records(values: np.ndarray) -> np.ndarray:
    """A list as its records, and their keys."""
    width = RECORD // values.itemsize
    return values.reshape(-1, width), values.reshape(-1, width)[:, 0].astype(np.float64)


def sorted_runs_of(length):
    """Runs in falling order with many equal keys; each record has a number of its own."""

    def make(rng, case, shape):
        dtype = np.dtype(DTYPES[case.dtype])
        width = RECORD // dtype.itemsize
        count = shape[1] // width
        raw = np.zeros((count, RECORD), np.uint8)
        run = (length or shape[1]) // width
        keys = rng.integers(-9, 9, count).astype(dtype)
        for start in range(0, count, run):
            keys[start : start + run] = np.sort(keys[start : start + run])[::-1]
        raw[:, : dtype.itemsize] = keys[:, None].view(np.uint8)
        raw[:, 4:] = rng.permutation(1 << 12)[:count].astype(np.uint32)[:, None].view(np.uint8)
        return raw.reshape(-1).view(dtype)[None]

    return make


def merged(parts) -> np.ndarray:
    """Falling keys; of equal ones those of the earlier list, in their order."""
    rows, keys = zip(*map(records, parts))
    order = np.argsort(-np.concatenate(keys), kind="stable")
    return np.concatenate(rows)[order].reshape(1, -1)


def merged_runs(case, a, old):
    """Four runs become one, in each group of four."""
    whole = old.copy()
    found = [
        merged(np.array_split(group, range(BLOCK, group.shape[1], BLOCK), axis=1))
        for group in np.array_split(a, range(4 * BLOCK, a.shape[1], 4 * BLOCK), axis=1)
    ]
    found = np.concatenate(found, axis=1)[:, : whole.shape[1]]
    whole[:, : found.shape[1]] = found
    return whole


def merged_lists(exhausted):
    def expect(case, *arrays):
        *lists, old = arrays
        if exhausted and min(part.shape[1] for part in lists) == 0:
            return None
        whole, found = old.copy(), merged(lists)
        if exhausted:
            # The merge ends with the first list that has run out.
            ends = []
            for part in lists:
                last = records(part)[0][-1].tobytes()
                ends.append([row.tobytes() for row in records(found)[0]].index(last))
            found = found[:, : (min(ends) + 1) * RECORD // old.itemsize]
        found = found[:, : whole.shape[1]]
        whole[:, : found.shape[1]] = found
        return whole

    return expect


def emit_runs(p, case, ins, outs):
    p.op("tmrgsort", [*ins, (p.const(BLOCK, "i32"), "i32")], outs)


def emit_lists(exhausted, scratch, width):
    def emit(p, case, ins, outs):
        taken = p.const("dense<0>", "vector<4xi16>"), "vector<4xi16>"
        tmp = [p.tile(case.dtype, 1, width)] if scratch else []
        attrs = f"exhausted = {str(exhausted).lower()}" + ("" if scratch else ", no_tmp")
        p.op("tmrgsort", [*ins, *tmp], [*outs, taken], inside=attrs)

    return emit


def list_of(extent):
    return replace(LINE, vcol=extent, values=sorted_runs_of(0))


def kept_line(cols):
    return replace(LINE, cols=cols, vcol=cols, kept=True)


def lists_row(extents, exhausted, cols, scratch=True, label=""):
    name = "-".join(filter(None, (f"{len(extents)}-lists", "exhausted" * exhausted, label)))
    return Row(
        "tmrgsort", merged_lists(exhausted), [list_of(e) for e in extents], (kept_line(cols),),
        types="dst", emit=emit_lists(exhausted, scratch, cols), classes=LISTS, nothing=NO_RECORDS, label=name,
    )  # fmt: skip


RUN_LINE = replace(LINE, cols=8 * BLOCK, values=sorted_runs_of(BLOCK))
MERGES = [
    Row(
        "tmrgsort", merged_runs, (RUN_LINE,), (kept_line(8 * BLOCK),), types="dst", emit=emit_runs,
        classes=RUNS, label="runs",
    ),
    Row(
        "tmrgsort", merged_runs, (RUN_LINE,), (kept_line(2 * BLOCK),), types="dst", emit=emit_runs,
        classes=RUNS, label="runs-short",
    ),
    lists_row("ck", False, 128),
    lists_row("ckr", False, 256),
    lists_row("ckrc", False, 256),
    lists_row("ckrc", False, 256, scratch=False, label="no-tmp"),
    lists_row("ck", True, 128),
    lists_row("ckrk", True, 256),
    lists_row("ck", False, 64, label="short"),
]  # fmt: skip


# ---- joins by counts ----------------------------------------------------------------------------
JOINED = 96


def joined(case, a, b, first, second, old):
    whole = old.copy()
    written = np.zeros((case.r, 1), first.dtype)
    unit = first.itemsize
    for i in range(case.r):
        line = [*a[i, : first[i, 0] // unit], *b[i, : second[i, 0] // unit]][:JOINED]
        whole[i, : len(line)] = line
        written[i] = len(line) * unit
    return whole, written


def concat_rows(index):
    data = replace(FULL, vcol=COLS)
    unit = np.dtype(DTYPES[index]).itemsize
    count = Operand(
        index, cols=32, vcol=1, values=lambda rng, case, shape: rng.integers(0, case.c + 1, shape) * unit
    )  # fmt: skip
    wide = replace(FULL, cols=JOINED, vcol=JOINED, kept=True)
    written = Operand(index, cols=32, vcol=1)
    return [
        Row(
            "tconcatidx", joined, (data, data, count, count), (wide, written), types="src0",
            label=f"{index}-counted",
        ),
        Row(
            "tconcatidx", lambda *a: joined(*a)[0], (data, data, count, count), (wide,), types="src0",
            label=index,
        ),
    ]  # fmt: skip


# ---- groups with a scale ------------------------------------------------------------------------
GROUP = 32
QUANT = {"MXFP8": ("f8E4M3FN", 8, 448), "MXFP4_E2M1": (E2M1, 2, 6)}
SQUARE = {"one": (1, 1), "odd": (7, 33), "aligned": (64, 64), "tail": (61, 45), "empty": (0, 29)}


def spread(rng, case, shape):
    """Many magnitudes; some groups are all zero."""
    x = rng.uniform(-2, 2, shape) * np.exp2(rng.integers(-12, 9, shape))
    return np.where(rng.random((shape[0], 1)) < 0.1, 0, x)


def in_groups(kind, along_rows):
    """E = exponent(max |x|) - headroom with bias 127, not below 0; x / 2^E to the nearest, saturated."""
    _, headroom, limit = QUANT[kind]

    def expect(case, a):
        x = (a.T if along_rows else a).astype(np.float64)
        lines, length = x.shape
        groups = (length + GROUP - 1) // GROUP
        whole = np.zeros((lines, groups * GROUP))
        whole[:, :length] = np.abs(x)
        largest = whole.reshape(lines, groups, GROUP).max(axis=2, initial=0)
        exponents = np.where(
            largest > 0, np.floor(np.log2(np.where(largest > 0, largest, 1))), -127
        )
        stored = np.maximum(exponents + 127 - headroom, 0)
        factors = np.exp2(127 - stored)
        scaled = x * np.repeat(factors, GROUP, axis=1)[:, :length]
        data = np.clip(scaled, -limit, limit)
        if kind == "MXFP8":
            data = data.astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
        else:
            data = data.astype(np.float32).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
        found = data, stored.astype(np.uint8), largest, factors
        found = tuple(f.T if along_rows else f for f in found)
        of = DTYPES[case.dtype]
        return (*found[:2], found[2].astype(of), found[3].astype(of))

    return expect


def quant_mx(kind, along_rows, exponents):
    rows, cols = (64, 64)
    small = {"rows": rows, "cols": cols} | ({"vrow": "rg"} if along_rows else {"vcol": "cg"})
    axis = 0 if along_rows else 1
    full = replace(FULL, rows=rows, cols=cols)
    return Row(
        "tquant.mx", in_groups(kind, along_rows), (replace(full, values=spread),),
        (replace(full, dtype=QUANT[kind][0]), Operand(exponents, **small), *(Operand(**small),) * 2),
        types=("f32", "bf16", "f16") if kind == "MXFP8" else ("bf16", "f16"), archs=("a5",),
        classes=SQUARE, label=f"{kind}-axis{axis}",
        emit=lambda p, case, ins, outs: p.op(
            "tquant.mx", ins, outs,
            f"quant_type = #pto<quant_type {kind}>, grpAxis = #pto<mx_group_axis axis{axis}>"),
    )  # fmt: skip


# ---- single elements ----------------------------------------------------------------------------
def emit_elements(p, case, ins, outs):
    """Element 5 i + 7 of the tile becomes the i-th of a line, one by one."""
    (name, type_), (line, line_type) = ins[0], outs[0]
    i, at, value = p.name(), p.name(), p.name()
    scaled = p.name()
    p.emit(
        f"scf.for {i} = {p.const(0)} to {p.index(p.extents['c'])} step {p.const(1)} {{\n"
        f"      {scaled} = arith.muli {i}, {p.const(5)} : index\n"
        f"      {at} = arith.addi {scaled}, {p.const(7)} : index\n"
        f"      {value} = pto.tgetval ins({name}, {at} : {type_}, index) outs : {case.dtype}\n"
        f"      pto.tsetval ins({i}, {value} : index, {case.dtype}) outs({line} : {line_type})\n"
        "    }"
    )


WHOLE = replace(FULL, vrow=ROWS, vcol=COLS)


# ---- printing, order, hints ---------------------------------------------------------------------
FORMATS = {"": (8, 4), "width8_precision4": (8, 4), "width8_precision2": (8, 2),
           "width10_precision6": (10, 6)}  # fmt: skip


def printed(form):
    width, precision = FORMATS[form]

    def expect(case, text, a):
        """A line with the extents, then the rows; numbers as wide as the format says."""
        head, *lines = text.splitlines()
        assert f"{case.r}x{case.c}" in head, head
        assert len(lines) == case.r, text
        for line, values in zip(lines, a):
            words = line.split()
            assert len(words) == case.c, line
            for word, value in zip(words, values):
                wanted = (
                    f"{float(value):.{precision}f}" if case.dtype in FLOATS else str(int(value))
                )
                assert word == wanted
            if case.c:
                assert len(line) >= case.c * (width + 1) - 1

    return expect


def emit_print(form):
    attr = f"printFormat = #pto<print_format {form}>" if form else ""

    def emit(p, case, ins, outs):
        p.emit(f"pto.tprint ins({ins[0][0]} : {ins[0][1]})" + (f" {{{attr}}}" if attr else ""))

    return emit


def emit_sync(p, case, ins, outs):
    """Loaded, moved and stored through the same tiles, each behind a wait for the one before."""
    view, out = ins[0], outs[0]
    extents = p.extents["r"], p.extents["c"]
    a, b = (p.tile(case.dtype, ROWS, COLS, *extents) for _ in range(2))
    names = lambda *xs: ", ".join(x[0] for x in xs) + " : " + ", ".join(x[1] for x in xs)  # noqa: E731
    p.load(view, a)
    p.emit(f"pto.tsync ins({names(view, a)})")
    p.op("tmov", [a], [b])
    p.emit(f"pto.tsync ins({names(a, b)})")
    p.op("tmov", [b], [out])
    p.emit(f"pto.tsync ins({names(out)})")


def emit_prefetch(p, case, ins, outs):
    """A hint changes nothing of the tile's load behind it, nor of another tile."""
    extents = p.extents["r"], p.extents["c"]
    near = p.tile(case.dtype, ROWS, COLS, *extents)
    p.op("tprefetch", [ins[0]], [near])
    p.load(ins[0], outs[0])
    p.op("tprefetch", [ins[0]], [near])


EIGHT_BITS = ("f8E4M3FN", "f8E5M2", HIF8)
ROWS_OF_LISTS = [
    *MERGES,
    *concat_rows("i16"),
    *concat_rows("i32"),
    *concat_rows("ui32"),
    *(
        quant_mx(kind, along_rows, exponents)
        for along_rows, exponents in ((False, "ui8"), (True, E8M0))
        for kind in QUANT
    ),
    Row(
        "tgetval", lambda case, a: a.ravel()[7 : 7 + 5 * case.c : 5], (WHOLE,), (LINE,),
        types=(*EVERY, *WORDS8), emit=emit_elements,
    ),
    *(
        Row(
            "tprint", printed(form), (FULL,), (), types="src" if not form else ("f32", "f16", "i16"),
            emit=emit_print(form), printed=True, label=form,
        )
        for form in FORMATS
    ),
    Row("tsync", same, (MEMORY,), types=(*EVERY, *WORDS8), emit=emit_sync),
    Row(
        "tprefetch", same, (MEMORY,), emit=emit_prefetch,
        types={"a2a3": (*EVERY, *WORDS8), "a5": (*EVERY, *WORDS8, *EIGHT_BITS, E2M1, E1M2)},
    ),
]  # fmt: skip
