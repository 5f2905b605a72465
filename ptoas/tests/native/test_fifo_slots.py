"""FIFOs: slots in place, pipes as handles, and what the fixed pipe does to a push."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from native import CompileError, Kernel, KernelFault

ALIASES = """
!M = !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>
!W = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x32xf32, blayout=col_major, slayout=row_major>
!R = !pto.tile_buf<right, 32x32xf32, slayout=col_major>
!A = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!T = !pto.tensor_view<?x?xf32>
!G = !pto.tensor_view<16x32xf32>
!P = !pto.partition_tensor_view<16x32xf32>
!V = !pto.tile_buf<vec, 16x32xf32>
!H = !pto.tile_buf<vec, 8x32xf32>
!PH = !pto.partition_tensor_view<8x32xf32>
!GH = !pto.tensor_view<8x32xf32>
"""
INDICES = "\n".join(f"    %c{n} = arith.constant {n} : index" for n in (0, 1, 2, 4, 8, 16, 32))


def view(name: str, pointer: str, rows: int, cols: int, dtype: str = "f32") -> str:
    type_ = f"!pto.tensor_view<?x?x{dtype}>"
    return (
        f"    %{name} = pto.make_tensor_view %{pointer}, shape = [%c{rows}, %c{cols}], "
        f"strides = [%c{cols}, %c1] : {type_}"
    )


def part(name: str, source: str, rows: int, cols: int, row: str = "%c0", dtype: str = "f32") -> str:
    source_type = "!G" if source in ("%e", "%w") else f"!pto.tensor_view<?x?x{dtype}>"
    return (
        f"    %{name} = pto.partition_view {source}, offsets = [{row}, %c0], sizes = [%c{rows}, %c{cols}] : "
        f"{source_type} -> !pto.partition_tensor_view<{rows}x{cols}x{dtype}>"
    )


def module(functions: str, arch: str = "a5") -> str:
    return f'{ALIASES}module attributes {{pto.target_arch = "{arch}"}} {{\n{functions}\n}}\n'


def cube(arguments: str, body: str) -> str:
    return (
        f"  func.func @cube({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n"
        f"{INDICES}\n    %z = arith.constant 0 : i32\n{body}\n    return\n  }}"
    )


def vector(arguments: str, body: str) -> str:
    return (
        f"  func.func @vector({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
        f"{INDICES}\n    %z = arith.constant 0 : i32\n{body}\n    return\n  }}"
    )


# The accumulator %a = x @ w.
PRODUCT = "\n".join(
    [
        view("xv", "x", 16, 32),
        view("wv", "w", 32, 32),
        part("xp", "%xv", 16, 32),
        part("wp", "%wv", 32, 32),
        """    %xm = pto.alloc_tile : !M
    %wm = pto.alloc_tile : !W
    %l = pto.alloc_tile : !L
    %r = pto.alloc_tile : !R
    %a = pto.alloc_tile : !A
    pto.tload ins(%xp : !P) outs(%xm : !M)
    pto.tload ins(%wp : !pto.partition_tensor_view<32x32xf32>) outs(%wm : !W)
    pto.tmov ins(%xm : !M) outs(%l : !L)
    pto.tmov ins(%wm : !W) outs(%r : !R)
    pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)""",
    ]
)
CUBE_ARGS = "%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %y: !pto.ptr<f32>"


def arrays(seed: int = 0):
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, (16, 32)).astype(np.float32)
    w = rng.integers(-4, 5, (32, 32)).astype(np.float32)
    return x, w


def run(text: str, *args, entry: str = "cube,vector") -> None:
    Kernel(text, entry=entry)(*args)


@pytest.mark.parametrize("turns", [1, 4, 16, 32])
def test_slots_written_and_read_in_place(turns):
    """The cube writes each slot with two stores, the vector core reads it with two loads."""
    rounds = f"    %n = arith.constant {turns} : index\n    scf.for %i = %c0 to %n step %c1 {{\n"
    send = cube(
        CUBE_ARGS,
        "    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048, slot_num = 2} (c2v_consumer_buf = %z : i32)\n"
        + PRODUCT
        + rounds
        + "    %e = pto.talloc_to_aiv {split = 0} -> !G\n"
        + part("e0", "%e", 16, 32)
        + "\n    pto.tstore ins(%a : !A) outs(%e0 : !P)\n"
        + "    pto.tpush_to_aiv(%e : !G) {split = 0}\n"
        + "    pto.tmatmul.acc ins(%a, %l, %r : !A, !L, !R) outs(%a : !A)\n    }",
    )
    receive = vector(
        CUBE_ARGS,
        "    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048, slot_num = 2} (c2v_consumer_buf = %z : i32)\n"
        "    %s = pto.alloc_tile : !V\n    %t = pto.alloc_tile : !H\n    %zero = arith.constant 0.0 : f32\n"
        "    pto.texpands ins(%zero : f32) outs(%s : !V)\n"
        "    %s0 = pto.subview %s[%c0, %c0] sizes [8, 32] : !V -> !H\n"
        "    %s1 = pto.subview %s[%c8, %c0] sizes [8, 32] : !V -> !H\n"
        + rounds
        + "    %w1 = pto.tpop_from_aic {split = 0} -> !G\n"
        + "    %h0 = pto.partition_view %w1, offsets = [%c0, %c0], sizes = [%c8, %c32] : !G -> !PH\n"
        + "    %h1 = pto.partition_view %w1, offsets = [%c8, %c0], sizes = [%c8, %c32] : !G -> !PH\n"
        + "    pto.tload ins(%h0 : !PH) outs(%t : !H)\n"
        + "    pto.tadd ins(%s0, %t : !H, !H) outs(%s0 : !H)\n"
        + "    pto.tload ins(%h1 : !PH) outs(%t : !H)\n"
        + "    pto.tadd ins(%s1, %t : !H, !H) outs(%s1 : !H)\n"
        + "    pto.tfree_from_aic(%w1 : !G) {split = 0}\n    }\n"
        + view("yv", "y", 16, 32)
        + "\n"
        + part("yp", "%yv", 16, 32)
        + "\n    pto.tstore ins(%s : !V) outs(%yp : !P)",
    )
    x, w = arrays()
    y = np.zeros((16, 32), np.float32)
    run(module(send + "\n" + receive), x, w, y)
    np.testing.assert_array_equal(y, sum(range(1, turns + 1)) * (x @ w))


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("slots", [1, 2, 8])
def test_lanes_write_and_read_their_halves_in_place(split, slots):
    """Each vector core fills its half of a slot; the cube reads the whole as a tensor, and sends it back."""
    rows, cols = (8, 32) if split == 1 else (16, 16)
    half, window = (
        f"!pto.tensor_view<{rows}x{cols}xf32>",
        f"!pto.partition_tensor_view<{rows}x{cols}xf32>",
    )
    tile = f"!pto.tile_buf<vec, {rows}x{cols}xf32>"
    pipe = f"{{dir_mask = 3, slot_size = 2048, slot_num = {slots}}} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)"
    whole = "sizes = [%c16, %c32] : !G -> !P"
    lane = (
        "    %i = pto.get_subblock_idx\n    %li = arith.index_cast %i : i64 to index\n"
        f"    %step = arith.constant {rows if split == 1 else cols} : index\n    %o = arith.muli %li, %step : index\n"
    )
    at = "[%o, %c0]" if split == 1 else "[%c0, %o]"
    window_of = f"offsets = {at}, sizes = [%c{rows}, %c{cols}] : !T -> {window}"
    own = f"offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}] : {half} -> {window}"
    lanes = vector(
        CUBE_ARGS,
        f"    pto.aiv_initialize_pipe {pipe}\n{lane}    %t = pto.alloc_tile : {tile}\n"
        + view("xv", "x", 16, 32)
        + f"\n    %xp = pto.partition_view %xv, {window_of}\n"
        + f"    pto.tload ins(%xp : {window}) outs(%t : {tile})\n"
        + f"    %e1 = pto.talloc_to_aic {{split = {split}}} -> {half}\n"
        + f"    %ep = pto.partition_view %e1, {own}\n"
        + f"    pto.tstore ins(%t : {tile}) outs(%ep : {window})\n"
        + f"    pto.tpush_to_aic(%e1 : {half}) {{split = {split}}}\n"
        + f"    %w1 = pto.tpop_from_aic {{split = {split}}} -> {half}\n"
        + f"    %wp = pto.partition_view %w1, {own}\n"
        + f"    pto.tload ins(%wp : {window}) outs(%t : {tile})\n"
        + f"    pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})\n"
        + f"    pto.tfree_from_aic(%w1 : {half}) {{split = {split}}}\n"
        + view("yv", "y", 16, 32)
        + f"\n    %yp = pto.partition_view %yv, {window_of}\n"
        + f"    pto.tstore ins(%t : {tile}) outs(%yp : {window})",
    )
    middle = cube(
        CUBE_ARGS,
        f"    pto.aic_initialize_pipe {pipe}\n"
        + view("wv", "w", 32, 32)
        + "\n"
        + part("wp", "%wv", 32, 32)
        + "\n    %wm = pto.alloc_tile : !W\n    %xm = pto.alloc_tile : !M\n    %l = pto.alloc_tile : !L\n"
        "    %r = pto.alloc_tile : !R\n    %a = pto.alloc_tile : !A\n"
        "    pto.tload ins(%wp : !pto.partition_tensor_view<32x32xf32>) outs(%wm : !W)\n"
        "    pto.tmov ins(%wm : !W) outs(%r : !R)\n"
        f"    %g = pto.tpop_from_aiv {{split = {split}}} -> !G\n"
        f"    %gp = pto.partition_view %g, offsets = [%c0, %c0], {whole}\n"
        "    pto.tload ins(%gp : !P) outs(%xm : !M)\n    pto.tmov ins(%xm : !M) outs(%l : !L)\n"
        "    pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)\n"
        f"    pto.tfree_from_aiv(%g : !G) {{split = {split}}}\n"
        f"    %e = pto.talloc_to_aiv {{split = {split}}} -> !G\n"
        f"    %e0 = pto.partition_view %e, offsets = [%c0, %c0], {whole}\n"
        "    pto.tstore ins(%a : !A) outs(%e0 : !P)\n"
        f"    pto.tpush_to_aiv(%e : !G) {{split = {split}}}",
    )
    x, w = arrays(1)
    y = np.zeros((16, 32), np.float32)
    run(module(middle + "\n" + lanes), x, w, y)
    np.testing.assert_array_equal(y, 2 * (x @ w))


def handle(kind: str, direction: int = 1, slots: int = 4, flag: int = 0) -> str:
    if kind == "l2l":
        peer = ", %z : i32" if direction == 3 else ""
        return (
            f"    %p = pto.initialize_l2l_pipe {{dir_mask = {direction}, slot_size = 2048, slot_num = {slots}, "
            f"flag_base = {flag}}} (%z : i32{peer}) -> !pto.pipe\n"
        )
    return (
        f"    %p = pto.initialize_l2g2l_pipe {{dir_mask = {direction}, slot_size = 2048, slot_num = {slots}, "
        f"local_slot_num = {slots}, flag_base = {flag}}} (%g : !pto.ptr<f32>, %z : i32) -> !pto.pipe\n"
    )


@pytest.mark.parametrize("kind, arch", [("l2l", "a5"), ("l2g2l", "a5"), ("l2g2l", "a2a3")])
@pytest.mark.parametrize("split", [0, 1])
def test_handles(kind, arch, split):
    """Tiles through a pipe that is a value; the popped tile is one without storage."""
    if arch == "a2a3":
        left = "!L = !pto.tile_buf<left, 16x32xf32, slayout=row_major>"
    rows = 16 if split == 0 else 8
    tile = "!V" if split == 0 else "!H"
    window = f"!pto.partition_tensor_view<{rows}x32xf32>"
    arguments = CUBE_ARGS + ", %g: !pto.ptr<f32>"
    turns = "    scf.for %k = %c0 to %c16 step %c1 {\n"
    send = cube(
        arguments,
        PRODUCT
        + "\n"
        + handle(kind)
        + turns
        + f"    pto.tpush(%a, %p : !A, !pto.pipe) {{split = {split}}}\n    }}",
    )
    receive = vector(
        arguments,
        handle(kind)
        + "    %i = pto.get_subblock_idx\n    %li = arith.index_cast %i : i64 to index\n"
        "    %o = arith.muli %li, %c8 : index\n    %zero = arith.constant 0.0 : f32\n"
        f"    %s = pto.alloc_tile : {tile}\n    %t = pto.declare_tile -> {tile}\n"
        f"    pto.texpands ins(%zero : f32) outs(%s : {tile})\n"
        + turns
        + f"    pto.tpop(%t, %p : {tile}, !pto.pipe) {{split = {split}}}\n"
        f"    pto.tadd ins(%s, %t : {tile}, {tile}) outs(%s : {tile})\n"
        f"    pto.tfree(%p : !pto.pipe) {{split = {split}}}\n    }}\n"
        + view("yv", "y", 16, 32)
        + f"\n    %yp = pto.partition_view %yv, offsets = [%o, %c0], sizes = [%c{rows}, %c32] : !T -> {window}\n"
        f"    pto.tstore ins(%s : {tile}) outs(%yp : {window})",
    )
    text = module(send + "\n" + receive, arch)
    if arch == "a2a3":
        text = text.replace(
            "!L = !pto.tile_buf<left, 16x32xf32, blayout=col_major, slayout=row_major>", left
        )
    x, w = arrays(2)
    y = np.zeros((16, 32), np.float32)
    run(text, x, w, y, np.zeros(8 * 512, np.float32))
    np.testing.assert_array_equal(y, 16 * (x @ w))


def test_handles_of_slots():
    """declare_global names a slot anew in each turn: talloc on one side, tpop on the other."""
    turns = "    scf.for %k = %c0 to %c16 step %c1 {\n"
    send = cube(
        CUBE_ARGS,
        PRODUCT
        + "\n"
        + handle("l2l", direction=3)
        + "    %e = pto.declare_global -> !G\n"
        + turns
        + "    pto.talloc(%e, %p : !G, !pto.pipe) {split = 0}\n"
        + part("e0", "%e", 16, 32)
        + "\n    pto.tstore ins(%a : !A) outs(%e0 : !P)\n    pto.tpush(%e, %p : !G, !pto.pipe) {split = 0}\n    }",
    )
    receive = vector(
        CUBE_ARGS,
        handle("l2l", direction=3)
        + "    %w1 = pto.declare_global -> !G\n    %s = pto.alloc_tile : !V\n    %t = pto.alloc_tile : !V\n"
        "    %zero = arith.constant 0.0 : f32\n    pto.texpands ins(%zero : f32) outs(%s : !V)\n"
        + turns
        + "    pto.tpop(%w1, %p : !G, !pto.pipe) {split = 0}\n"
        "    %wp = pto.partition_view %w1, offsets = [%c0, %c0], sizes = [%c16, %c32] : !G -> !P\n"
        "    pto.tload ins(%wp : !P) outs(%t : !V)\n    pto.tadd ins(%s, %t : !V, !V) outs(%s : !V)\n"
        "    pto.tfree(%p : !pto.pipe) {split = 0}\n    }\n"
        + view("yv", "y", 16, 32)
        + "\n"
        + part("yp", "%yv", 16, 32)
        + "\n    pto.tstore ins(%s : !V) outs(%yp : !P)",
    )
    x, w = arrays(3)
    y = np.zeros((16, 32), np.float32)
    run(module(send + "\n" + receive), x, w, y)
    np.testing.assert_array_equal(y, 16 * (x @ w))


def test_slots_asked_for_ahead_and_held():
    """Two slots at once on both sides; they go out and back in their order."""
    pipe = "{dir_mask = 1, slot_size = 2048, slot_num = 4} (c2v_consumer_buf = %z : i32)\n"
    ahead = "".join(f"    %e{i} = pto.talloc_to_aiv {{split = 0}} -> !G\n" for i in (0, 1))
    windows = "".join(
        f"    %p{i} = pto.partition_view %e{i}, offsets = [%c0, %c0], sizes = [%c16, %c32] : !G -> !P\n"
        for i in (0, 1)
    )
    send = cube(
        CUBE_ARGS,
        f"    pto.aic_initialize_pipe {pipe}"
        + PRODUCT
        + f"\n    scf.for %k = %c0 to %c16 step %c1 {{\n{ahead}{windows}"
        "    pto.tstore ins(%a : !A) outs(%p1 : !P)\n"
        "    pto.tmatmul.acc ins(%a, %l, %r : !A, !L, !R) outs(%a : !A)\n"
        "    pto.tstore ins(%a : !A) outs(%p0 : !P)\n"
        "    pto.tpush_to_aiv(%e0 : !G) {split = 0}\n    pto.tpush_to_aiv(%e1 : !G) {split = 0}\n    }",
    )
    taken = "".join(f"    %e{i} = pto.tpop_from_aic {{split = 0}} -> !G\n" for i in (0, 1))
    receive = vector(
        CUBE_ARGS,
        f"    pto.aiv_initialize_pipe {pipe}"
        "    %s = pto.alloc_tile : !V\n    %t = pto.alloc_tile : !V\n    %u = pto.alloc_tile : !V\n"
        "    %zero = arith.constant 0.0 : f32\n    pto.texpands ins(%zero : f32) outs(%s : !V)\n"
        f"    scf.for %k = %c0 to %c16 step %c1 {{\n{taken}{windows}"
        "    pto.tload ins(%p0 : !P) outs(%t : !V)\n    pto.tload ins(%p1 : !P) outs(%u : !V)\n"
        "    pto.tsub ins(%t, %u : !V, !V) outs(%t : !V)\n    pto.tadd ins(%s, %t : !V, !V) outs(%s : !V)\n"
        "    pto.tfree_from_aic(%e0 : !G) {split = 0}\n    pto.tfree_from_aic(%e1 : !G) {split = 0}\n    }\n"
        + view("yv", "y", 16, 32)
        + "\n"
        + part("yp", "%yv", 16, 32)
        + "\n    pto.tstore ins(%s : !V) outs(%yp : !P)",
    )
    x, w = arrays(4)
    y = np.zeros((16, 32), np.float32)
    run(module(send + "\n" + receive), x, w, y)
    np.testing.assert_array_equal(y, 16 * (x @ w))


def test_a_slot_that_is_never_given_back_is_a_deadlock():
    pipe = "{dir_mask = 1, slot_size = 2048, slot_num = 2} (c2v_consumer_buf = %z : i32)\n"
    turns = "    scf.for %k = %c0 to %c4 step %c1 {\n"
    send = cube(
        CUBE_ARGS,
        f"    pto.aic_initialize_pipe {pipe}"
        + PRODUCT
        + "\n"
        + turns
        + "    pto.tpush_to_aiv(%a : !A) {split = 0}\n    }",
    )
    receive = vector(
        CUBE_ARGS,
        f"    pto.aiv_initialize_pipe {pipe}{turns}    %w1 = pto.tpop_from_aic {{split = 0}} -> !G\n    }}",
    )
    with pytest.raises(KernelFault, match="deadlock") as caught:
        run(module(send + "\n" + receive), *arrays(), np.zeros((16, 32), np.float32))
    _, cube_waits, vector_waits = str(caught.value).splitlines()
    assert "'pto.tpush_to_aiv' of the cube core waits for pipe 0 (cube to vector)" in cube_waits
    assert "all of its 2 slots are in use, 2 of them popped and not freed" in cube_waits
    assert "'pto.tpop_from_aic' of the vector core waits" in vector_waits


# Quantisation words (pto-isa 6.8): scale in the low half, offset from bit 37, signed results from bit 46.
def word(scale: float, offset: int = 0, signed: bool = True) -> int:
    bits = int(np.float32(scale).view(np.uint32))
    return bits | (offset & 0x1FF) << 37 | int(signed) << 46


def epilogue(quant: str, popped: str, setting: str, *, relu: str = "no_relu", extra: str = ""):
    """A product that leaves the accumulator through the fixed pipe, stored as it arrives."""
    pipe = "dir_mask = 1, nosplit = true, slot_size = 2048} (c2v_consumer_buf = %z : i32)\n"
    send = cube(
        CUBE_ARGS.replace(
            "%y: !pto.ptr<f32>", f"%y: !pto.ptr<{popped}>, %q: !pto.ptr<ui64>, %s: f32, %d: i64"
        ),
        "    pto.aic_initialize_pipe {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, "
        f"quant = {quant}, relu = {relu}>, {pipe}"
        + PRODUCT
        + f"\n{setting}\n    pto.tpush_to_aiv(%a : !A) {{split = 0}}",
    )
    tile, window = (
        f"!pto.tile_buf<vec, 16x32x{popped}>",
        f"!pto.partition_tensor_view<16x32x{popped}>",
    )
    receive = vector(
        CUBE_ARGS.replace(
            "%y: !pto.ptr<f32>", f"%y: !pto.ptr<{popped}>, %q: !pto.ptr<ui64>, %s: f32, %d: i64"
        ),
        f"    pto.aiv_initialize_pipe {{{pipe}"
        f"    %t = pto.tpop_from_aic {{split = 0}} -> {tile}\n"
        + view("yv", "y", 16, 32, popped)
        + "\n"
        + part("yp", "%yv", 16, 32, dtype=popped)
        + f"\n    pto.tstore ins(%t : {tile}) outs(%yp : {window})\n    pto.tfree_from_aic {{split = 0}}",
    )
    return module(send + "\n" + receive)


SCALAR = "    pto.set_quant_scalar(%s : f32) {id = 0}"
WORD = "    pto.set_quant_scalar(%d : i64) {id = 0}"
VECTOR = "\n".join(
    [
        view("qv", "q", 1, 32, "ui64"),
        part("qp", "%qv", 1, 32, dtype="ui64"),
        """    %qm = pto.alloc_tile : !pto.tile_buf<mat, 1x32xui64>
    %qs = pto.alloc_tile : !pto.tile_buf<scaling, 1x32xui64>
    pto.tload ins(%qp : !pto.partition_tensor_view<1x32xui64>) outs(%qm : !pto.tile_buf<mat, 1x32xui64>)
    pto.tmov ins(%qm : !pto.tile_buf<mat, 1x32xui64>) outs(%qs : !pto.tile_buf<scaling, 1x32xui64>)
    pto.set_quant_vector(%qs : !pto.tile_buf<scaling, 1x32xui64>) {id = 0}""",
    ]
)


def run_epilogue(text: str, dtype, *, scale=0.37, words=None, scalar_word=0):
    x, w = arrays(5)
    y = np.zeros((16, 32), dtype)
    words = np.zeros(32, np.uint64) if words is None else np.array(words, np.uint64)
    run(text, x, w, y, words, scale, scalar_word)
    return x @ w, y


@pytest.mark.parametrize("relu", ["no_relu", "normal_relu"])
@pytest.mark.parametrize(
    "quant, popped, dtype",
    [
        ("f322f16", "f16", np.float16),
        ("f32_to_bf16", "bf16", ml_dtypes.bfloat16),
        ("noquant", "f32", np.float32),
    ],
)
def test_push_converts(quant, popped, dtype, relu):
    product, y = run_epilogue(epilogue(quant, popped, "", relu=relu), dtype)
    product = np.maximum(product, 0) if relu == "normal_relu" else product
    np.testing.assert_array_equal(y, product.astype(dtype))


@pytest.mark.parametrize("relu", ["no_relu", "normal_relu"])
@pytest.mark.parametrize(
    "quant, popped, dtype",
    [
        ("qf322b8_pre", "i8", np.int8),
        ("qf322b8_pre", "ui8", np.uint8),
        ("qf322f16_pre", "f16", np.float16),
        ("qf322bf16_pre", "bf16", ml_dtypes.bfloat16),
    ],
)
def test_push_with_one_scale(quant, popped, dtype, relu):
    product, y = run_epilogue(epilogue(quant, popped, SCALAR, relu=relu), dtype)
    product = np.maximum(product, 0) if relu == "normal_relu" else product
    want = product * np.float32(0.37)
    if np.issubdtype(dtype, np.integer):
        want = np.clip(np.rint(want), np.iinfo(dtype).min, np.iinfo(dtype).max)
    np.testing.assert_array_equal(y, want.astype(dtype))


@pytest.mark.parametrize("popped, dtype", [("i8", np.int8), ("ui8", np.uint8)])
def test_push_with_a_word(popped, dtype):
    scalar_word = word(1.5, 20, signed=dtype == np.int8)
    product, y = run_epilogue(epilogue("qf322b8_pre", popped, WORD), dtype, scalar_word=scalar_word)
    want = np.clip(
        np.rint(product * np.float32(1.5) + 20), np.iinfo(dtype).min, np.iinfo(dtype).max
    )
    np.testing.assert_array_equal(y, want.astype(dtype))


def test_push_with_a_scale_for_each_column():
    scales = np.exp2(np.arange(32) % 5 - 3).astype(np.float32)
    words = [word(s, (i % 7) - 3) for i, s in enumerate(scales)]
    product, y = run_epilogue(epilogue("vqf322b8_pre", "i8", VECTOR), np.int8, words=words)
    offsets = (np.arange(32) % 7 - 3).astype(np.float32)
    np.testing.assert_array_equal(
        y, np.clip(np.rint(product * scales + offsets), -128, 127).astype(np.int8)
    )


@pytest.mark.parametrize(
    "quant, setting, message",
    [
        ("qf322b8_pre", "", "needs scales, but no set_quant_scalar or set_quant_vector of pipe 0"),
        ("vqf322b8_pre", SCALAR, "a scale for each column, but set_quant_scalar comes before it"),
        ("qf322b8_pre", VECTOR, "one scale, but set_quant_vector comes before it"),
        ("shifts322s16", SCALAR, "how it rounds what it shifts out is not known"),
        (
            "qf322b8_pre",
            f"    %b = arith.cmpi eq, %d, %d : i64\n    scf.if %b {{\n{SCALAR}\n    }}",
            "uses scales that depend on the way to it",
        ),
    ],
)
def test_scales_that_do_not_fit(quant, setting, message):
    with pytest.raises(CompileError, match=message):
        run_epilogue(epilogue(quant, "i8", setting), np.int8)


def refused(body: str, message: str, arguments: str = CUBE_ARGS) -> None:
    pipe = "    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 2048} (c2v_consumer_buf = %z : i32)\n"
    with pytest.raises(CompileError, match=message):
        Kernel(module(cube(arguments, pipe + body)))


def test_what_a_slot_cannot_be():
    refused(
        view("xv", "x", 16, 32) + "\n    pto.tpush_to_aiv(%xv : !T) {split = 0}",
        "sends a tensor that is no slot of the FIFO",
    )
    refused("    %e = pto.talloc_to_aiv {split = 0} -> !T", "whose extents must be numbers")
    refused(
        "    %e = pto.declare_global -> !G\n" + part("e0", "%e", 16, 32),
        "uses a tensor before talloc or tpop has bound it",
    )
    refused(
        handle("l2l")
        + "    %e = pto.declare_global -> !G\n    pto.talloc(%e, %p : !G, !pto.pipe) {split = 0}\n"
        "    scf.for %i = %c0 to %c4 step %c1 {\n      pto.talloc(%e, %p : !G, !pto.pipe) {split = 0}\n    }",
        "binds a tensor that another op binds in another block",
    )
