"""Ops of the vector core that test_ops.py, test_nests.py and test_irregular.py leave out."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from native import DTYPES, Code, Kernel, Program
from test_ops import FLOATS, SHAPES, check, elementwise, random, run_everywhere

INTS = ["i8", "i16", "i32"]


def rounded(function, dtype):
    """`function` on single precision for the narrow floats, rounded once."""

    def call(*arrays):
        wide = [a.astype(np.float32) if dtype in ("f16", "bf16") else a for a in arrays]
        return function(*wide).astype(DTYPES[dtype])

    return call


def two_steps(first, second, dtype):
    """Three operands as the hardware has them: two instructions, each rounding."""
    one, two = rounded(first, dtype), rounded(second, dtype)
    return lambda a, b, c: two(one(a, b), c)


# name: (operands, reference from (dtype), element types)
PLAIN = {
    "taddc": (3, lambda d: two_steps(np.add, np.add, d), ["f32", "f16", "i16", "i32"]),
    "tsubc": (3, lambda d: two_steps(np.subtract, np.add, d), ["f32", "f16", "i16", "i32"]),
    "tprelu": (2, lambda d: rounded(lambda a, b: np.where(a > 0, a, a * b), d), ["f32", "f16"]),
    "taddrelu": (2, lambda d: rounded(lambda a, b: np.maximum(a + b, 0), d), ["f32", "f16"]),
    "tpartadd": (2, lambda d: rounded(np.add, d), ["f32", "f16", "i16", "i32"]),
    "tpartmul": (2, lambda d: rounded(np.multiply, d), ["f32", "f16", "i16", "i32"]),
    "tpartmax": (2, lambda d: rounded(np.maximum, d), ["f32", "f16", "i16", "i32"]),
    "tpartmin": (2, lambda d: rounded(np.minimum, d), ["f32", "f16", "i16", "i32"]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op,dtype", [(op, d) for op, (_, _, ds) in PLAIN.items() for d in ds])
def test_plain(op, dtype, shape):
    count, reference, _ = PLAIN[op]
    rng = np.random.default_rng(crc32(f"{op} {dtype}".encode()))
    arrays = [random(rng, dtype, shape[:2]) for _ in range(count)]
    out = np.full(shape[:2], 7, DTYPES[dtype])
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype] * count), arrays, [out])
    check(got, reference(dtype)(*arrays), shape)


SCALAR = {
    "tdivs": (lambda d: rounded(np.divide, d), ["f32", "f16"]),
    "tands": (lambda d: np.bitwise_and, INTS),
    "tors": (lambda d: np.bitwise_or, INTS),
    "txors": (lambda d: np.bitwise_xor, INTS),
    "tlrelu": (lambda d: rounded(lambda a, s: np.where(a > 0, a, a * s), d), ["f32"]),
    "trems": (
        lambda d: lambda a, s: a - np.floor(a / s) * s if d == "f32" else a % s,
        ["f32", "i32"],
    ),
    "tfmods": (lambda d: np.fmod, ["f32", "i32", "i16"]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op,dtype", [(op, d) for op, (_, ds) in SCALAR.items() for d in ds])
def test_scalar_operand(op, dtype, shape):
    reference, _ = SCALAR[op]
    rng = np.random.default_rng(crc32(f"{op} {dtype}".encode()))
    a = random(rng, dtype, shape[:2])
    out = np.full(shape[:2], 7, DTYPES[dtype])
    scalar = "2.5" if dtype in FLOATS else "3"
    (got,) = run_everywhere(elementwise(op, dtype, shape, [dtype], scalar=scalar), [a], [out])
    check(got, reference(dtype)(a, DTYPES[dtype](float(scalar))), shape)


def program(shape, inputs, output, body, arch="a5"):
    """Tiles of `inputs` (dtype, rows, cols) loaded, `body(p, tiles, out)`, the output stored."""
    rows, cols, vr, vc = shape

    def build(dynamic):
        p = Program(arch)
        tensors = [*inputs, output]
        pointers = [p.pointer(d) for d, *_ in tensors]
        r, c = (p.scalar("index"), p.scalar("index")) if dynamic else (vr, vc)
        views, tiles = [], []
        for pointer, (d, tr, tc) in zip(pointers, tensors):
            valid = (r if tr == rows else tr, c if tc == cols else tc)
            views.append(p.view(pointer, d, [tr, tc], sizes=list(valid)))
            if tc == 1 and cols > 1:
                tiles.append(p.tile(d, tr, 1, valid[0], 1, extra=", blayout=col_major"))
            else:
                tiles.append(p.tile(d, tr, tc, *valid))
        for view, tile in zip(views[:-1], tiles[:-1]):
            p.load(view, tile)
        body(p, tiles[:-1], tiles[-1])
        p.store(tiles[-1], views[-1])
        return p.text(), ([vr, vc] if dynamic else [])

    return build


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i16", "i32"])
@pytest.mark.parametrize(
    "op,first,second", [("taddsc", np.add, np.add), ("tsubsc", np.subtract, np.add)]
)
def test_tile_scalar_tile(op, first, second, dtype, shape):
    rng = np.random.default_rng(3)
    a, b = (random(rng, dtype, shape[:2]) for _ in range(2))
    scalar = "2.5" if dtype in FLOATS else "3"
    tile = (dtype, *shape[:2])
    build = program(
        shape, [tile, tile], tile,
        lambda p, t, out: p.op(op, [t[0], (p.const(scalar, dtype), dtype), t[1]], [out]),
    )  # fmt: skip
    (got,) = run_everywhere(build, [a, b], [np.full(shape[:2], 7, DTYPES[dtype])])
    want = two_steps(first, second, dtype)(a, np.full_like(a, float(scalar)), b)
    check(got, want, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_axpy(dtype, shape):
    rng = np.random.default_rng(4)
    a, b = (random(rng, dtype, shape[:2]) for _ in range(2))
    tile = (dtype, *shape[:2])

    def body(p, tiles, out):
        p.op("tmov", [tiles[1]], [out])
        p.op("taxpy", [tiles[0], (p.const("0.5", dtype), dtype)], [out])

    (got,) = run_everywhere(
        program(shape, [tile, tile], tile, body), [a, b], [np.full(shape[:2], 7, DTYPES[dtype])]
    )
    want = b.astype(np.float64) + 0.5 * a.astype(np.float64)
    check(got, want, shape, {"f32": 2e-7, "f16": 2e-3}[dtype])


ROW = {
    "trowexpandmax": np.maximum,
    "trowexpandmin": np.minimum,
    "trowexpandexpdif": lambda a, c: np.exp(a - c),
}
COL = {
    "tcolexpandmax": np.maximum,
    "tcolexpandmin": np.minimum,
    "tcolexpandexpdif": lambda a, c: np.exp(a - c),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("op", [*ROW, *COL])
def test_expand(op, dtype, shape):
    rows, cols = shape[:2]
    rng = np.random.default_rng(crc32(op.encode()))
    a = random(rng, dtype, (rows, cols))
    small = (rows, 1) if op in ROW else (1, cols)
    v = random(rng, dtype, small)
    build = program(
        shape, [(dtype, rows, cols), (dtype, *small)], (dtype, rows, cols),
        lambda p, t, out: p.op(op, t, [out]),
    )  # fmt: skip
    (got,) = run_everywhere(build, [a, v], [np.full((rows, cols), 7, DTYPES[dtype])])
    want = {**ROW, **COL}[op](a.astype(np.float32), v.astype(np.float32))
    tolerance = {"f16": 4e-3, "f32": 3e-7}[dtype] if "dif" in op else 0
    check(got, want, shape, tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op", ["tpow", "tpows"])
def test_power(op, shape):
    rng = np.random.default_rng(11)
    a, b = random(rng, "f32", shape[:2], 0.1, 4), random(rng, "f32", shape[:2], -2, 2)
    tile = ("f32", *shape[:2])
    build = program(
        shape, [tile, tile], tile,
        lambda p, t, out: p.op(op, [t[0], t[1] if op == "tpow" else (p.const("1.5", "f32"), "f32")], [out]),
    )  # fmt: skip
    (got,) = run_everywhere(build, [a, b], [np.full(shape[:2], 7, np.float32)])
    check(got, np.power(a.astype(np.float64), b if op == "tpow" else 1.5), shape, 1e-6)


def test_division_of_a_scalar():
    shape = (5, 48, 5, 33)
    a = random(np.random.default_rng(1), "f32", shape[:2], 0.5, 4)
    tile = ("f32", 5, 48)
    build = program(
        shape, [tile], tile,
        lambda p, t, out: p.op("tdivs", [(p.const("2.5", "f32"), "f32"), t[0]], [out]),
    )  # fmt: skip
    (got,) = run_everywhere(build, [a], [np.full((5, 48), 7, np.float32)])
    check(got, np.float32(2.5) / a, shape)


# ---- handles, scalars and order -----------------------------------------------------------------
def test_handles_and_pointers():
    """addptr, subset, bitcast, get_validshape, tile_valid_*, tensor view queries."""
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<i32>, %y: !pto.ptr<f32>, %n: !pto.ptr<i64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %p = pto.addptr %x, %c16 : !pto.ptr<i32> -> !pto.ptr<i32>
    %xv = pto.make_tensor_view %p, shape = [%c4, %c16], strides = [%c16, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xi32>
    %yv = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<4x16xi32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 4x16xi32>
    pto.tload ins(%xp : !pto.partition_tensor_view<4x16xi32>) outs(%t : !pto.tile_buf<vec, 4x16xi32>)
    %u = pto.bitcast %t : !pto.tile_buf<vec, 4x16xi32> -> !pto.tile_buf<vec, 4x16xf32>
    %s = pto.subview %u[%c0, %c8] sizes [4, 8] : !pto.tile_buf<vec, 4x16xf32> -> !pto.tile_buf<vec, 4x8xf32>
    %o = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
    pto.tmov ins(%s : !pto.tile_buf<vec, 4x8xf32>) outs(%o : !pto.tile_buf<vec, 4x8xf32>)
    pto.tstore ins(%o : !pto.tile_buf<vec, 4x8xf32>) outs(%yp : !pto.partition_tensor_view<4x8xf32>)
    %w = pto.alloc_tile valid_row = %c3 valid_col = %c2 : !pto.tile_buf<vec, 4x16xf32, valid=?x?>
    %r, %c = pto.get_validshape %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?>
    %vr = pto.tile_valid_rows %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?> -> index
    %vc = pto.tile_valid_cols %w : !pto.tile_buf<vec, 4x16xf32, valid=?x?> -> index
    %d = pto.get_tensor_view_dim %xv, %c1 : !pto.tensor_view<?x?xi32> -> index
    %st = pto.get_tensor_view_stride %xv, %c0 : !pto.tensor_view<?x?xi32> -> index
    %v0 = arith.index_cast %r : index to i64
    %v1 = arith.index_cast %c : index to i64
    %v2 = arith.index_cast %vr : index to i64
    %v3 = arith.index_cast %vc : index to i64
    %v4 = arith.index_cast %d : index to i64
    %v5 = arith.index_cast %st : index to i64
    %c5 = arith.constant 5 : index
    pto.store_scalar %v0, %n[%c0] : !pto.ptr<i64>, i64
    pto.store_scalar %v1, %n[%c1] : !pto.ptr<i64>, i64
    pto.store_scalar %v2, %n[%c2] : !pto.ptr<i64>, i64
    pto.store_scalar %v3, %n[%c3] : !pto.ptr<i64>, i64
    pto.store_scalar %v4, %n[%c4] : !pto.ptr<i64>, i64
    pto.store_scalar %v5, %n[%c5] : !pto.ptr<i64>, i64
    return
  }
}"""
    x = np.arange(80, dtype=np.int32).reshape(5, 16)
    y, n = np.zeros((4, 8), np.float32), np.zeros(6, np.int64)
    Code(text)("f", x, y, n)
    np.testing.assert_array_equal(y.view(np.int32), x[1:, 8:])
    np.testing.assert_array_equal(n, [3, 2, 3, 2, 16, 16])


def test_order_makes_no_code():
    """Flags, events and barriers of one core: program order, whatever they are."""
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<i32>, %i: index) {
    %c0 = arith.constant 0 : index
    %v = arith.constant 5 : i32
    %e = pto.declare_eventid_array -> !pto.eventid_array<2>
    pto.eventid_array_set %e[%c0], %i : !pto.eventid_array<2>
    %k = pto.eventid_array_get %e[%c0] : !pto.eventid_array<2>
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.barrier <PIPE_ALL>
    pto.barrier_sync[#pto.sync_op_type<TLOAD>]
    pto.get_buf[#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}
    pto.rls_buf[#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}
    pto.get_buf_dyn "PIPE_V", %i, 0
    pto.rls_buf_dyn "PIPE_V", %i, 0
    pto.mem_bar #pto.membar<VST_VLD>
    pto.fence.barrier_all #pto.fence_scope<gm>
    pto.cmo.cacheinvalid all #pto.address_space<gm>
    pto.store_scalar %v, %x[%c0] : !pto.ptr<i32>, i32
    return
  }
}"""
    x = np.zeros(1, np.int32)
    Code(text)("f", x, 1)
    assert x[0] == 5


@pytest.mark.parametrize("blocks", [1, 4])
def test_blocks_meet(blocks):
    """Hard meetings: every block reads what all others wrote before. Ids are those of the launch."""
    text = """
module attributes {pto.target_arch = "a2a3"} {
  func.func @f(%x: !pto.ptr<i64>, %y: !pto.ptr<i64>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %b = pto.get_block_idx
    %n = pto.get_block_num
    %s = pto.get_subblock_idx
    %m = pto.get_subblock_num
    %i = arith.index_cast %b : i64 to index
    %e = arith.index_cast %n : i64 to index
    %k = arith.addi %b, %s : i64
    pto.store_scalar %k, %x[%i] : !pto.ptr<i64>, i64
    pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
    %sum = scf.for %j = %c0 to %e step %c1 iter_args(%a = %z) -> i64 {
      %v = pto.load_scalar %x[%j] : !pto.ptr<i64> -> i64
      %w = arith.addi %a, %v : i64
      scf.yield %w : i64
    }
    %t = arith.muli %sum, %m : i64
    pto.store_scalar %t, %y[%i] : !pto.ptr<i64>, i64
    return
  }
}"""
    x, y = np.full(blocks, 100, np.int64), np.zeros(blocks, np.int64)
    Kernel(text)(x, y, blocks=blocks)
    np.testing.assert_array_equal(y, np.full(blocks, blocks * (blocks - 1) // 2))
