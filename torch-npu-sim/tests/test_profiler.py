"""The device in torch's profiler."""

import json
import time

import torch
from torch.profiler import ProfilerActivity, profile


def test_operators_carry_device_time():
    x = torch.randn(200, 200, device="npu")
    begin = time.perf_counter()
    with torch.autograd.profiler.profile(use_device="npu") as p:
        (x @ x).relu()
        torch.npu.synchronize()
        whole = 1e6 * (time.perf_counter() - begin)
    averages = {e.key: e for e in p.key_averages()}
    assert 0 < averages["aten::mm"].device_time_total <= whole


def test_memory_is_reported(tmp_path):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        kept = torch.empty(1 << 20, device="npu")
    total = sum(e.device_memory_usage for e in p.events() if e.name in ("aten::empty", "[memory]"))
    assert kept.numel() and total >= 4 << 20
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    assert "aten::empty" in (tmp_path / "trace.json").read_text()


def test_kernels_have_rows_linked_to_their_operators(tmp_path):
    x = torch.randn(200, 200, device="npu")
    activities = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
    stream = torch.npu.Stream()
    with profile(activities=activities) as p:
        y = x @ x
        with torch.npu.stream(stream):
            torch.erf(y)
        torch.npu.synchronize()
    file = tmp_path / "trace.json"
    p.export_chrome_trace(str(file))
    rows = [e for e in json.loads(file.read_text())["traceEvents"] if e.get("cat") == "kernel"]
    lines = {row["name"]: row["tid"] for row in rows}
    assert {"aten::mm", "aten::erf"} <= set(lines)
    assert lines["aten::erf"] == stream.stream_id != lines["aten::mm"]
    averages = {
        e.key: e for e in p.key_averages() if e.device_type == torch.autograd.DeviceType.CPU
    }
    assert averages["aten::mm"].device_time_total > 0


def test_rows_of_a_graph_are_its_nodes():
    x = torch.randn(16, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x
        for _ in range(5):
            y = torch.sin(y)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as p:
        graph.replay()
        torch.npu.synchronize()
    device = [e.name for e in p.events() if e.device_type != torch.autograd.DeviceType.CPU]
    assert device.count("aten::sin") == 5


def test_nothing_is_recorded_afterwards():
    x = torch.randn(16, device="npu")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as p:
        torch.sin(x)
    torch.cos(x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as q:
        torch.tan(x)
    kernels = [e.name for e in q.events() if e.device_type != torch.autograd.DeviceType.CPU]
    assert kernels == ["aten::tan"]
    assert "aten::cos" not in [e.name for e in p.events()]
