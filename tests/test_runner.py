"""tools/run_tests.py: which skips are allowed, and that nothing goes missing unseen."""

from __future__ import annotations

import subprocess
import sys

import pytest
import run_tests

TESTS = {
    "one/tests/test_good.py": "def test_good(): pass",
    "two/tests/test_missing.py": "import pytest\npytest.importorskip('no_such_module_of_ours')",
    "two/tests/test_part.py": (
        "import pytest\n"
        "def test_runs(): pass\n"
        "@pytest.mark.skip(reason='a known one')\n"
        "def test_known(): pass\n"
        "@pytest.mark.xfail\n"
        "def test_expected(): assert False\n"
        "def test_other(): pytest.skip('another one')\n"
    ),
    "three/tests/test_all.py": "import pytest\ndef test_it(): pytest.skip('a known one')",
}


@pytest.fixture
def report(tmp_path):
    for name, text in TESTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    file = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*command, f"--junitxml={file}"], cwd=tmp_path, capture_output=True)
    return file


def test_skips_that_are_not_listed_are_found(report, monkeypatch):
    monkeypatch.setattr(run_tests, "ALLOWED_SKIPS", (("two.tests", "a known .*"),))
    wrong = run_tests.judge(report, ["one/tests", "two/tests"])
    assert len(wrong) == 3
    assert any("two.tests.test_missing" in line and "no_such_module" in line for line in wrong)
    assert any("test_other: another one" in line for line in wrong)
    assert any("three.tests.test_all" in line for line in wrong)


def test_every_folder_runs_a_test(report, monkeypatch):
    monkeypatch.setattr(run_tests, "ALLOWED_SKIPS", (("", ".*"),))
    assert run_tests.judge(report, ["one/tests", "two/tests", "three/tests", "four/tests"]) == [
        "no test ran below three/tests",
        "no test ran below four/tests",
    ]


@pytest.mark.parametrize(
    ("text", "code", "passed", "failed"),
    [
        ("100% tests passed out of 13", 0, 13, 0),
        ("93% tests passed, 1 tests failed out of 15", 8, 14, 1),
        ("", 0, 0, 1),  # nothing ran
    ],
)
def test_counts_of_ctest(monkeypatch, tmp_path, text, code, passed, failed):
    monkeypatch.setattr(run_tests, "stream", lambda *_: (code, text))
    suite = run_tests.cpp(tmp_path)
    assert (suite.passed, suite.failed) == (passed, failed)
