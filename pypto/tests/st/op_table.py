"""Operations with their references, and programs made of them.

A row gives an operation as an expression of tiles `a`, `b`, … and a reference in FP64 (or exact integers).
`program` turns a row into a `@pl.jit` function for a shape; `inputs` makes its arguments.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

FLOATS = ("FP32", "FP16", "BF16")
INTS = ("INT32", "INT16")
TORCH = {
    "FP32": torch.float32,
    "FP16": torch.float16,
    "BF16": torch.bfloat16,
    "INT32": torch.int32,
    "INT16": torch.int16,
    "INT8": torch.int8,
    "UINT8": torch.uint8,
    "INT64": torch.int64,
}
# Relative error of one rounding to the type; results may be off by a few of them.
EPSILON = {"FP32": 2.0**-23, "FP16": 2.0**-10, "BF16": 2.0**-7}


@dataclass(frozen=True)
class Op:
    """`text` uses the operands `a`, `b`, `v` (a column [rows, 1]) and `w` (a row [1, columns]).

    `result` is "full", "column" or "row": the shape of the result. `ulp` bounds the error in roundings of the
    element type; 0 means bit-equal to the reference rounded once. `domain` limits the inputs.
    """

    name: str
    text: str
    reference: Callable[..., torch.Tensor]
    dtypes: tuple[str, ...] = FLOATS
    operands: str = "a"
    result: str = "full"
    ulp: float = 0
    domain: tuple[float, float] = (-4.0, 4.0)
    out: str = ""  # element type of the result if it is another
    least_columns: int = 1

    def __str__(self) -> str:
        return self.name


def _round_half_away(x: torch.Tensor) -> torch.Tensor:
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


OPS: tuple[Op, ...] = (
    Op("add", "pl.add(a, b)", lambda a, b: a + b, FLOATS + INTS, "ab"),
    Op("add_scalar", "pl.add(a, 3)", lambda a: a + 3, FLOATS + INTS),
    Op("sub", "pl.sub(a, b)", lambda a, b: a - b, FLOATS + INTS, "ab"),
    Op("sub_scalar", "pl.sub(a, 2)", lambda a: a - 2, FLOATS + INTS),
    Op("mul", "pl.mul(a, b)", lambda a, b: a * b, FLOATS + INTS, "ab"),
    Op("mul_scalar", "pl.mul(a, 3)", lambda a: a * 3, FLOATS + INTS),
    Op("div", "pl.div(a, b)", lambda a, b: a / b, ("FP32", "FP16"), "ab", ulp=2, domain=(0.5, 4)),
    Op("div_scalar", "pl.div(a, 4.0)", lambda a: a / 4, ("FP32", "FP16"), ulp=1),
    Op("maximum", "pl.maximum(a, b)", torch.maximum, FLOATS + INTS, "ab"),
    Op("minimum", "pl.minimum(a, b)", torch.minimum, FLOATS + INTS, "ab"),
    Op("maximum_scalar", "pl.maximum(a, 1)", lambda a: a.clamp(min=1), FLOATS + INTS),
    Op("neg", "pl.neg(a)", lambda a: -a, FLOATS + INTS),
    Op("abs", "pl.abs(a)", torch.abs, FLOATS + INTS),
    Op("exp", "pl.exp(a)", torch.exp, FLOATS, ulp=4),
    Op("log", "pl.log(a)", torch.log, ("FP32", "FP16"), ulp=4, domain=(0.1, 9)),
    Op("sqrt", "pl.sqrt(a)", torch.sqrt, ("FP32", "FP16"), ulp=1, domain=(0, 9)),
    Op("rsqrt", "pl.rsqrt(a)", torch.rsqrt, ("FP32", "FP16"), ulp=4, domain=(0.1, 9)),
    Op("recip", "pl.recip(a)", torch.reciprocal, ("FP32", "FP16"), ulp=2, domain=(0.1, 9)),
    Op("sin", "pl.sin(a)", torch.sin, ("FP32",), ulp=8),
    Op("cos", "pl.cos(a)", torch.cos, ("FP32",), ulp=8),
    Op("fmod", "pl.fmod(a, b)", torch.fmod, ("FP32",), "ab", domain=(1, 9)),
    Op("fmods", "pl.fmods(a, 1.5)", lambda a: torch.fmod(a, torch.tensor(1.5, dtype=a.dtype)), ("FP32",)),
    Op("and", "pl.and_(a, b)", lambda a, b: a & b, INTS, "ab"),
    Op("or", "pl.or_(a, b)", lambda a, b: a | b, INTS, "ab"),
    Op("xor", "pl.xor(a, b)", lambda a, b: a ^ b, INTS, "ab"),
    Op("not", "pl.not_(a)", lambda a: ~a, ("INT16",)),
    Op("shls", "pl.shls(a, 2)", lambda a: a << 2, INTS),
    Op("shrs", "pl.shrs(a, 1)", lambda a: a >> 1, INTS),
    Op("row_sum", "pl.row_sum(a)", lambda a: a.sum(1, True), ("FP32",), result="column", ulp=64),
    Op("row_max", "pl.row_max(a)", lambda a: a.amax(1, True), ("FP32", "FP16"), result="column"),
    Op("row_min", "pl.row_min(a)", lambda a: a.amin(1, True), ("FP32", "FP16"), result="column"),
    Op("col_sum", "pl.col_sum(a)", lambda a: a.sum(0, True), ("FP32",), result="row", ulp=64),
    Op("col_max", "pl.col_max(a)", lambda a: a.amax(0, True), ("FP32", "FP16"), result="row"),
    Op("col_min", "pl.col_min(a)", lambda a: a.amin(0, True), ("FP32", "FP16"), result="row"),
    Op("row_expand_add", "pl.row_expand_add(a, v)", lambda a, v: a + v, ("FP32", "FP16"), "av"),
    Op("row_expand_sub", "pl.row_expand_sub(a, v)", lambda a, v: a - v, ("FP32", "FP16"), "av"),
    Op("row_expand_mul", "pl.row_expand_mul(a, v)", lambda a, v: a * v, ("FP32", "FP16"), "av"),
    Op("row_expand_div", "pl.row_expand_div(a, v)", lambda a, v: a / v, ("FP32", "FP16"), "av", ulp=2, domain=(0.5, 4)),
    Op("col_expand_add", "pl.col_expand_add(a, w)", lambda a, w: a + w, ("FP32", "FP16"), "aw"),
    Op("col_expand_mul", "pl.col_expand_mul(a, w)", lambda a, w: a * w, ("FP32", "FP16"), "aw"),
    Op("col_expand_sub", "pl.col_expand_sub(a, w)", lambda a, w: a - w, ("FP32", "FP16"), "aw"),
    Op("cast_rint", "pl.cast(a, pl.INT32, mode='rint')", torch.round, ("FP32",), out="INT32"),
    Op("cast_round", "pl.cast(a, pl.INT32)", _round_half_away, ("FP32",), out="INT32"),
    Op("cast_floor", "pl.cast(a, pl.INT32, mode='floor')", torch.floor, ("FP32",), out="INT32"),
    Op("cast_ceil", "pl.cast(a, pl.INT32, mode='ceil')", torch.ceil, ("FP32",), out="INT32"),
    Op("cast_trunc", "pl.cast(a, pl.INT32, mode='trunc')", torch.trunc, ("FP32",), out="INT32"),
    Op("narrow_bf16", "pl.cast(a, pl.BF16, mode='rint')", lambda a: a, ("FP32",), out="BF16"),
    Op("narrow_fp16", "pl.cast(a, pl.FP16, mode='rint')", lambda a: a, ("FP32",), out="FP16"),
    Op("widen", "pl.cast(a, pl.FP32)", lambda a: a, ("BF16", "FP16", "INT32"), out="FP32"),
    Op("softmax_chain", "pl.row_expand_div(pl.exp(pl.row_expand_sub(a, pl.row_max(a))), v)",
       lambda a, v: torch.exp(a - a.amax(1, True)) / v, ("FP32",), "av", ulp=16, domain=(0.5, 4)),
)  # fmt: skip

# name -> (physical rows, columns, valid rows). Valid rows below the physical ones are read through a run-time
# valid shape; 0 writes nothing.
SHAPES: dict[str, tuple[int, int, int]] = {
    "one": (1, 1, 1),
    "odd": (7, 13, 7),
    "aligned": (16, 64, 16),
    "tail": (16, 64, 5),
    "empty": (16, 64, 0),
}
FULL_SHAPES = ("one", "odd", "aligned")


def cases(shapes=tuple(SHAPES)) -> list[tuple[Op, str, str]]:
    """Every (op, element type, shape class) that makes sense: reductions over rows need full tiles."""
    found = []
    for op in OPS:
        for dtype in op.dtypes:
            for shape in shapes:
                if op.result == "row" and shape not in FULL_SHAPES:
                    continue
                found.append((op, dtype, shape))
    return found


def _extent(operand: str, rows: int, columns: int) -> tuple[int, int]:
    return {"v": (rows, 1), "w": (1, columns)}.get(operand, (rows, columns))


_serial = 0


def program(op: Op, dtype: str, shape: str):
    """A jit function `entry(a, …, y)` that applies the op to whole tiles (or to their valid rows)."""
    global _serial
    rows, columns, valid = SHAPES[shape]
    out = op.out or dtype
    result = {"full": (rows, columns), "column": (rows, 1), "row": (1, columns)}[op.result]
    partial = valid != rows
    parameters, loads = [], []
    for operand in op.operands:
        r, c = _extent(operand, rows, columns)
        dynamic = partial and operand != "w"
        parameters.append(f"{operand}_: pl.Tensor[[{'N' if dynamic else r}, {c}], pl.{dtype}]")
        valid_shape = f", valid_shape=[n, {c}]" if dynamic else ""
        loads.append(f"        {operand} = pl.slice({operand}_, [{r}, {c}], [0, 0]{valid_shape})")
    first = "N" if partial else result[0]
    parameters.append(f"y: pl.Out[pl.Tensor[[{first}, {result[1]}], pl.{out}]]")
    lines = ["import pypto.language as pl", "N = pl.dynamic('N')", "@pl.jit"]
    lines.append(f"def entry({', '.join(parameters)}):")
    if partial:
        lines += [f"    {o}_.bind_dynamic(0, N)" for o in op.operands if o != "w"]
        lines += ["    y.bind_dynamic(0, N)", "    n = pl.tensor.dim(y, 0)"]
    lines.append("    with pl.at(level=pl.Level.CORE_GROUP, name_hint='op'):")
    lines += [
        *loads,
        f"        t = {op.text}",
        "        y = pl.assemble(y, t, [0, 0])",
        "    return y",
        "",
    ]
    text = "\n".join(lines)
    _serial += 1
    filename = f"<{op.name} {dtype} {shape} {_serial}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["entry"]


def inputs(op: Op, dtype: str, shape: str, seed: int = 0) -> tuple[torch.Tensor, ...]:
    rows, columns, valid = SHAPES[shape]
    generator = torch.Generator().manual_seed(seed)
    made = []
    for operand in op.operands:
        r, c = _extent(operand, valid if operand != "w" else rows, columns)
        low, high = op.domain
        values = torch.rand(r, c, generator=generator, dtype=torch.float64) * (high - low) + low
        if dtype.startswith(("INT", "UINT")):
            values = torch.randint(-100, 100, (r, c), generator=generator)
        made.append(values.to(TORCH[dtype]))
    result = {"full": (valid, columns), "column": (valid, 1), "row": (1, columns)}[op.result]
    made.append(torch.full(result, 77, dtype=TORCH[op.out or dtype]))
    return tuple(made)


def check(op: Op, dtype: str, args: tuple[torch.Tensor, ...]) -> None:
    """Compares the last argument with the reference of the others."""
    *given, got = args
    exact = dtype.startswith(("INT", "UINT"))
    wanted = op.reference(*[g if exact else g.double() for g in given]).to(torch.float64)
    out = op.out or dtype
    if not op.ulp or out not in EPSILON:
        rounded = wanted.to(got.dtype)
        assert torch.equal(got, rounded), _difference(got, rounded)
        return
    largest = max(1.0, wanted.abs().max().item()) if op.ulp >= 64 and wanted.numel() else 0.0
    bound = op.ulp * EPSILON[out] * torch.clamp(wanted.abs(), min=max(largest, 2.0**-14))
    off = (got.double() - wanted).abs() > bound
    assert not off.any(), _difference(got, wanted, off)


def _difference(got, wanted, off=None) -> str:
    off = got != wanted if off is None else off
    at = tuple(off.nonzero()[0].tolist()) if off.any() else ()
    count = int(off.sum())
    if not at:
        return "differ in NaN or shape"
    return f"{count} of {got.numel()} differ, first at {at}: got {got[at].item()!r}, wanted {wanted[at].item()!r}"


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


assert math.log2(EPSILON["FP32"]) == -23
