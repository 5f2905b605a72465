"""Kernels of the cube core, and pairs of cube and vector functions that exchange tiles."""

from __future__ import annotations

import numpy as np
from cases import case
from vector_kernels import softmax, softmax_tile

BF16 = (1e-4, 1e-4)  # products of bfloat16 are exact in FP32; sums of up to 256 of them are not


def product(name, left, right, out, dtype="bf16", acc="f32", tol=BF16, **more):
    limits = (-9, 9) if dtype == "i8" else (-2, 2)

    def decorate(build):
        return case(
            name,
            [(dtype, left, *limits), (dtype, right, *limits)],
            [(acc, out)],
            lambda a, b: [a @ b],
            tol,
            **more,
        )(build)

    return decorate


@product("matmul", (16, 64), (64, 32), (16, 32))
def matmul(module):
    f = module.function("matmul", "cube")
    a, b, c = (
        f.tensor("a", "bf16", 16, 64),
        f.tensor("b", "bf16", 64, 32),
        f.tensor("c", "f32", 16, 32),
    )
    f.store(f.matmul(f.load(a, space="mat"), f.load(b, space="mat")), c)


@product("matmul_f32", (32, 64), (64, 64), (32, 64), dtype="f32", tol=(1e-4, 1e-4))
def matmul_f32(module):
    f = module.function("matmul_f32", "cube")
    a, b, c = (
        f.tensor("a", "f32", 32, 64),
        f.tensor("b", "f32", 64, 64),
        f.tensor("c", "f32", 32, 64),
    )
    f.store(f.matmul(f.load(a, space="mat"), f.load(b, space="mat")), c)


@product("matmul_f16", (16, 128), (128, 64), (16, 64), dtype="f16", tol=(1e-4, 1e-3))
def matmul_f16(module):
    f = module.function("matmul_f16", "cube")
    a, b, c = (
        f.tensor("a", "f16", 16, 128),
        f.tensor("b", "f16", 128, 64),
        f.tensor("c", "f32", 16, 64),
    )
    f.store(f.matmul(f.load(a, space="mat"), f.load(b, space="mat")), c)


@product("matmul_int8", (32, 64), (64, 64), (32, 64), dtype="i8", acc="i32", tol=(0, 0))
def matmul_int8(module):
    f = module.function("matmul_int8", "cube")
    a, b, c = f.tensor("a", "i8", 32, 64), f.tensor("b", "i8", 64, 64), f.tensor("c", "i32", 32, 64)
    f.store(f.matmul(f.load(a, space="mat"), f.load(b, space="mat"), dtype="i32"), c)


@product("matmul_long_k", (16, 256), (256, 32), (16, 32))
def matmul_long_k(module):
    """The sum goes on in the accumulator, 64 of K at a time."""
    f = module.function("matmul_long_k", "cube")
    a, b, c = (
        f.tensor("a", "bf16", 16, 256),
        f.tensor("b", "bf16", 256, 32),
        f.tensor("c", "f32", 16, 32),
    )
    acc = f.matmul(f.load(a, (0, 0), (16, 64), "mat"), f.load(b, (0, 0), (64, 32), "mat"))
    with f.loop(64, 256, 64) as k:
        f.matmul(f.load(a, (0, k), (16, 64), "mat"), f.load(b, (k, 0), (64, 32), "mat"), acc)
    f.store(acc, c)


@product("matmul_blocks", (64, 64), (64, 64), (64, 64))
def matmul_blocks(module):
    f = module.function("matmul_blocks", "cube")
    a, b, c = (f.tensor(n, d, 64, 64) for n, d in (("a", "bf16"), ("b", "bf16"), ("c", "f32")))
    right = f.load(b, space="mat")
    with f.loop(0, 64, 16) as i:
        f.store(f.matmul(f.load(a, (i, 0), (16, 64), "mat"), right), c, (i, 0))


@product("gemv", (1, 64), (64, 32), (1, 32))
def gemv(module):
    f = module.function("gemv", "cube")
    a, b, c = (
        f.tensor("a", "bf16", 1, 64),
        f.tensor("b", "bf16", 64, 32),
        f.tensor("c", "f32", 1, 32),
    )
    left = f.load(a, (0, 0), (16, 64), "mat", valid=(1, 64))
    l = f.op("tmov", [left], f.tile("bf16", 16, 64, "left", valid=(1, 64)))
    r = f.move(f.load(b, space="mat"), "right")
    f.store(f.op("tgemv", [l, r], f.tile("f32", 16, 32, "acc", valid=(1, 32))), c, sizes=(1, 32))


@case(
    "matmul_bias",
    [("bf16", (16, 64)), ("bf16", (64, 32)), ("f32", (1, 32))],
    [("f32", (16, 32))],
    lambda a, b, z: [a @ b + z],
    BF16,
)
def matmul_bias(module):
    f = module.function("matmul_bias", "cube")
    a, b = f.tensor("a", "bf16", 16, 64), f.tensor("b", "bf16", 64, 32)
    z, c = f.tensor("z", "f32", 1, 32), f.tensor("c", "f32", 16, 32)
    flat = f.load(z, tile=f.tile("f32", 1, 32, "mat_flat"))
    bias = f.op("tmov", [flat], f.tile("f32", 1, 32, "bias"))
    f.store(f.matmul(f.load(a, space="mat"), f.load(b, space="mat"), bias=bias), c)


@case(
    "matmul_transposed",
    [("bf16", (16, 64)), ("bf16", (32, 64))],
    [("f32", (16, 32))],
    lambda a, b: [a @ b.T],
    BF16,
)
def matmul_transposed(module):
    f = module.function("matmul_transposed", "cube")
    a, b, c = (
        f.tensor("a", "bf16", 16, 64),
        f.tensor("b", "bf16", 32, 64),
        f.tensor("c", "f32", 16, 32),
    )
    right = f.load(b, space="mat")
    turned = f.treshape(right, 64, 32, "mat_t")
    f.store(f.matmul(f.load(a, space="mat"), turned), c)


# ---- cube and vector ----------------------------------------------------------------------------
def pair(module, name):
    return module.function(f"{name}_aic", "cube"), module.function(f"{name}_aiv", "vector")


def connect(cube, vector, slot_bytes, to_vector=True, to_cube=False):
    """Both ends of the FIFOs of a pair. The slots' memory becomes its last argument."""
    number = len(cube.args)
    for f in (cube, vector):
        f.args.append("!pto.ptr<f32>")
    mask = to_vector + 2 * to_cube
    depth = 4 if mask == 3 else 8
    size = depth * slot_bytes
    for f, own, peer in ((cube, "v2c", "c2v"), (vector, "c2v", "v2c")):
        ends = dict.fromkeys(("c2v", "v2c"), f.const(0, "i32"))
        has = {"c2v": to_vector, "v2c": to_cube}
        if has[own]:
            where = "vec" if own == "c2v" else "mat"
            if f.level == 3:
                place = f"auto = false, base = {-(-f.free.get(where, 0) // 256) * 256}"
                f.free[where] = -(-f.free.get(where, 0) // 256) * 256 + size
            else:
                place = "auto = true"
            f.line(
                f'%{own} = pto.reserve_buffer {{name = "{own}_slots", size = {size}, '
                f"location = #pto.address_space<{where}>, {place}}} -> i32"
            )
            ends[own] = f"%{own}"
        if has[peer]:
            other = vector if f is cube else cube
            f.line(
                f'%{peer} = pto.import_reserved_buffer {{name = "{peer}_slots", peer_func = @{other.name}}} -> i32'
            )
            ends[peer] = f"%{peer}"
        side = "aic" if f is cube else "aiv"
        f.line(
            f"pto.{side}_initialize_pipe {{dir_mask = {mask}, slot_size = {slot_bytes}}}\n"
            f"      (gm_slot_buffer = %arg{number} : !pto.ptr<f32>, c2v_consumer_buf = {ends['c2v']} : i32, "
            f"v2c_consumer_buf = {ends['v2c']} : i32)"
        )


def push(f, tile, split=0):
    to = "aiv" if f.kind == "cube" else "aic"
    f.line(f"pto.tpush_to_{to}({tile.name} : {tile.type}) {{split = {split}}}")


def pop(f, dtype, rows, cols, space="vec", split=0):
    blank = f.blank(dtype, rows, cols, space)
    source = "aic" if f.kind == "vector" else "aiv"
    f.line(
        f"{blank.name} = pto.tpop_from_{source}({f.const(rows)}, {f.const(cols)}) {{split = {split}}} -> {blank.type}"
    )
    return blank


def free(f, split=0):
    f.line(f"pto.tfree_from_{'aic' if f.kind == 'vector' else 'aiv'} {{split = {split}}}")


def three(f, shapes):
    return [f.tensor(name, dtype, *shape) for name, dtype, shape in shapes]


def dense(name, split, activation, reference):
    """matmul on the cube core, an activation on one vector core or split over two."""
    shapes = [("a", "bf16", (32, 64)), ("b", "bf16", (64, 64)), ("c", "f32", (32, 64))]

    @case(
        name,
        [("bf16", (32, 64), -1, 1), ("bf16", (64, 64), -1, 1)],
        [("f32", (32, 64))],
        lambda a, b: [reference(a @ b)],
        (1e-4, 1e-4),
        scratch=8 * 32 * 64,
    )
    def build(module):
        cube, vector = pair(module, name)
        a, b, _ = three(cube, shapes)
        _, _, c = three(vector, shapes)
        connect(cube, vector, 32 * 64 * 4)
        push(cube, cube.matmul(cube.load(a, space="mat"), cube.load(b, space="mat")), split)
        rows, cols = (16, 64) if split == 1 else (32, 32) if split == 2 else (32, 64)
        t = pop(vector, "f32", rows, cols, split=split)
        y = activation(vector, t)
        free(vector, split)
        if split == 0:
            vector.store(y, c)
            return
        lane = vector.hidden("__pypto_spmd_subblock_idx")
        vector.line(f"%lane = arith.index_cast {lane} : i32 to index")
        at = vector.arith("muli", "%lane", rows if split == 1 else cols)
        vector.store(y, c, (at, 0) if split == 1 else (0, at))

    return build


dense("dense_relu", 0, lambda f, t: f.unary("trelu", t), lambda x: np.maximum(x, 0))
dense("dense_halves_of_rows", 1, lambda f, t: f.scalar("tmuls", t, 0.5), lambda x: 0.5 * x)
dense("dense_halves_of_columns", 2, lambda f, t: f.scalar("tadds", t, 1.0), lambda x: x + 1)
dense("dense_softmax", 1, softmax_tile, softmax)


@case(
    "dense_pipeline",
    [("bf16", (64, 64), -1, 1), ("bf16", (64, 64), -1, 1)],
    [("f32", (64, 64))],
    lambda a, b: [np.maximum(a @ b, 0)],
    (1e-4, 1e-4),
    scratch=8 * 16 * 64,
)
def dense_pipeline(module):
    """Four tiles through the FIFO in a loop on both sides."""
    shapes = [("a", "bf16", (64, 64)), ("b", "bf16", (64, 64)), ("c", "f32", (64, 64))]
    cube, vector = pair(module, "dense_pipeline")
    a, b, _ = three(cube, shapes)
    _, _, c = three(vector, shapes)
    connect(cube, vector, 16 * 64 * 4)
    right = cube.load(b, space="mat")
    with cube.loop(0, 64, 16) as i:
        push(cube, cube.matmul(cube.load(a, (i, 0), (16, 64), "mat"), right))
    with vector.loop(0, 64, 16) as i:
        t = pop(vector, "f32", 16, 64)
        y = vector.unary("trelu", t)
        free(vector)
        vector.store(y, c, (i, 0))


@case(
    "scaled_product",
    [("f32", (16, 64), -1, 1), ("bf16", (64, 32), -1, 1)],
    [("f32", (16, 32))],
    lambda a, b: [np.asarray(2 * a, np.float64) @ b],
    (1e-2, 6e-2),
    scratch=8 * 16 * 64,
)
def scaled_product(module):
    """The vector core prepares the left operand."""
    shapes = [("a", "f32", (16, 64)), ("b", "bf16", (64, 32)), ("c", "f32", (16, 32))]
    cube, vector = pair(module, "scaled_product")
    _, b, c = three(cube, shapes)
    a, _, _ = three(vector, shapes)
    connect(cube, vector, 16 * 64 * 2, to_vector=False, to_cube=True)
    push(vector, vector.cast(vector.scalar("tmuls", vector.load(a), 2.0), "bf16"))
    left = pop(cube, "bf16", 16, 64, "mat")
    out = cube.matmul(left, cube.load(b, space="mat"))
    free(cube)
    cube.store(out, c)


def attention_reference(q, k, v):
    return [softmax(0.125 * (q @ k.T)) @ v]


@case(
    "attention",
    [("bf16", (16, 64)), ("bf16", (64, 64)), ("bf16", (64, 64))],
    [("f32", (16, 64))],
    attention_reference,
    (2e-2, 2e-2),
    scratch=8 * 16 * 64,
)
def attention(module):
    """Scores to the vector core, probabilities back, the weighted values out."""
    shapes = [
        ("q", "bf16", (16, 64)),
        ("k", "bf16", (64, 64)),
        ("v", "bf16", (64, 64)),
        ("o", "f32", (16, 64)),
    ]
    cube, vector = pair(module, "attention")
    q, k, v, o = three(cube, shapes)
    three(vector, shapes)
    connect(cube, vector, 16 * 64 * 4, to_cube=True)
    turned = cube.treshape(cube.load(k, space="mat"), 64, 64, "mat_t")
    push(cube, cube.matmul(cube.load(q, space="mat"), turned))
    s = pop(vector, "f32", 16, 64)
    p = softmax_tile(vector, vector.scalar("tmuls", s, 0.125))
    free(vector)
    push(vector, vector.cast(p, "bf16"))
    left = pop(cube, "bf16", 16, 64, "mat")
    out = cube.matmul(left, cube.load(v, space="mat"))
    free(cube)
    cube.store(out, o)


@case(
    "quantised_linear",
    [("i8", (16, 64), -127, 127), ("i8", (64, 64), -127, 127), ("f32", (1, 64), 0.001, 0.01)],
    [("f32", (16, 64))],
    lambda a, b, s: [(a @ b) * s],
    (1e-6, 0),
    scratch=8 * 16 * 64,
)
def quantised_linear(module):
    """INT8 products, scaled per column on the vector core."""
    shapes = [
        ("a", "i8", (16, 64)),
        ("b", "i8", (64, 64)),
        ("s", "f32", (1, 64)),
        ("c", "f32", (16, 64)),
    ]
    cube, vector = pair(module, "quantised_linear")
    a, b, _, _ = three(cube, shapes)
    _, _, s, c = three(vector, shapes)
    connect(cube, vector, 16 * 64 * 4)
    push(cube, cube.matmul(cube.load(a, space="mat"), cube.load(b, space="mat"), dtype="i32"))
    t = pop(vector, "i32", 16, 64)
    y = vector.op(
        "tcolexpandmul", [vector.cast(t, "f32"), vector.load(s)], vector.tile("f32", 16, 64)
    )
    free(vector)
    vector.store(y, c)
