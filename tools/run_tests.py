"""Runs the C++ tests (ctest), the lit tests and the Python tests; the last line counts them all.

A suite that runs no test is a failure: a test command that finds nothing must not look green.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


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


def cpp(build: Path) -> Suite:
    code, text = stream(
        ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error"]
    )
    suite = Suite("C++ (ctest)")
    done = re.search(r"(\d+) tests? failed out of (\d+)", text)
    if done:
        suite.failed = int(done[1])
        suite.passed = int(done[2]) - suite.failed
    if code and not suite.failed:
        suite.failed = 1
    return suite


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


def python() -> Suite:
    suite = Suite("Python (pytest)")
    code, text = stream(
        [sys.executable, "-m", "pytest", "--durations=10", "-p", "no:cacheprovider"],
        {**os.environ},
    )
    summary = text.strip().rsplit("\n", 1)[-1]
    suite.passed, suite.skipped = count(summary, "passed"), count(summary, "skipped")
    suite.failed = count(summary, "failed") + count(summary, "errors?")
    if (code or not suite.passed) and not suite.failed:
        suite.failed = 1
    return suite


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    build = parser.parse_args().build
    build = build if build.is_absolute() else ROOT / build
    suites = []
    for run in (lambda: cpp(build), lambda: lit(build), python):
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
