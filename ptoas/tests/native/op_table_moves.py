"""The op table of test_matrix.py: moves, conversions, gathers, sorts, quantisation (pto-isa 6.5, 6.8, 6.10 to 6.13)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matrix import COLS, COLUMN, DTYPES, FLOATS, FULL, LINE, ROWS, Operand, Row
from op_table import constant, scalar_of

BYTES1 = ("i8", "ui8")
BYTES2 = ("i16", "ui16", "f16", "bf16")
BYTES4 = ("i32", "ui32", "f32")
EVERY = (*BYTES1, *BYTES2, *BYTES4)


def same(case, a):
    return a


# ---- copies -------------------------------------------------------------------------------------
MEMORY = replace(FULL, space="gm")
WIDE = replace(FULL, rows=32, cols=128, vrow=32, vcol=128)
AT = (3, 9)  # where windows start


def windowed(op):
    def emit(p, case, ins, outs):
        at = [(p.const(i), "index") for i in AT]
        p.op(op, [ins[0], *at], outs)

    return emit


def inserted(case, a, old):
    whole = old.copy()
    whole[AT[0] : AT[0] + case.r, AT[1] : AT[1] + case.c] = a
    return whole


def padded(value):
    def expect(case, a):
        if case.dtype in FLOATS:
            pad = {1: 0, 2: np.inf, 3: -np.inf}[value]
        else:
            info = np.iinfo(DTYPES[case.dtype])
            pad = {1: 0, 2: info.max, 3: info.min}[value]
        whole = np.full((ROWS, COLS), pad, DTYPES[case.dtype])
        whole[: case.r, : case.c] = a
        return whole

    return expect


def emit_in_place(p, case, ins, outs):
    """The tile under two names: the valid part, and all of it."""
    part = p.tile(case.dtype, ROWS, COLS, case.r, case.c, extra=", pad=1", addr=0)
    whole = p.tile(case.dtype, ROWS, COLS, addr=0)
    p.op("tmov", ins, [part])
    p.op("tfillpad_inplace", [part], [part])
    p.op("tmov", [whole], outs)


def emit_atomic(p, case, ins, outs):
    p.op("tstore", ins, outs, "atomicType = #pto<atomic_type atomic_add>")


def grown(case, a):
    whole = np.full((32, 128), -np.inf if case.dtype in FLOATS else 0, DTYPES[case.dtype])
    if case.dtype not in FLOATS:
        whole[:] = np.iinfo(DTYPES[case.dtype]).min
    whole[: case.r, : case.c] = a
    return whole


CAPACITY = replace(FULL, vrow=ROWS, vcol=COLS)
MOVES = [
    Row(
        "tmov", same, (FULL,),
        types={"a2a3": (*EVERY, "i64", "ui64"), "a5": (*EVERY, "i64", "ui64", "f8E4M3FN", "f8E5M2")},
    ),
    Row(
        "tload", same, (MEMORY,), types=EVERY,
        emit=lambda p, case, ins, outs: p.load(ins[0], outs[0]),
    ),
    Row(
        "tstore", same, (FULL,), (MEMORY,), types=EVERY,
        emit=lambda p, case, ins, outs: p.store(ins[0], outs[0]),
    ),
    Row(
        "tstore", lambda case, a, old: (a.astype(np.float32) + old.astype(np.float32)).astype(a.dtype)
        if case.dtype in FLOATS else a + old,
        (FULL,), (replace(MEMORY, kept=True),), types=(*BYTES1[:1], "i16", "i32", "f16", "bf16", "f32"),
        emit=emit_atomic, label="atomic",
    ),
    Row(
        "textract", lambda case, a: a[AT[0] : AT[0] + case.r, AT[1] : AT[1] + case.c], (WIDE,),
        types=EVERY, emit=windowed("textract"), label="vec",
    ),
    Row(
        "tinsert", inserted, (FULL,), (replace(WIDE, kept=True),), types=EVERY,
        emit=windowed("tinsert"), label="vec",
    ),
    Row(
        "tconcat", lambda case, a, b: np.hstack([a, b]), (FULL, replace(FULL, vcol=17)),
        (replace(FULL, cols=128, vcol="c17"),),
    ),
    Row(
        "ttrans", lambda case, a: a.T, (replace(FULL, rows=32),),
        (replace(FULL, rows=64, cols=32, vrow="c", vcol="r"),), types="src",
    ),
    Row(
        "ttrans", lambda case, a, old: over(old, a.T), (replace(FULL, rows=32),),
        (replace(FULL, rows=64, cols=32, vrow=64, vcol=32, kept=True),), types="src", label="part",
    ),
    *(
        Row(
            "tpack", lambda case, a, d=dtype: a.astype(np.uint32).astype(DTYPES[d]), (FULL,),
            (replace(FULL, dtype=dtype),), types=sources, label=f"to-{dtype}", archs=("a5",),
        )
        for dtype, sources in {"i16": ("i32", "ui32"), "ui8": ("i32", "ui32", "i16", "ui16")}.items()
    ),
    *(
        Row(
            "tfillpad", padded(value), (FULL,), (replace(CAPACITY, extra=f", pad={value}"),), types=EVERY,
            label=f"pad{value}",
        )
        for value in (1, 2, 3)
    ),
    Row(
        "tfillpad_inplace", padded(1), (FULL,), (CAPACITY,), types=EVERY, emit=emit_in_place,
        dynamic=False,
    ),
    Row("tfillpad_expand", grown, (FULL,), (replace(WIDE, extra=", pad=3"),), types=EVERY),
]  # fmt: skip


# ---- conversions --------------------------------------------------------------------------------
# Sources of each target (pto-isa 6.5).
PAIRS = {
    "f32": {"a2a3": "f32 f16 bf16 i16 i32", "a5": "f32 f16 bf16 i16 i32 i64"},
    "f16": {"a2a3": "f32 i16 ui8 i8", "a5": "f32 bf16 i16 ui8 i8"},
    "bf16": {"a2a3": "f32", "a5": "f32"},
    "i64": {"a2a3": "f32 i32", "a5": "f32 i32"},
    "i32": {"a2a3": "f32 f16 bf16 i64", "a5": "f32 f16 bf16 i64 i16 i8"},
    "i16": {"a2a3": "f32 f16 i32", "a5": "f32 f16 i32 i8 ui32"},
    "i8": {"a2a3": "f16", "a5": "f16"},
    "ui8": {"a2a3": "f16", "a5": "f16 i16 i32 ui32"},
    "ui16": {"a2a3": "", "a5": "i32 ui8 ui32"},
    "ui32": {"a2a3": "", "a5": "i16"},
}
WRAPS = {
    ("f16", "ui8"),
    ("f16", "i8"),
    ("f32", "i16"),
    ("f16", "i16"),
    ("i64", "i32"),
    ("i32", "i16"),
}


def clipped(x, dtype):
    """Integers (Python's own, so that none is cut) to the limits of a type."""
    info = np.iinfo(DTYPES[dtype])
    limits = (min(max(v, info.min), info.max) for v in x.ravel())
    return np.array([int(v) for v in limits], object).reshape(x.shape)


def low_bits(x, dtype):
    width = np.iinfo(DTYPES[dtype]).bits
    low = np.array([int(v) % 2**width for v in x.ravel()], np.uint64).reshape(x.shape)
    return low.astype(DTYPES[dtype])


def converted(to):
    """Nearest even, saturation as it is without the attribute."""

    def expect(case, a):
        if to in FLOATS:
            wide = a.astype(np.float32)
            return np.rint(wide) if case.dtype == to == "f32" else wide.astype(DTYPES[to])
        whole = (
            np.rint(a.astype(np.float64)).astype(object)
            if case.dtype in FLOATS
            else a.astype(object)
        )
        if (case.dtype, to) not in WRAPS:
            return low_bits(clipped(whole, to), to)
        # Through a saturating conversion to 32 bits.
        return low_bits(clipped(whole, "i32") if case.dtype in FLOATS else whole, to)

    return expect


CONVERSIONS = [
    Row(
        "tcvt", converted(to), (replace(FULL, low=-70000 if to != "f16" else -300, high=300),),
        (replace(FULL, dtype=to),), types={a: t.split() for a, t in sources.items()}, label=f"to-{to}",
    )
    for to, sources in PAIRS.items()
]  # fmt: skip


# ---- gather, scatter, sort ----------------------------------------------------------------------
def anywhere(rng, case, shape):
    return rng.integers(0, ROWS * COLS, shape)


def everywhere(rng, case, shape):
    return rng.permutation(ROWS * COLS).reshape(shape)


def emit_gather(p, case, ins, outs):
    index = "i16" if "i16" in ins[1][1] else "i32"
    extents = p.extents
    p.op("tgather", [*ins, p.tile(index, ROWS, COLS, extents["r"], extents["c"])], outs)


PATTERNS = {"P0101": [0, 2], "P1010": [1, 3], "P0001": [0], "P0010": [1], "P0100": [2], "P1000": [3],
            "P1111": [0, 1, 2, 3]}  # fmt: skip


def marked(pattern, extent):
    return np.isin(np.arange(extent) % 4, PATTERNS[pattern])


def with_pattern(op, pattern, axis):
    def emit(p, case, ins, outs):
        (name, type_), out = ins[0], outs[0]
        p.emit(
            f"pto.{op} ins({name}, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {type_}, "
            f'"{axis}") outs({out[0]} : {out[1]})'
        )

    return emit


def over(old, found):
    """A result that leaves the rest of what was there."""
    whole = old.copy()
    whole[: found.shape[0], : found.shape[1]] = found
    return whole


def gathered(pattern, axis):
    def expect(case, a, old):
        return over(
            old, a[:, marked(pattern, case.c)] if axis == "row" else a[marked(pattern, case.r)]
        )

    return expect


def scattered(pattern):
    def expect(case, a):
        """The marked places take the elements in turn while there are any, all others are zero."""
        whole = np.zeros((ROWS, COLS), a.dtype)
        places = np.flatnonzero(marked(pattern, COLS))[: case.c]
        whole[: case.r, places] = a[:, : len(places)]
        return whole

    return expect


def emit_compare(p, case, ins, outs):
    key = constant(p, case, scalar_of(case, 2))
    extents = p.extents
    tmp = p.tile("ui8", ROWS, COLS, extents["r"], extents["c"])
    p.op("tgather", [ins[0], key, tmp], outs, "cmpMode = #pto<cmp eq>, offset = 5 : i32")


def positions(case, a, old):
    places = old.copy()
    counts = np.zeros(case.r, np.int32)
    for i, line in enumerate(a):
        hits = np.flatnonzero(line == scalar_of(case, 2))
        places[i, : len(hits)] = hits + 5
        counts[i] = len(hits)
    return places, counts


def blocks(rng, case, shape):
    return rng.integers(0, 32, shape) * 32


def blockwise(case, a, offsets):
    width = 32 // a.dtype.itemsize
    flat = a.reshape(-1)
    found = np.zeros((ROWS, COLS), a.dtype)
    for i in range(ROWS):
        for j in range(COLS):
            found[i, j] = flat[offsets[i, j // width] // a.dtype.itemsize + j % width]
    return found[: case.r, : case.c]


def scatter_all(case, a, index, old):
    whole = np.zeros(ROWS * COLS, a.dtype)
    whole[index.ravel()] = a.ravel()
    return whole.reshape(ROWS, COLS)


def memory_rows(op, attributes):
    def emit(p, case, ins, outs):
        p.op(op, ins, outs, attributes)

    return emit


def line_numbers(rng, case, shape):
    return rng.permutation(ROWS)[None]


def table_places(rng, case, shape):
    return rng.permutation(ROWS * COLS).reshape(shape)


def put(combine):
    def expect(case, a, index, old):
        whole = old.copy().ravel()
        with np.errstate(all="ignore"):
            at = index.ravel()
            whole[at] = combine(whole[at].reshape(a.shape), a).ravel()
        return whole.reshape(ROWS, COLS)

    return expect


def put_rows(case, a, index, old):
    whole = old.copy()
    whole[index[0, : case.r], : case.c] = a
    return whole


ROW_INDEX = Operand("i32", rows=1, cols=ROWS, vrow=1, vcol=ROWS, values=line_numbers)
ELEMENT_INDEX = Operand("i32", values=table_places)
TABLE_OF = replace(CAPACITY, space="gm")
KEPT = replace(CAPACITY, kept=True)
EXECUTED = {"f32": 2, "f16": 4}  # elements of a record


def sorted_runs(case, a, index, old):
    step = EXECUTED[case.dtype]
    whole = np.zeros((case.r, case.c * step), a.dtype)
    for i in range(case.r):
        for start in range(0, case.c, 32):
            part = slice(start, min(start + 32, case.c))
            order = np.argsort(-a[i, part].astype(np.float64), kind="stable") + start
            for at, source in enumerate(order, start):
                record = np.zeros(8, np.uint8)
                record[: a.dtype.itemsize] = a[i, source : source + 1].view(np.uint8)
                record[4:] = index[i, source : source + 1].view(np.uint8)
                whole[i, at * step : (at + 1) * step] = record.view(a.dtype)
    return over(old, whole)


def counting(rng, case, shape):
    return np.arange(shape[0] * shape[1]).reshape(shape)


GATHERS = [
    *(
        Row(
            "tgather", lambda case, a, i: a.ravel()[i], (CAPACITY, Operand(index, values=anywhere)),
            types=types, emit=emit_gather, label=f"index-{index}",
        )
        for index, types in {
            "i32": {"a2a3": "i16 ui16 i32 ui32 f16 f32".split(),
                    "a5": "i8 ui8 i16 ui16 i32 ui32 f16 f32".split()},
            "i16": {"a5": "i8 ui8 i16 ui16 i32 ui32 f16 f32".split()},
        }.items()
    ),
    *(
        Row(
            "tgather", gathered(pattern, axis), (FULL,), (KEPT,),
            types={"a2a3": (*BYTES2, *BYTES4), "a5": EVERY},
            emit=with_pattern("tgather", pattern, axis), label=f"{pattern}-{axis}",
        )
        for pattern, axis in (("P0101", "row"), ("P1000", "row"), ("P0010", "col"), ("P1111", "row"))
    ),
    Row(
        "tgather", positions, (replace(FULL, values=lambda rng, case, shape: rng.integers(1, 4, shape)),),
        (replace(KEPT, dtype="i32"), replace(COLUMN, dtype="i32")),
        types={"a2a3": ("i32", "ui32", "f16", "f32"), "a5": "i16 ui16 i32 ui32 f16 f32".split()},
        emit=emit_compare, label="equal",
    ),
    Row("tgatherb", blockwise, (CAPACITY, Operand("ui32", vrow=ROWS, vcol=COLS, values=blocks)),
        (replace(FULL, in_blocks=True),), types="src"),
    *(
        Row(
            "tscatter", scatter_all, (FULL, Operand(index, values=everywhere)), (KEPT,), types=types,
            label=f"index-{index}",
        )
        for index, types in {"i16": (*BYTES1, *BYTES2), "i32": BYTES4}.items()
    ),
    *(
        Row(
            "tscatter", scattered(pattern), (FULL,), (CAPACITY,),
            types={"a2a3": (*BYTES2, *BYTES4), "a5": EVERY},
            emit=with_pattern("tscatter", pattern, "row"), label=pattern,
        )
        for pattern in ("P0101", "P1000", "P1111")
    ),
    Row(
        "mgather", lambda case, t, i: t[i[0, : case.r], : case.c], (TABLE_OF, ROW_INDEX), types=EVERY,
        emit=memory_rows("mgather", "coalesce = #pto<coalesce row>"), label="row",
    ),
    Row(
        "mgather", lambda case, t, i: t.ravel()[i], (TABLE_OF, ELEMENT_INDEX), types=EVERY,
        emit=memory_rows("mgather", "coalesce = #pto<coalesce elem>"), label="elem",
    ),
    Row(
        "mscatter", put_rows, (FULL, ROW_INDEX), (replace(TABLE_OF, kept=True),), types=EVERY,
        emit=memory_rows("mscatter", "coalesce = #pto<coalesce row>"), label="row",
    ),
    *(
        Row(
            "mscatter", put(combine), (FULL, ELEMENT_INDEX), (replace(TABLE_OF, kept=True),), types=types,
            emit=memory_rows(
                "mscatter",
                f"coalesce = #pto<coalesce elem>, scatterAtomicOp = #pto<scatter_atomic_op {how}>"),
            label=f"elem-{how}",
        )
        for how, (combine, types) in {
            "none": (lambda old, new: new, EVERY), "add": (np.add, ("i32", "ui32", "f16", "f32")),
            "max": (np.maximum, BYTES4), "min": (np.minimum, BYTES4),
        }.items()
    ),
    *(
        Row(
            "tsort32", sorted_runs,
            (replace(FULL, values=lambda rng, case, shape: rng.integers(0, 9, shape)),
             Operand("ui32", values=counting)),
            (replace(FULL, cols=COLS * step, vcol=COLS * step, kept=True),), types=(dtype,), label=dtype,
        )
        for dtype, step in EXECUTED.items()
    ),
]  # fmt: skip


# ---- quantise, single elements, random bits -----------------------------------------------------
SCALES = replace(COLUMN, dtype="f32", low=10, high=30)
OFFSETS = replace(COLUMN, dtype="f32", values=lambda rng, case, shape: rng.integers(90, 120, shape))


def quantised(case, a, scale, offset=None):
    q = np.rint(a * scale) + (0 if offset is None else offset)
    return np.clip(q, *((-128, 127) if offset is None else (0, 255)))


def philox(case, dst=None):
    """Four words for each counter, 64 elements apart; rounds and constants of Philox 4x32."""
    key, counter = [1, 2], [3, 0, 5, 6]
    total = case.r * case.c
    out = np.zeros(max(total, 1) + 256, np.uint64)
    for base in range(0, total, 256):
        for lane in range(64):
            number = sum(w << 32 * i for i, w in enumerate(counter)) + base // 4 + lane
            x = [number >> 32 * i & 0xFFFFFFFF for i in range(4)]
            k = list(key)
            for _ in range(10):
                high, low = divmod(0xD2511F53 * x[0], 2**32)
                high2, low2 = divmod(0xCD9E8D57 * x[2], 2**32)
                x = [high2 ^ x[1] ^ k[0], low2, high ^ x[3] ^ k[1], low]
                k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
            for word in range(4):
                out[base + 64 * word + lane] = x[word]
    return out[:total].astype(np.uint32).astype(DTYPES[case.dtype]).reshape(case.r, case.c)


def emit_random(p, case, ins, outs):
    words = [(p.const(n, "i32"), "i32") for n in (1, 2, 3, 0, 5, 6)]
    p.op("trandom", words, outs, inside="rounds = 10 : i32")


def histogram(byte):
    def expect(case, a, index):
        """Running counts of one byte of the elements whose byte above is the index."""
        found = np.zeros((case.r, 256), np.int64)
        for i in range(case.r):
            above = (a[i] >> (8 * byte + 8)) & 255
            chosen = a[i] if byte == a.dtype.itemsize - 1 else a[i][above == index[i, 0]]
            values = (chosen >> (8 * byte)) & 255
            found[i] = np.cumsum(np.bincount(values.astype(int), minlength=256))
        return found

    return Row(
        "thistogram", expect,
        (replace(FULL, values=lambda rng, case, shape: rng.integers(0, 1024, shape)),
         replace(COLUMN, dtype="ui8", rows=32, values=lambda rng, case, shape: rng.integers(0, 4, shape))),
        (replace(FULL, dtype="ui32", cols=256, vcol=256),), types=("ui16",), archs=("a5",),
        emit=lambda p, case, ins, outs: p.op("thistogram", ins, outs, f"byte = {byte} : i32"),
        label=f"byte{byte}",
    )  # fmt: skip


def emit_elements(p, case, ins, outs):
    """Element 70 of the source goes to place 130 of a copy."""
    p.op("tmov", ins, outs)
    name = p.name()
    p.emit(
        f"{name} = pto.tgetval ins({ins[0][0]}, {p.const(70)} : {ins[0][1]}, index) outs : {case.dtype}"
    )
    p.op("tsetval", [(p.const(130), "index"), (name, case.dtype)], outs)


def element_moved(case, a):
    whole = a.copy()
    whole[2, 2] = a[1, 6]
    return whole


OTHERS = [
    Row(
        "tquant", quantised, (replace(FULL, dtype="f32"), SCALES), types=("i8",), label="symmetric",
        emit=lambda p, case, ins, outs: p.op("tquant", ins, outs, "quant_type = #pto<quant_type INT8_SYM>"),
    ),
    Row(
        "tquant", quantised, (replace(FULL, dtype="f32"), SCALES, OFFSETS), types=("ui8",),
        label="asymmetric",
        emit=lambda p, case, ins, outs: p.op("tquant", ins, outs, "quant_type = #pto<quant_type INT8_ASYM>"),
    ),
    Row(
        "tdequant", lambda case, a, s, o: (a.astype(np.float32) - o) * s, (FULL, SCALES, OFFSETS),
        (replace(FULL, dtype="f32"),), types=("i8", "ui8", "i16", "ui16"),
    ),
    Row("trandom", philox, (), types="dst", emit=emit_random, archs=("a5",)),
    histogram(0), histogram(1),
    Row("tsetval", element_moved, (CAPACITY,), (CAPACITY,), types=EVERY, emit=emit_elements, dynamic=False,
        classes={"aligned": (ROWS, COLS)}),
]  # fmt: skip

ROWS_OF_MOVES = [*MOVES, *CONVERSIONS, *GATHERS, *OTHERS]
assert LINE
