"""Random kernels, and a Python that runs the same text on torch tensors in FP64.

Bodies are made of tile operations, row reductions, loops that carry tiles and columns, and conditionals.
Operations keep values within about [-8, 8], so that rounding cannot be amplified.
"""

from __future__ import annotations

import linecache
from types import SimpleNamespace

import torch
from hypothesis import strategies as st

ROWS = 16

# Text of an operation -> kinds of its operands ("t" tile, "c" column); the kind of its result.
TILE_OPS = {
    "pl.mul(pl.add({}, {}), 0.5)": "tt",
    "pl.mul(pl.sub({}, {}), 0.5)": "tt",
    "pl.maximum({}, {})": "tt",
    "pl.minimum({}, {})": "tt",
    "pl.neg({})": "t",
    "pl.abs({})": "t",
    "pl.exp(pl.neg(pl.abs({})))": "t",
    "pl.mul(pl.row_expand_add({}, {}), 0.5)": "tc",
    "pl.mul(pl.row_expand_sub({}, {}), 0.5)": "tc",
    "pl.row_expand_mul({}, pl.exp(pl.neg(pl.abs({}))))": "tc",
}
COLUMN_OPS = {
    "pl.row_max({})": "t",
    "pl.row_min({})": "t",
    "pl.mul(pl.row_sum({}), 0.01)": "t",
    "pl.maximum({}, {})": "cc",
    "pl.mul(pl.add({}, {}), 0.5)": "cc",
    "pl.exp(pl.neg(pl.abs({})))": "c",
    "pl.exp(pl.neg(pl.abs(pl.sub({}, {}))))": "cc",
}
NAMES = {"t": ("t0", "t1", "t2"), "c": ("c0", "c1")}


@st.composite
def assignment(draw) -> str:
    kind = draw(st.sampled_from("tc"))
    text, kinds = draw(st.sampled_from(sorted((TILE_OPS if kind == "t" else COLUMN_OPS).items())))
    operands = [draw(st.sampled_from(NAMES[k])) for k in kinds]
    return f"{draw(st.sampled_from(NAMES[kind]))} = {text.format(*operands)}"


@st.composite
def statements(draw, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 5 if depth == 0 else 3))):
        form = draw(
            st.sampled_from(["assign", "assign", "copy", "loop", "if"] if depth < 2 else ["assign"])
        )
        if form == "assign":
            lines.append(draw(assignment()))
        elif form == "copy":
            kind = draw(st.sampled_from("tc"))
            target, source = (draw(st.sampled_from(NAMES[kind])) for _ in range(2))
            if target != source:
                lines.append(f"{target} = {source}")
        else:
            inner = draw(statements(depth + 1))
            if form == "loop":
                head = f"for i{depth} in pl.range({draw(st.integers(0, 3))}):"
            else:
                head = f"if n > {draw(st.integers(0, 3))}:"
            lines += [head, *("    " + line for line in inner)]
    return lines or [draw(assignment())]


@st.composite
def programs(draw) -> tuple[list[str], int]:
    """Statements and the number of columns."""
    return draw(statements()), draw(st.sampled_from([1, 8, 13, 32, 100]))


_serial = 0


def native(body: list[str], columns: int):
    """`entry(a, b, n, y, v)`: a, b are [16, columns]; y takes t0 + t1 + t2 scaled, v the columns."""
    global _serial
    tile, column = f"[{ROWS}, {columns}]", f"[{ROWS}, 1]"
    lines = [
        "import pypto.language as pl",
        "@pl.jit",
        f"def entry(a: pl.Tensor[{tile}, pl.FP32], b: pl.Tensor[{tile}, pl.FP32], n: pl.Scalar[pl.INT32], "
        f"y: pl.Out[pl.Tensor[{tile}, pl.FP32]], v: pl.Out[pl.Tensor[{column}, pl.FP32]]):",
        "    with pl.at(level=pl.Level.CORE_GROUP, name_hint='body'):",
        f"        t0 = pl.slice(a, {tile}, [0, 0])",
        f"        t1 = pl.slice(b, {tile}, [0, 0])",
        "        t2 = pl.mul(t0, 0.25)",
        "        c0 = pl.row_max(t0)",
        "        c1 = pl.row_min(t1)",
        *("        " + line for line in body),
        "        y = pl.assemble(y, pl.mul(pl.add(pl.add(t0, t1), t2), 0.25), [0, 0])",
        "        v = pl.assemble(v, pl.mul(pl.add(c0, c1), 0.5), [0, 0])",
        "    return y, v",
        "",
    ]
    text = "\n".join(lines)
    _serial += 1
    filename = f"<random program {_serial}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["entry"]


_TORCH = SimpleNamespace(
    add=torch.add,
    sub=torch.sub,
    mul=torch.mul,
    maximum=torch.maximum,
    minimum=torch.minimum,
    neg=torch.neg,
    abs=torch.abs,
    exp=torch.exp,
    row_max=lambda x: x.amax(1, True),
    row_min=lambda x: x.amin(1, True),
    row_sum=lambda x: x.sum(1, True),
    row_expand_add=torch.add,
    row_expand_sub=torch.sub,
    row_expand_mul=torch.mul,
    range=range,
)


def reference(body: list[str], a: torch.Tensor, b: torch.Tensor, n: int):
    """What Python makes of the same text on FP64 tensors."""
    a, b = a.double(), b.double()
    names = {"pl": _TORCH, "n": n, "t0": a, "t1": b, "t2": a * 0.25}
    names |= {"c0": a.amax(1, True), "c1": b.amin(1, True)}
    exec("\n".join(body), names)
    y = (names["t0"] + names["t1"] + names["t2"]) * 0.25
    return y, (names["c0"] + names["c1"]) * 0.5
