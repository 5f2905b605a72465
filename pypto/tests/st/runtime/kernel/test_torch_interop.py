"""Metadata of calls on a real NPU. Skipped without one, and where a simulator is selected; the twin for the
simulated NPU is test_torch_interop_simulated.py. No kernel of pypto runs here."""

from __future__ import annotations

import pytest

from pypto import knobs

try:
    import torch_npu

    real = not getattr(torch_npu, "is_simulated", False) and torch_npu.npu.is_available()
except ImportError:
    real = False

if not real or knobs.get("PTO_PLATFORM").endswith("sim"):
    pytest.skip("needs a real NPU and a platform that is no simulator", allow_module_level=True)

from interop_cases import *  # noqa: E402, F403


@pytest.fixture
def npu():
    torch_npu.npu.set_device(0)
    return torch_npu.npu
