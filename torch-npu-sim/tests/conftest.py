"""The tests of the simulated NPU. They are skipped where its backend has not been built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "python"
if str(PACKAGE) not in sys.path:
    sys.path.insert(0, str(PACKAGE))

torch = pytest.importorskip("torch")
if not list((PACKAGE / "torch_npu").glob("_C.*")):
    collect_ignore_glob = ["test_*.py"]
else:
    import torch_npu  # noqa: F401


@pytest.fixture(autouse=True)
def clean_device():
    """Each test starts and ends with an idle device 0 and default streams."""
    yield
    for index in range(torch.npu.device_count()):
        try:
            torch.npu.synchronize(index)
        except RuntimeError:
            torch.npu.synchronize(index)
        torch.npu.set_stream(torch.npu.default_stream(index))
    torch.npu.set_device(0)


@pytest.fixture(scope="session")
def ext():
    """The operators of tests/extension."""
    library = HERE / "extension" / "npu_test_extension.so"
    if not library.exists():
        pytest.skip("tests/extension has not been built")
    torch.ops.load_library(str(library))
    return torch.ops.npu_ext


@pytest.fixture
def run_python():
    """Runs a program in its own process; returns (code, output)."""

    def run(text: str, timeout: float = 300, **env: str):
        path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            env={
                **os.environ,
                "PYTHONPATH": path,
                "PTO_NPU_TEST_EXT": str(HERE / "extension/npu_test_extension.so"),
                **env,
            },
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return done.returncode, done.stdout + done.stderr

    return run
