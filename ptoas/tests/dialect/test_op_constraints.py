"""Each constraint that ODS states for an op is broken on its own, for every op of the dialect.

The cases are made from the texts in ptoas/test/IR/text: each op of them, in generic form, gets an operand or a
result of a foreign type, loses an attribute or gets one of another kind, and has an operand too many. What an op
demands beyond that is broken in test_rules.py (rules of records) and test_messages.py (rules with code).
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from tools_of_tree import ROOT, tool

sys.path.insert(0, str(ROOT / "tools"))
gen_isa = pytest.importorskip("gen_isa")

FOREIGN = "vector<7xf64>"  # no op takes it
SEGMENTS = "operandSegmentSizes"


def split(text: str, sign: str = ",") -> list[str]:
    """Parts between commas that stand in no bracket and no string."""
    parts, depth, quoted = [""], 0, False
    for i, c in enumerate(text):
        quoted ^= c == '"'
        depth += not quoted and c in "<({["
        depth -= not quoted and (c in ")}]" or (c == ">" and text[i - 1] != "-"))
        if c == sign and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class Op:
    name: str
    operands: tuple[str, ...]  # types
    results: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    has_region: bool

    def text(self, operands=None, results=None, attributes=None) -> str:
        operands = self.operands if operands is None else operands
        results = self.results if results is None else results
        attributes = dict(self.attributes) if attributes is None else attributes
        values = ", ".join(f"%x{i}" for i in range(len(operands)))
        properties = ", ".join(f"{k} = {v}" if v else k for k, v in attributes.items())
        left = f"%r:{len(results)} = " if results else ""
        return (
            "func.func @f("
            + ", ".join(f"%x{i}: {t}" for i, t in enumerate(operands))
            + f') {{\n{left}"pto.{self.name}"({values})'
            + (f" <{{{properties}}}>" if properties else "")
            + (" ({\n})" if self.has_region else "")
            + f" : ({', '.join(operands)}) -> ({', '.join(results)})\nreturn\n}}\n"
        )


def read_ops() -> list[Op]:
    found: dict[Op, None] = {}
    for path in sorted((ROOT / "ptoas/test/IR/text").glob("*.mlir")):
        command = [tool("pto-opt"), str(path), "-mlir-print-op-generic"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        types: dict[str, str] = {}
        pending: list[tuple[str, str]] = []  # ops whose region is open
        for line in printed.splitlines():
            block = re.match(r"\s*\^bb\d+\((.*)\):$", line)
            if block:
                types |= dict(part.split(": ", 1) for part in split(block[1]))
                continue
            op = re.match(
                r'\s*(?:%(\w+)(?::\d+)? = )?"([\w.]+)"\((.*?)\)(?: <\{(.*?)\}>)?'
                r"(?: (\(\{)|(?: \{.*\})? : \((.*)\) -> (.*))$",
                line,
            )
            if op and op[5]:
                pending.append((op[2], op[4] or ""))
                continue
            end = re.match(r"\s*\}\)(?: \{.*\})? : \((.*)\) -> (.*)$", line)
            if end:
                name, attributes = pending.pop()
                taken, given, has_region = end[1], end[2], True
            elif op:
                name, attributes = op[2], op[4] or ""
                taken, given, has_region = op[6], op[7], False
            else:
                continue
            if not name.startswith("pto."):
                continue
            pairs = [tuple((*part.split(" = ", 1), "")[:2]) for part in split(attributes)]
            results = split(given[1:-1] if given.startswith("(") else given)
            key = Op(
                name.removeprefix("pto."),
                tuple(split(taken)),
                tuple(results),
                tuple(pairs),
                has_region,
            )
            found[key] = None
    return list(found)


@dataclass(frozen=True)
class Case:
    op: str
    what: str
    text: str
    message: str


def required(record: dict, records) -> set[str]:
    found = set()
    for reference, name in record["arguments"]["args"]:
        attribute = records.attribute(reference)
        if attribute and attribute[1] == "required":
            found.add(name)
    return found


def cases(records) -> list[Case]:
    made = []
    for op in read_ops():
        attributes = dict(op.attributes)
        needed = required(records.ops[op.name], records)
        # Its body or its parent is looked at before its results and operands are.
        open_ended = op.name in ("yield", "fusion_region")
        # Takes members of a struct, whose types it compares itself.
        structs = op.name.startswith("struct_")
        for i in range(0 if open_ended else len(op.operands)):
            changed = [FOREIGN if j == i else t for j, t in enumerate(op.operands)]
            message = "must be the member type" if structs and i else f"operand #{i} must be"
            made.append(Case(op.name, f"operand {i}", op.text(operands=changed), message))
        for i in range(0 if open_ended else len(op.results)):
            changed = [FOREIGN if j == i else t for j, t in enumerate(op.results)]
            message = "must be the member type" if structs else f"result #{i} must be"
            made.append(Case(op.name, f"result {i}", op.text(results=changed), message))
        for name in attributes:
            without = {k: v for k, v in attributes.items() if k != name}
            if name in needed or (name == SEGMENTS and op.operands):
                message = name if name == SEGMENTS else f"requires attribute '{name}'"
                made.append(Case(op.name, f"no {name}", op.text(attributes=without), message))
            other = {**attributes, name: "dense<0> : vector<2xi3>"}
            made.append(Case(op.name, f"kind of {name}", op.text(attributes=other), name))
        more = op.text(operands=[*op.operands, FOREIGN])
        message = "expects parent op" if op.name == "yield" else "operand"
        made.append(Case(op.name, "an operand too many", more, message))
    return made


def errors_by_line(path) -> dict[int, list[str]]:
    command = [tool("pto-opt"), str(path), "-split-input-file"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1, run.stderr[-3000:]
    errors: dict[int, list[str]] = {}
    for line, message in re.findall(rf"{re.escape(path.name)}:(\d+):\d+: error: (.*)", run.stderr):
        errors.setdefault(int(line), []).append(message)
    return errors


@pytest.fixture(scope="module")
def records():
    return gen_isa.Records()


def test_each_constraint_is_reported(records, tmp_path):
    made = cases(records)
    assert len(made) > 1500
    path = tmp_path / "constraints.mlir"
    path.write_text("// -----\n".join(case.text for case in made))
    errors = errors_by_line(path)
    silent, line = [], 1
    for case in made:
        lines = case.text.count("\n")
        said = [e for at in range(line, line + lines) for e in errors.get(at, [])]
        if not any(case.message in e and f"pto.{case.op}" in e for e in said):
            silent.append((case.op, case.what, case.message, said))
        line += lines + 1
    assert not silent, "\n".join(map(str, silent))


def test_every_op_has_cases(records):
    assert {case.op for case in cases(records)} == set(records.ops)


# In the form in which people write ops; that of the cases above is MLIR's generic one.


def test_attributes_of_the_wrong_kind_are_reported_in_written_ops(tmp_path):
    chunks, expected = [], []
    line = 1
    for path in sorted((ROOT / "ptoas/test/IR/text").glob("*.mlir")):
        text = path.read_text().splitlines(keepends=True)
        for number, row in enumerate(text):
            op = re.match(r"\s*(?:%[\w, %]+ = )?pto\.([\w.]+) ", row)
            if not op:
                continue
            for found in re.finditer(r"[{,] ?(\w+) = (#pto<[^>]*>|#pto\.\w+<\w+>)(?=[,}])", row):
                wrong = row[: found.start(2)] + "dense<0> : vector<2xi3>" + row[found.end(2) :]
                chunks.append("".join([*text[:number], wrong, *text[number + 1 :]]))
                expected.append((line + number, op[1], found[1]))
                line += len(text) + 1
    assert len(expected) > 40
    path = tmp_path / "kinds.mlir"
    path.write_text("// -----\n".join(chunks))
    errors = errors_by_line(path)
    silent = [
        (op, name, errors.get(at))
        for at, op, name in expected
        if not any(name in message or "#pto" in message for message in errors.get(at, []))
    ]
    assert not silent, "\n".join(map(str, silent))
