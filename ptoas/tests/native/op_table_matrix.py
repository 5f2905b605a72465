"""The op table of test_matrix.py: products of the cube core and what brings their operands (pto-isa 6.9, 6.10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from elements import DTYPES, E1M2, E2M1, E8M0, HIF8, NUMBERS, numbers_of
from matrix import Operand, Row
from spaces import layout, product_of

# Valid rows, columns and inner extents.
CLASSES = {
    "one": (1, 1, 1),
    "odd": (7, 33, 19),
    "aligned": (32, 64, 64),
    "tail": (29, 61, 45),
    "empty": (0, 29, 64),
}
NOTHING = {"no_columns": (13, 0), "no_inner": (13, 61, 0)}
ONE_ROW = {**CLASSES, "empty": (1, 0, 64)}
M, K, N, GROUP = 32, 64, 64, 32
NOT_EMPTY = "must be between 1 and 4095"
# Sums of 64 products between -16 and 16, in any order. All other sums are exact in any order.
ROUNDED = dict.fromkeys(("f32", "f16", "bf16"), 5e-4)
COMMON = {
    "classes": CLASSES, "nothing": NOTHING, "refused_empty": NOT_EMPTY, "tolerance": ROUNDED,
}  # fmt: skip
TYPES = {
    "a2a3": ("i8", "f16", "bf16", "f32"),
    "a5": ("i8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", HIF8),
}
EIGHT_BITS = ("f8E4M3FN", "f8E5M2")
SCALED = (*EIGHT_BITS, E2M1, E1M2)


def factors(rng, case, shape):
    """Any i8, any numbers of wide floats; of small ones, multiples of an eighth, so that sums are exact."""
    if case.dtype == "i8":
        return rng.integers(-128, 128, shape)
    if case.dtype in NUMBERS:
        table = NUMBERS[case.dtype]
        limit = 2 if case.dtype == HIF8 else 8
        exact = np.flatnonzero((np.abs(table) <= limit) & (table * 8 == np.rint(table * 8)))
        return rng.choice(exact, shape)
    if case.dtype in EIGHT_BITS:
        return (rng.integers(-16, 17, shape) / 8).astype(DTYPES[case.dtype])
    return rng.uniform(-4, 4, shape)


def addends(rng, case, shape):
    if case.dtype == "i8":
        return rng.integers(-8000, 8000, shape)
    if case.dtype in ROUNDED:
        return rng.uniform(-99, 99, shape)
    return rng.integers(-800, 800, shape) / 8


def scales(rng, case, shape):
    return rng.integers(125, 130, shape)


def sums(case):
    return product_of(case.dtype)


LEFT = Operand(space="left", rows=M, cols=K, vcol="k", values=factors)
RIGHT = Operand(space="right", rows=K, cols=N, vrow="k", values=factors)
ACC = Operand(sums, space="acc", rows=M, cols=N)
ADDED = replace(ACC, values=addends)
BIAS = Operand(sums, space="bias", rows=1, vrow=1, cols=N, values=addends)
SCALE = Operand(E8M0, space="scaling", extra=", slayout=row_major, fractal=32", values=scales)
LEFT_SCALE = replace(SCALE, rows=M, cols=K // GROUP, vcol="kg")
RIGHT_SCALE = replace(SCALE, rows=K // GROUP, cols=N, vrow="kg")


def product(case, a, b):
    return numbers_of(case.dtype, a) @ numbers_of(case.dtype, b)


def scaled_product(case, a, a_scale, b, b_scale):
    """One power of two for 32 elements along the inner extent."""
    left = np.repeat(np.exp2(a_scale.astype(np.float64) - 127), GROUP, axis=1)
    right = np.repeat(np.exp2(b_scale.astype(np.float64) - 127), GROUP, axis=0)
    a, b = numbers_of(case.dtype, a), numbers_of(case.dtype, b)
    return (a * left[:, : a.shape[1]]) @ (b * right[: b.shape[0]])


def one_row(operand):
    """That of a vector-matrix product."""
    return replace(operand, rows=1, vrow=1) if operand.vrow == "r" else operand


def first_row(operand):
    """The same in the first row of a tile of boxes."""
    return replace(operand, rows=16, vrow=1) if operand.vrow == "r" else operand


def in_place(op):
    """The accumulator is the destination as well."""
    return lambda p, case, ins, outs: p.op(op, [outs[0], *ins], outs)


def family(op, shaped, classes):
    """All forms of a product."""
    common = {**COMMON, "classes": classes}
    plain = tuple(map(shaped, (LEFT, RIGHT)))
    scaled = tuple(map(shaped, (LEFT, LEFT_SCALE, RIGHT, RIGHT_SCALE)))
    acc, added = shaped(ACC), shaped(ADDED)
    rows = []
    for form, of, ins, more in (
        (op, product, plain, {"types": TYPES}),
        (f"{op}.mx", scaled_product, scaled, {"types": SCALED, "archs": ("a5",)}),
    ):
        more |= common
        n = len(ins)
        rows += [
            Row(form, of, ins, (acc,), **more),
            Row(
                f"{form}.acc", lambda case, *a, f=of, n=n: a[n].astype(np.float64) + f(case, *a[:n]), ins,
                (replace(added, kept=True),), emit=in_place(f"{form}.acc"), **more,
            ),
            Row(
                f"{form}.acc", lambda case, c, *a, f=of: c.astype(np.float64) + f(case, *a),
                (added, *ins), (acc,), label="apart", **more,
            ),
            Row(
                f"{form}.bias", lambda case, *a, f=of: a[-1].astype(np.float64) + f(case, *a[:-1]),
                (*ins, BIAS), (acc,), **more,
            ),
        ]  # fmt: skip
    return rows


# ---- where operands come from -------------------------------------------------------------------
def in_other_order(op, side):
    """The left or right operand lies column by column in global memory."""
    ins = [replace(t, order="dn") if t.space == side else t for t in (LEFT, RIGHT)]
    return Row(
        op, product, ins, (ACC,), types=TYPES, label=f"{side}-dn", **COMMON
    )  # fmt: skip


def emit_transposed(p, case, ins, outs):
    """The right operand is the transpose of an L1 tile, by a reshape that turns its boxes round."""
    extents = p.extents
    left, near = ins
    sizes = extents["k"], extents["c"]
    dynamic = isinstance(sizes[0], str)
    valid = "?x?" if dynamic else f"{sizes[0]}x{sizes[1]}"
    type_ = f"!pto.tile_buf<mat, {K}x{N}x{case.dtype}, valid={valid}{layout('mat', '', 'dn')}>"
    turned = p.name()
    p.emit(f"{turned} = pto.treshape {near[0]} : {near[1]} -> {type_}")
    right = p.tile(case.dtype, K, N, *sizes, space="right", extra=layout("right", case.arch))
    p.op("tmov", [(turned, type_)], [right])
    p.op("tmatmul", [left, right], outs)


AT = 16, 32  # where windows start


def emit_windows(p, case, ins, outs):
    """Products of windows of L1 tiles, with scales behind them if there are any."""
    at = [(p.const(i), "index") for i in AT]
    extents = p.extents
    args = []
    for i, (space, rows, cols, r, c) in enumerate(
        (("left", M, K, "r", "k"), ("right", K, N, "k", "c"))
    ):
        sizes, extra = (extents[r], extents[c]), layout(space, case.arch)
        tile = p.tile(case.dtype, rows, cols, *sizes, space=space, extra=extra)
        p.op("textract", [ins[i], *at], [tile])
        args += [tile, *ins[2 + i : 3 + i]]
    p.op("tmatmul.mx" if len(args) > 2 else "tmatmul", args, outs)


def of_windows(case, a, b, *scales):
    row, col = AT
    a = a[row : row + case.r, col : col + case.k]
    b = b[row : row + case.k, col : col + case.c]
    return scaled_product(case, a, scales[0], b, scales[1]) if scales else product(case, a, b)


def emit_scale_addresses(p, case, ins, outs):
    """Scales are moved to where one handle says and read through another of the same data."""
    left, right, left_near, right_near = ins
    args = []
    for data, near in ((left, left_near), (right, right_near)):
        handles = []
        for _ in range(2):
            rows, cols = (M, K // GROUP) if data is left else (K // GROUP, N)
            sizes = [p.extents[e] for e in (("r", "kg") if data is left else ("kg", "c"))]
            tile = p.tile(E8M0, rows, cols, *sizes, space="scaling", extra=SCALE.extra)
            p.op("tget_scale_addr", [data], [tile])
            handles.append(tile)
        p.op("tmov", [near], [handles[0]])
        args += [data, handles[1]]
    p.op("tmatmul.mx", args, outs)


def whole(space_rows, space_cols):
    return Operand(
        space="mat", rows=space_rows, cols=space_cols, vrow=space_rows, vcol=space_cols,
        values=factors,
    )  # fmt: skip


PATHS = [
    in_other_order("tmatmul", "left"),
    in_other_order("tmatmul", "right"),
    Row(
        "tmatmul", lambda case, a, b: product(case, a, b.T),
        (LEFT, Operand(space="mat", rows=N, cols=K, vrow="c", vcol="k", values=factors)), (ACC,),
        types=TYPES, emit=emit_transposed, label="right-turned", **COMMON,
    ),
    Row(
        "textract", of_windows, (whole(2 * M, 2 * K), whole(2 * K, 2 * N)), (ACC,), types=TYPES,
        emit=emit_windows, label="cube", refused_by="tmatmul", **COMMON,
    ),
    Row(
        "textract", of_windows,
        (whole(2 * M, 2 * K), whole(2 * K, 2 * N), LEFT_SCALE, RIGHT_SCALE), (ACC,), types=SCALED,
        archs=("a5",), emit=emit_windows, label="cube-scaled", refused_by="tmatmul.mx", **COMMON,
    ),
    Row(
        "tget_scale_addr", lambda case, a, b, s, t: scaled_product(case, a, s, b, t),
        (LEFT, RIGHT, replace(LEFT_SCALE, space="mat"), replace(RIGHT_SCALE, space="mat")), (ACC,),
        types=SCALED, archs=("a5",), emit=emit_scale_addresses, refused_by="tmatmul.mx", **COMMON,
    ),
    *(
        Row(
            "tmatmul.bias", lambda case, a, b, v: product(case, a, b) + v.astype(np.float64),
            (LEFT, RIGHT, replace(BIAS, dtype=narrow, moved="f32", values=None)), (ACC,), types=("f16",),
            label=f"from-{narrow}", archs=archs, **COMMON,
        )
        for narrow, archs in (("f16", ("a2a3", "a5")), ("bf16", ("a5",)))
    ),
    Row(
        "tmatmul", product, (LEFT, RIGHT), (ACC,), types=("f16", "i8"), label="phase",
        emit=lambda p, case, ins, outs: p.op("tmatmul", ins, outs, "accPhase = #pto<acc_phase final>"),
        **COMMON,
    ),
]  # fmt: skip
MIXED = [
    Row(
        f"{op}{form}",
        lambda case, a, *rest, f=of: f(case, a, *rest), ins, (ACC,), types=("f8E4M3FN",), label="mixed",
        archs=("a5",), **COMMON,
    )
    for op in ("tmatmul",)
    for form, of, ins in (
        ("", product, (LEFT, replace(RIGHT, dtype="f8E5M2"))),
        (".mx", scaled_product, (LEFT, LEFT_SCALE, replace(RIGHT, dtype="f8E5M2"), RIGHT_SCALE)),
    )
]  # fmt: skip

ROWS_OF_PRODUCTS = [
    *family("tmatmul", lambda t: t, CLASSES),
    *family("tgemv", one_row, ONE_ROW),
    Row(
        "tgemv", product, (first_row(LEFT), RIGHT), (first_row(ACC),), types=TYPES,
        label="first-row", **{**COMMON, "classes": ONE_ROW},
    ),
    *PATHS,
    *MIXED,
]  # fmt: skip
