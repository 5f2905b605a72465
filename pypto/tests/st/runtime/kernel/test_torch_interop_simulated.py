"""Each case of test_torch_interop.py on the simulated NPU."""

from __future__ import annotations

import pytest
import torch
from interop_cases import *  # noqa: F403
from interop_cases import ADD


@pytest.fixture
def npu():
    import torch_npu

    assert torch_npu.is_simulated
    torch_npu.npu.set_device(0)
    return torch_npu.npu


@pytest.mark.parametrize("gate", ["gate_stream", "gate_queue"])
def test_describing_neither_waits_nor_enqueues(npu, gates, gate):
    x, y = torch.ones(4, 8, device="npu"), torch.zeros(4, 8, device="npu")
    npu.synchronize()
    getattr(gates, gate)()
    event = npu.Event()
    event.record()
    frame = ADD.describe_call([x, 1, y])  # would hang if it waited
    assert not event.query()
    gates.open_gates()
    npu.synchronize()
    assert event.query() and frame.tensors[0].metadata.data_ptr == x.data_ptr()
