"""tools/run_tests.py: which skips are allowed, and that nothing goes missing unseen."""

from __future__ import annotations

import json
import os
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


FAULTS = {
    "asan": {
        "leak": "int *volatile p; int main() { p = new int[7]; p = nullptr; }",
        "use after free": "int main() { int *p = new int(3); delete p; volatile int v = *p; return 0; }",
        "overflow": "int main(int n, char **) { int big = 2147483647; volatile int v = big + n; return 0; }",
    },
    "tsan": {
        "race": "#include <thread>\nint x; int main() { std::thread t([] { x = 1; }); x = 2; t.join(); }"
    },
}


@pytest.mark.parametrize(
    ("preset", "fault"), [(preset, fault) for preset in FAULTS for fault in FAULTS[preset]]
)
def test_every_report_of_a_sanitizer_fails(tmp_path, preset, fault):
    presets = json.loads((run_tests.ROOT / "CMakePresets.json").read_text())["configurePresets"]
    wanted = next(p for p in presets if p["name"] == preset)["cacheVariables"]["PTO_SANITIZE"]
    source = tmp_path / "fault.cpp"
    source.write_text(FAULTS[preset][fault])
    command = ["clang++-22", f"-fsanitize={wanted}", "-fno-sanitize-recover=undefined", "-O1"]
    subprocess.run([*command, "-w", source, "-o", tmp_path / "fault"], check=True)
    env = {**os.environ, **run_tests.SANITIZERS[preset]}
    done = subprocess.run([tmp_path / "fault"], env=env, capture_output=True, text=True)
    assert done.returncode != 0, done.stderr
    assert "Sanitizer" in done.stderr or "runtime error" in done.stderr
