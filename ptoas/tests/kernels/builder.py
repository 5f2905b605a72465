"""Writes `.pto` modules in the shape in which pypto writes them (addresses at level3 only)."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

NUMPY = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "ui8": np.uint8,
    "ui32": np.uint32,
}
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "ui8": 1, "ui32": 4}
# Layout of each kind of tile: blayout, slayout, fractal.
LAYOUT = {
    "vec": ("row_major", "none_box", 512),
    "column": ("col_major", "none_box", 512),
    "mat": ("col_major", "row_major", 512),
    "mat_t": ("row_major", "col_major", 512),
    "left": ("row_major", "row_major", 512),
    "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024),
    "mat_flat": ("row_major", "none_box", 512),
    "bias": ("row_major", "none_box", 512),
}
SPACE = {"column": "vec", "mat_t": "mat", "mat_flat": "mat"}


@dataclass
class Tile:
    name: str
    type: str
    rows: int
    cols: int
    dtype: str


@dataclass
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    column: bool = False


@dataclass
class Function:
    """One function of a module."""

    name: str
    kind: str
    level: int
    args: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    views: list = field(default_factory=list)
    body: list = field(default_factory=list)
    free: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)
    indent: int = 1

    def fresh(self, hint: str) -> str:
        count = self.names.get(hint, 0)
        self.names[hint] = count + 1
        return f"%{hint}" if count == 0 else f"%{hint}_{count}"

    def const(self, value, type_: str = "index") -> str:
        key = (value, type_)
        if key not in self.constants:
            name = f"%c{value}_{type_}" if type_ in ("index", "i64", "i32") else self.fresh("cst")
            self.constants[key] = name.replace("-", "m")
        return self.constants[key]

    def line(self, text: str) -> None:
        self.body.append(f'{"  " * self.indent}{text} loc("k.py":{len(self.body) + 10}:5)')

    def index(self, value) -> str:
        return self.const(value) if isinstance(value, int) else value

    # ---- arguments --------------------------------------------------------
    def tensor(self, name: str, dtype: str, *shape: int, column: bool = False) -> Tensor:
        self.args.append(f"!pto.ptr<{dtype}>")
        tensor = Tensor(name, dtype, shape, column)
        rows, cols = shape
        strides = [self.const(1), self.const(rows)] if column else [self.const(cols), self.const(1)]
        self.views.append(
            f"%{name}_view = pto.make_tensor_view %arg{len(self.args) - 1}, "
            f"shape = [{self.const(rows)}, {self.const(cols)}], strides = [{', '.join(strides)}] "
            f"{{layout = #pto.layout<{'dn' if column else 'nd'}>}} : !pto.tensor_view<?x?x{dtype}> "
            f'loc("k.py":8:5)'
        )
        return tensor

    def hidden(self, name: str) -> str:
        self.args.append(f"%{name}: i32")
        return f"%{name}"

    # ---- tiles ------------------------------------------------------------
    def tile(self, dtype, rows, cols, space="vec", valid=None, hint="t", pad=0, addr=None) -> Tile:
        loc = SPACE.get(space, space)
        vr, vc = valid or (rows, cols)
        tile = self.blank(dtype, rows, cols, space, hint, pad)
        name, type_ = tile.name, tile.type
        where = ""
        if self.level == 3:
            at = self.free.get(loc, 0)
            step = 512 if loc in ("left", "right", "acc") else 32
            if addr is None:
                addr = at
                self.free[loc] = at + -(-rows * cols * BYTES[dtype] // step) * step
            where = f" addr = {self.const(addr, 'i64')}"
        self.line(
            f"{name} = pto.alloc_tile{where} valid_row = {self.index(vr)} valid_col = {self.index(vc)} : {type_}"
        )
        return tile

    def blank(self, dtype, rows, cols, space, hint="t", pad=0) -> Tile:
        """Name and type of a tile that some instruction makes."""
        blayout, slayout, fractal = LAYOUT[space]
        type_ = (
            f"!pto.tile_buf<loc={SPACE.get(space, space)}, dtype={dtype}, rows={rows}, cols={cols}, v_row=?, v_col=?, "
            f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}>"
        )
        return Tile(self.fresh(hint), type_, rows, cols, dtype)

    def treshape(self, tile, rows, cols, space) -> Tile:
        made = self.blank(tile.dtype, rows, cols, space, "turned")
        self.line(f"{made.name} = pto.treshape {tile.name} : {tile.type} -> {made.type}")
        return made

    def like(self, tile: Tile, dtype=None, **more) -> Tile:
        return self.tile(dtype or tile.dtype, tile.rows, tile.cols, **more)

    def column(self, rows, dtype="f32") -> Tile:
        return self.tile(dtype, rows, 1, "column", hint="col")

    def window(self, tensor: Tensor, offsets, sizes) -> tuple[str, str]:
        name = self.fresh(f"{tensor.name}_pview")
        shown = "x".join(str(s) if isinstance(s, int) else "?" for s in sizes)
        type_ = f"!pto.partition_tensor_view<{shown}x{tensor.dtype}>"
        self.line(
            f"{name} = pto.partition_view %{tensor.name}_view, offsets = [{', '.join(map(self.index, offsets))}], "
            f"sizes = [{', '.join(map(self.index, sizes))}] : !pto.tensor_view<?x?x{tensor.dtype}> -> {type_}"
        )
        return name, type_

    def load(
        self, tensor, offsets=(0, 0), sizes=None, space="vec", tile=None, valid=None, pad=0
    ) -> Tile:
        sizes = sizes or tensor.shape
        space = "column" if tensor.column else space
        tile = tile or self.tile(tensor.dtype, *sizes, space, valid, hint=tensor.name, pad=pad)
        name, type_ = self.window(tensor, offsets, valid or sizes)
        self.line(f"pto.tload ins({name} : {type_}) outs({tile.name} : {tile.type})")
        return tile

    def store(self, tile, tensor, offsets=(0, 0), sizes=None, attrs="") -> None:
        name, type_ = self.window(tensor, offsets, sizes or (tile.rows, tile.cols))
        attrs = f" {{{attrs}}}" if attrs else ""
        self.line(f"pto.tstore ins({tile.name} : {tile.type}) outs({name} : {type_}){attrs}")

    # ---- instructions -----------------------------------------------------
    def op(self, mnemonic, ins, out, inside="", attrs="") -> Tile:
        """`ins`: tiles, or (value, type) scalars."""
        outs = out if isinstance(out, list) else [out]
        names, types = [], []
        for operand in ins:
            if isinstance(operand, Tile):
                names.append(operand.name)
                types.append(operand.type)
            else:
                value, type_ = operand
                names.append(value if isinstance(value, str) else self.const(value, type_))
                types.append(type_)
        inside = f" {{{inside}}}" if inside else ""
        attrs = f" {{{attrs}}}" if attrs else ""
        self.line(
            f"pto.{mnemonic} ins({', '.join(names)}{inside} : {', '.join(types)}) "
            f"outs({', '.join(o.name for o in outs)} : {', '.join(o.type for o in outs)}){attrs}"
        )
        return outs[0]

    def unary(self, mnemonic, tile) -> Tile:
        return self.op(mnemonic, [tile], self.like(tile))

    def binary(self, mnemonic, a, b) -> Tile:
        return self.op(mnemonic, [a, b], self.like(a))

    def scalar(self, mnemonic, tile, value) -> Tile:
        return self.op(mnemonic, [tile, (value, tile.dtype)], self.like(tile))

    def reduce(self, mnemonic, tile) -> Tile:
        return self.op(
            mnemonic, [tile, self.like(tile, hint="tmp")], self.column(tile.rows, tile.dtype)
        )

    def cast(self, tile, dtype, mode="RINT", **more) -> Tile:
        return self.op(
            "tcvt",
            [tile],
            self.like(tile, dtype, **more),
            inside=f"rmode = #pto<round_mode {mode}>",
        )

    def every_other(self, tile) -> Tile:
        """Words 0, 2, 4, … of the rows."""
        out = self.tile(tile.dtype, tile.rows, tile.cols // 2)
        self.line(
            f"pto.tgather ins({tile.name}, {{maskPattern = #pto.mask_pattern<P0101>}} : {tile.type}, "
            f'"row") outs({out.name} : {out.type})'
        )
        return out

    def move(self, tile, space, **more) -> Tile:
        return self.op("tmov", [tile], self.tile(tile.dtype, tile.rows, tile.cols, space, **more))

    def matmul(self, left, right, acc=None, dtype="f32", bias=None) -> Tile:
        """Operands in L1."""
        l, r = self.move(left, "left"), self.move(right, "right")
        if acc is not None:
            return self.op("tmatmul.acc", [acc, l, r], acc)
        out = self.tile(dtype, left.rows, right.cols, "acc", hint="acc")
        if bias is not None:
            return self.op("tmatmul.bias", [l, r, bias], out)
        return self.op("tmatmul", [l, r], out)

    @contextmanager
    def loop(self, low, high, step):
        name = self.fresh("i")
        self.body.append(
            f"{'  ' * self.indent}scf.for {name} = {self.index(low)} to {self.index(high)} step {self.index(step)} {{"
        )
        self.indent += 1
        yield name
        self.indent -= 1
        self.body.append(f"{'  ' * self.indent}}}")

    def arith(self, op, a, b) -> str:
        name = self.fresh("n")
        self.line(f"{name} = arith.{op} {self.index(a)}, {self.index(b)} : index")
        return name

    def text(self) -> str:
        args = [a if a.startswith("%") else f"%arg{i}: {a}" for i, a in enumerate(self.args)]
        lines = [
            f"  func.func @{self.name}({', '.join(args)}) attributes "
            f"{{pto.kernel_kind = #pto.kernel_kind<{self.kind}>}} {{"
        ]
        for (value, type_), name in self.constants.items():
            shown = f"{value:e}" if isinstance(value, float) else value
            lines.append(f"  {name} = arith.constant {shown} : {type_}")
        lines += [f"  {view}" for view in self.views] + self.body
        return "\n".join([*lines, "  return", "  }"])


class Module:
    """The functions of one `.pto` file."""

    def __init__(self, level: int, arch: str = "a2a3"):
        self.level, self.arch = level, arch
        self.functions: list[Function] = []

    def function(self, name: str, kind: str = "vector") -> Function:
        self.functions.append(Function(name, kind, self.level))
        return self.functions[-1]

    def text(self) -> str:
        body = "\n".join(f.text() for f in self.functions)
        return f'module attributes {{pto.target_arch = "{self.arch}"}} {{\n{body}\n}}\n'
