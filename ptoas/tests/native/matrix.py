"""How a row of the op table becomes programs, and what runs them.

A row names an op, the element types it takes, its operands by shape, and a reference in NumPy. Each (row,
architecture) is one module: a function per element type and class of shape with constant extents, and
one per element type with run-time extents that runs all classes.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

import native
import numpy as np
import spaces
from elements import DTYPES, NUMBERS
from native import AVX2, HOST, Code, Program

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import gen_isa

ARCHS = ("a2a3", "a5")
ROWS, COLS = 16, 64
# Valid rows and columns of tiles of 16 x 64.
CLASSES = {
    "one": (1, 1),
    "odd": (7, 33),
    "aligned": (16, 64),
    "tail": (13, 61),
    "empty": (0, 29),
}
# Run-time extents that leave nothing.
NOTHING = {"no_columns": (13, 0)}
FLOATS = ("f32", "f16", "bf16")
FILL = 7  # what outputs hold before


@functools.cache
def records() -> dict:
    """Tile operands of all ops: {op: {operand: {"a2a3": types, "a5": types}}}."""
    table = gen_isa.tablegen()
    found: dict = {}
    for name in table["!instanceof"]["PTO_Op"]:
        record = table[name]
        for operand in record.get("tileOperands", ()):
            spec = gen_isa.spec_of(table[operand["def"]])
            types = {"a2a3": spec["a3"].split(", "), "a5": spec["a5"].split(", ")}
            if gen_isa.Records.architectures(record) == "A5":
                del types["a2a3"]
            found.setdefault(record["opName"], {})[spec["name"]] = types
    return found


def types_of(op: str, operand: str, arch: str) -> list[str]:
    return records()[op][operand].get(arch, [])


@dataclass(frozen=True)
class Operand:
    """A tile and the tensor that it is loaded from or stored to. Extents are numbers, or names of those of
    the case: r and c, h (half of r), k (the inner one of a product), c17 (c + 17), and kg, cg, rg, the numbers
    of groups of 32 in k, c, r. In space "gm" there is no tile: the op names the tensor. Tiles of the cube
    core: spaces.py."""

    dtype: str | Callable = "T"  # T: that of the case
    rows: int = ROWS
    cols: int = COLS
    vrow: int | str = "r"
    vcol: int | str = "c"
    extra: str = ""
    low: float = -4
    high: float = 4
    kept: bool = False  # an output that is loaded first, since the op reads it or leaves a part
    space: str = "vec"
    values: Callable | None = None  # (rng, case, shape) -> array
    order: str = "nd"  # of the tensor: row by row, dn (column by column) or nz (boxes)
    in_blocks: bool = False  # written up to the end of 32 bytes
    moved: str = ""  # what the elements become on the way from L1

    def element(self, case: Case) -> str:
        if callable(self.dtype):
            return self.dtype(case)
        return case.dtype if self.dtype == "T" else self.dtype


FULL = Operand()
COLUMN = replace(FULL, cols=1, vcol=1, extra=", blayout=col_major")
LINE = replace(FULL, rows=1, vrow=1)


@dataclass(frozen=True)
class Case:
    arch: str
    dtype: str
    kind: str
    r: int
    c: int
    k: int = 64

    @property
    def run_time(self) -> dict[str, int]:
        return {"r": self.r, "c": self.c, "h": self.r // 2, "k": self.k}

    @property
    def extents(self) -> dict[str, int]:
        groups = {f"{e}g": (n + 31) // 32 for e, n in self.run_time.items()}
        return {**self.run_time, **groups, "c17": self.c + 17}

    def extent(self, e) -> int:
        return self.extents.get(e, e)

    @property
    def empty(self) -> bool:
        return 0 in (self.r, self.c, self.k)


@dataclass(frozen=True, eq=False)
class Row:
    op: str
    # Valid parts of the inputs (and of kept outputs, behind them) to valid parts of the outputs.
    expect: Callable
    inputs: Sequence[Operand]
    outputs: Sequence[Operand] = (FULL,)
    # The operand of the record whose element types are run, or the types themselves.
    types: str | dict | Sequence[str] = "src0"
    emit: Callable | None = None  # (program, case, ins, outs)
    tolerance: Callable | dict = field(default_factory=dict)
    project: Callable | None = None  # (case, valid part of an output) -> what is compared
    label: str = ""
    refused_empty: str = ""  # the message about constant empty extents
    refused_by: str = ""  # another op of the row that gives it
    printed: bool = False  # what the op prints is the result; the reference reads it
    dynamic: bool = True
    classes: dict = field(default_factory=lambda: CLASSES)
    nothing: dict = field(default_factory=lambda: NOTHING)
    archs: Sequence[str] = ARCHS

    @property
    def name(self) -> str:
        return self.op + (f"-{self.label}" if self.label else "")

    def dtypes(self, arch: str) -> Sequence[str]:
        if arch not in self.archs:
            return ()
        if isinstance(self.types, str):
            return types_of(self.op, self.types, arch)
        return self.types.get(arch, ()) if isinstance(self.types, dict) else self.types


def numbers(rng, dtype: str, shape, low, high):
    """Floats between the limits; integers of the whole range, for what wraps."""
    if dtype in NUMBERS:
        codes = np.flatnonzero((low <= NUMBERS[dtype]) & (NUMBERS[dtype] <= high))
        return rng.choice(codes, shape).astype(np.uint8)
    if dtype in FLOATS or dtype.startswith("f8"):
        with np.errstate(over="ignore"):
            return rng.uniform(low, high, shape).astype(np.float32).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    found = rng.integers(info.min, info.max, shape, dtype=DTYPES[dtype], endpoint=True)
    small = rng.integers(max(info.min, -9), 10, shape).astype(DTYPES[dtype])
    return np.where(rng.random(shape) < 0.5, found, small)


class RunTime(dict):
    """Names of run-time extents; those that follow from others are computed where a row first asks for them."""

    def __init__(self, p: Program, args: dict[str, str]):
        super().__init__(args)
        self.p = p

    def __missing__(self, extent: str) -> str:
        if extent == "c17":
            self[extent] = self.compute("addi", self["c"], 17)
        else:
            self[extent] = self.compute("divui", self.compute("addi", self[extent[0]], 31), 32)
        return self[extent]

    def get(self, extent, other=None):
        return self[extent] if isinstance(extent, str) else other

    def compute(self, op: str, value: str, number: int) -> str:
        name = self.p.name()
        self.p.emit(f"{name} = arith.{op} {value}, {self.p.const(number)} : index")
        return name


def places(row: Row, case: Case) -> list[spaces.Tensors]:
    ins = [spaces.of(t, case, False) for t in row.inputs]
    return ins + [spaces.of(t, case, True) for t in row.outputs]


def function(row: Row, case: Case, name: str, dynamic: bool) -> str:
    p = Program(case.arch)
    operands = places(row, case)
    pointers = [[p.pointer(dtype) for dtype in place.types()] for place in operands]
    extents = case.extents
    if dynamic:
        extents = RunTime(p, {e: p.scalar("index") for e in case.run_time})
    p.extents = extents
    tiles = []
    for place, of_place in zip(operands, pointers):
        sizes = [extents.get(e, e) for e in (place.t.vrow, place.t.vcol)]
        tiles.append(place.place(p, of_place, sizes))
    n = len(row.inputs)
    if row.emit:
        row.emit(p, case, tiles[:n], tiles[n:])
    else:
        p.op(row.op, tiles[:n], tiles[n:])
    for place in operands[n:]:
        place.finish(p)
    return p.function(name)


def label(dtype: str, kind: str) -> str:
    return re.sub(r"\W", "_", f"f_{dtype}_{kind}")


def cases(row: Row, arch: str) -> list[Case]:
    return [
        Case(arch, dtype, kind, *extents)
        for dtype in row.dtypes(arch)
        for kind, extents in row.classes.items()
    ]


def only_run_time(row: Row, arch: str) -> bool:
    """Code does not depend on the architecture, its legality does: constant extents once are enough."""
    return arch == "a2a3" and row.dynamic and "a5" in row.archs


@functools.cache
def compiled(row: Row, arch: str) -> tuple[tuple[Code, frozenset], ...]:
    """Code for this machine with fused loops, and for AVX2 without, with the names of its functions. To keep the
    second cheap it has constant extents only where the row has no others.
    """
    constant, run_time = {}, {}
    for case in cases(row, arch):
        if not only_run_time(row, arch) and not (row.refused_empty and case.kind == "empty"):
            name = label(case.dtype, case.kind)
            constant[name] = function(row, case, name, False)
    if row.dynamic:
        for dtype in row.dtypes(arch):
            name = label(dtype, "dynamic")
            run_time[name] = function(row, Case(arch, dtype, "dynamic", ROWS, COLS), name, True)

    def code(functions: dict, **options):
        text = native.module(arch, list(functions.values()))
        return Code(text, **options), frozenset(functions)

    if only_run_time(row, arch):
        return (code(run_time, isa=AVX2),)
    return code(constant | run_time), code(run_time or constant, fuse=False, isa=AVX2)


def arrays_of(row: Row, case: Case) -> tuple[list, list]:
    rng = np.random.default_rng(crc32(f"{row.name} {case.arch} {case.dtype} {case.kind}".encode()))

    def make(t: Operand):
        shape, dtype = (t.rows, t.cols), t.element(case)
        if t.values:
            values = np.broadcast_to(t.values(rng, case, shape), shape)
            return np.ascontiguousarray(values, DTYPES[dtype])
        return numbers(rng, dtype, shape, t.low, t.high)

    ins = [make(t) for t in row.inputs]
    outs = [
        make(t) if t.kept else np.full((t.rows, t.cols), FILL, DTYPES[t.element(case)])
        for t in row.outputs
    ]
    return ins, outs


def valid_parts(case: Case, operands, values) -> list:
    return [a[: case.extent(t.vrow), : case.extent(t.vcol)] for a, t in zip(values, operands)]


class Printed:
    """What code writes to the standard output meanwhile."""

    def __enter__(self):
        sys.stdout.flush()
        self.file, self.kept = tempfile.TemporaryFile(), os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *_):
        os.dup2(self.kept, 1)
        os.close(self.kept)
        self.file.seek(0)
        self.text = self.file.read().decode()
        self.file.close()


def run_case(row: Row, case: Case) -> None:
    """Static and run-time extents, fused and not: equal bits; the valid part as NumPy has it, the rest kept."""
    ins, before = arrays_of(row, case)
    operands = places(row, case)
    modes = {
        label(case.dtype, case.kind): (),
        label(case.dtype, "dynamic"): tuple(case.run_time.values()),
    }
    results = []
    for code, names in compiled(row, case.arch):
        for name in names & set(modes):
            tensors = [place.memory(a) for place, a in zip(operands, ins + before)]
            with Printed() if row.printed else nullcontext() as printed:
                code(name, *(tensor for of_place in tensors for tensor in of_place), *modes[name])
            if row.printed:
                row.expect(case, printed.text, *valid_parts(case, row.inputs, ins))
            written = zip(operands[len(ins) :], tensors[len(ins) :])
            results.append([place.values(of_place) for place, of_place in written])
    assert results, "nothing has run"
    kept = [(b, t) for b, t in zip(before, row.outputs) if t.kept]
    cut = valid_parts(case, row.inputs, ins)
    cut += valid_parts(case, [t for _, t in kept], [b for b, _ in kept])
    wanted = (None,) * len(row.outputs)
    # Extents that turn out empty where the op has no meaning for it: nothing but the valid part changes.
    if not row.printed and not (row.refused_empty and case.empty):
        with np.errstate(all="ignore"):
            wanted = row.expect(case, *cut)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for i, (t, want) in enumerate(zip(row.outputs, wanted)):
        valid = np.s_[: case.extent(t.vrow), : case.extent(t.vcol)]
        seen = []
        for outs in results:
            seen.append(meaning(row, case, outs[i][valid], want))
            assert seen[-1].tobytes() == seen[0].tobytes(), "modes differ"
            rest = outs[i].copy()
            rest[valid] = before[i][valid]
            assert rest.tobytes() == before[i].tobytes(), "wrote outside the valid part"
        if want is not None:
            want = np.asarray(np.ma.filled(want, 0)).reshape(seen[0].shape)
            compare(seen[0], want, tolerance(row, case))


def meaning(row: Row, case: Case, got, want):
    """What counts of an output: nothing, the part that the row looks at, or what the reference does not mask."""
    if want is None:
        return got[:0]
    if row.project:
        return row.project(case, got)
    mask = np.ma.getmaskarray(want) if isinstance(want, np.ma.MaskedArray) else False
    return np.where(mask, np.zeros_like(got), got)


def tolerance(row: Row, case: Case) -> float:
    if callable(row.tolerance):
        return row.tolerance(case)
    return row.tolerance.get(case.dtype, 0)


def compare(got, want, relative: float) -> None:
    if not relative:
        want = want.astype(got.dtype)
        same = (got == want) | ((got != got) & (want != want))
        assert same.all(), f"{got[~same][:4]} instead of {want[~same][:4]}"
    else:
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=relative, atol=relative
        )


def refusal(row: Row, case: Case) -> str:
    """The message about a module with this case alone."""
    try:
        Code(native.module(case.arch, [function(row, case, "f", False)]), isa=HOST)
    except native.CompileError as error:
        return str(error)
    return ""
