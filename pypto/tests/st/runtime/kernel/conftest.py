"""Kernel mode with torch_npu. The tests of this folder run in processes of their own where they start
kernel mode, because that lasts as long as the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Operators that hold up a stream or a task queue until they are told, from torch-npu-sim's own tests.
GATES = Path(__file__).resolve().parents[5] / "torch-npu-sim/tests/extension/npu_test_extension.so"

pytest.register_assert_rewrite("interop_cases")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "build_output"))


@pytest.fixture
def python(tmp_path):
    """python(text, **environment) -> (exit code, standard output, standard error) of a process."""

    def run(text: str, timeout: float = 300, **environment: str):
        file = tmp_path / "program.py"
        file.write_text(text)
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, "PTO_GATES": str(GATES), **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def gates():
    """gate_stream(), gate_queue(), open_gates()."""
    import torch

    torch.ops.load_library(str(GATES))
    yield torch.ops.npu_ext
    torch.ops.npu_ext.open_gates()
