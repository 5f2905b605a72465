"""Every test has a cache folder of its own; machine code for tests of the call path is built once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "build_output"))


@pytest.fixture(scope="session")
def machine_code(tmp_path_factory) -> bytes:
    """A shared object with the orchestrations of orchestrations.c."""
    compiler = next(filter(None, map(shutil.which, ("clang-22", "cc", "gcc"))), None)
    if compiler is None:
        pytest.skip("no C compiler")
    target = tmp_path_factory.mktemp("code") / "orchestrations.so"
    command = [compiler, "-O2", "-shared", "-fPIC", str(HERE / "orchestrations.c"), "-o"]
    subprocess.run([*command, str(target)], check=True)
    return target.read_bytes()


@pytest.fixture
def python(tmp_path):
    """Runs a Python text in a process of its own and gives its output lines."""

    def run(text: str, env: dict[str, str] | None = None, check: bool = True) -> list[str]:
        import os

        file = tmp_path / f"script{len(list(tmp_path.glob('script*')))}.py"
        file.write_text(text)
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run
