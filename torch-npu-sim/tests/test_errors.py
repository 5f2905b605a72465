"""Failures: what they say, where they come up, and that the device stays usable."""

import pytest
import torch


def usable():
    return torch.arange(4, device="npu").sum().item() == 6


def test_error_of_an_operator_on_an_idle_stream_is_its_callers():
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        torch.zeros(3, device="npu")[torch.tensor([5], device="npu")]
    assert usable()


def test_error_behind_its_call_is_sticky_until_a_wait(ext):
    x = torch.zeros(3, device="npu")
    bad = torch.tensor([5], device="npu")
    ext.gate_stream()
    y = x.index_select(0, bad)  # its shapes are right: fails when it runs
    assert y.shape == (1,)
    ext.open_gates()
    with pytest.raises(
        RuntimeError, match=r"NPU operator 'aten::index_select' failed on device 0: .*out of range"
    ):
        torch.npu.synchronize()
    torch.npu.synchronize()
    assert usable()


def test_wrong_shapes_are_told_at_once_although_the_stream_is_busy(ext):
    a, b = torch.zeros(2, 3, device="npu"), torch.zeros(4, 5, device="npu")
    ext.gate_stream()
    import threading

    timer = threading.Timer(0.05, ext.open_gates)
    timer.start()
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        a @ b
    timer.join()
    assert usable()


def test_code_of_a_queued_operator(ext):
    ext.fail_with("MyMatmul", 161002, False)
    with pytest.raises(
        RuntimeError, match="'MyMatmul' failed on device 0: it returned error code 161002"
    ):
        torch.npu.synchronize()
    assert usable()


def test_exception_of_a_queued_operator_blocks_launches_until_reported(ext):
    ext.gate_queue()
    ext.fail_with("TileOp", -512, False)
    ext.open_gates()
    with pytest.raises(RuntimeError, match="'TileOp' failed.*tile of 512 bytes does not fit"):
        for _ in range(100000):
            ext.fail_with("Later", 0, False)
    with pytest.raises(RuntimeError, match="'TileOp' failed"):
        torch.npu.synchronize()
    assert usable()


def test_sync_operator_raises_at_its_call(ext):
    with pytest.raises(RuntimeError, match="'Now' failed on device 0: it returned error code 7"):
        ext.fail_with("Now", 7, True)
    assert usable()


def test_error_stays_on_its_device(ext):
    with torch.npu.device(1):
        ext.fail_with("OnOne", 1, False)
    assert usable()
    with pytest.raises(RuntimeError, match="failed on device 1"):
        torch.npu.synchronize(1)


def test_launch_blocking_stops_at_the_call(run_python):
    text = """
import os, torch, torch_npu
torch.ops.load_library(os.environ["PTO_NPU_TEST_EXT"])
try:
    torch.ops.npu_ext.fail_with("Op", 3, False)
except RuntimeError as e:
    print("at the call:", str(e)[:60])
"""
    code, out = run_python(text, ASCEND_LAUNCH_BLOCKING="1")
    assert code == 0 and "at the call: NPU operator 'Op' failed on device 0" in out


def test_mixed_devices():
    a = torch.ones(2, device="npu:0")
    with pytest.raises(RuntimeError, match="at least two devices, npu:0 and npu:1"):
        a + torch.ones(2, device="npu:1")
    with pytest.raises(RuntimeError, match="at least two devices.*cpu"):
        a + torch.ones(2)
    assert (a + torch.tensor(1.0)).sum().item() == 4  # a host scalar is fine
    assert usable()


def test_operator_without_any_kernel():
    lib = torch.library.Library("npu_none", "DEF")
    lib.define("op(Tensor x) -> Tensor")
    with pytest.raises(
        NotImplementedError, match="npu_none::op.*neither a kernel for PrivateUse1 nor one for CPU"
    ):
        torch.ops.npu_none.op(torch.ones(1, device="npu"))
    lib._destroy()


def test_sparse_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="layout Sparse, which the NPU does not have"):
        torch.eye(3, device="npu").to_sparse()


def test_pinned_device_tensor_is_refused():
    with pytest.raises(RuntimeError, match="pin"):
        torch.empty(2, device="npu", pin_memory=True)
