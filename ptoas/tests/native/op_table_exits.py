"""The op table of test_matrix.py: how accumulators leave the cube core (pto-isa 6.8, 6.10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from elements import DTYPES, HIF8, NUMBERS
from matrix import CLASSES, COLS, FLOATS, FULL, ROWS, Operand, Row

SIGNED = 1 << 46
FIELD_OF_OFFSET = 37
# What an accumulator may become: without a scale, and quantised.
PLAIN = {
    "f32": {"a2a3": ("f32", "f16", "bf16"), "a5": ("f32", "f16", "bf16")},
    "i32": {"a2a3": ("i32",), "a5": ("i32",)},
}
QUANTISED = {
    "f32": {
        "a2a3": ("i8", "ui8"),
        "a5": ("i8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", HIF8),
    },
    "i32": {"a2a3": ("i8", "ui8", "f16"), "a5": ("i8", "ui8", "f16", "bf16")},
}
# To L1.
PLAIN_NEAR = {
    "f32": {"a2a3": ("f16", "bf16"), "a5": ("f16", "bf16", "f32")},
    "i32": {"a2a3": (), "a5": ()},  # i32 to i32 on A5: nothing reads it back from there
}
QUANTISED_NEAR = {
    "f32": {"a2a3": ("i8",), "a5": ("i8", "ui8", HIF8, "f16", "bf16", "f8E4M3FN", "f32")},
    "i32": {"a2a3": ("i8", "ui8", "f16", "i16"), "a5": ("i8", "ui8", "f16", "bf16")},
}
# What memory adds up.
ADDED = {
    "f32": {"a2a3": ("i8",), "a5": ("i8", "f16", "bf16", "f32")},
    "i32": {"a2a3": ("i8", "f16"), "a5": ("i8", "f16", "bf16")},
}
INTEGERS = ("i8", "ui8", "i16")


# ---- values, such that value * scale + offset is exact in single precision ----------------------
def held(rng, case, shape):
    if case.dtype == HIF8:
        return rng.integers(-15, 16, shape)
    return rng.integers(-800, 801, shape) / 8


def anything(rng, case, shape):
    return rng.uniform(-100, 100, shape)


def digits(rng, case, shape):
    return rng.integers(-8000, 8001, shape)


def scale_words(rng, case, shape, source):
    """Words of a vector of scales: ten bits of mantissa, an offset for integers, a sign for the range."""
    if case.dtype == HIF8:
        scales = rng.choice([0.25, 0.5, 1], shape)
    else:
        scales = rng.integers(1024, 2048, shape) / 1024 * rng.choice([-1, 1], shape) / 2
        if source == "i32" and case.dtype in ("i8", "ui8"):
            scales = scales / 64
    words = scales.astype(np.float32).view(np.uint32).astype(np.uint64)
    if case.dtype in INTEGERS:
        offsets = rng.integers(-256, 256, shape).astype(np.uint64) & np.uint64(511)
        signs = rng.integers(0, 2, shape).astype(np.uint64)
        words |= offsets << np.uint64(FIELD_OF_OFFSET) | signs << np.uint64(46)
    # The bits below the mantissa belong to nothing.
    return words | rng.integers(0, 1 << 13, shape).astype(np.uint64)


def scalar_word(case, source) -> int:
    """The same as one number, whose scale has a mantissa of 23 bits."""
    scale = 0.3711 if case.dtype == "f32" else 0.5 if case.dtype == HIF8 else 0.78125
    if source == "i32" and case.dtype in ("i8", "ui8"):
        scale /= 64
    word = int(np.float32(scale).view(np.uint32))
    if case.dtype == "i8":
        word |= SIGNED | (-5 & 511) << FIELD_OF_OFFSET
    return word


def fields(words):
    """Scales, offsets and whether the range has a sign."""
    words = np.asarray(words, np.uint64)
    scales = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    offsets = (words >> np.uint64(FIELD_OF_OFFSET) & np.uint64(511)).astype(np.int64)
    offsets = np.where(offsets > 255, offsets - 512, offsets)
    return scales, offsets, (words >> np.uint64(46) & np.uint64(1)).astype(bool)


def left(case, x, words=None, relu=False):
    """ReLU comes first; then saturate(round_half_even(x * scale + offset)) for integers."""
    to = DTYPES[case.dtype]
    if relu:
        x = np.maximum(x, 0)
    if words is None:
        return x.astype(to)
    scales, offsets, signs = fields(words)
    if case.dtype not in INTEGERS:
        scaled = x.astype(np.float32) * scales
        if case.dtype == HIF8:
            codes = {float(v): i for i, v in enumerate(NUMBERS[HIF8])}
            return np.array([codes[float(v)] for v in scaled.ravel()]).reshape(x.shape)
        return scaled.astype(to)
    whole = np.rint(x.astype(np.float64) * scales + offsets)
    if case.dtype == "i16":
        return np.clip(whole, -32768, 32767)
    # The range follows the word, whatever the element is.
    found = np.where(signs, np.clip(whole, -128, 127), np.clip(whole, 0, 255))
    return found.astype(np.int64).astype(np.uint8).view(to)


def masked_words(words):
    """Of a vector only ten bits of the mantissa count."""
    return words & ~np.uint64(0x1FFF)


# ---- rows ---------------------------------------------------------------------------------------
AT = 16, 32  # where windows start
WIDE_ROWS, WIDE_COLS = 32, 96
MEMORY = replace(FULL, space="gm")
NEAR = replace(FULL, space="mat")
TARGETS = {
    "nd": MEMORY, "dn": replace(MEMORY, order="dn"), "nz": replace(MEMORY, order="nz"), "mat": NEAR,
    "vec": FULL, "vec-dn": replace(FULL, order="dn", extra=", blayout=col_major"),
}  # fmt: skip
BOX_CLASSES = {"aligned": (ROWS, COLS), "one box": (ROWS, 32)}


def source(of):
    values = held if of == "f32" else digits
    return Operand(of, space="acc", rows=ROWS, cols=COLS, values=values)


def exits(op, of, how, target, relu=False, atomic=False):
    """One row: `how` is "", "fp" (a vector of scales) or "scalar"."""
    near = target == "mat"
    legal = (QUANTISED_NEAR if near else QUANTISED) if how else (PLAIN_NEAR if near else PLAIN)
    if atomic and how:
        legal = ADDED
    acc, dst = source(of), TARGETS[target]
    if not how and of == "f32":
        acc = replace(acc, values=anything)
    window = op.startswith(("textract", "tinsert"))
    inserts = op.startswith("tinsert")
    if window:
        large = {"rows": WIDE_ROWS, "cols": WIDE_COLS, "vrow": WIDE_ROWS, "vcol": WIDE_COLS}
        if inserts:
            dst = replace(dst, kept=True, **large)
        else:
            acc = replace(acc, **large)
    if atomic:
        dst = replace(dst, kept=True)
    words = Operand(
        "ui64", space="scaling", rows=1, vrow=1, vcol=COLS,
        values=lambda rng, case, shape: scale_words(rng, case, shape, of),
    )  # fmt: skip
    attrs = ["reluPreMode = #pto<relu_pre_mode normal_relu>"] if relu else []
    attrs += ["atomicType = #pto<atomic_type atomic_add>"] if atomic else []

    def emit(p, case, ins, outs):
        at = [(p.const(i), "index") for i in AT] if window else []
        scale = ins[1:]
        if how == "scalar":
            scale = [(p.const(scalar_word(case, of), "i64"), "i64")]
        fp_first = op.endswith("_fp")
        args = [ins[0], *scale, *at] if fp_first else [ins[0], *at, *scale]
        p.op(op, args, outs, ", ".join(attrs))

    def expect(case, x, *rest):
        word = None
        if how == "fp":
            word = masked_words(rest[0][:, : x.shape[1] if not window else case.c])
        elif how:
            word = scalar_word(case, of)
        if window and not inserts:
            x = x[AT[0] : AT[0] + case.r, AT[1] : AT[1] + case.c]
        found = left(case, x, word, relu)
        if inserts:
            whole = rest[-1].copy()
            whole[AT[0] : AT[0] + case.r, AT[1] : AT[1] + case.c] = found
            return whole
        if atomic:
            old = rest[-1]
            wide = np.float32 if case.dtype in FLOATS else np.int64
            return (found.astype(wide) + old.astype(wide)).astype(old.dtype)
        return found

    boxes = target == "nz"
    words_in = (words,) if how == "fp" else ()
    label = "-".join(filter(None, (of, how, "relu" * relu, "atomic" * atomic, target)))
    return Row(
        op, expect, (acc, *words_in), (dst,), types=legal[of], emit=emit, label=label,
        classes=BOX_CLASSES if boxes else CLASSES, dynamic=not boxes,
    )  # fmt: skip


def forms(op, target, of):
    return [
        exits(op, of, "", target),
        exits(op, of, "", target, relu=True),
        exits(op, of, "fp", target),
        exits(op, of, "scalar", target, relu=True),
    ]


BOTH = ("f32", "i32")


# ---- vector tiles on their way to L1, accumulators to vector tiles ------------------------------
def to_near(op, attrs=""):
    """Of a whole tile, from a window, or into one (pto-isa 6.10, A5)."""
    window = op != "tmov"
    large = {"rows": WIDE_ROWS, "cols": WIDE_COLS, "vrow": WIDE_ROWS, "vcol": WIDE_COLS}
    src = replace(FULL, **large) if op == "textract" else FULL
    dst = replace(NEAR, kept=True, **large) if op == "tinsert" else NEAR

    def emit(p, case, ins, outs):
        p.op(op, [*ins, *[(p.const(i), "index") for i in AT if window]], outs, attrs)

    def expect(case, a, old=None):
        part = np.s_[AT[0] : AT[0] + case.r, AT[1] : AT[1] + case.c]
        if op == "textract":
            return a[part]
        if op == "tmov":
            return a
        whole = old.copy()
        whole[part] = a
        return whole

    return Row(
        op, expect, (src,), (dst,), types=("i8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", HIF8),
        archs=("a5",), emit=emit, label="-".join(filter(None, ("vec-mat", attrs and "split"))),
    )  # fmt: skip


SPLIT = "tinsertMode = #pto.tinsert_mode<SPLIT2>"
ROWS_OF_EXITS = [
    to_near("tmov"),
    to_near("textract"),
    to_near("tinsert"),
    to_near("tinsert", SPLIT),
    *(
        exits(op, of, how, target)
        for op, target in (("textract", "vec"), ("tmov", "vec-dn"))
        for of in BOTH
        for how in ("", "fp")
    ),
    *(exits(f"{op}_fp", of, "fp", "mat") for op in ("textract", "tinsert") for of in BOTH),
    *(exits("tmov.fp", of, "fp", "mat") for of in BOTH),
    *(exits("tstore_fp", of, "fp", target) for of in BOTH for target in ("nd", "dn", "nz")),
    *(
        row
        for op, target in (
            ("tstore", "nd"), ("tmov", "mat"), ("tmov", "vec"), ("textract", "mat"), ("tinsert", "mat"),
        )
        for of in BOTH
        for row in forms(op, target, of)
    ),
    *(
        exits("tstore", of, how, target)
        for of in BOTH
        for how in ("", "scalar")
        for target in ("dn", "nz")
    ),
    *(
        exits("tstore", of, how, target, relu, atomic=True)
        for of in BOTH
        for how, relu, target in (
            ("", False, "nd"), ("", True, "nd"), ("scalar", False, "nd"), ("", True, "nz"),
        )
    ),
]  # fmt: skip
