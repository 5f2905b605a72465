"""Streams, events and the task queue as Python sees them."""

import threading
import time

import pytest
import torch


def test_identity_and_repr():
    s = torch.npu.Stream()
    assert repr(s) == f"<torch_npu.npu.Stream device=npu:0 npu_stream={s.npu_stream:#x}>"
    assert torch.npu.current_stream() == torch.npu.default_stream() != s
    with torch.npu.stream(s):
        assert torch.npu.current_stream() == s and hash(torch.npu.current_stream()) == hash(s)
        assert torch.npu.current_stream() is not s
    assert torch.npu.current_stream() == torch.npu.default_stream()
    with torch.npu.stream(None):
        assert torch.npu.current_stream() == torch.npu.default_stream()
    high = torch.npu.Stream(priority=-1)
    assert high.device_type == s.device_type and high != s


def test_stream_of_another_device_switches_and_restores():
    s = torch.npu.Stream(1)
    with torch.npu.stream(s):
        assert torch.npu.current_device() == 1
        assert torch.npu.current_stream(1) == s
    assert torch.npu.current_device() == 0
    assert torch.npu.current_stream(1) == torch.npu.default_stream(1)


def test_set_stream_makes_its_device_current():
    s = torch.npu.Stream(device=1)
    torch.npu.set_stream(s)
    assert torch.npu.current_device() == 1 and torch.npu.current_stream() == s
    assert torch.ones(1, device="npu").device == torch.device("npu", 1)


def test_operators_wait_behind_a_gate(ext):
    s = torch.npu.Stream()
    with torch.npu.stream(s):
        x = torch.zeros(4, device="npu")
        ext.gate_stream()
        x += 1
        y = (x * 10).sum()
        assert not s.query()
        ext.open_gates()
        assert y.item() == 40
    assert s.query()


def test_event_orders_streams(ext):
    a, b = torch.npu.Stream(), torch.npu.Stream()
    x = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(a):
        ext.gate_stream()
        x.fill_(7)
        event = a.record_event()
    with torch.npu.stream(b):
        b.wait_event(event)
        y = x + 1
    assert not event.query() and not b.query()
    ext.open_gates()
    b.synchronize()
    assert event.query() and y.cpu().eq(8).all()


def test_event_is_lazy_and_times():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    assert start.query() and "uninitialized" in repr(start)
    with pytest.raises(RuntimeError, match="recorded"):
        start.elapsed_time(end)
    begin = time.perf_counter()
    start.record()
    time.sleep(0.01)
    end.record()
    end.synchronize()
    assert 9 < start.elapsed_time(end) <= 1000 * (time.perf_counter() - begin)
    with pytest.raises(RuntimeError, match="cannot be shared between processes"):
        torch.npu.Event(interprocess=True)


def test_queue_closure_sees_the_callers_place(ext):
    s = torch.npu.Stream(1)
    with torch.npu.stream(s):
        device, stream, on_caller = ext.place_in_closure()
    assert (device, stream, on_caller) == (1, s.stream_id, False)


def test_queue_keeps_order_with_operators(ext):
    x = torch.ones(100, device="npu")
    ext.gate_queue()
    y = ext.add(x, x)  # launched by the queue
    z = y * 2  # an operator of ours, behind it
    event = torch.npu.current_stream().record_event()
    assert not event.query()  # its record is still in the queue
    ext.open_gates()
    assert z.cpu().eq(4).all() and event.query()


def test_raw_handle_drains_the_queue(ext):
    ext.gate_queue()
    stream = torch.npu.current_stream()
    opens = threading.Event()

    def open_gates():
        opens.set()
        ext.open_gates()

    timer = threading.Timer(0.05, open_gates)
    timer.start()
    assert stream.npu_stream and opens.is_set()
    timer.join()


def test_sync_launch_stream_goes_round_the_queue(ext):
    x = torch.ones(8, device="npu")
    torch.npu.synchronize()
    ext.gate_queue()
    with torch.npu.stream(torch.npu.SyncLaunchStream()):
        assert (x + 1).cpu().eq(2).all()
    ext.open_gates()


@pytest.mark.parametrize("mode", ["0", "1", "2"])
def test_task_queue_modes(run_python, mode):
    text = """
import os, torch, torch_npu
torch.ops.load_library(os.environ["PTO_NPU_TEST_EXT"])
x = torch.ones(10, device="npu")
y = torch.ops.npu_ext.add(x, x) + 1
print(torch.ops.npu_ext.place_in_closure()[2], y.sum().item())
"""
    code, out = run_python(text, TASK_QUEUE_ENABLE=mode)
    assert (code, out.split()) == (0, ["1" if mode == "0" else "0", "30.0"])


def test_bad_task_queue_mode(run_python):
    code, out = run_python("import torch, torch_npu; torch.npu.init()", TASK_QUEUE_ENABLE="3")
    assert code and "TASK_QUEUE_ENABLE='3' is not valid: expected 0, 1 or 2" in out


def test_queue_per_stream(run_python):
    text = """
import os, torch, torch_npu
torch.ops.load_library(os.environ["PTO_NPU_TEST_EXT"])
ext = torch.ops.npu_ext
x = torch.ones(10, device="npu"); torch.npu.synchronize()
ext.gate_queue()
with torch.npu.stream(torch.npu.Stream()):
    y = ext.add(x, x); torch.npu.current_stream().synchronize(); print(y.sum().item())
ext.open_gates()
"""
    code, out = run_python(text, PER_STREAM_QUEUE="1")
    assert (code, out.split()) == (0, ["20.0"])


def test_everything_queued(run_python):
    """With PTO_NPU_ASYNC=1 no operator runs on its caller; a training step gives the same numbers."""
    text = """
import torch, torch_npu
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.GELU(), torch.nn.Linear(16, 1))
data, want = torch.randn(32, 8), torch.randn(32, 1)
def train(net, device):
    x, y = data.to(device), want.to(device)
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for _ in range(10):
        opt.zero_grad(); loss = torch.nn.functional.mse_loss(net(x), y); loss.backward(); opt.step()
    return loss.item()
import copy
print(abs(train(copy.deepcopy(net), "cpu") - train(copy.deepcopy(net).npu(), "npu")) < 1e-5)
"""
    code, out = run_python(text, PTO_NPU_ASYNC="1")
    assert (code, out.strip()) == (0, "True")
