"""Kernels of the vector core: elementwise, softmax, norms, reductions, moves, top-k."""

from __future__ import annotations

import numpy as np
from cases import case


def unary(name, dtype="f32", shape=(16, 64), low=-4.0, high=4.0, tol=(1e-6, 1e-6), reference=None):
    """A kernel that maps one tensor to one of the same shape: the decorated function gets its tile."""

    def decorate(body):
        def build(module):
            f = module.function(name)
            x = f.tensor("x", dtype, *shape)
            y = f.tensor("y", dtype, *shape)
            f.store(body(f, f.load(x)), y)

        case(name, [(dtype, shape, low, high)], [(dtype, shape)], reference, tol)(build)
        return body

    return decorate


@case(
    "blend",
    [("f32", (16, 64)), ("f32", (16, 64))],
    [("f32", (16, 64))],
    lambda a, b: [a * b + 1],
)
def blend(module):
    f = module.function("blend")
    a, b, o = (f.tensor(n, "f32", 16, 64) for n in "abo")
    f.store(f.scalar("tadds", f.binary("tmul", f.load(a), f.load(b)), 1.0), o)


@case(
    "axpy", [("f32", (32, 64)), ("f32", (32, 64))], [("f32", (32, 64))], lambda x, y: [2.5 * x + y]
)
def axpy(module):
    f = module.function("axpy")
    x, y, o = (f.tensor(n, "f32", 32, 64) for n in "xyo")
    with f.loop(0, 32, 16) as i:
        f.store(
            f.binary(
                "tadd",
                f.scalar("tmuls", f.load(x, (i, 0), (16, 64)), 2.5),
                f.load(y, (i, 0), (16, 64)),
            ),
            o,
            (i, 0),
        )


@unary("silu", reference=lambda x: [x / (1 + np.exp(-x))], tol=(2e-6, 1e-6))
def silu(f, x):
    e = f.unary("texp", f.unary("tneg", x))
    return f.binary("tdiv", x, f.scalar("tadds", e, 1.0))


@unary("gelu", reference=lambda x: [x / (1 + np.exp(-1.702 * x))], tol=(2e-6, 1e-6))
def gelu(f, x):
    e = f.unary("texp", f.scalar("tmuls", x, -1.702))
    return f.binary("tmul", x, f.unary("trecip", f.scalar("tadds", e, 1.0)))


@unary("clamp", reference=lambda x: [np.clip(x, -1.0, 1.5)], tol=(0, 0))
def clamp(f, x):
    return f.scalar("tmins", f.scalar("tmaxs", x, -1.0), 1.5)


@unary("leaky_relu", reference=lambda x: [np.where(x > 0, x, 0.125 * x)], tol=(0, 0))
def leaky_relu(f, x):
    return f.op("tlrelu", [x, (0.125, "f32")], f.like(x))


@unary("tanh_by_exp", reference=lambda x: [np.tanh(x)], tol=(3e-6, 2e-6))
def tanh_by_exp(f, x):
    e = f.unary("texp", f.scalar("tmuls", x, 2.0))
    return f.binary("tdiv", f.scalar("tadds", e, -1.0), f.scalar("tadds", e, 1.0))


@unary("polynomial", reference=lambda x: [((0.5 * x + 1) * x - 2) * x + 3], tol=(1e-5, 1e-5))
def polynomial(f, x):
    y = f.scalar("tadds", f.scalar("tmuls", x, 0.5), 1.0)
    y = f.scalar("tadds", f.binary("tmul", y, x), -2.0)
    return f.scalar("tadds", f.binary("tmul", y, x), 3.0)


@unary("distance", low=0.1, reference=lambda x: [np.sqrt(x) + 1 / np.sqrt(x)], tol=(2e-6, 0))
def distance(f, x):
    return f.binary("tadd", f.unary("tsqrt", x), f.unary("trsqrt", x))


@unary("entropy", low=0.01, high=1.0, reference=lambda x: [-x * np.log(x)], tol=(2e-6, 1e-7))
def entropy(f, x):
    return f.unary("tneg", f.binary("tmul", x, f.unary("tlog", x)))


@unary(
    "affine_i32",
    dtype="i32",
    reference=lambda x: [np.maximum(3 * x - 7, 0)],
    tol=(0, 0),
    low=-90,
    high=90,
)
def affine_i32(f, x):
    return f.unary("trelu", f.scalar("tadds", f.scalar("tmuls", x, 3), -7))


@unary("abs_half", dtype="f16", reference=lambda x: [np.abs(x) + 0.5], tol=(1e-3, 0))
def abs_half(f, x):
    return f.scalar("tadds", f.unary("tabs", x), 0.5)


@case(
    "bits_i16",
    [("i16", (16, 64), -90, 90), ("i16", (16, 64), -90, 90)],
    [("i16", (16, 64))],
    lambda a, b: [(a.astype(np.int16) & b.astype(np.int16)) | ~a.astype(np.int16)],
    (0, 0),
)
def bits_i16(module):
    f = module.function("bits_i16")
    a, b, o = (f.tensor(n, "i16", 16, 64) for n in "abo")
    x, y = f.load(a), f.load(b)
    f.store(f.binary("tor", f.binary("tand", x, y), f.unary("tnot", x)), o)


@case("round_trip_bf16", [("f32", (16, 64))], [("bf16", (16, 64))], lambda x: [2 * x], (1e-2, 0))
def round_trip_bf16(module):
    f = module.function("round_trip_bf16")
    x, y = f.tensor("x", "f32", 16, 64), f.tensor("y", "bf16", 16, 64)
    f.store(f.cast(f.scalar("tmuls", f.load(x), 2.0), "bf16"), y)


@case(
    "quantise_rows",
    [("f32", (16, 64))],
    [("i8", (16, 64)), ("f32", (16, 1))],
    lambda x: [
        np.rint(x / (np.abs(x).max(1, keepdims=True) / 127)),
        np.abs(x).max(1, keepdims=True) / 127,
    ],
    (0, 1.01),
)
def quantise_rows(module):
    f = module.function("quantise_rows")
    x, q, s = (
        f.tensor("x", "f32", 16, 64),
        f.tensor("q", "i8", 16, 64),
        f.tensor("s", "f32", 16, 1, column=True),
    )
    t = f.load(x)
    m = f.reduce("trowmax", f.unary("tabs", t))
    scale = f.op("tmuls", [m, (1.0 / 127, "f32")], f.column(16))
    h = f.cast(f.op("trowexpanddiv", [t, scale], f.like(t)), "f16")
    f.store(f.cast(h, "i8"), q)
    f.store(scale, s)


# ---- softmax ------------------------------------------------------------------------------------
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_tile(f, x):
    e = f.unary("texp", f.op("trowexpandsub", [x, f.reduce("trowmax", x)], f.like(x)))
    return f.op("trowexpanddiv", [e, f.reduce("trowsum", e)], f.like(x))


unary("softmax", reference=lambda x: [softmax(x)], tol=(3e-6, 1e-7))(softmax_tile)
unary("softmax_scaled", shape=(8, 128), reference=lambda x: [softmax(x * 0.125)], tol=(3e-6, 1e-7))(
    lambda f, x: softmax_tile(f, f.scalar("tmuls", x, 0.125))
)


@unary("log_softmax", reference=lambda x: [np.log(softmax(x))], tol=(3e-6, 2e-6))
def log_softmax(f, x):
    d = f.op("trowexpandsub", [x, f.reduce("trowmax", x)], f.like(x))
    total = f.reduce("trowsum", f.unary("texp", d))
    row = f.op("trowexpand", [total], f.like(x))
    return f.binary("tsub", d, f.unary("tlog", row))


@case(
    "softmax_blocks", [("f32", (64, 64))], [("f32", (64, 64))], lambda x: [softmax(x)], (3e-6, 1e-7)
)
def softmax_blocks(module):
    f = module.function("softmax_blocks")
    x, y = f.tensor("x", "f32", 64, 64), f.tensor("y", "f32", 64, 64)
    with f.loop(0, 64, 16) as i:
        f.store(softmax_tile(f, f.load(x, (i, 0), (16, 64))), y, (i, 0))


@case(
    "softmax_tail", [("f32", (16, 50))], [("f32", (16, 50))], lambda x: [softmax(x)], (3e-6, 1e-7)
)
def softmax_tail(module):
    f = module.function("softmax_tail")
    x, y = f.tensor("x", "f32", 16, 50), f.tensor("y", "f32", 16, 50)
    t = f.load(x, sizes=(16, 64), valid=(16, 50))
    v = (16, 50)
    tmp = f.like(t, valid=v)
    m = f.op("trowmax", [t, tmp], f.column(16))
    e = f.op("texp", [f.op("trowexpandsub", [t, m], f.like(t, valid=v))], f.like(t, valid=v))
    s = f.op("trowsum", [e, f.like(t, valid=v)], f.column(16))
    f.store(f.op("trowexpanddiv", [e, s], f.like(t, valid=v)), y, sizes=(16, 50))


# ---- norms --------------------------------------------------------------------------------------
def affine(f, x, gamma, beta=None):
    y = f.op("tcolexpandmul", [x, gamma], f.like(x))
    return y if beta is None else f.op("tcolexpandadd", [y, beta], f.like(x))


def mean_square(f, x, count):
    m = f.reduce("trowsum", f.binary("tmul", x, x))
    return f.op("tmuls", [m, (1.0 / count, "f32")], f.column(x.rows))


def divide_by_root(f, x, square):
    # One value per row is a column; elementwise work wants it as a row.
    row = f.scalar("tadds", f.treshape(square, 1, x.rows, "vec"), 1e-5)
    root = f.treshape(f.unary("tsqrt", row), x.rows, 1, "column")
    return f.op("trowexpanddiv", [x, root], f.like(x))


@case(
    "rms_norm",
    [("f32", (32, 64)), ("f32", (1, 64))],
    [("f32", (32, 64))],
    lambda x, g: [x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * g],
    (3e-6, 1e-6),
)
def rms_norm(module):
    f = module.function("rms_norm")
    x, g, y = (
        f.tensor("x", "f32", 32, 64),
        f.tensor("g", "f32", 1, 64),
        f.tensor("y", "f32", 32, 64),
    )
    gamma = f.load(g)
    with f.loop(0, 32, 16) as i:
        t = f.load(x, (i, 0), (16, 64))
        f.store(affine(f, divide_by_root(f, t, mean_square(f, t, 64)), gamma), y, (i, 0))


def layer_norm_reference(x, g, b):
    d = x - x.mean(1, keepdims=True)
    return [d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * g + b]


@case(
    "layer_norm",
    [("f32", (16, 128)), ("f32", (1, 128)), ("f32", (1, 128))],
    [("f32", (16, 128))],
    layer_norm_reference,
    (1e-5, 3e-6),
)
def layer_norm(module):
    f = module.function("layer_norm")
    x = f.tensor("x", "f32", 16, 128)
    g, b = f.tensor("g", "f32", 1, 128), f.tensor("b", "f32", 1, 128)
    y = f.tensor("y", "f32", 16, 128)
    t = f.load(x)
    mean = f.op("tmuls", [f.reduce("trowsum", t), (1.0 / 128, "f32")], f.column(16))
    d = f.op("trowexpandsub", [t, mean], f.like(t))
    f.store(affine(f, divide_by_root(f, d, mean_square(f, d, 128)), f.load(g), f.load(b)), y)


@unary(
    "l2_norm",
    reference=lambda x: [x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-5)],
    tol=(3e-6, 1e-7),
)
def l2_norm(f, x):
    return divide_by_root(f, x, f.reduce("trowsum", f.binary("tmul", x, x)))


@case(
    "batch_norm",
    [("f32", (32, 64), 0.5, 2.0), ("f32", (1, 64), 0.5, 2.0)],
    [("f32", (32, 64))],
    lambda x, s: [(x - x.mean(0, keepdims=True)) / s],
    (1e-5, 1e-6),
)
def batch_norm(module):
    f = module.function("batch_norm")
    x, s, y = (
        f.tensor("x", "f32", 32, 64),
        f.tensor("s", "f32", 1, 64),
        f.tensor("y", "f32", 32, 64),
    )
    t = f.load(x)
    mean = f.scalar("tmuls", f.op("tcolsum", [t], f.tile("f32", 1, 64)), 1.0 / 32)
    d = f.op("tcolexpandsub", [t, mean], f.like(t))
    f.store(f.op("tcolexpanddiv", [d, f.load(s)], f.like(t)), y)


# ---- reductions and moves -----------------------------------------------------------------------
@case(
    "row_range",
    [("f32", (16, 64))],
    [("f32", (16, 1))],
    lambda x: [x.max(1, keepdims=True) - x.min(1, keepdims=True)],
    (1e-6, 0),
)
def row_range(module):
    f = module.function("row_range")
    x, y = f.tensor("x", "f32", 16, 64), f.tensor("y", "f32", 16, 1, column=True)
    t = f.load(x)
    high = f.op("trowexpand", [f.reduce("trowmax", t)], f.like(t))
    d = f.op("trowexpandsub", [high, f.reduce("trowmin", t)], f.like(t))
    f.store(f.reduce("trowmax", d), y)


@case(
    "column_extremes",
    [("f32", (32, 64))],
    [("f32", (1, 64)), ("f32", (1, 64))],
    lambda x: [x.max(0, keepdims=True), x.min(0, keepdims=True)],
    (0, 0),
)
def column_extremes(module):
    f = module.function("column_extremes")
    x, high, low = (
        f.tensor("x", "f32", 32, 64),
        f.tensor("high", "f32", 1, 64),
        f.tensor("low", "f32", 1, 64),
    )
    t = f.load(x)
    f.store(f.op("tcolmax", [t], f.tile("f32", 1, 64)), high)
    f.store(f.op("tcolmin", [t], f.tile("f32", 1, 64)), low)


@case(
    "argmax_rows", [("f32", (16, 64))], [("i32", (16, 1))], lambda x: [x.argmax(1)[:, None]], (0, 0)
)
def argmax_rows(module):
    f = module.function("argmax_rows")
    x, y = f.tensor("x", "f32", 16, 64), f.tensor("y", "i32", 16, 1, column=True)
    t = f.load(x)
    f.store(f.op("trowargmax", [t, f.like(t)], f.column(16, "i32")), y)


@case("transpose", [("f32", (16, 64))], [("f32", (64, 16))], lambda x: [x.T], (0, 0))
def transpose(module):
    f = module.function("transpose")
    x, y = f.tensor("x", "f32", 16, 64), f.tensor("y", "f32", 64, 16)
    t = f.load(x)
    f.store(f.op("ttrans", [t, f.like(t)], f.tile("f32", 64, 16)), y)


@case(
    "concat",
    [("f32", (16, 32)), ("f32", (16, 64))],
    [("f32", (16, 96))],
    lambda a, b: [np.concatenate([a, b], 1)],
    (0, 0),
)
def concat(module):
    f = module.function("concat")
    a, b, y = (
        f.tensor("a", "f32", 16, 32),
        f.tensor("b", "f32", 16, 64),
        f.tensor("y", "f32", 16, 96),
    )
    f.store(f.op("tconcat", [f.load(a), f.load(b)], f.tile("f32", 16, 96)), y)


@case(
    "prefix_rows",
    [("f32", (16, 64))],
    [("f32", (16, 64))],
    lambda x: [np.cumsum(x, 0)],
    (1e-5, 1e-5),
)
def prefix_rows(module):
    f = module.function("prefix_rows")
    x, y = f.tensor("x", "f32", 16, 64), f.tensor("y", "f32", 16, 64)
    total = f.op("texpands", [(0.0, "f32")], f.tile("f32", 1, 64))
    with f.loop(0, 16, 1) as i:
        f.op("tadd", [total, f.load(x, (i, 0), (1, 64))], total)
        f.store(total, y, (i, 0))


@case("positions", [], [("i32", (1, 64))], lambda: [np.arange(5, 69)[None]], (0, 0))
def positions(module):
    f = module.function("positions")
    y = f.tensor("y", "i32", 1, 64)
    t = f.tile("i32", 1, 64)
    tmp = f.tile("f32", 1, 192)
    f.store(f.op("tci", [(5, "i32"), tmp], t, attrs="descending = false"), y)


@case(
    "add_atomically",
    [("f32", (64, 32))],
    [("f32", (16, 32))],
    lambda x: [x.reshape(4, 16, 32).sum(0)],
    (1e-6, 1e-6),
    zero=True,
)
def add_atomically(module):
    f = module.function("add_atomically")
    x, y = f.tensor("x", "f32", 64, 32), f.tensor("y", "f32", 16, 32)
    with f.loop(0, 64, 16) as i:
        f.store(f.load(x, (i, 0), (16, 32)), y, attrs="atomicType = #pto<atomic_type atomic_add>")


# ---- top-k --------------------------------------------------------------------------------------
@case(
    "top_of_32",
    [("f32", (8, 32)), ("ui32", (1, 32), 0, 9)],
    [("f32", (8, 64))],
    lambda x, _: [-np.sort(-x, 1)],
    (0, 0),
    view=lambda y: y[:, 0::2],
)
def top_of_32(module):
    """Values and indices, interleaved, in falling order of values."""
    f = module.function("top_of_32")
    x, n, y = f.tensor("x", "f32", 8, 32), f.tensor("n", "ui32", 1, 32), f.tensor("y", "f32", 8, 64)
    numbers = f.load(n)
    with f.loop(0, 8, 1) as i:
        f.store(
            f.op("tsort32", [f.load(x, (i, 0), (1, 32)), numbers], f.tile("f32", 1, 64)), y, (i, 0)
        )


@case(
    "top_8",
    [("f32", (1, 256)), ("ui32", (1, 256), 0, 9)],
    [("f32", (1, 8))],
    lambda x, _: [-np.sort(-x, 1)[:, :8]],
    (0, 0),
)
def top_8(module):
    """Sorted runs of 32, merged four by four, then every other word: values without their indices."""
    f = module.function("top_8")
    x, n, y = (
        f.tensor("x", "f32", 1, 256),
        f.tensor("n", "ui32", 1, 256),
        f.tensor("y", "f32", 1, 8),
    )
    runs = f.op("tsort32", [f.load(x), f.load(n)], f.tile("f32", 1, 512))
    runs = f.op("tmrgsort", [runs, (64, "i32")], f.like(runs))
    runs = f.op("tmrgsort", [runs, (256, "i32")], f.like(runs))
    f.store(f.every_other(runs), y, sizes=(1, 8))
