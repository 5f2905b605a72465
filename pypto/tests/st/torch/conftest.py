"""Kernels in torch, on "cpu" and on the simulated NPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
NPU = ROOT / "torch-npu-sim/python"
if str(NPU) not in sys.path:
    sys.path.insert(0, str(NPU))

import torch  # noqa: E402
import torch_npu  # noqa: E402, F401


@pytest.fixture(autouse=True)
def idle_device():
    """Each test starts and ends with idle devices and default streams."""
    yield
    for index in range(torch.npu.device_count()):
        try:
            torch.npu.synchronize(index)
        except RuntimeError:
            torch.npu.synchronize(index)
        torch.npu.set_stream(torch.npu.default_stream(index))
    torch.npu.set_device(0)


@pytest.fixture
def gate():
    """Blocks the current stream; `gate.open_gates()` lets it go on."""
    torch.ops.load_library(str(NPU.parent / "tests/extension/npu_test_extension.so"))
    yield torch.ops.npu_ext
    torch.ops.npu_ext.open_gates()


@pytest.fixture
def run_python():
    """Runs a program in a process of its own; (exit code, output). `kernels` is importable."""

    def run(text: str, timeout: float = 300, **env: str):
        path = [str(NPU), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **env},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return done.returncode, done.stdout + done.stderr

    return run
