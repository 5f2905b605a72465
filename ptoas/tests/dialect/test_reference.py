"""The reference pages: written from the records, and complete."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tools_of_tree import ROOT

sys.path.insert(0, str(ROOT / "tools"))
gen_isa = pytest.importorskip("gen_isa")


def test_pages_are_what_the_records_give():
    command = [sys.executable, str(ROOT / "tools/gen_isa.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_every_instruction_says_what_it_computes():
    # tprint and tsync compute nothing.
    records = gen_isa.Records()
    silent = {
        name
        for name, op in records.ops.items()
        if "tileOperands" in op and not records.equation(op)
    }
    assert silent == {"tprint", "tsync"}


def test_rules_that_are_code_stand_on_the_pages():
    records = gen_isa.Records()
    silent = [
        name
        for name, op in records.ops.items()
        if op.get("ownCheck", "nullptr") != "nullptr" and not op["constraints"]
    ]
    assert not silent
