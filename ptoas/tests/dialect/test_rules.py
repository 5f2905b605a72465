"""Rule by rule: every constraint of every op record, broken on its own, is reported in its words.

The cases are made from the records and from the texts in ptoas/test/IR/text: each takes a legal op,
changes one operand such that one rule does not hold, and expects the message of that rule. What needs
code of its own is tested by hand in ptoas/test/IR/*-errors.mlir.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field, replace

import pytest
from tools_of_tree import ROOT, tool

sys.path.insert(0, str(ROOT / "tools"))
gen_isa = pytest.importorskip("gen_isa")

TILE = re.compile(r"!pto\.tile_buf<(\w+), (\d+)x(\d+)x([^,>]+?)((?:, \w+=[^,>]+)*)>$")


@dataclass
class Tile:
    space: str
    rows: int
    cols: int
    element: str
    keys: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> Tile | None:
        found = TILE.match(text)
        if not found:
            return None
        keys = dict(part.split("=") for part in found[5].split(", ")[1:])
        return Tile(found[1], int(found[2]), int(found[3]), found[4], keys)

    @property
    def valid(self) -> tuple[int, int]:
        rows, cols = self.keys.get("valid", f"{self.rows}x{self.cols}").split("x")
        return int(rows), int(cols)

    def key(self, name: str, value: str) -> Tile:
        return replace(self, keys={**self.keys, name: value})

    def __str__(self) -> str:
        keys = "".join(f", {k}={v}" for k, v in self.keys.items())
        return f"!pto.tile_buf<{self.space}, {self.rows}x{self.cols}x{self.element}{keys}>"


@dataclass
class Example:
    """A legal op: its operands by name, with their types."""

    op: str
    arch: str
    inside: str
    behind: str
    names: list[str]
    groups: list[str]
    types: list[str]
    only: str = ""  # the architecture that the text is for; all of its op where it says none

    def text(self, types: list[str], same: tuple[int, int] | None = None, arch: str = "") -> str:
        values = [f"%x{i}" for i in range(len(types))]
        if same:
            values[same[1]] = values[same[0]]
        parts = []
        for group, inside in (("ins", self.inside), ("outs", "")):
            chosen = [i for i, g in enumerate(self.groups) if g == group]
            if chosen:
                listed = ", ".join(values[i] for i in chosen) + inside
                parts.append(f"{group}({listed} : {', '.join(types[i] for i in chosen)})")
        arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
        return (
            f'module attributes {{pto.target_arch = "{arch or self.arch}"}} {{\n'
            f"func.func @f({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
            "  // expected-error @below {{MESSAGE}}\n"
            f"  pto.{self.op} {' '.join(parts)}{self.behind}\n  return\n}}\n}}\n"
        )


def split(text: str) -> list[str]:
    """Parts between the commas that stand in no bracket."""
    parts, depth = [""], 0
    for sign in text:
        depth += sign in "<({["
        depth -= sign in ">)}]"
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def assign(specs: list[dict], group: str, types: list[str]) -> list[str] | None:
    """The name of each operand of a group, as the parser gives them; None for other forms."""
    own = [spec for spec in specs if spec["group"] == group]
    names: list[str] = []
    for i, spec in enumerate(own):
        left = len(types) - len(names)
        needed = sum(not (s["optional"] or s["variadic"]) for s in own[i + 1 :])
        if spec["variadic"]:
            return None
        if spec["optional"]:
            is_tile = left > needed and "tile_buf" in types[len(names)]
            if left <= needed or is_tile != (spec["kind"] == "tile"):
                continue
        if not left:
            return None
        names.append(spec["name"])
    return names if len(names) == len(types) else None


def expand(line: str, aliases: dict[str, str]) -> str:
    return re.sub(r"!\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), line)


def read_examples(records) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for path in sorted((ROOT / "ptoas/test/IR/text").glob("*.mlir")):
        aliases: dict[str, str] = {}
        arch = "a2a3"
        for line in path.read_text().splitlines():
            line, _, only = line.partition(" // ")
            alias = re.fullmatch(r"(!\w+) = (.*)", line)
            if alias:
                aliases[alias[1]] = alias[2]
            if line.startswith("module"):
                arch = "a5" if '"a5"' in line else "a2a3"
            op = re.match(r"\s*pto\.([\w.]+) ", line)
            record = records.ops.get(op[1]) if op else None
            if not record or "tileOperands" not in record or " fp " in line or "= <" in line:
                continue
            line = expand(line, aliases)
            groups = re.match(
                r"\s*pto\.[\w.]+ (?:ins\(((?:%\w+,? ?)+)(,? ?\{.*?\})? ?: (.*?)\) ?)?"
                r"(?:outs\((?:%\w+,? ?)+: (.*?)\))?( \{.*\})?$",
                line,
            )
            if not groups or '"' in line:
                continue
            specs = [gen_isa.spec_of(records.get(r)) for r in record["tileOperands"]]
            ins, outs = split(groups[3] or ""), split(groups[4] or "")
            names = [assign(specs, "ins", ins), assign(specs, "outs", outs)]
            if None in names:
                continue
            inside = f" {groups[2].strip()}" if groups[2] else ""
            found.setdefault(op[1], []).append(
                Example(
                    op[1],
                    arch,
                    inside,
                    groups[5] or "",
                    names[0] + names[1],
                    ["ins"] * len(ins) + ["outs"] * len(outs),
                    ins + outs,
                    only,
                )
            )
    return found


class Cases:
    def __init__(self) -> None:
        self.records = gen_isa.Records()
        self.cases: list[tuple[str, str, str]] = []
        self.open: list[tuple[str, str]] = []
        examples = read_examples(self.records)
        for name, op in self.records.ops.items():
            if "tileOperands" not in op:
                continue
            if name in examples:
                self.add(name, op, examples[name])
            else:
                self.open.append((name, "all"))

    def case(
        self, example: Example, change: dict[int, str], rule: str, message: str, **more
    ) -> None:
        types = [change.get(i, t) for i, t in enumerate(example.types)]
        text = example.text(types, **more).replace("MESSAGE", message)
        self.cases.append((example.op, rule, text))

    def add(self, name: str, op: dict, examples: list[Example]) -> None:
        specs = {
            s["name"]: s for s in (gen_isa.spec_of(self.records.get(r)) for r in op["tileOperands"])
        }
        full = max(examples, key=lambda e: len(e.names))
        if self.records.architectures(op) == "A5":
            self.case(full, {}, "arch", "is not supported on A2/A3, it needs A5", arch="a2a3")
        for spec in specs.values():
            example = next((e for e in examples if spec["name"] in e.names), None)
            if example and spec["kind"] == "tile":
                self.operand(example, spec)
            elif spec["kind"] == "tile":
                self.open.append((name, spec["name"]))
        earlier: list[tuple[str, list[str]]] = []
        for reference in op["tileRules"]:
            init = self.records.get(reference)["init"]
            kind = re.search(r"RuleKind::(\w+)", init)[1]
            arch = {"A3": "a2a3", "A5": "a5", "Both": full.arch}[
                re.search(r"RuleArch::(\w+)", init)[1]
            ]
            names = re.search(r'"([^"]*)"', init)[1].split()
            example = max(examples, key=lambda e: sum(n in e.names for n in names))
            if not self.rule(example, specs, kind, arch, names, earlier):
                self.open.append((name, f"{kind} {' '.join(names)}"))
            earlier.append((kind, names))

    def operand(self, example: Example, spec: dict) -> None:
        at = example.names.index(spec["name"])
        tile = Tile.parse(example.types[at])
        allowed = spec["a5" if example.arch == "a5" else "a3"].split(", ")
        if tile and spec["spaces"]:
            wrong = "bias" if "bias" not in spec["spaces"] else "mat"
            change = str(replace(tile, space=wrong, keys={}))
            message = f"operand '{spec['name']}' must have loc "
            self.case(example, {at: change}, f"space of {spec['name']}", message)
        if tile and allowed != ["any"]:
            change = str(replace(tile, element="f64"))
            message = f"element type 'f64' of operand '{spec['name']}' is not supported"
            self.case(example, {at: change}, f"elements of {spec['name']}", message)

    def rule(self, example, specs, kind, arch, names, earlier) -> bool:
        present = [n for n in names if n in example.names]
        places = [example.names.index(n) for n in present]
        tiles = [Tile.parse(example.types[i]) for i in places]
        last, at = tiles[-1] if tiles else None, places[-1] if places else 0
        label = f"{kind} {' '.join(names)}"

        def broken(tile: Tile, message: str, where: int | None = None) -> bool:
            self.case(
                example, {at if where is None else where: str(tile)}, label, message, arch=arch
            )
            return True

        if kind == "Distinct":
            self.case(
                example, {}, label, "must be different tiles", same=(places[0], at), arch=arch
            )
            return True
        if kind == "ScalarIsElem":
            if len(tiles) < 2 or not tiles[1]:
                return False
            wrong = "i64" if tiles[1].element.startswith("f") else "f32"
            self.case(
                example, {places[0]: wrong}, label, f"scalar type '{wrong}' must be", arch=arch
            )
            return True
        if not last:
            return False
        pair = f"of '{present[0]}' and '{present[-1]}' must be equal"
        taller = replace(
            last, rows=last.rows + 16, keys={k: v for k, v in last.keys.items() if k != "valid"}
        )
        wider = replace(
            last, cols=last.cols * 2, keys={k: v for k, v in last.keys.items() if k != "valid"}
        )
        if kind in ("SameElem", "SameWidth"):
            allowed = specs[present[-1]]["a5" if arch == "a5" else "a3"].split(", ")
            others = [
                e for e in ("i32", "f16", "i16", "i8", "f32") if allowed == ["any"] or e in allowed
            ]
            size = {"i32": 4, "f32": 4, "f16": 2, "i16": 2, "i8": 1}
            others = [e for e in others if e != last.element]
            if kind == "SameWidth":
                others = [e for e in others if size[e] != size.get(last.element)]
            if len(present) < 2 or not others:
                return False
            what = "element types" if kind == "SameElem" else "element sizes"
            return broken(replace(last, element=others[0]), f"{what} {pair}")
        if kind in ("SameShape", "SameValid", "SameRows", "SameCols"):
            if len(present) < 2:
                return False
            rows, cols = last.valid
            if kind == "SameShape":
                return broken(taller.key("valid", f"{rows}x{cols}"), f"shapes {pair}")
            if kind == "SameValid" and any(k == "SameShape" for k, _ in earlier):
                return broken(last.key("valid", f"{rows - 1}x{cols}"), f"valid shapes {pair}")
            if kind == "SameValid":
                return broken(taller.key("valid", f"{rows + 1}x{cols}"), f"valid shapes {pair}")
            if kind == "SameRows":
                return broken(taller.key("valid", f"{rows + 1}x{cols}"), f"valid rows {pair}")
            return broken(wider.key("valid", f"{rows}x{cols + 1}"), f"valid columns {pair}")
        who = f"'{present[-1]}' must"
        if kind == "RowMajor":
            return broken(last.key("blayout", "col_major"), f"{who} be row-major")
        if kind == "NoBox":
            return broken(last.key("slayout", "row_major"), f"{who} not be boxed")
        rows, cols = last.valid
        if kind == "ValidRow1":
            return broken(taller.key("valid", f"2x{cols}"), f"{who} have one valid row")
        if kind == "ValidCol1":
            return broken(wider.key("valid", f"{rows}x2"), f"{who} have one valid column")
        if kind == "NonEmpty":
            first = tiles[0]
            rows, cols = first.valid
            zero_cols = any(k == "SameRows" and present[0] in names for k, names in earlier)
            valid = f"{rows}x0" if zero_cols else f"0x{cols}"
            return broken(first.key("valid", valid), f"'{present[0]}' must not be empty", places[0])
        return False


@pytest.fixture(scope="module")
def cases():
    return Cases()


def test_every_rule_is_reported(cases, tmp_path):
    assert len(cases.cases) > 800
    path = tmp_path / "rules.mlir"
    path.write_text("\n// -----\n".join(text for *_, text in cases.cases))
    command = [tool("pto-opt"), str(path), "-split-input-file", "-verify-diagnostics"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[:6000]


def test_texts_say_where_they_hold(tmp_path):
    """The pages show these texts: one that an architecture refuses is marked with the other's name."""
    records = gen_isa.Records()
    pieces = []
    for op, examples in read_examples(records).items():
        for example in examples:
            for arch, name in (("a2a3", "A2/A3"), ("a5", "A5")):
                text = example.text(example.types, arch=arch)
                legal = name in (example.only or records.architectures(records.ops[op]))
                mark = "" if legal else "// expected-error @below {{'pto.}}"
                pieces.append(text.replace("// expected-error @below {{MESSAGE}}", mark))
    assert len(pieces) > 300
    path = tmp_path / "texts.mlir"
    path.write_text("\n// -----\n".join(pieces))
    command = [tool("pto-opt"), str(path), "-split-input-file", "-verify-diagnostics"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[:6000]


# Ops whose record states no rule, only code; and operands that no text gives in the uniform form.
BY_HAND = {"tmov", "textract", "tinsert", "tmrgsort", "tgetval", "tsync"}


def test_every_op_has_its_rules(cases):
    tested = {op for op, *_ in cases.cases}
    ops = {n for n, op in cases.records.ops.items() if "tileOperands" in op}
    assert ops - tested == BY_HAND
    # The one rule that its sets of elements leave nothing to break: tnot knows i16 only on A2/A3.
    rules = {(op, what) for op, what in cases.open if " " in what}
    assert rules == {("tnot", "SameElem src dst")}
