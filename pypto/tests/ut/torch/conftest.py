"""Checks of what is imported run in a process of their own, behind a finder that refuses what is optional."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

OPTIONAL = ("torch_npu", "simpler", "simpler_setup", "_task_interface", "pypto._torch_npu")

# The finder comes before all others, so that it sees an attempt whether or not the module is installed,
# and keeps it in a list, so that an ImportError that the program swallows still counts. Nothing here is an
# `assert`: python -O drops those.
_GUARD = """
import importlib.abc, sys

OPTIONAL = {optional!r}
attempts = []

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] in OPTIONAL or parts[-1] == "_task_interface" or ".".join(parts[:2]) in OPTIONAL:
            attempts.append(name)
            raise ModuleNotFoundError("refused: " + name, name=name)
        return None

sys.meta_path.insert(0, Refuse())
loaded = [name for name in sys.modules if name.split(".")[0] in OPTIONAL]
if loaded:
    raise SystemExit("Optional runtime modules loaded before the check: " + ", ".join(loaded))

def check(condition, text):
    if not condition:
        raise SystemExit("check failed: " + text)

try:
    exec(compile({body!r}, "<body>", "exec"), {{"__name__": "__main__", "check": check}})
finally:
    if attempts:
        print("Optional runtime imports attempted: " + ", ".join(attempts), file=sys.stderr)
if attempts:
    raise SystemExit(7)
print("the body ran to its end")
"""


class CheckFailed(Exception):
    """The program failed, or asked for an optional module."""


@pytest.fixture(scope="session")
def run_without_optional_runtime() -> Callable[..., str]:
    """run(body, optimize=0) -> what the body printed. CheckFailed if it raised, ended early, failed a
    `check(condition, text)`, or tried to import one of OPTIONAL, even if it swallowed the ImportError."""

    def run(body: str, *, optimize: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", _GUARD.format(optional=OPTIONAL, body=body)],
            env={
                **os.environ,
                "PYTHONOPTIMIZE": str(optimize) if optimize else "",
                # torch would load the device's package by itself, which is not pypto's doing.
                "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
        lines = done.stdout.splitlines()
        if done.returncode != 0 or not lines or lines[-1] != "the body ran to its end":
            raise CheckFailed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return "\n".join(lines[:-1])

    run.Failed = CheckFailed
    return run
