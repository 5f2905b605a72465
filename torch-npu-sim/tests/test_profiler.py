"""The device in torch's profiler."""

import torch
from torch.profiler import ProfilerActivity, profile


def test_operators_carry_device_time():
    x = torch.randn(200, 200, device="npu")
    with torch.autograd.profiler.profile(use_device="npu") as p:
        (x @ x).relu()
    averages = {e.key: e for e in p.key_averages()}
    assert averages["aten::mm"].device_time_total > 0
    assert averages["aten::mm"].device_time_total <= 10 * averages["aten::mm"].cpu_time_total + 1000


def test_memory_is_reported(tmp_path):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        kept = torch.empty(1 << 20, device="npu")
    total = sum(e.device_memory_usage for e in p.events() if e.name in ("aten::empty", "[memory]"))
    assert kept.numel() and total >= 4 << 20
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    assert "aten::empty" in (tmp_path / "trace.json").read_text()
