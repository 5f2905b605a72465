"""Level3 tiles with boxes: what one tile writes, a tile of another shape, order or element size at the same bytes reads
where the hardware has it (pto-isa 2.4)."""

from __future__ import annotations

import numpy as np
import pytest
from native import AVX2, DTYPES, HOST, Code, Program, module

NZ = ("col_major", "row_major", 512)
ZN = ("row_major", "col_major", 512)
ZZ = ("row_major", "row_major", 512)
NN = ("col_major", "col_major", 512)
ACC = ("col_major", "row_major", 1024)
ND = ("row_major", "none_box", 512)
NAMES = {NZ: "nz", ZN: "zn", ZZ: "zz", NN: "nn", ACC: "acc", ND: "nd"}


def offsets(rows: int, cols: int, order, size: int) -> np.ndarray:
    """Where element (r, c) lies, in elements."""
    blayout, slayout, fractal = order
    r, c = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
    if slayout == "none_box":
        return r * cols + c
    inside = 32 // size
    box_rows, box_cols = (
        (16, 16) if fractal == 1024 else (16, inside) if slayout == "row_major" else (inside, 16)
    )
    count = box_rows * box_cols
    sr, ir, sc, ic = r // box_rows, r % box_rows, c // box_cols, c % box_cols
    boxes = (
        sc * rows * box_cols + sr * count
        if blayout == "col_major"
        else sr * cols * box_rows + sc * count
    )
    return boxes + (ir * box_cols + ic if slayout == "row_major" else ic * box_rows + ir)


class Memory:
    """The bytes of one on-chip memory."""

    def __init__(self, size: int):
        self.bytes = np.zeros(size, np.uint8)

    def _at(self, address, shape, dtype, order):
        size = np.dtype(dtype).itemsize
        count = shape[0] * shape[1] * size
        return self.bytes[address : address + count].view(dtype), offsets(*shape, order, size)

    def write(self, address, value, order):
        line, at = self._at(address, value.shape, value.dtype, order)
        line[at] = value

    def read(self, address, shape, dtype, order):
        line, at = self._at(address, shape, dtype, order)
        return line[at]


def type_of(space, dtype, shape, order):
    blayout, slayout, fractal = order
    return f"!pto.tile_buf<{space}, {shape[0]}x{shape[1]}x{dtype}, blayout={blayout}, slayout={slayout}, fractal={fractal}>"


def tile(p: Program, dtype, shape, order, address, space="mat"):
    type_ = type_of(space, dtype, shape, order)
    name = p.name()
    p.emit(f"{name} = pto.alloc_tile addr = {p.const(address, 'i64')} : {type_}")
    return name, type_


def values(dtype, shape, seed=0):
    return np.random.default_rng(seed).integers(
        0, 2 ** (8 * np.dtype(dtype).itemsize), shape, np.dtype(dtype)
    )


def run(p: Program, *arrays):
    """All modes give the same bytes."""
    results = []
    for fuse in (True, False):
        for isa in (HOST, AVX2):
            copies = [a.copy() for a in arrays]
            Code(p.text(), fuse=fuse, isa=isa)("f", *copies)
            results.append(copies)
    for other in results[1:]:
        for a, b in zip(results[0], other):
            assert a.tobytes() == b.tobytes()
    return results[0]


BITS = {1: "ui8", 2: "ui16", 4: "ui32"}


@pytest.mark.parametrize(
    "wrote,read",
    [
        (("ui16", (64, 64), NZ, 0), ("ui16", (64, 64), ZN, 0)),
        (("ui16", (64, 64), NZ, 0), ("ui16", (32, 128), NZ, 0)),
        (("ui16", (64, 64), NZ, 0), ("ui16", (32, 32), NZ, 0)),
        (("ui16", (64, 64), NZ, 0), ("ui16", (64, 32), NZ, 4096)),
        (("ui16", (64, 64), NZ, 0), ("ui8", (64, 128), NZ, 0)),
        (("ui16", (64, 64), NZ, 0), ("ui32", (64, 32), NZ, 0)),
        (("ui32", (32, 32), ZN, 0), ("ui8", (64, 64), ZN, 0)),
        (("ui8", (32, 64), ZZ, 0), ("ui8", (64, 32), NN, 0)),
        (("ui16", (48, 32), NZ, 0), ("ui16", (48, 32), ZZ, 0)),
        (("ui16", (64, 64), NZ, 512), ("ui16", (16, 16), NZ, 512 + 1536)),
        (("ui16", (64, 64), NZ, 0), ("ui16", (64, 64), ND, 0)),
        (("ui16", (64, 64), ND, 0), ("ui16", (64, 64), ZN, 0)),
        (("ui32", (16, 32), NZ, 0), ("ui32", (32, 16), NZ, 0)),
        (("ui16", (32, 64), NZ, 0), ("ui16", (64, 32), ZN, 0)),  # the transpose: the same bytes
    ],
    ids=lambda t: f"{t[0]}-{t[1][0]}x{t[1][1]}-{NAMES[t[2]]}-{t[3]}",
)
def test_written_as_one_and_read_as_another(wrote, read):
    p = Program("a3")
    pointers = [p.pointer(t[0]) for t in (wrote, read)]
    a, b = (tile(p, *t) for t in (wrote, read))
    p.load(p.view(pointers[0], wrote[0], wrote[1]), a)
    p.store(b, p.view(pointers[1], read[0], read[1]))
    x = values(DTYPES[wrote[0]], wrote[1])
    memory = Memory(1 << 16)
    memory.write(wrote[3], x, wrote[2])
    _, got = run(p, x, np.zeros(read[1], DTYPES[read[0]]))
    np.testing.assert_array_equal(got, memory.read(read[3], read[1], DTYPES[read[0]], read[2]))


def test_a_small_tile_in_the_middle_of_a_large_one():
    """The large tile keeps what the small one does not cover, and sees the rest where it lies."""
    p = Program("a3")
    x, y, z = (p.pointer("ui16") for _ in range(3))
    large, small = tile(p, "ui16", (64, 64), NZ, 0), tile(p, "ui16", (16, 48), ZN, 1024)
    p.load(p.view(x, "ui16", [64, 64]), large)
    p.load(p.view(y, "ui16", [16, 48]), small)
    p.store(large, p.view(z, "ui16", [64, 64]))
    a, b = values(np.uint16, (64, 64)), values(np.uint16, (16, 48), 1)
    memory = Memory(8192)
    memory.write(0, a, NZ)
    memory.write(1024, b, ZN)
    *_, got = run(p, a, b, np.zeros((64, 64), np.uint16))
    np.testing.assert_array_equal(got, memory.read(0, (64, 64), np.uint16, NZ))


def test_valid_parts_leave_the_rest_alone():
    """A load of some boxes of a tile that lies over another one."""
    p = Program("a3")
    x, y, z = (p.pointer("ui16") for _ in range(3))
    first = tile(p, "ui16", (32, 128), NZ, 0)
    name, second = (
        p.name(),
        "!pto.tile_buf<mat, 64x64xui16, valid=32x48, blayout=col_major, slayout=row_major>",
    )
    p.emit(f"{name} = pto.alloc_tile addr = {p.const(0, 'i64')} : {second}")
    p.load(p.view(x, "ui16", [32, 128]), first)
    p.load(p.view(y, "ui16", [32, 48]), (name, second))
    p.store(first, p.view(z, "ui16", [32, 128]))
    a, b = values(np.uint16, (32, 128)), values(np.uint16, (32, 48), 1)
    memory = Memory(8192)
    memory.write(0, a, NZ)
    whole = memory.read(0, (64, 64), np.uint16, NZ).copy()
    whole[:32, :48] = b
    memory.write(0, whole, NZ)
    *_, got = run(p, a, b, np.zeros((32, 128), np.uint16))
    np.testing.assert_array_equal(got, memory.read(0, (32, 128), np.uint16, NZ))


@pytest.mark.parametrize("level3", [True, False], ids=["level3", "level2"])
@pytest.mark.parametrize(
    "shape,dtype",
    [((32, 128), "ui16"), ((128, 32), "ui16"), ((64, 32), "ui32"), ((64, 128), "ui8")],
)
def test_reshape_of_a_tile_with_boxes(level3, shape, dtype):
    p = Program("a3")
    x, y = p.pointer("ui16"), p.pointer(dtype)
    address = 2048 if level3 else None
    before = type_of("mat", "ui16", (64, 64), NZ)
    name, other = p.name(), p.name()
    p.emit(
        f"{name} = pto.alloc_tile{'' if address is None else f' addr = {p.const(address, chr(105) + str(64))}'} : {before}"
    )
    after = type_of("mat", dtype, shape, NZ)
    p.load(p.view(x, "ui16", [64, 64]), (name, before))
    p.emit(f"{other} = pto.treshape {name} : {before} -> {after}")
    p.store((other, after), p.view(y, dtype, list(shape)))
    a = values(np.uint16, (64, 64))
    memory = Memory(8192)
    memory.write(0, a, NZ)
    _, got = run(p, a, np.zeros(shape, DTYPES[dtype]))
    np.testing.assert_array_equal(got, memory.read(0, shape, DTYPES[dtype], NZ))


def test_parts_of_a_tile_that_is_kept_in_boxes():
    p = Program("a3")
    x, y, z, r = p.pointer("ui16"), p.pointer("ui16"), p.pointer("ui16"), p.scalar("index")
    whole, other = tile(p, "ui16", (64, 64), NZ, 0), tile(p, "ui16", (64, 64), ZN, 0)
    part = type_of("mat", "ui16", (16, 32), NZ)
    for row in (r, p.const(0)):
        name = p.name()
        p.emit(
            f"{name} = pto.subview {whole[0]}[{row}, {p.const(16)}] sizes [16, 32] : {whole[1]} -> {part}"
        )
        if row == r:
            p.load(p.view(x, "ui16", [64, 64]), whole)
            p.load(p.view(y, "ui16", [16, 32]), (name, part))
    p.store(other, p.view(z, "ui16", [64, 64]))
    a, b = values(np.uint16, (64, 64)), values(np.uint16, (16, 32), 1)
    for row in (0, 48):
        want = a.copy()
        want[row : row + 16, 16:48] = b
        memory = Memory(8192)
        memory.write(0, want, NZ)
        got = np.zeros((64, 64), np.uint16)
        Code(p.text())("f", a, b, got, row)
        np.testing.assert_array_equal(got, memory.read(0, (64, 64), np.uint16, ZN))


def test_a_loop_reads_what_the_last_iteration_wrote_in_another_shape():
    p = Program("a3")
    x, y = p.pointer("ui16"), p.pointer("ui16")
    a, b = tile(p, "ui16", (64, 32), NZ, 0), tile(p, "ui16", (32, 64), NZ, 0)
    p.load(p.view(x, "ui16", [32, 64]), b)
    p.emit(f"scf.for %i = {p.const(0)} to {p.const(3)} step {p.const(1)} {{")
    p.store(a, p.view(y, "ui16", [3, 64, 32], offsets=["%i", 0, 0], sizes=[1, 64, 32]))
    p.load(p.view(y, "ui16", [3, 32, 64], offsets=["%i", 0, 0], sizes=[1, 32, 64]), b)
    p.emit("}")
    value = values(np.uint16, (32, 64))
    memory, want = Memory(4096), []
    memory.write(0, value, NZ)
    for _ in range(3):
        want.append(memory.read(0, (64, 32), np.uint16, NZ).copy())
        memory.write(0, want[-1].reshape(32, 64), NZ)
    _, got = run(p, value, np.zeros((3, 64, 32), np.uint16))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("side", ["left", "right", "acc"])
def test_operands_that_lie_over_others(side):
    """c = a @ b, where one of them is seen as a tile of another shape at its address."""
    m, k, n = 32, 64, 48
    p = Program("a5")
    pa, pb, pc = p.pointer("f16"), p.pointer("f16"), p.pointer("f32")
    la, lb = tile(p, "f16", (m, k), NZ, 0), tile(p, "f16", (k, n), NZ, 8192)
    p.load(p.view(pa, "f16", [m, k]), la)
    p.load(p.view(pb, "f16", [k, n]), lb)
    shapes = {"left": (m, k), "right": (k, n), "acc": (m, n)}
    orders = {"left": NZ, "right": ZN, "acc": ACC}
    tiles = {
        name: tile(p, "f32" if name == "acc" else "f16", shapes[name], orders[name], 0, name)
        for name in shapes
    }
    seen = {"left": (64, 32), "right": (48, 64), "acc": (48, 32)}[side]
    dtype = "f32" if side == "acc" else "f16"
    other = tile(p, dtype, seen, orders[side], 0, side)
    p.op("tmov", [la], [tiles["left"]])
    p.op("tmov", [lb], [tiles["right"]])
    a, b = (
        np.random.default_rng(s).uniform(-1, 1, shape).astype(np.float16)
        for s, shape in ((0, (m, k)), (1, (k, n)))
    )
    memory = Memory(16384)
    if side == "acc":
        p.op("tmatmul", [tiles["left"], tiles["right"]], [tiles["acc"]])
        p.store(other, p.view(pc, "f32", list(seen)))
        memory.write(0, a.astype(np.float32) @ b.astype(np.float32), ACC)
        want = memory.read(0, seen, np.float32, ACC)
    else:
        # The other operand as wide as the tile seen has it.
        memory.write(0, a if side == "left" else b, orders[side])
        operand = memory.read(0, seen, np.float16, orders[side]).astype(np.float32)
        if side == "left":  # 64x32 @ the first 32 rows of b
            rest = tile(p, "f16", (32, n), ZN, 16384, "right")
            out = tile(p, "f32", (64, n), ACC, 32768, "acc")
            first = tile(p, "f16", (32, n), NZ, 32768)
            p.load(p.view(pb, "f16", [k, n], sizes=[32, n]), first)
            p.op("tmov", [first], [rest])
            p.op("tmatmul", [other, rest], [out])
            want = operand @ b[:32].astype(np.float32)
        else:  # a's first 48 columns @ 48x64
            rest = tile(p, "f16", (m, 48), NZ, 16384, "left")
            out = tile(p, "f32", (m, 64), ACC, 32768, "acc")
            first = tile(p, "f16", (m, 48), NZ, 32768)
            p.load(p.view(pa, "f16", [m, k], sizes=[m, 48]), first)
            p.op("tmov", [first], [rest])
            p.op("tmatmul", [rest, other], [out])
            want = a[:, :48].astype(np.float32) @ operand
        p.store(out, p.view(pc, "f32", list(want.shape)))
    *_, got = run(p, a, b, np.zeros(want.shape, np.float32))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_elements_counted_through_boxes():
    """Offsets of tgetval and tsetval count elements as they lie in memory."""
    p = Program("a5")
    x, y, one = p.pointer("f32"), p.pointer("f32"), p.pointer("f32")
    t = tile(p, "f32", (32, 32), NZ, 0, "vec")
    p.load(p.view(x, "f32", [32, 32]), t)
    v = p.name()
    p.emit(f"{v} = pto.tgetval ins({t[0]}, {p.const(300)} : {t[1]}, index) outs : f32")
    p.emit(f"pto.store_scalar {v}, {one}[{p.const(0)}] : !pto.ptr<f32>, f32")
    p.op("tsetval", [(p.const(77), "index"), (p.const("-1.0", "f32"), "f32")], [t])
    p.store(t, p.view(y, "f32", [32, 32]))
    a = np.arange(1024, dtype=np.float32).reshape(32, 32)
    memory = Memory(4096)
    memory.write(0, a, NZ)
    line = memory.bytes.view(np.float32)
    got_one = line[300]
    line[77] = -1
    _, got, first = run(p, a, np.zeros((32, 32), np.float32), np.zeros(1, np.float32))
    assert first[0] == got_one
    np.testing.assert_array_equal(got, memory.read(0, (32, 32), np.float32, NZ))


def test_addresses_that_are_used_again_cost_nothing():
    """Tiles of other shapes at one address, each written before it is read, are read in place: no copy of boxes."""
    p = Program("a3")
    x, y, z = (p.pointer("ui16") for _ in range(3))
    for shape, order, source, target in (
        ((64, 64), NZ, x, y),
        ((32, 128), NZ, y, z),
        ((128, 32), ZN, x, z),
    ):
        t = tile(p, "ui16", shape, order, 0)
        p.load(p.view(source, "ui16", list(shape)), t)
        p.store(t, p.view(target, "ui16", list(shape)))
    assert "pto_copy_boxes" not in emitted(p.text())
    a, b = tile(p, "ui16", (64, 64), NZ, 0), tile(p, "ui16", (32, 128), NZ, 0)
    p.load(p.view(x, "ui16", [64, 64]), a)
    p.store(b, p.view(z, "ui16", [32, 128]))
    assert "pto_copy_boxes" in emitted(p.text())


def emitted(text: str) -> str:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Code(text, dump=folder)
        return (Path(folder) / "emitted.ll").read_text()


def test_boxes_that_the_tile_does_not_fill():
    from native import CompileError

    text = module(
        "a5",
        [
            """  func.func @f(%x: !pto.ptr<f32>) {
    %a = arith.constant 0 : i64
    %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 24x16xf32, slayout=row_major>
    %u = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 24x16xf32>
    %s = arith.constant 1.0 : f32
    pto.texpands ins(%s : f32) outs(%u : !pto.tile_buf<vec, 24x16xf32>)
    pto.tmov ins(%t : !pto.tile_buf<vec, 24x16xf32, slayout=row_major>) outs(%u : !pto.tile_buf<vec, 24x16xf32>)
    return
  }
"""
        ],
    )
    with pytest.raises(CompileError, match="24x16 elements of 'f32' do not fill boxes of 16x8"):
        Code(text)


def random_program(seed: int):
    """Loads to and stores of tiles that lie anywhere over each other, some in a loop; and what memory then holds."""
    rng = np.random.default_rng(seed)
    p = Program("a3")
    source, target = p.pointer("ui8"), p.pointer("ui8")
    size, slots = 4096, 24
    memory = Memory(1 << 14)
    data = rng.integers(0, 256, (slots, size), np.uint8)
    out = np.zeros((slots, size), np.uint8)
    shapes = {
        1: [(32, 64), (64, 32), (64, 64)],
        2: [(32, 32), (16, 64), (64, 16), (32, 64)],
        4: [(16, 32), (32, 16), (32, 32)],
    }
    tiles = []
    for _ in range(5):
        bytes_ = int(rng.choice([1, 2, 4]))
        shape = shapes[bytes_][rng.integers(len(shapes[bytes_]))]
        order = [NZ, NZ, ZN, ZZ, NN, ND][rng.integers(6)]
        address = int(rng.choice([0, 512, 1024, 2048]))
        tiles.append((tile(p, BITS[bytes_], shape, order, address), bytes_, shape, order, address))

    def access(pointer, slot, bytes_, shape):
        """The slot's bytes as a matrix."""
        name = p.name()
        p.emit(f"{name} = pto.castptr {pointer} : !pto.ptr<ui8> -> !pto.ptr<{BITS[bytes_]}>")
        offset = p.name()
        p.emit(
            f"{offset} = pto.addptr {name}, {p.const(slot * size // bytes_)} : !pto.ptr<{BITS[bytes_]}> -> !pto.ptr<{BITS[bytes_]}>"
        )
        return p.view(offset, BITS[bytes_], list(shape))

    if seed % 2:  # all bytes, as rows
        start = tile(p, "ui8", (128, 64), ND, 0)
        p.load(p.view(source, "ui8", [128, 64]), start)
        memory.bytes[:8192] = data.reshape(-1)[:8192]
    steps, used = [], 0
    for _ in range(12):
        number = int(rng.integers(len(tiles)))
        steps.append((number, bool(rng.integers(2)), used))
        used += 1
    cut = sorted(rng.choice(13, 2, replace=False))
    for at, (number, load, slot) in enumerate(steps):
        if at == cut[0]:
            p.emit(f"scf.for %i = {p.const(0)} to {p.const(2)} step {p.const(1)} {{")
        handle, bytes_, shape, _, _ = tiles[number]
        if load:
            p.load(access(source, slot, bytes_, shape), handle)
        else:
            p.store(handle, access(target, slot, bytes_, shape))
        if at + 1 == cut[1]:
            p.emit("}")
    order_of_steps = steps[: cut[0]] + 2 * steps[cut[0] : cut[1]] + steps[cut[1] :]
    defined = np.zeros((slots, size), bool)
    filled = Memory(1 << 14)
    filled.bytes[:] = 255 * (seed % 2)
    for number, load, slot in order_of_steps:
        _, bytes_, shape, order, address = tiles[number]
        dtype, count = DTYPES[BITS[bytes_]], shape[0] * shape[1] * bytes_
        if load:
            memory.write(address, data[slot, :count].view(dtype).reshape(shape), order)
            filled.write(address, np.full(count, 255, np.uint8).view(dtype).reshape(shape), order)
        else:
            out[slot, :count] = memory.read(address, shape, dtype, order).reshape(-1).view(np.uint8)
            defined[slot, :count] = (
                filled.read(address, shape, dtype, order).reshape(-1).view(np.uint8) == 255
            )
    return p, data, out, defined


@pytest.mark.parametrize("seed", range(40))
def test_random_overlaps(seed):
    p, data, want, defined = random_program(seed)
    for fuse in (True, False):
        for isa in (HOST, AVX2):
            got = np.zeros_like(want)
            Code(p.text(), fuse=fuse, isa=isa)("f", data, got)
            np.testing.assert_array_equal(np.where(defined, got, 0), np.where(defined, want, 0))


def test_a_tile_that_another_has_overwritten_behind_a_loop():
    """The load in the loop would be read in place there; behind it the tile holds what the other load has left."""
    p = Program("a3")
    x, y, z = (p.pointer("ui16") for _ in range(3))
    first, second = (tile(p, "ui16", (32, 32), NZ, 512) for _ in range(2))
    p.emit(f"scf.for %i = {p.const(0)} to {p.const(2)} step {p.const(1)} {{")
    p.load(p.view(x, "ui16", [2, 32, 32], offsets=["%i", 0, 0], sizes=[1, 32, 32]), first)
    p.emit("}")
    p.load(p.view(y, "ui16", [32, 32]), second)
    p.store(first, p.view(z, "ui16", [32, 32]))
    a, b = values(np.uint16, (2, 32, 32)), values(np.uint16, (32, 32), 1)
    *_, got = run(p, a, b, np.zeros((32, 32), np.uint16))
    np.testing.assert_array_equal(got, b)
