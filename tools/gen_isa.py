#!/usr/bin/env python3
"""Writes the reference pages of the `pto` ops, docs/isa/, from the op records.

Facts come from TableGen (ptoas/include/ptoas/Dialect/PTO/IR), families from ptoas/test/ops.txt, text
forms from the round-trip tests in ptoas/test/IR/text, C++ names from the records and the forms of the
emitter, Python names from the op table of the pypto dialect. `--check` writes nothing and fails when
a page is not what the records give. `--cpp FILE` writes the texts that the language server shows.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PTOAS = ROOT / "ptoas"
PAGES = ROOT / "docs" / "isa"
LLVM = Path("/usr/lib/llvm-22")

# Ops of the language that become instructions through code of their own, not by one name in the table.
PYTHON_NAMES = {
    "tload": "load",
    "tstore": "store",
    "tmov": "move",
    "textract": "extract",
    "tmatmul": "matmul",
    "tmatmul.acc": "matmul_acc",
    "tmatmul.bias": "matmul_bias",
    "tmatmul.mx.acc": "matmul_mx_acc",
    "tmatmul.mx.bias": "matmul_mx_bias",
    "treshape": "reshape",
    "ttrans": "transpose",
    "tcvt": "cast",
    "tfillpad": "fillpad",
    "tfillpad_inplace": "fillpad_inplace",
    "tfillpad_expand": "fillpad_expand",
    "tconcat": "concat",
    "tgetval": "read",
    "tsetval": "write",
    "load_scalar": "read",
    "store_scalar": "write",
    "get_block_idx": "get_block_idx",
    "get_block_num": "get_block_num",
    "get_subblock_idx": "get_subblock_idx",
    "tpush_to_aiv": "tpush_to_aiv",
    "tpush_to_aic": "tpush_to_aic",
    "tpop_from_aic": "tpop_from_aic",
    "tpop_from_aiv": "tpop_from_aiv",
    "tfree_from_aic": "tfree_to_aic",
    "tfree_from_aiv": "tfree_to_aiv",
    "aic_initialize_pipe": "aic_initialize_pipe",
    "aiv_initialize_pipe": "aiv_initialize_pipe",
    "reserve_buffer": "reserve_buffer",
    "import_reserved_buffer": "import_peer_buffer",
    "alloc_tile": "create_tile",
    "subview": "slice",
    "tinsert": "assemble",
    "declare_local_array": "array.create",
    "local_array_get": "array.get_element",
    "local_array_set": "array.update_element",
    "syncall": "system.syncall",
    "barrier": "system.bar_all",
    "fence.barrier_all": "system.fence",
}

BITS = {
    "F16": "f16",
    "BF16": "bf16",
    "F32": "f32",
    "F64": "f64",
    "I1": "i1",
    "I8": "i8",
    "UI8": "ui8",
    "I16": "i16",
    "UI16": "ui16",
    "I32": "i32",
    "UI32": "ui32",
    "I64": "i64",
    "UI64": "ui64",
    "FP8": "fp8",
    "HIF8": "hif8",
    "FP4": "fp4",
}
SETS = {
    "F2": ("F16", "F32"),
    "F3": ("F16", "BF16", "F32"),
    "B8": ("I8", "UI8"),
    "B16": ("I16", "UI16"),
    "B32": ("I32", "UI32"),
    "B64": ("I64", "UI64"),
    "N4": ("I16", "UI16", "I32", "UI32", "F16", "F32"),
}
RULES = {
    "SameElem": "{} have the same element type",
    "SameWidth": "{} have elements of the same size",
    "SameShape": "{} have the same shape",
    "SameValid": "{} have the same valid shape (`?` fits anything)",
    "SameRows": "{} have the same valid rows",
    "SameCols": "{} have the same valid columns",
    "RowMajor": "{} row-major (blayout row_major)",
    "NoBox": "{} not boxed (slayout none_box)",
    "ValidRow1": "{} one valid row",
    "ValidCol1": "{} one valid column",
    "NonEmpty": "{} not empty",
    "Distinct": "{} are different tiles",
    "ScalarIsElem": "{} have the same element type; the first is the scalar",
}
EFFECTS = {
    "None": "",
    "Read": "read",
    "Write": "written",
    "ReadWrite": "read, written",
    "Scratch": "scratch",
}
QUEUES = {
    "getStorePipe": "FIX from acc, else MTE3",
    "getMovePipe": "MTE1 from mat, FIX from acc, MTE3 from vec to mat, else V",
    "getExtractPipe": "MTE1 from mat, FIX from acc or to mat, else V",
    "getInsertPipe": "FIX from acc, MTE3 from vec to mat, V from vec to vec",
    "getFillPadPipe": "MTE1 in mat, V in vec",
    "getScatterPipe": "V on A5, S on A2/A3",
}
A5_ONLY = ("mem_bar", "section.simt", "initialize_l2l_pipe")
NO_QUEUE = "none: it orders queues, or names memory"


def tablegen() -> dict:
    include = PTOAS / "include"
    command = [str(LLVM / "bin/llvm-tblgen"), "--dump-json", "-I", str(include)]
    command += ["-I", str(LLVM / "include")]
    command += [str(include / "ptoas/Dialect/PTO/IR/PTOOps.td")]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def families() -> list[tuple[str, list[str]]]:
    """Families and their ops, in the order of ops.txt."""
    groups: list[tuple[str, list[str]]] = []
    for line in (PTOAS / "test/ops.txt").read_text().splitlines():
        if line.startswith("["):
            groups.append((line.strip("[]"), []))
        elif line and line[0] != "#" and " = " not in line and " ! " not in line:
            groups[-1][1].extend(line.split())
    return groups


def examples() -> dict[str, list[str]]:
    """For each op the lines of the round-trip tests that hold it, behind the aliases that they use.

    A comment behind a line, `// A2/A3`, says that it holds on one architecture only; a test tries them all.
    """
    found: dict[str, list[str]] = {}
    for path in sorted((PTOAS / "test/IR/text").glob("*.mlir")):
        aliases: dict[str, str] = {}
        for line in path.read_text().splitlines():
            alias = re.fullmatch(r"(!\w+) = (.*)", line)
            if alias:
                aliases[alias[1]] = alias[2]
            op = re.match(r"\s*(?:%[\w, %]+ = )?pto\.([\w.]+)", line)
            if not op:
                continue
            names: list[str] = []
            for name in re.findall(r"!\w+\b(?!\.)", line):
                if name in aliases and name not in names:
                    names.append(name)
            lines = found.setdefault(op[1], [])
            for name in names:
                definition = f"{name} = {aliases[name]}"
                if definition not in lines:
                    lines.insert(sum(entry.startswith("!") for entry in lines), definition)
            text = line.strip()
            lines.append(text + " … }" if text.endswith("{") else text)
    return found


def cpp_forms() -> dict[str, list[str]]:
    """The functions that ops with C++ forms of their own call."""
    names: dict[str, list[str]] = {}
    text = (PTOAS / "lib/Target/Cpp/InstructionForms.def").read_text()
    for op, form in re.findall(r'PTO_FORM\("pto\.([\w.]+)", "[^"]*", "((?:[^"\\]|\\.)*)"', text):
        call = re.search(r"([A-Za-z_][\w:]*)\s*(?:[<({\[]|$)", form.lstrip("=; "))
        if call and call[1] not in names.setdefault(op, []):
            names[op].append(call[1])
    return names


def python_names() -> dict[str, list[str]]:
    sys.path.insert(0, str(ROOT / "tools"))
    import gen_language

    table = gen_language.read_table()
    names: dict[str, list[str]] = {}
    for op in table["ops"]:
        for key in ("pto", "ptoScalar"):
            if op[key]:
                name = op["name"].removeprefix("pypto.")
                names.setdefault(op[key], []).append(name)
    for op, name in PYTHON_NAMES.items():
        if name not in names.setdefault(op, []):
            names[op].append(name)
    return names


def element_set(text: str) -> str:
    """`elem::N4 | elem::B8` in words."""
    bits: list[str] = []
    for word in re.findall(r"elem::(\w+)", text):
        if word == "Any":
            return "any"
        for bit in SETS.get(word, (word,)):
            if bit not in bits:
                bits.append(bit)
    return ", ".join(BITS[bit] for bit in BITS if bit in bits)


def spec_of(operand: dict) -> dict:
    fields = [f.strip() for f in operand["spec"].strip("{}").split(",")]
    name, kind, group, effect, optional, variadic, a3, a5, spaces = fields
    places = re.findall(r"spaces::(\w+)", spaces)
    return {
        "name": name.strip('"'),
        "kind": kind.split("::")[1].lower(),
        "group": group.split("::")[1].lower(),
        "effect": EFFECTS[effect.split("::")[1]],
        "optional": optional == "true",
        "variadic": variadic == "true",
        "a3": element_set(a3),
        "a5": element_set(a5),
        "spaces": "" if "Any" in places else ", ".join(p.lower() for p in places),
    }


class Records:
    def __init__(self) -> None:
        self.all = tablegen()
        self.ops = {self.all[n]["opName"]: self.all[n] for n in self.all["!instanceof"]["PTO_Op"]}
        self.examples = examples()
        self.forms = cpp_forms()
        self.python = python_names()

    def get(self, reference: dict) -> dict:
        return self.all[reference["def"]]

    def constraint(self, reference: dict) -> tuple[dict, str]:
        """What an operand or result is, without its decoration; "", "optional" or "several"."""
        record = self.get(reference)
        if {"Arg", "Res"} & set(record["!superclasses"]):
            record = self.get(record["constraint"])
        counts = {"Optional": "optional", "Variadic": "several"}
        return record, next((counts[c] for c in record["!superclasses"] if c in counts), "")

    def base_attribute(self, reference: dict) -> dict:
        """An attribute without its being optional or its default."""
        record = self.get(reference)
        while record.get("baseAttr"):
            record = self.get(record["baseAttr"])
        return record

    def equation(self, op: dict) -> str:
        return op["equation"] or (op["summary"] if re.match(r"dst\b.*=", op["summary"]) else "")

    def queue(self, op: dict) -> str:
        if "queue" in op:
            return QUEUES.get(op["queue"], op["queue"].removeprefix("PIPE_"))
        if "PTO_PipeUseOp" in op["!superclasses"]:
            return "of the tile: FIX from acc, MTE3 from vec; pops MTE2 on A2/A3; else S"
        if any(c in op["!superclasses"] for c in ("PTO_ScalarUnitOp", "PTO_FrontAllocOp")):
            return "S"
        own = {"tpush": "FIX from acc, else MTE3", "tpop": "S on A5, MTE2 on A2/A3", "tfree": "S"}
        own |= {"talloc": "S", "set_quant_scalar": "S", "set_quant_vector": "FIX"}
        return own.get(op["opName"], NO_QUEUE)

    @staticmethod
    def architectures(op: dict) -> str:
        """Tile ops say so in their record, others in their verifier."""
        text = op.get("extraClassDefinition") or ""
        flags = re.search(r", (true|false), (true|false), (?:true|false), (?:true|false)", text)
        a5_only = flags[1] == "false" if flags else op["opName"] in A5_ONLY
        return "A5" if a5_only else "A2/A3, A5"

    def attribute(self, reference: dict) -> tuple[str, str] | None:
        """Type and default of an argument that is an attribute."""
        record, default = self.get(reference), "required"
        if (
            "Attr" not in record["!superclasses"]
            and "AttrConstraint" not in record["!superclasses"]
        ):
            return None
        while record.get("baseAttr"):
            if "OptionalAttr" in record["!superclasses"]:
                default = "absent"
            elif "DefaultValuedAttr" in record["!superclasses"]:
                default = record["defaultValue"].split("::")[-1]
            record = self.get(record["baseAttr"])
        if record["!name"] == "UnitAttr":
            return "unit", "absent"
        if record.get("enum"):
            cases = [self.get(c)["str"] for c in self.get(record["enum"])["enumerants"]]
            symbols = {
                self.get(c)["symbol"]: self.get(c)["str"]
                for c in self.get(record["enum"])["enumerants"]
            }
            return f"`{record['mnemonic']}`: " + ", ".join(cases), symbols.get(default, default)
        return record.get("summary") or record["!name"], default


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---"] * len(header)), *map(line, rows), ""]


def operand_rows(records: Records, op: dict) -> list[str]:
    if "tileOperands" in op:
        rows = []
        for reference in op["tileOperands"]:
            spec = spec_of(records.get(reference))
            count = "optional" if spec["optional"] else "several" if spec["variadic"] else ""
            what = ", ".join(part for part in (spec["kind"], spec["spaces"], count) if part)
            tile = spec["kind"] == "tile"
            rows.append([f"`{spec['name']}`", spec["group"], what, spec["effect"]])
            rows[-1] += [spec["a3"] if tile else "", spec["a5"] if tile else ""]
        return table(["Operand", "Group", "What", "Effect", "Elements on A2/A3", "on A5"], rows)
    rows = []
    for reference, name in op["arguments"]["args"]:
        if records.attribute(reference):
            continue
        record, count = records.constraint(reference)
        rows.append([f"`{name}`", record["summary"] or record["!name"], count])
    return table(["Operand", "What", ""], rows) if rows else []


def page(records: Records, mnemonic: str) -> str:
    op = records.ops[mnemonic]
    equation = records.equation(op)
    lines = [f"# pto.{mnemonic}", ""]
    if equation != op["summary"]:
        lines += [op["summary"], ""]
    if equation:
        lines += ["```", equation.rstrip("."), "```", ""]
    functions = [op["instruction"]] if op.get("instruction") else []
    functions += [name for name in records.forms.get(mnemonic, []) if name not in functions]
    cpp = ", ".join(f"`{name}`" for name in functions)
    python = ", ".join(f"`pl.{n}`" for n in records.python.get(mnemonic, []))
    lines += table(
        ["", ""],
        [
            ["Queue", records.queue(op)],
            ["Architectures", records.architectures(op)],
            ["C++", cpp or "written as code, not as a call"],
            ["Python", python or "none"],
        ],
    )
    lines += ["## Text", "", "```mlir", *records.examples[mnemonic], "```", ""]
    rows = operand_rows(records, op)
    if rows:
        lines += ["## Operands", "", *rows]
    attributes = []
    for reference, name in op["arguments"]["args"]:
        found = records.attribute(reference)
        if found and name != "operandSegmentSizes":
            attributes.append([f"`{name.rstrip('_')}`", *found])
    if attributes:
        lines += ["## Attributes", "", *table(["Attribute", "Values", "Default"], attributes)]
    results = []
    for reference, name in op["results"]["args"]:
        record, _ = records.constraint(reference)
        results.append([f"`{name}`", record["summary"] or record["!name"]])
    if results:
        lines += ["## Results", "", *table(["Result", "What"], results)]
    rules = []
    for reference in op.get("tileRules", []):
        init = records.get(reference)["init"]
        kind = re.search(r"RuleKind::(\w+)", init)[1]
        arch = re.search(r"RuleArch::(\w+)", init)[1]
        names = [f"`{n}`" for n in re.search(r'"([^"]*)"', init)[1].split()]
        verb = {"RowMajor": "must be", "NoBox": "must be", "NonEmpty": "must be"}.get(kind, "")
        verb = verb or {"ValidRow1": "must have", "ValidCol1": "must have"}.get(kind, "")
        subject = ", ".join(names) + (f" {verb}" if verb else "")
        where = {"Both": "", "A3": " (A2/A3)", "A5": " (A5)"}[arch]
        rules.append("* " + RULES[kind].format(subject) + where)
    rules += ["* " + text for text in op["constraints"]]
    if rules:
        lines += ["## Rules", "", *rules, ""]
    if op.get("notes"):
        lines += ["## Notes", "", op["notes"], ""]
    return "\n".join(lines).rstrip() + "\n"


def index(records: Records) -> str:
    lines = [
        "# Ops of the `pto` dialect",
        "",
        "One page per op, written by `tools/gen_isa.py` from the op records; do not edit.",
        "",
    ]
    for family, ops in families():
        lines += [f"## {family[0].upper()}{family[1:]}", ""]
        rows = [[f"[{op}]({op}.md)", records.ops[op]["summary"]] for op in ops]
        lines += table(["Op", ""], rows)
    return "\n".join(lines).rstrip() + "\n"


def cpp_texts(records: Records) -> str:
    """PTO_DOC(op, text) for each op: what the language server shows on hover."""
    lines = []
    for mnemonic, op in records.ops.items():
        text = op["summary"]
        if records.equation(op) and records.equation(op) != text:
            text += f"\n\n`{records.equation(op)}`"
        text += f"\n\nQueue: {records.queue(op)}. Architectures: {records.architectures(op)}."
        if op.get("instruction"):
            text += f" C++: `{op['instruction']}`."
        if op["constraints"]:
            text += "\n\n" + "\n".join("* " + rule for rule in op["constraints"])
        if op.get("notes"):
            text += f"\n\n{op['notes']}"
        text += "\n\n```mlir\n" + "\n".join(records.examples[mnemonic]) + "\n```"
        lines.append(f'PTO_DOC("pto.{mnemonic}", {json.dumps(text, ensure_ascii=False)})')
    return "\n".join(lines) + "\n#undef PTO_DOC\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--cpp", type=Path, help="write the texts of the language server")
    arguments = parser.parse_args()
    records = Records()
    if arguments.cpp:
        arguments.cpp.write_text(cpp_texts(records))
        return 0
    pages = {PAGES / f"{op}.md": page(records, op) for op in records.ops}
    pages[PAGES / "README.md"] = index(records)
    wrong = [p for p in PAGES.glob("*.md") if p not in pages]
    wrong += [p for p, text in pages.items() if not p.exists() or p.read_text() != text]
    if arguments.check:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is not what tools/gen_isa.py gives")
        return bool(wrong)
    PAGES.mkdir(exist_ok=True)
    for path in wrong:
        path.unlink(missing_ok=True)
        if path in pages:
            path.write_text(pages[path])
    print(f"{len(wrong)} of {len(pages)} pages written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
