"""Every item of the torch kernel mode has a test that exists, and the script that says so can fail."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "print_checklist.py"

spec = importlib.util.spec_from_file_location("print_checklist", SCRIPT)
checklist = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checklist)


def test_every_item_has_a_test_that_exists():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nA-") + 1 >= len(checklist.ITEMS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "A-001: is missing"),
        ('[A-001]\ntitle = "x"\ntests = []', "A-001: has no test"),
        (
            '[A-001]\ntitle = " "\ntests = ["tests/test_checklist.py::test_x"]',
            "A-001: has no title",
        ),
        ('[A-001]\ntitle = "x"', "A-001: an item has a title and tests"),
        ('[A-999]\ntitle = "x"\ntests = []', "A-999: is no item of the note"),
        ('[A-001]\ntitle = "x"\ntests = ["tests/test_none.py::test_x"]', "no such file"),
        ('[A-001]\ntitle = "x"\ntests = ["tests/test_checklist.py::test_x"]', "no such function"),
        ('[A-001]\ntitle = "x"\ntests = ["tests/test_checklist.py::spec"]', "does not collect it"),
        ('[A-001]\ntitle = "x"\ntests = ["ctest:No.Such"]', "no GoogleTest of this name"),
        ('[A-001]\ntitle = "x"\ntests = ["lit:README.md"]', "no RUN line in it"),
    ],
)
def test_faults_are_found(tmp_path, monkeypatch, capsys, text, fault):
    (tmp_path / "items.toml").write_text(text)
    monkeypatch.setattr(checklist, "FOLDER", tmp_path)
    assert checklist.main([]) == 1
    assert fault in capsys.readouterr().err


def test_an_item_in_two_files_is_a_fault(tmp_path, monkeypatch, capsys):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text('[A-001]\ntitle = "x"\ntests = []')
    monkeypatch.setattr(checklist, "FOLDER", tmp_path)
    assert checklist.main([]) == 1
    assert "A-001: is in b.toml and in a.toml" in capsys.readouterr().err


def test_other_kinds_of_tests_are_found():
    assert checklist.fault_of("lit:pypto/tests/lowering/outline-scopes.mlir") == ""
    assert checklist.fault_of(f"ctest:{next(iter(checklist.google_tests()))}") == ""
