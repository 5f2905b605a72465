#!/usr/bin/env python3
"""Writes the operations of `pypto.language` from the op table of the pypto dialect.

`gen_language.py` reads the dialect's TableGen (through pypto/tools/generate_op_table.py) and writes
pypto/python/pypto/language/optable.py (names, parameters, one line each) and __init__.pyi (stubs).
`--check` writes nothing and fails when a file is not what the table gives.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = ROOT / "pypto" / "python" / "pypto" / "language"
DIALECT = ROOT / "pypto" / "include" / "pypto" / "Dialect" / "PyPTO" / "IR"
LLVM = Path("/usr/lib/llvm-22")

STUB_TYPES = {
    "value": "Value",
    "value_or_scalar": "Value | Number",
    "scalar": "Number",
    "index": "Number",
    "offsets": "Sequence[Number]",
    "valid": "Sequence[Number]",
    "shape": "Sequence[Number]",
    "const_shape": "Sequence[int]",
    "dtype": "DataType",
    "ints": "Sequence[int]",
    "int": "int",
    "number": "int | float",
    "bool": "bool",
    "str": "str",
    "deps": "Sequence[Any]",
    "scratch": "Value",
}


def read_table() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "op_table.json"
        command = [sys.executable, str(ROOT / "pypto/tools/generate_op_table.py")]
        command += ["--tblgen", str(LLVM / "bin/llvm-tblgen"), "-I", str(DIALECT)]
        command += ["-I", str(LLVM / "include"), str(DIALECT / "PyPTOOps.td")]
        command += ["--cpp", str(Path(folder) / "OpTable.inc"), "--json", str(target)]
        subprocess.run(command, check=True)
        return json.loads(target.read_text())


def default_text(param: dict, following: list[dict]) -> str:
    """Python text of the default. None before a positional parameter without one cannot be left out."""
    text = param["default"]
    if any(not p["default"] and not p["keywordOnly"] for p in following):
        return ""
    enum = param["enum"]
    if enum and text.isidentifier() and text != "None":
        return f"{enum}.{text}"
    return text


def parameters(sig: dict) -> str:
    """The parameter list as a Python signature shows it."""
    parts, star = [], False
    for at, param in enumerate(sig["params"]):
        if param["keywordOnly"] and not star:
            parts.append("*")
            star = True
        default = default_text(param, sig["params"][at + 1 :])
        parts.append(f"{param['name']}={default}" if default else param["name"])
    return ", ".join(parts)


def collect(table: dict) -> dict[str, list[tuple[dict, str]]]:
    """Spelled name below `pl` -> signatures with the summary of their op."""
    summary = {op["name"]: op["summary"] for op in table["ops"]}
    names: dict[str, list[tuple[dict, str]]] = {}
    for sig in table["signatures"]:
        for name in sig["names"]:
            names.setdefault(name, []).append((sig, summary[sig["op"]]))
    return dict(sorted(names.items()))


def optable(names: dict) -> str:
    lines = [
        '"""Operations of the language: name below `pl` -> (parameter lists, what it gives).\n\n'
        "Made by tools/gen_language.py from the dialect's op table; do not edit.\n"
        '"""\n\n',
        "from __future__ import annotations\n\n",
        "# fmt: off\n",
        "OPS: dict[str, tuple[tuple[str, ...], str]] = {\n",
    ]
    for name, sigs in names.items():
        lists = "".join(f"{json.dumps(parameters(s))}, " for s, _ in sigs)
        text = json.dumps(sigs[0][1], ensure_ascii=False)
        lines.append(f"    {json.dumps(name)}: (({lists.rstrip()}), {text}),\n")
    lines.append("}\n")
    return "".join(lines)


def stub_function(name: str, sig: dict, summary: str, indent: str, overload: bool) -> str:
    parts, star = [], False
    for at, param in enumerate(sig["params"]):
        if param["keywordOnly"] and not star:
            parts.append("*")
            star = True
        kind = param["enum"] or STUB_TYPES[param["kind"]]
        if param["enum"]:
            kind = (
                f"{param['enum']} | int | str"
                if param["enum"] in ("RoundMode", "CmpType")
                else kind
            )
            kind = kind.replace("RoundMode | ", "").replace("CmpType | ", "")
        default = default_text(param, sig["params"][at + 1 :])
        if default == "None":
            kind += " | None"
        parts.append(f"{param['name']}: {kind} = ..." if default else f"{param['name']}: {kind}")
    lines = [f"{indent}@overload\n"] if overload else []
    if indent:
        lines.append(f"{indent}@staticmethod\n")
    lines.append(f"{indent}def {name}({', '.join(parts)}) -> Any:\n")
    quoted = summary + " " if summary.endswith('"') else summary
    lines.append(f'{indent}    """{quoted}"""\n')
    return "".join(lines)


STUB_HEAD = '''\
"""Stubs of the tile language.

Made by tools/gen_language.py; do not edit. Operations are compiled inside kernels: what they return
is a tensor, a tile or a scalar of the language, never data.
"""

from collections.abc import Sequence
from typing import Any, overload

from pypto.decorators import function as function, inline as inline, jit as jit, program as program
from pypto.dtypes import DataType as DataType
from pypto.enums import (
    AtomicType as AtomicType,
    CompactMode as CompactMode,
    ForKind as ForKind,
    FunctionType as FunctionType,
    Level as Level,
    MaskPattern as MaskPattern,
    Mem as Mem,
    MemorySpace as MemorySpace,
    PadValue as PadValue,
    PipeType as PipeType,
    Role as Role,
    ScopeMode as ScopeMode,
    SplitMode as SplitMode,
    TensorLayout as TensorLayout,
    TileLayout as TileLayout,
)
from pypto.language.constructs import (
    at as at,
    cluster as cluster,
    cond as cond,
    const as const,
    cross_core_slot as cross_core_slot,
    dump_tag as dump_tag,
    func_attr as func_attr,
    manual_scope as manual_scope,
    max as max,
    min as min,
    no_dep as no_dep,
    parallel as parallel,
    pipeline as pipeline,
    range as range,
    scope as scope,
    split as split,
    split_aiv as split_aiv,
    spmd as spmd,
    spmd_submit as spmd_submit,
    static_assert as static_assert,
    static_print as static_print,
    submit as submit,
    unroll as unroll,
    while_ as while_,
    yield_ as yield_,
)
from pypto.text import (
    loads as loads,
    loads_program as loads_program,
    parse as parse,
    parse_program as parse_program,
)
from pypto.types import (
    RUNTIME as RUNTIME,
    Array as Array,
    AsyncEvent as AsyncEvent,
    AsyncSession as AsyncSession,
    DynVar as DynVar,
    InOut as InOut,
    IntLike as IntLike,
    MemRef as MemRef,
    MemRefType as MemRefType,
    Out as Out,
    PrefetchAsyncContext as PrefetchAsyncContext,
    Ptr as Ptr,
    Scalar as Scalar,
    Tensor as Tensor,
    TensorView as TensorView,
    Tile as Tile,
    TileView as TileView,
    Tuple as Tuple,
    dynamic as dynamic,
)

Value = Any  # a tensor or tile of the language
Number = Any  # a number, or a scalar of the language

ND: TensorLayout
DN: TensorLayout
NZ: TensorLayout
MX_A_ZZ: TensorLayout
MX_B_NN: TensorLayout
AUTO: int
TaskId: Any
'''


def stubs(names: dict) -> str:
    sys.path.insert(0, str(ROOT / "pypto" / "python"))
    from pypto.dtypes import ALL

    written_by_hand = {"max", "min", "const", "no_dep"}
    lines = [STUB_HEAD] + [f"{name}: DataType\n" for name in ALL] + ["\n"]
    spaces: dict[str, list[str]] = {}
    for name, sigs in names.items():
        space, _, short = name.rpartition(".")
        if not space and short in written_by_hand:
            continue
        indent = "    " if space else ""
        text = "".join(stub_function(short, s, d, indent, len(sigs) > 1) for s, d in sigs)
        spaces.setdefault(space, []).append(text)
    lines += spaces.pop("", [])
    for space, functions in spaces.items():
        lines.append(f"\nclass {space}:\n")
        if space == "tile":
            lines.append("    MaskPattern = MaskPattern\n")
        lines += functions
    return "".join(lines)


def formatted(text: str, name: str) -> str:
    """As ruff format leaves it, so that both checks agree."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", name, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"ruff format {name}: {done.stderr}")
    return done.stdout


def main() -> int:
    names = collect(read_table())
    stale = []
    files = {"optable.py": optable(names), "__init__.pyi": stubs(names)}
    for name, text in files.items():
        path = LANGUAGE / name
        text = formatted(text, name)
        if path.exists() and path.read_text() == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(str(path.relative_to(ROOT)))
        else:
            path.write_text(text)
    if stale:
        print("not what the op table gives: " + ", ".join(stale) + "; run tools/gen_language.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
