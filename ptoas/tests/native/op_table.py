"""The op table of test_matrix.py: what vector instructions compute, in NumPy (pto-isa 6.1 to 6.7)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matrix import CLASSES, COLS, COLUMN, DTYPES, FLOATS, FULL, LINE, ROWS, Operand, Row

EPSILON = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}


def ulps(count):
    return {dtype: count * epsilon for dtype, epsilon in EPSILON.items()}


def single(a):
    """Narrow floats as the unit computes with them."""
    return a.astype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind in "fV" else a


def once(function):
    """One operation, rounded once to the element type."""
    return lambda case, *arrays: function(*map(single, arrays)).astype(DTYPES[case.dtype])


def steps(first, second):
    """Two instructions: both round."""
    one, two = once(first), once(second)
    return lambda case, a, b, c: two(case, one(case, a, b), c)


def exactly(function):
    return lambda case, *arrays: function(*(a.astype(np.float64) for a in arrays))


def scalar_of(case, number=2.5):
    """The value of a scalar operand and its type as text."""
    if case.dtype in FLOATS:
        return np.asarray(number, DTYPES[case.dtype])
    return np.asarray(int(number) + 1, DTYPES[case.dtype])


def constant(p, case, value, type_=None):
    """An operand (name, type); unsigned elements take signless scalars."""
    type_ = type_ or case.dtype.removeprefix("u")
    text = f"{float(value):.1f}" if type_ in FLOATS else str(int(value))
    return p.const(text, type_), type_


def with_scalar(op, number=2.5, type_=None, order=("tile", "scalar")):
    def emit(p, case, ins, outs):
        value = number if type_ else scalar_of(case, number)
        rest = iter(ins)
        operands = [constant(p, case, value, type_) if o == "scalar" else next(rest) for o in order]
        p.op(op, operands, outs)

    return emit


def divide(a, b):
    """Integers truncate; division by zero gives zero. Floats as IEEE 754 has them."""
    if a.dtype.kind not in "iu":
        return a / b
    x, y = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(x) // np.abs(safe) * np.where((x < 0) != (safe < 0), -1, 1)
    return np.where(y == 0, 0, quotient)


def remainder(a, b):
    """The sign of the divisor."""
    if a.dtype.kind not in "iu":
        return a - np.floor(a / b) * b
    x, y = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, x - x // safe * safe)


def modulo(a, b):
    """The sign of the dividend."""
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    return np.where(b == 0, 0, a.astype(np.int64) - divide(a, b) * b.astype(np.int64))


def shift(left):
    def compute(case, a, s):
        bits = a.dtype.itemsize * 8
        # An amount of the width or more, or a negative one, leaves no bit (or the sign).
        amounts = np.where((s.astype(np.int64) < 0) | (s.astype(np.int64) >= bits), bits, s)
        wide = a.astype(object)
        moved = [
            x * 2 ** int(n) if left else x // 2 ** int(n)
            for x, n in zip(wide.ravel(), amounts.ravel())
        ]
        low = np.array([int(x) % 2**bits for x in moved], np.uint64).reshape(a.shape)
        return low.astype(a.dtype)

    return compute


def amounts(rng, case, shape):
    return rng.integers(0, np.iinfo(DTYPES[case.dtype]).bits + 3, shape)


def relu(x):
    return np.maximum(x, 0)


def leaky(a, b):
    return np.where(a > 0, a, a * b)


POSITIVE = replace(FULL, low=0.25, high=4)
AWAY = replace(FULL, low=0.5, high=9)  # divisors

BINARY = {
    "tadd": np.add, "tsub": np.subtract, "tmul": np.multiply, "tmax": np.maximum, "tmin": np.minimum,
    "tand": np.bitwise_and, "tor": np.bitwise_or, "txor": np.bitwise_xor,
    "tdiv": divide, "tfmod": modulo, "trem": remainder, "tprelu": leaky,
    "taddrelu": lambda a, b: relu(a + b),
}  # fmt: skip
TILE_SCALAR = {
    "tadds": np.add, "tsubs": np.subtract, "tmuls": np.multiply, "tmaxs": np.maximum,
    "tmins": np.minimum, "tdivs": divide, "tfmods": modulo, "trems": remainder,
    "tands": np.bitwise_and, "tors": np.bitwise_or, "txors": np.bitwise_xor,
}  # fmt: skip
UNARY = {
    "tabs": np.abs, "tneg": np.negative, "trelu": relu, "tnot": np.invert, "tsqrt": np.sqrt,
    "trecip": lambda x: 1 / x,
}  # fmt: skip
DIVIDES = ("tdiv", "tfmod", "trem")


def scalar_row(op, function):
    return Row(
        op,
        lambda case, a: once(function)(case, a, np.full_like(a, scalar_of(case))),
        (FULL,),
        types="src",
        emit=with_scalar(op),
    )


ELEMENTWISE = [
    *(
        Row(op, once(function), (FULL, AWAY if op in DIVIDES else FULL))
        for op, function in BINARY.items()
    ),
    *(scalar_row(op, function) for op, function in TILE_SCALAR.items()),
    *(
        Row(op, once(function), (POSITIVE if op in ("tsqrt", "trecip") else FULL,), types="src")
        for op, function in UNARY.items()
    ),
    Row("texp", exactly(np.exp), (FULL,), types="src", tolerance=ulps(1.5)),
    Row("tlog", exactly(np.log), (POSITIVE,), types="src", tolerance=ulps(2)),
    Row(
        "trsqrt",
        exactly(lambda x: 1 / np.sqrt(x)),
        (POSITIVE,),
        types="src",
        tolerance=ulps(1.5),
    ),
    Row("tshl", shift(True), (FULL, replace(FULL, values=amounts))),
    Row("tshr", shift(False), (FULL, replace(FULL, values=amounts))),
    Row(
        "tshls", lambda case, a: shift(True)(case, a, np.full_like(a, 3)), (FULL,), types="src",
        emit=with_scalar("tshls", 3, "i32"),
    ),
    Row(
        "tshrs", lambda case, a: shift(False)(case, a, np.full_like(a, 3)), (FULL,), types="src",
        emit=with_scalar("tshrs", 3, "i32"),
    ),
    Row(
        "tlrelu", lambda case, a: once(leaky)(case, a, np.full_like(a, 0.5)), (FULL,), types="src",
        emit=with_scalar("tlrelu", 0.5, "f32"),
    ),
    Row(
        "tdivs", lambda case, a: once(divide)(case, np.full_like(a, scalar_of(case)), a), (AWAY,),
        types="src", emit=with_scalar("tdivs", order=("scalar", "tile")), label="scalar-first",
    ),
    Row("taddc", steps(np.add, np.add), (FULL, FULL, FULL)),
    Row("tsubc", steps(np.subtract, np.add), (FULL, FULL, FULL)),
    Row(
        "taddsc", lambda case, a, b: steps(np.add, np.add)(case, a, np.full_like(a, scalar_of(case)), b),
        (FULL, FULL), emit=with_scalar("taddsc", order=("tile", "scalar", "tile")),
    ),
    Row(
        "tsubsc",
        lambda case, a, b: steps(np.subtract, np.add)(case, a, np.full_like(a, scalar_of(case)), b),
        (FULL, FULL), emit=with_scalar("tsubsc", order=("tile", "scalar", "tile")),
    ),
    Row(
        "taxpy", lambda case, a, d: steps(np.multiply, np.add)(case, a, np.full_like(a, 2.5), d), (FULL,),
        (replace(FULL, kept=True),), types="src", emit=with_scalar("taxpy"),
        # The sum may be rounded once or twice.
        tolerance=ulps(8),
    ),
    Row(
        "taxpy", exactly(lambda a, d: d + 2.5 * a), (FULL,), (replace(FULL, dtype="f32", kept=True),),
        types=("f16",), label="wider", emit=with_scalar("taxpy"), tolerance={"f16": 1e-6},
    ),
    Row(
        "texpands", lambda case: np.full((case.r, case.c), scalar_of(case)), (),
        types={"a2a3": "i16 ui16 i32 ui32 f16 f32".split(),
               "a5": "i8 ui8 i16 ui16 i32 ui32 f16 f32".split()},
        emit=with_scalar("texpands", order=("scalar",)),
    ),
]  # fmt: skip


def expand_near(p, case, ins, outs):
    """A handle of the L1 tile whose valid part is that of the case: all of the tile is filled."""
    (whole, type_), (r, c) = outs[0], (p.extents["r"], p.extents["c"])
    valid = "?x?" if isinstance(r, str) else f"{r}x{c}"
    part, of = p.name(), type_.replace(f"valid={ROWS}x{COLS}", f"valid={valid}")
    zero = p.const(0)
    p.emit(
        f"{part} = pto.subview {whole}[{zero}, {zero}] sizes [{ROWS}, {COLS}]"
        + f" valid [{p.index(r)}, {p.index(c)}] : {type_} -> {of}"
    )
    p.op("texpands", [constant(p, case, scalar_of(case))], [(part, of)])


ELEMENTWISE += [
    Row(
        "texpands", lambda case: np.full((ROWS, COLS), scalar_of(case)), (),
        (replace(FULL, space="mat", vrow=ROWS, vcol=COLS),), label="near", emit=expand_near,
        types={"a2a3": "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32".split(),
               "a5": "i8 ui8 f16 bf16 f32".split()},
    )
]  # fmt: skip

POWERS = {"a2a3": ("f32", "i32", "i16"), "a5": ("f32", "f16", "bf16", "i32", "i16", "i8", "ui8")}


def power(case, a, b):
    if case.dtype in FLOATS:
        return np.power(a.astype(np.float64), b.astype(np.float64))
    bits = a.dtype.itemsize * 8
    raised = [pow(int(x), int(n), 2**bits) for x, n in zip(a.ravel(), b.ravel())]
    return np.array(raised, np.uint64).reshape(a.shape).astype(a.dtype)


def exponents(rng, case, shape):
    return rng.uniform(-2, 2, shape) if case.dtype in FLOATS else rng.integers(0, 6, shape)


ELEMENTWISE += [
    Row("tpow", power, (POSITIVE, replace(FULL, values=exponents)), types=POWERS, tolerance=ulps(1)),
    Row(
        "tpows", lambda case, a: power(case, a, np.full_like(a, scalar_of(case))), (POSITIVE,),
        types=POWERS, emit=with_scalar("tpows"), tolerance=ulps(1),
    ),
]  # fmt: skip


# ---- partial operands ---------------------------------------------------------------------------
def partial(function):
    def expect(case, a, b):
        whole = a.copy()
        whole[: len(b)] = once(function)(case, a[: len(b)], b)
        return whole

    return expect


HALF = replace(FULL, vrow="h")
INDICES = Operand("i32")


def partial_arg(greatest):
    def expect(case, a, b, i, j):
        value, place = a.copy(), i.copy()
        n = len(b)
        # A tie takes the second.
        second = ~(a[:n] > b) if greatest else ~(a[:n] < b)
        value[:n] = np.where(second, b, a[:n])
        place[:n] = np.where(second, j, i[:n])
        return value, place

    return expect


def few(rng, case, shape):
    return rng.integers(0, 5, shape)


FEW = replace(FULL, values=few)

PARTIAL = [
    *(
        Row(op, partial(function), (FULL, HALF))
        for op, function in {
            "tpartadd": np.add, "tpartmul": np.multiply, "tpartmax": np.maximum, "tpartmin": np.minimum,
        }.items()
    ),
    *(
        Row(
            op, partial_arg(op.endswith("max")),
            (FEW, replace(FEW, vrow="h"), INDICES, replace(INDICES, vrow="h")), (FULL, INDICES),
            types=("f32", "f16"),
        )
        for op in ("tpartargmax", "tpartargmin")
    ),
]  # fmt: skip


# ---- reductions and broadcasts ------------------------------------------------------------------
def along(axis, function):
    """In wide numbers, then cut to the element type."""

    def expect(case, a):
        wide = a.astype(np.float64) if case.dtype in FLOATS else a
        found = function(wide, axis=axis, keepdims=True)
        return found if case.dtype == "f32" else found.astype(DTYPES[case.dtype])

    return expect


def down(function):
    """Row by row in the element type."""

    def expect(case, a):
        total = a[0]
        for line in a[1:]:
            total = once(function)(case, total, line)
        return total[None]

    return expect


NEAR_ONE = replace(FULL, low=0.9, high=1.1)
SUMS = {"f32": 1e-5, "f16": 2e-3}
NOT_EMPTY = "must not be empty"
REDUCTIONS = [
    *(
        Row(
            op, along(1, function), (NEAR_ONE if op == "trowprod" else FULL,), (COLUMN,), types="src",
            tolerance=SUMS if op in ("trowsum", "trowprod") else {}, refused_empty=NOT_EMPTY,
        )
        for op, function in {
            "trowsum": np.sum, "trowmax": np.max, "trowmin": np.min, "trowprod": np.prod,
        }.items()
    ),
    *(
        Row(
            op, lambda case, a, f=function: f(a.astype(np.float64), axis=1)[:, None], (FEW,),
            (replace(COLUMN, dtype=index),), types="src", label=index, refused_empty=NOT_EMPTY,
        )
        for index in ("i32", "ui32")
        for op, function in {"trowargmax": np.argmax, "trowargmin": np.argmin}.items()
    ),
    *(
        Row(
            op, down(function), (NEAR_ONE if op == "tcolprod" else FULL,), (LINE,), types="src",
            refused_empty=NOT_EMPTY,
        )
        for op, function in {
            "tcolsum": np.add, "tcolmax": np.maximum, "tcolmin": np.minimum, "tcolprod": np.multiply,
        }.items()
    ),
    Row(
        "tcolsum", along(0, np.sum), (FULL,), (LINE,), types="src", label="tree",
        emit=lambda p, case, ins, outs: p.op(
            "tcolsum", [*ins, p.tile(case.dtype, ROWS, COLS)], outs, inside="isBinary = true"),
        tolerance={"f32": 1e-5, "f16": 0.1, "bf16": 0.6}, refused_empty=NOT_EMPTY,
    ),
    *(
        Row(
            op, lambda case, a, f=function: f(a.astype(np.float64), axis=0)[None], (FEW,),
            (replace(LINE, dtype=index),), types="src", label=index, refused_empty=NOT_EMPTY,
        )
        for index in ("i32", "ui32")
        for op, function in {"tcolargmax": np.argmax, "tcolargmin": np.argmin}.items()
    ),
]  # fmt: skip

EXPAND = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": divide, "max": np.maximum,
    "min": np.minimum,
}  # fmt: skip


def difference(case, a, b):
    """The difference is rounded, then the exponential of it."""
    return np.exp(once(np.subtract)(case, a, b).astype(np.float64))


def block(dtype):
    """One value per row, repeated over 32 bytes."""
    width = 32 // np.dtype(DTYPES[dtype]).itemsize
    return replace(
        FULL, cols=width, vcol=width, low=0.5, values=lambda rng, case, shape: rng.uniform(1, 2, (shape[0], 1))
    )  # fmt: skip


BY_ROW = replace(COLUMN, low=0.5)
BY_COLUMN = replace(LINE, low=0.5)
BROADCASTS = [
    Row(
        "trowexpand", lambda case, v: np.broadcast_to(v, (case.r, case.c)), (COLUMN,), types="src",
        refused_empty=NOT_EMPTY,
    ),
    Row("tcolexpand", lambda case, v: np.broadcast_to(v, (case.r, case.c)), (LINE,), types="src"),
    *(Row(f"trowexpand{n}", once(f), (FULL, BY_ROW)) for n, f in EXPAND.items()),
    *(Row(f"tcolexpand{n}", once(f), (FULL, BY_COLUMN)) for n, f in EXPAND.items()),
    Row("trowexpandexpdif", difference, (FULL, BY_ROW), tolerance=ulps(1.5)),
    Row("tcolexpandexpdif", difference, (FULL, BY_COLUMN), tolerance=ulps(1.5)),
    Row(
        "trowexpandsub", lambda case, v, a: once(np.subtract)(case, v, a), (COLUMN, FULL),
        label="vector-first",
    ),
    *(
        Row(
            "trowexpanddiv", lambda case, a, v: once(np.divide)(case, a, v[:, :1]),
            (FULL, block(dtype)), types=(dtype,), label=f"block-{dtype}",
        )
        for dtype in ("f32", "f16")
    ),
]  # fmt: skip


# ---- masks, generators --------------------------------------------------------------------------
COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
MASK = Operand("ui8", vcol=COLS)
CMP_TYPES = {
    "a2a3": "i32 ui32 f16 f32".split(),
    "a5": "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32".split(),
}


def bits(case, mask):
    """Bits of the valid columns: what lies behind them has no meaning."""
    return np.unpackbits(mask.view(np.uint8)[:, : COLS // 8], axis=1, bitorder="little")[
        :, : case.c
    ]


def compare_with(op, scalar):
    def emit(p, case, ins, outs):
        operands = [*ins, constant(p, case, scalar_of(case, 1.5))] if scalar else ins
        for mode, out in zip(COMPARE, outs):
            p.op(op, operands, [out], inside=f"cmpMode = #pto<cmp {mode}>")

    return emit


def compare_all(case, a, b=None):
    b = np.full_like(a, scalar_of(case, 1.5)) if b is None else b
    return tuple(function(a, b).astype(np.uint8) for function in COMPARE.values())


def choose(case, mask, a, b):
    return np.where(bits(case, mask), a, b)


def emit_sels(p, case, ins, outs):
    p.op("tsels", [*ins, constant(p, case, scalar_of(case))], outs)


def emit_ramp(down):
    def emit(p, case, ins, outs):
        attribute = f"descending = {'true' if down else 'false'}"
        p.op("tci", [constant(p, case, 5)], outs, attribute)

    return emit


def triangle(upper, diagonal):
    def expect(case):
        i, j = np.indices((case.r, case.c))
        return (j >= i + diagonal) if upper else (j <= i + diagonal)

    def emit(p, case, ins, outs):
        p.op(
            "ttri",
            [(p.const(diagonal, "i32"), "i32")],
            outs,
            inside=f"upperOrLower = {upper} : i32",
        )

    return Row("ttri", expect, (), types="dst", emit=emit, label=f"{upper}-{diagonal}")


GENERATED = [
    Row(
        "tcmp", compare_all, (FEW, FEW), (MASK,) * 6, types=CMP_TYPES, project=bits,
        emit=compare_with("tcmp", False),
    ),
    Row(
        "tcmps", compare_all, (FEW,), (MASK,) * 6, types="src", project=bits,
        emit=compare_with("tcmps", True),
    ),
    *(
        Row(
            op, compare_all, (FEW,) * count, (replace(MASK, dtype="i8"),) * 6, types=("f32", "f16"),
            project=bits, emit=compare_with(op, count == 1), label="i8-mask",
        )
        for op, count in (("tcmp", 2), ("tcmps", 1))
    ),
    Row("tsel", choose, (MASK, FULL, FULL), types="src0"),
    Row(
        "tsels", lambda case, m, a: choose(case, m, a, scalar_of(case)), (MASK, FULL), types="src",
        emit=emit_sels,
    ),
    *(
        Row(
            "tci", lambda case, s=-1 if down else 1: (5 + s * np.arange(case.c))[None], (), (LINE,),
            types="dst", emit=emit_ramp(down), label="down" if down else "up",
        )
        for down in (False, True)
    ),
    Row(
        "tci", lambda case, old: np.vstack([(5 + np.arange(case.c))[None][: case.r], old[1:]]), (),
        (replace(FULL, kept=True),), types="dst", emit=emit_ramp(False), label="one row of several",
    ),
    triangle(0, -3), triangle(0, 2), triangle(1, -1), triangle(1, 20),
]  # fmt: skip

ROWS_OF_VECTORS = [*ELEMENTWISE, *PARTIAL, *REDUCTIONS, *BROADCASTS, *GENERATED]
assert CLASSES
