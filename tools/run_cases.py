"""Runs the conformance cases that lie beside the tree and writes docs/coverage.md with --write.

make cases                      all kinds that the tree can run
python tools/run_cases.py --only pypto -k matmul
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(command: list[str], env: dict[str, str] | None = None) -> tuple[int, int, str]:
    """(passed, failed, output); the runners close with `N passed, M failed`."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True
    )
    text = done.stdout + done.stderr
    found = re.findall(r"(\d+) passed, (\d+) failed", text)
    if not found:
        print(text[-2000:])
        return 0, 1, text
    return int(found[-1][0]), int(found[-1][1]), text


def pypto(cases: Path, options) -> tuple[int, int, str]:
    command = [sys.executable, str(cases / "pypto/run.py"), str(cases / "pypto"), "-v"]
    return run(command + (["-k", options.k] if options.k else []))


def pto(cases: Path, options) -> tuple[int, int, str]:
    tools = options.build / "bin"
    assemble = shlex.quote(str(tools / "ptoas"))
    template = shlex.quote(str(tools / "pto-run")) + " {file} --entry {entry} {io}"
    command = [
        sys.executable,
        str(cases / "pto/run.py"),
        str(cases / "pto"),
        "--ptoas",
        assemble,
        "--run",
        template,
    ]
    return run(command + (["--only", options.k] if options.k else []))


def simpler(cases: Path, options) -> tuple[int, int, str]:
    command = [sys.executable, str(cases / "simpler/run.py")]
    return run(command + (["-k", options.k] if options.k else []))


KINDS = {"pypto": pypto, "pto": pto, "simpler": simpler}


def coverage_page(text: str) -> str:
    """docs/coverage.md from the output of the language cases: what passes, what does not and why."""
    passed = re.findall(r"^ok\s+(\S+)", text, re.M)
    failed = re.findall(
        r"^FAIL (\S+): .*?\n(?:.*\n)*?(\S[^\n]*)\n(?=ok |FAIL |\d+ passed)", text, re.M
    )
    lines = [
        "# Coverage of the language",
        "",
        "Written by `python tools/run_cases.py --only pypto --write`: the conformance programs of the tile language",
        "that this tree runs and gets right, and those that it does not.",
        "",
        f"{len(passed)} pass, {len(failed)} do not.",
        "",
        "## Not yet",
        "",
        "| program | what it says |",
        "|---|---|",
    ]
    lines += [f"| {name} | {reason[:160].replace('|', '/')} |" for name, reason in failed]
    lines += ["", "## Pass", ""]
    topics: dict[str, list[str]] = {}
    for name in passed:
        topics.setdefault(name.split("_")[0], []).append(name)
    lines += [f"* {topic}: {', '.join(names)}" for topic, names in sorted(topics.items())]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=Path, default=ROOT / "../shared/cases")
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument(
        "--only", choices=sorted(KINDS), action="append", help="kind of cases; may be repeated"
    )
    parser.add_argument("-k", default="", help="pattern on case names")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    options = parser.parse_args()
    options.build = options.build.resolve()
    cases = options.cases.resolve()
    if not cases.is_dir():
        print("the conformance cases are not beside this tree: nothing to run")
        return 0
    total = [0, 0]
    for kind in options.only or KINDS:
        if not (cases / kind).is_dir():
            continue
        passed, failed, text = KINDS[kind](cases, options)
        for line in text.splitlines():
            if line.startswith("FAIL"):
                print(line[:200])
        print(f"{kind}: {passed} passed, {failed} failed", flush=True)
        if kind == "pypto" and options.write:
            (ROOT / "docs/coverage.md").write_text(coverage_page(text))
        total = [total[0] + passed, total[1] + failed]
    print(f"{total[0]} passed, {total[1]} failed")
    return bool(total[1])


if __name__ == "__main__":
    sys.exit(main())
