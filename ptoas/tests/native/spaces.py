"""How the operands of a row come into the memories of a core and out of them.

Tiles of left, right, bias and scaling are loaded to L1 and moved on. What an accumulator holds before the op
is a product with ones on a diagonal, of two digits for i32. An L1 tile that the op writes is loaded first
and read back whole, by a store on A2/A3 and by such a product on A5; so are vector tiles of the classes
odd and tail. All these have two handles at one address: one for the whole tile, and the row's with its
valid part.
"""

from __future__ import annotations

import numpy as np
from elements import DTYPES, HIF8, NUMBERS, PACKED, pack, unpack

BOXES = ", blayout=col_major, slayout=row_major"
LAYOUTS = {
    ("mat", "nd"): BOXES,
    ("mat", "dn"): ", slayout=col_major",
    ("right", "nd"): ", slayout=col_major",
    ("acc", "nd"): BOXES + ", fractal=1024",
}
DIGIT = 64  # of an i32 accumulator


def layout(space: str, arch: str, order: str = "nd") -> str:
    if space == "left":
        return BOXES if arch == "a5" else ", slayout=row_major"
    return LAYOUTS.get((space, order), "")


def product_of(dtype: str) -> str:
    """The elements of an accumulator for products of a type."""
    return "i32" if dtype in ("i8", "ui8") else "f32"


class Tensors:
    """A vector tile, or no tile but the window of global memory that the op names."""

    def __init__(self, operand, case, loaded: bool):
        self.t, self.case, self.loaded = operand, case, loaded
        self.dtype = operand.element(case)

    def types(self) -> list[str]:
        """Elements of the tensors that stand for the operand."""
        return [self.dtype]

    def memory(self, values: np.ndarray) -> list[np.ndarray]:
        """These tensors for what the operand holds."""
        return [self.ordered(values)]

    def values(self, tensors: list[np.ndarray]) -> np.ndarray:
        """What the operand holds afterwards."""
        return self.plain(tensors[0])

    def ordered(self, values: np.ndarray) -> np.ndarray:
        if self.dtype in PACKED:
            values = pack(values)
        if self.t.order == "dn":
            values = values.T
        if self.t.order == "nz":
            rows, cols = values.shape
            values = values.reshape(rows // 16, 16, cols // self.box, self.box)
            values = values.transpose(2, 0, 1, 3)
        return np.array(values, order="C")

    def plain(self, tensor: np.ndarray) -> np.ndarray:
        if self.t.order == "nz":
            tensor = tensor.transpose(1, 2, 0, 3).reshape(self.t.rows, self.t.cols)
        values = tensor.T if self.t.order == "dn" else tensor
        return unpack(values) if self.dtype in PACKED else values

    @property
    def box(self) -> int:
        """Columns of a box in a tensor of boxes; those of accumulators have as many as rows."""
        return max(16, 32 // np.dtype(DTYPES[self.dtype]).itemsize)

    def window(self, p, pointer: str, sizes):
        t = self.t
        if t.order == "dn":
            return p.view(
                pointer, self.dtype, [t.rows, t.cols], strides=[1, t.rows], sizes=sizes, layout="dn"
            )
        if t.order == "nz":
            blocks = [t.cols // self.box, t.rows // 16, 16, self.box]
            wanted = [sizes[1] // self.box, sizes[0] // 16, 16, self.box]
            return p.view(pointer, self.dtype, blocks, sizes=wanted, layout="nz")
        return p.view(pointer, self.dtype, [t.rows, t.cols], sizes=sizes)

    def place(self, p, pointers: list[str], sizes):
        """The handle for the op, with the code before it."""
        t = self.t
        self.view = self.window(p, pointers[0], sizes)
        if t.space == "gm":
            return self.view
        self.tile = p.tile(self.dtype, t.rows, t.cols, *sizes, extra=t.extra, space=t.space)
        if self.loaded:
            p.load(self.view, self.tile)
        return self.tile

    def finish(self, p) -> None:
        """The code behind the op."""
        if self.t.space != "gm":
            p.store(self.tile, self.view)


class Part(Tensors):
    """A part of a vector tile that is loaded first and stored whole, so that all that the op writes is seen."""

    def place(self, p, pointers, sizes):
        t = self.t
        at = address(p, "vec", t.rows * t.cols * 8)
        self.view = self.window(p, pointers[0], [t.rows, t.cols])
        self.tile = p.tile(self.dtype, t.rows, t.cols, extra=t.extra, addr=at)
        p.load(self.view, self.tile)
        return p.tile(self.dtype, t.rows, t.cols, *sizes, extra=t.extra, addr=at)


class Moved(Tensors):
    """By way of L1, where it stays if it is a mat tile."""

    def place(self, p, pointers, sizes):
        t = self.t
        in_l1 = t.extra or ("" if t.space in ("bias", "scaling") else layout("mat", "", t.order))
        near = p.tile(self.dtype, t.rows, t.cols, *sizes, extra=in_l1, space="mat")
        p.load(self.window(p, pointers[0], sizes), near)
        if t.space == "mat":
            return near
        extra = t.extra or layout(t.space, self.case.arch)
        tile = p.tile(t.moved or self.dtype, t.rows, t.cols, *sizes, extra=extra, space=t.space)
        p.op("tmov", [near], [tile])
        return tile


def moved_near(p, arch: str, pointer: str, dtype: str, rows: int, cols: int, space: str):
    """A whole left or right tile."""
    near = p.tile(dtype, rows, cols, extra=BOXES, space="mat")
    tile = p.tile(dtype, rows, cols, extra=layout(space, arch), space=space)
    p.load(p.view(pointer, dtype, [rows, cols]), near)
    p.op("tmov", [near], [tile])
    return tile


def address(p, space: str, size: int) -> int:
    """Bytes of their own for the tiles with an address."""
    taken = p.__dict__.setdefault("addresses", {})
    at = taken.get(space, 0)
    taken[space] = at + -(-size // 1024) * 1024
    return at


def ones(dtype: str, extent: int) -> np.ndarray:
    one = 1
    if dtype == HIF8:
        one = int(np.flatnonzero(NUMBERS[HIF8] == 1)[0])
    return np.diag(np.full(extent, one)).astype(DTYPES[dtype])


class Accumulator(Tensors):
    """Loaded, it is the product of two tensors, which stand before the one that it is stored to."""

    @property
    def factor(self) -> str:
        return "i8" if self.dtype == "i32" else "f32"

    def types(self):
        factors = [self.factor] * 2 if self.loaded else []
        return factors + [self.dtype]

    def memory(self, values):
        tensors = [self.ordered(values)]
        if not self.loaded:
            return tensors
        unit = ones(self.factor, self.t.cols)
        if self.factor == "f32":
            return [values, unit, *tensors]
        low = (values + DIGIT // 2) % DIGIT - DIGIT // 2
        high = (values - low) // DIGIT
        assert np.abs(high).max(initial=0) < 128
        return [np.hstack([high, low]).astype(np.int8), np.vstack([unit * DIGIT, unit]), *tensors]

    def values(self, tensors):
        return self.plain(tensors[-1])

    def place(self, p, pointers, sizes):
        t, arch = self.t, self.case.arch
        extra = layout("acc", arch)
        at = address(p, "acc", t.rows * t.cols * 4)
        if self.loaded:
            whole = p.tile(self.dtype, t.rows, t.cols, space="acc", extra=extra, addr=at)
            inner = t.cols * (2 if self.factor == "i8" else 1)
            left = moved_near(p, arch, pointers[0], self.factor, t.rows, inner, "left")
            right = moved_near(p, arch, pointers[1], self.factor, inner, t.cols, "right")
            p.op("tmatmul", [left, right], [whole])
        self.tile = p.tile(self.dtype, t.rows, t.cols, *sizes, space="acc", extra=extra, addr=at)
        self.view = self.window(p, pointers[-1], sizes)
        return self.tile


class NearMemory(Tensors):
    """An L1 tile that the op writes."""

    @property
    def factor(self) -> str:
        return "i8" if self.dtype == "ui8" else self.dtype

    def types(self):
        if self.case.arch == "a2a3":
            return [self.dtype]
        return [self.dtype, self.factor, product_of(self.dtype)]

    def memory(self, values):
        if self.case.arch == "a2a3":
            return [np.array(values)]
        found = np.zeros(values.shape, DTYPES[product_of(self.dtype)])
        return [np.array(values), ones(self.factor, self.t.cols), found]

    def values(self, tensors):
        found, to = tensors[-1], DTYPES[self.dtype]
        if self.dtype == HIF8:
            codes = {float(v): i for i, v in enumerate(NUMBERS[HIF8])}
            return np.vectorize(lambda v: codes[float(v)], otypes=[np.uint8])(found)
        return found.astype(to)

    def place(self, p, pointers, sizes):
        t, arch = self.t, self.case.arch
        extra = layout("mat", arch)
        at = address(p, "mat", t.rows * t.cols * 4)
        self.pointers = pointers
        self.whole = p.tile(self.dtype, t.rows, t.cols, space="mat", extra=extra, addr=at)
        self.view = p.view(pointers[0], self.dtype, [t.rows, t.cols])
        p.load(self.view, self.whole)
        self.read = p.tile(self.factor, t.rows, t.cols, space="mat", extra=extra, addr=at)
        return p.tile(self.dtype, t.rows, t.cols, *sizes, space="mat", extra=extra, addr=at)

    def finish(self, p):
        t, arch = self.t, self.case.arch
        if arch == "a2a3":
            p.store(self.whole, self.view)
            return
        left = p.tile(self.factor, t.rows, t.cols, space="left", extra=layout("left", arch))
        p.op("tmov", [self.read], [left])
        right = moved_near(p, arch, self.pointers[1], self.factor, t.cols, t.cols, "right")
        dtype = product_of(self.dtype)
        acc = p.tile(dtype, t.rows, t.cols, space="acc", extra=layout("acc", arch))
        p.op("tmatmul", [left, right], [acc])
        p.store(acc, p.view(self.pointers[2], dtype, [t.rows, t.cols]))


def of(operand, case, output: bool) -> Tensors:
    loaded = operand.kept or not output
    if operand.space == "acc":
        return Accumulator(operand, case, loaded)
    if operand.space == "mat" and output:
        return NearMemory(operand, case, loaded)
    if operand.space == "vec" and output and not operand.in_blocks and case.kind in ("odd", "tail"):
        return Part(operand, case, loaded)
    return (Tensors if operand.space in ("vec", "gm") else Moved)(operand, case, loaded)
