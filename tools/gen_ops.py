#!/usr/bin/env python3
"""Writes the Python functions that build ops of the `pto` dialect, `ptoas.ops`, from the op records. `--check` writes
nothing and fails when the file is not what the records give."""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gen_isa
import gen_language

OPS = gen_isa.PTOAS / "python/ptoas/ops.py"
# Results with one possible type.
FIXED = {
    "Index": "index",
    "I1": "i1",
    "I32": "i32",
    "I64": "i64",
    "PTO_PipeType": "!pto.pipe",
    "PTO_AsyncSessionType": "!pto.async_session",
    "PTO_AsyncEventType": "!pto.async_event",
    "PTO_PrefetchAsyncContextType": "!pto.prefetch_async_context",
}
# Results whose type build.py takes from the operands when none is given.
DERIVED = {
    "addptr",
    "load_scalar",
    "local_array_get",
    "tgetval",
    "make_tensor_view",
    "partition_view",
    "multi_tile_get",
}
# What a number of Python becomes where an operand of such a record stands; `v` takes values only.
NUMBERS = {"index": "i", "i64": "a", "i32": "w", "i1": "b", "f32": "f", "element": "s"}
BUILTIN = {"Index": "index", "I64": "i64", "I32": "i32", "I1": "i1", "F32": "f32"}
KINDS = {
    "PTO_IntAttr": ("int", "int"),
    "BoolAttr": ("bool", "bool"),
    "UnitAttr": ("unit", "bool"),
    "StrAttr": ("str", "str"),
    "FlatSymbolRefAttr": ("symbol", "str"),
    "DenseI64ArrayAttr": ("ints", "Sequence[int]"),
    "AnyAttr": ("any", "str"),
}
HEADER = '''"""A function for each op of the `pto` dialect, written from the op records by tools/gen_ops.py; do not edit.

Operands stand in the order of the record, optional ones and attributes are named. Tiles and views are values;
a Python number is a constant of the type that the op's record names: `index`, `i32`, `i64`, or the element type of
the op's tile. Enums are members of `ptoas.RoundMode` and so on, or their words. An op with a body is the head of a `with`,
which gives its results. docs/isa has a page for each op.
"""

# ruff: noqa: F401
# fmt: off
from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import ptoas

from .build import Scalar, Value, _build_op, _section


'''


@dataclass
class Argument:
    name: str
    parameter: str
    count: str = ""  # "", "optional", "several"
    kind: str = (
        "v"  # of an operand: see NUMBERS; of an attribute: see KINDS, or the mnemonic of its enum
    )
    hint: str = "Value"
    default: str | None = None  # an attribute's, in words
    is_attribute: bool = False


def python_name(name: str) -> str:
    name = name.replace(".", "_").rstrip("_")
    return f"{name}_" if keyword.iskeyword(name) or name == "print" else name


def enum_class(record: dict, records: gen_isa.Records) -> str:
    return records.get(record["enum"])["className"]


def argument(records: gen_isa.Records, reference: dict, name: str) -> Argument:
    found = Argument(name, python_name(name))
    if attribute := records.attribute(reference):
        found.is_attribute = True
        record = records.base_attribute(reference)
        if record.get("enum"):
            found.kind, found.hint = (
                record["mnemonic"],
                f"ptoas.{enum_class(record, records)} | str",
            )
        else:
            found.kind, found.hint = KINDS[record["!name"]]
        found.default = attribute[1]
        return found
    record, found.count = records.constraint(reference)
    base = records.get(record["baseType"]) if record.get("baseType") else record
    if literal := base.get("literal") or BUILTIN.get(base["!name"]):
        found.kind = NUMBERS[literal]
    if found.kind != "v":
        found.hint = "Scalar"
    return found


def arguments_of(records: gen_isa.Records, mnemonic: str) -> list[Argument]:
    """Operands and attributes of an op, in the order of its record."""
    op = records.ops[mnemonic]
    return [argument(records, r, n) for r, n in op["arguments"]["args"]]


def element_of(records: gen_isa.Records, op: dict, operands: list[Argument]) -> str | None:
    """The operand whose element type a number takes, for ops with scalars of such a type."""
    scalars = {a.name for a in operands if a.kind == "s"}
    if not scalars:
        return None
    for reference in op.get("tileRules", ()):
        # {RuleKind::ScalarIsElem, RuleArch::Both, "scalar src"}
        rule = re.fullmatch(r'{RuleKind::(\w+), .*, "(.*)"}', records.get(reference)["init"])
        if rule[1] == "ScalarIsElem":
            return rule[2].split()[1]
    values = [a.name for a in operands if a.kind == "v" and not a.count]
    return next((n for n in ("src", "dst", "ptr", "array") if n in values), None)


def function(records: gen_isa.Records, mnemonic: str) -> str:
    op = records.ops[mnemonic]
    arguments = arguments_of(records, mnemonic)
    positional, named = [], []
    for a in arguments:
        hint = f"Sequence[{a.hint}]" if a.count == "several" else a.hint
        if a.count == "optional" or (a.is_attribute and a.default != "required"):
            named.append(f"{a.parameter}: {hint} | None = None")
        else:
            positional.append(f"{a.parameter}: {hint}")
    results = []
    for reference, name in op["results"]["args"]:
        record, count = records.constraint(reference)
        if count == "several":
            named.append(f"{name}: Sequence[str] = ()")
            results.append(f"*{name}")
            continue
        if record["!name"] in FIXED:
            results.append(repr(FIXED[record["!name"]]))
            continue
        given = "result" if len(op["results"]["args"]) == 1 else python_name(name)
        if mnemonic in DERIVED:
            named.append(f"{given}: str | None = None")
        else:
            positional.append(f"{given}: str")
        results.append(given)
    has_region = bool(op["regions"]["args"])
    returned = {0: "None", 1: "Value"}.get(
        len(results), f"tuple[{', '.join(['Value'] * len(results))}]"
    )
    if has_region:
        returned = "AbstractContextManager[list[Value]]"
    parameters = [*positional, *(["*"] if named else []), *named]
    operands = [a for a in arguments if not a.is_attribute]
    attributes = [a for a in arguments if a.is_attribute]
    traits = [t["def"] for t in op["traits"]]
    groups = ", ".join(a.parameter for a in operands)
    texts = ", ".join(f'"{a.name}": ("{a.kind}", {a.parameter})' for a in attributes)
    call = [
        f"groups=[{groups}]",
        f'kinds="{"".join(a.kind for a in operands)}"',
        f"attributes={{{texts}}}",
        f"segments={'AttrSizedOperandSegments' in traits}",
        f"results=[{', '.join(results)}]",
    ]
    if element := element_of(records, op, operands):
        call.append(f"element={python_name(element)}")
    lines = [f"def {python_name(mnemonic)}({', '.join(parameters)}) -> {returned}:"]
    text = op["summary"].rstrip(".") + "."
    if (equation := records.equation(op)) and equation != op["summary"]:
        text += f" {equation.rstrip('.')}."
    if (queue := records.queue(op)) != gen_isa.NO_QUEUE:
        text += f" Queue: {queue}."
    text += f" Architectures: {records.architectures(op)}."
    defaults = [
        f"`{a.parameter}`: {a.default}"
        for a in attributes
        if a.default not in ("required", "absent")
    ]
    if defaults:
        text += f" Defaults: {', '.join(defaults)}."
    body = textwrap.fill(
        text.replace("\\", "\\\\"), 110, subsequent_indent="    ", break_long_words=False
    )
    lines += [f'    """{body}"""']
    if has_region:
        if "NoTerminator" not in traits:
            call.append('terminator="pto.yield"')
        lines += [f'    return _section("pto.{mnemonic}", {", ".join(call)})']
    else:
        built = f'_build_op("pto.{mnemonic}", {", ".join(call)})[1]'
        one, several = f"    return {built}[0]", f"    return tuple({built})"
        lines += [{0: f"    {built}", 1: one}.get(len(results), several)]
    return "\n".join(lines)


def main() -> int:
    records = gen_isa.Records()
    ops = [op for _, family in gen_isa.families() for op in family]
    text = HEADER + "\n\n\n".join(function(records, op) for op in ops) + "\n"
    text = gen_language.formatted(text, "ops.py")
    if "--check" in sys.argv:
        return OPS.read_text() != text
    OPS.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
