"""The reference pages, and that all parts of the stack know the same ops."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest
from tools_of_tree import ROOT, tool

sys.path.insert(0, str(ROOT / "tools"))
gen_isa = pytest.importorskip("gen_isa")

# Names in the language's table that become several instructions, not one of that name.
WRITTEN_OUT = {"tcos", "tsin"}


@pytest.fixture(scope="module")
def records():
    return gen_isa.Records()


def listed() -> set[str]:
    return {op for _, ops in gen_isa.families() for op in ops}


def test_pages_are_what_the_records_give():
    command = [sys.executable, str(ROOT / "tools/gen_isa.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_every_op_has_a_record_a_page_and_a_text(records):
    pages = {p.stem for p in gen_isa.PAGES.glob("*.md")} - {"README"}
    assert listed() == set(records.ops) == pages
    assert listed() <= set(records.examples)


def test_texts_of_ops_are_round_trips():
    texts = sorted((ROOT / "ptoas/test/IR/text").glob("*.mlir"))
    assert len(texts) > 10
    for path in texts:
        assert path.read_text().startswith("// RUN: %check-text %s\n"), path


def test_every_op_is_emitted_in_a_golden_test(records):
    """Each op stands in the code of a golden test, each function that it calls in what is expected."""
    emitted: set[str] = set()
    checks = ""
    for path in sorted((ROOT / "ptoas/test/emission").glob("*.pto")):
        text = path.read_text()
        assert "%FileCheck" in text, path
        if "errors" in path.name:
            continue
        checks += "\n".join(re.findall(r"// [A-Z-]+: .*", text)) + "\n"
        code = re.sub(r"//.*", "", text)
        emitted |= set(re.findall(r"(?<![\w.#!<])pto\.([\w.]+)", code))
    assert emitted >= listed() - {"section.simt"}  # no instruction of C++ starts such threads
    called = set(re.findall(r"\w+(?:::\w+)*", checks))
    unchecked = []
    for name, op in records.ops.items():
        functions = [op["instruction"]] if op.get("instruction") else []
        functions += records.forms.get(name, [])
        if functions and not called.intersection(functions):
            unchecked.append((name, functions))
    assert not unchecked


def test_every_instruction_says_what_it_computes(records):
    # tprint and tsync compute nothing.
    silent = {
        name
        for name, op in records.ops.items()
        if "tileOperands" in op and not records.equation(op)
    }
    assert silent == {"tprint", "tsync"}


def test_names_of_the_language_exist(records):
    spec = importlib.util.spec_from_file_location(
        "optable", ROOT / "pypto/python/pypto/language/optable.py"
    )
    optable = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(optable)
    names = set(optable.OPS)
    wrong = {
        (op, name)
        for op, found in records.python.items()
        for name in found
        if name not in names and f"{name}_" not in names and f"tile.{name}" not in names
    }
    assert not wrong


def test_the_language_names_registered_ops(records):
    assert set(records.python) - WRITTEN_OUT <= listed()


def test_hover_texts_are_made(tmp_path):
    target = tmp_path / "docs.inc"
    command = [sys.executable, str(ROOT / "tools/gen_isa.py"), "--cpp", str(target)]
    subprocess.run(command, check=True)
    lines = re.findall(r'PTO_DOC\("pto\.([\w.]+)", (".*")\)', target.read_text())
    assert {name for name, _ in lines} == listed()
    assert all(json.loads(text) for _, text in lines)


def test_tools_exist():
    for name in ("ptoas", "pto-opt", "ptobc", "pto-lsp-server"):
        assert tool(name)
