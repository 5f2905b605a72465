"""Runs the C++ tests (ctest), the lit tests, the Python tests, and the C++ tests of the runtimes once more in builds with
sanitizers; the last line counts them all.

A suite or a folder of tests that runs no test is a failure, and so is a skipped test whose reason is
not in ALLOWED_SKIPS: a test command that finds nothing, or cannot load what it tests, must not look
green.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Tests that may be skipped: where (start of pytest's class name), and the whole reason.
ALLOWED_SKIPS = (
    # The stack takes older versions of PyTorch, which have no such interface.
    ("torch-npu-sim.tests.test_graphs", r"torch\.accelerator\.Graph came with torch 2\.12"),
    # Wants a card (design note 000); its twin test_torch_interop_simulated runs the same cases here.
    (
        "pypto.tests.st.runtime.kernel.test_torch_interop",
        r"(?s).*needs a real NPU and a platform that is no simulator.*",
    ),
    # Scenes that their author marked so; `--manual include` runs them.
    ("simpler.tests", r"manual"),
)


@dataclass
class Suite:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def stream(command: list[str], env: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a command, passes its output on as it comes and returns it."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def count(text: str, word: str) -> int:
    found = re.findall(rf"(\d+) {word}", text)
    return int(found[-1]) if found else 0


def cpp(build: Path, name: str = "C++ (ctest)", env: dict[str, str] | None = None) -> Suite:
    code, text = stream(
        [
            "ctest",
            "--test-dir",
            str(build),
            "--output-on-failure",
            "--no-tests=error",
            "--timeout",
            "600",  # a hang is a failure; C++ tests find theirs before and say where (cmake/TestMain.cpp)
        ],
        env,
    )
    suite = Suite(name)
    # "100% tests passed out of 13", "93% tests passed, 1 tests failed out of 15"
    done = re.search(r"tests passed(?:, (\d+) tests? failed)? out of (\d+)", text)
    if done:
        suite.failed = int(done[1] or 0)
        suite.passed = int(done[2]) - suite.failed
    if (code or not suite.passed) and not suite.failed:
        suite.failed = 1
    return suite


# Presets of CMakePresets.json, and what their runtimes are told: every report ends the test with an error.
SANITIZERS = {
    "asan": {
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    },
    "tsan": {"TSAN_OPTIONS": "exitcode=66:second_deadlock_stack=1"},
}


def sanitizer(preset: str) -> Suite:
    """The C++ tests of support, simpler and the device runtime in a build of their own. Any report fails."""
    suite = Suite(f"C++ under {preset}")
    jobs = str(os.cpu_count() or 1)
    for command in (
        ["cmake", "--preset", preset],
        ["cmake", "--build", f"build/{preset}", "-j", jobs],
    ):
        code, _ = stream(command)
        if code:
            suite.failed = 1
            return suite
    return cpp(ROOT / "build" / preset, suite.name, {**os.environ, **SANITIZERS[preset]})


def lit(build: Path) -> Suite:
    suite = Suite("lit")
    folders = sorted(str(f.parent) for f in build.glob("*/**/lit.site.cfg.py"))
    if not folders:
        print("no lit suite is configured")
        suite.failed = 1
        return suite
    start = "from lit.main import main; main()"
    code, text = stream([sys.executable, "-c", start, "-s", "--no-progress-bar", *folders])
    for word, number in re.findall(r"^\s*([A-Z][\w ]+?)\s*: *(\d+)", text, re.M):
        if word in ("Passed", "Expectedly Failed"):
            suite.passed += int(number)
        elif word in ("Unsupported", "Excluded", "Skipped"):
            suite.skipped += int(number)
        elif word in ("Failed", "Unresolved", "Timed Out", "Unexpectedly Passed"):
            suite.failed += int(number)
    if (code or not suite.passed) and not suite.failed:
        suite.failed = 1
    return suite


def judge(report: Path, folders: list[str]) -> list[str]:
    """What is wrong with a JUnit report of pytest: skips that are not allowed, folders without a test."""
    wrong, ran = [], set()
    for case in ElementTree.parse(report).iter("testcase"):
        # A module that skips itself has no class; its name is its own.
        where = case.get("classname") or case.get("name", "")
        skipped = case.find("skipped")
        if skipped is None:
            ran.add(where)
            continue
        if skipped.get("type") == "pytest.xfail":
            continue
        reason = skipped.get("message", "")
        if reason == "collection skipped":  # of a whole module; the text says why
            reason = skipped.text or reason
        if not any(
            where.startswith(place) and re.fullmatch(allowed, reason)
            for place, allowed in ALLOWED_SKIPS
        ):
            wrong.append(f"skipped, which is not allowed: {where}::{case.get('name')}: {reason}")
    for folder in folders:
        prefix = folder.replace("/", ".") + "."
        if not any(where.startswith(prefix) for where in ran):
            wrong.append(f"no test ran below {folder}")
    return wrong


def python(build: Path) -> Suite:
    suite = Suite("Python (pytest)")
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--durations=10", "-p", "no:cacheprovider"]
        code, text = stream(
            [*command, f"--junitxml={report}"], {**os.environ, "PTO_BUILD": str(build)}
        )
        wrong = (
            judge(report, folders["testpaths"]) if report.exists() else ["pytest made no report"]
        )
    summary = text.strip().rsplit("\n", 1)[-1]
    suite.passed, suite.skipped = count(summary, "passed"), count(summary, "skipped")
    suite.failed = count(summary, "failed") + count(summary, "errors?") + len(wrong)
    for line in wrong:
        print(line)
    if (code or not suite.passed) and not suite.failed:
        suite.failed = 1
    return suite


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument(
        "--only", choices=("cpp", "lit", "sanitizers", "python"), help="one kind of tests"
    )
    options = parser.parse_args()
    build = options.build if options.build.is_absolute() else ROOT / options.build
    kinds = {
        "cpp": [lambda: cpp(build)],
        "lit": [lambda: lit(build)],
        "sanitizers": [lambda p=preset: sanitizer(p) for preset in SANITIZERS],
        "python": [lambda: python(build)],
    }
    suites = []
    for run in [r for kind, runs in kinds.items() if options.only in (None, kind) for r in runs]:
        start = time.perf_counter()
        suite = run()
        suite.seconds = time.perf_counter() - start
        suites.append(suite)
    print()
    for s in suites:
        print(
            f"{s.name}: {s.passed} passed, {s.failed} failed, {s.skipped} skipped in {s.seconds:.0f} s"
        )
    total = [sum(getattr(s, f) for s in suites) for f in ("passed", "failed", "skipped")]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return bool(total[1])


if __name__ == "__main__":
    sys.exit(main())
