#!/usr/bin/env python3
"""Prints what design note 000 asks for, item by item, with the tests that prove it.

    python tools/print_checklist.py [--brief] [item …]

The items are in docs/torch-checklist/*.toml, one table each: `title`, and `tests`, a list of

    path/to/test_file.py::[Class::]function    a test of pytest, without parameters
    lit:path/to/file.mlir                      a lit test
    ctest:name                                 a GoogleTest, "Suite.Test"

It fails when an item of the note is missing or has no test, when an item is there twice, or when a
test does not exist (functions are looked up in the sources; nothing is run).
"""

from __future__ import annotations

import argparse
import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "torch-checklist"

# Numbers of the note's items; the gaps are the note's.
RANGES = (
    (1, 5), (10, 17), (20, 36), (40, 52), (60, 63), (70, 85), (90, 95), (100, 112), (120, 125), (130, 135),
    (140, 148), (150, 164), (170, 186), (190, 207), (210, 212), (220, 235),
)  # fmt: skip
ITEMS = [f"A-{number:03}" for first, last in RANGES for number in range(first, last + 1)]


def read(folder: Path) -> tuple[dict[str, dict], list[str]]:
    """All items, and what is wrong with the files."""
    items: dict[str, dict] = {}
    wrong: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        for name, item in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in items:
                wrong.append(f"{name}: is in {path.name} and in {items[name]['file']}")
            if set(item) != {"title", "tests"} or not isinstance(item["tests"], list):
                wrong.append(f"{name}: an item has a title and tests ({path.name})")
                continue
            items[name] = {**item, "file": path.name}
    return items, wrong


@functools.cache
def names_of(path: Path) -> frozenset[str]:
    """Test functions of a file as pytest names them, those of modules that it imports whole included."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            inside = (ast.FunctionDef, ast.AsyncFunctionDef)
            names |= {f"{node.name}::{each.name}" for each in node.body if isinstance(each, inside)}
        elif isinstance(node, ast.ImportFrom) and node.module:
            sibling = path.parent / f"{node.module}.py"
            if sibling.exists():
                whole = any(alias.name == "*" for alias in node.names)
                names |= names_of(sibling) if whole else {alias.name for alias in node.names}
    return frozenset(names)


@functools.cache
def google_tests() -> frozenset[str]:
    """Suite.Test of every TEST macro below the components' tests."""
    found: set[str] = set()
    for component in ("support", "simpler", "ptoas", "pypto", "torch-npu-sim"):
        for path in (ROOT / component).rglob("*.cpp"):
            if "test" in str(path.relative_to(ROOT)).lower():
                text = path.read_text(encoding="utf-8", errors="replace")
                macro = r"^\s*(?:TEST|TEST_F|TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)"
                found |= {f"{s}.{t}" for s, t in re.findall(macro, text, re.MULTILINE)}
    return frozenset(found)


def fault_of(test: str) -> str:
    """Why there is no such test, or ""."""
    if test.startswith("ctest:"):
        return "" if test[6:] in google_tests() else "no GoogleTest of this name"
    if test.startswith("lit:"):
        path = ROOT / test[4:]
        if not path.is_file():
            return "no such file"
        return "" if "RUN:" in path.read_text(encoding="utf-8") else "no RUN line in it"
    file, _, name = test.partition("::")
    path = ROOT / file
    if not path.is_file():
        return "no such file"
    if not path.name.startswith("test_") or not name.rpartition("::")[2].startswith("test_"):
        return "pytest does not collect it"
    return "" if name in names_of(path) else "no such function in it"


def faults(items: dict[str, dict]) -> Iterator[str]:
    for name in ITEMS:
        if name not in items:
            yield f"{name}: is missing"
        elif not items[name]["title"].strip():
            yield f"{name}: has no title"
        elif not items[name]["tests"]:
            yield f"{name}: has no test"
    for name in items:
        if name not in ITEMS:
            yield f"{name}: is no item of the note"
        for test in items[name]["tests"]:
            fault = fault_of(test)
            if fault:
                yield f"{name}: {test}: {fault}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", nargs="*", help="print these items only (A-017)")
    parser.add_argument(
        "--brief", action="store_true", help="print the number of tests, not their names"
    )
    chosen = parser.parse_args(arguments)
    items, wrong = read(FOLDER)
    wrong += faults(items)
    for name in chosen.items or ITEMS:
        if name not in items:
            continue
        item = items[name]
        print(f"{name}  {item['title']}" + (f" ({len(item['tests'])})" if chosen.brief else ""))
        if not chosen.brief:
            for test in item["tests"]:
                print(f"       {test}")
    unknown = [name for name in chosen.items if name not in ITEMS]
    wrong += [f"{name}: is no item of the note" for name in unknown]
    for line in wrong:
        print(line, file=sys.stderr)
    tests = {test for item in items.values() for test in item["tests"]}
    print(f"{len(items)} of {len(ITEMS)} items, {len(tests)} tests, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
