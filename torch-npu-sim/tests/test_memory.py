"""The caching allocator through torch: figures, limit, stream order, record_stream, pinned memory."""

import gc

import pytest
import torch

MiB = 1 << 20


@pytest.fixture(autouse=True)
def empty():
    gc.collect()
    torch.npu.empty_cache()


def test_statistics_follow_tensors():
    base = torch.npu.memory_allocated()
    torch.npu.reset_peak_memory_stats()
    x = torch.empty(3 * MiB, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - base == 3 * MiB
    y = x + 1  # results of operators are device memory too
    assert torch.npu.memory_allocated() - base == 6 * MiB
    del x, y
    assert torch.npu.memory_allocated() == base
    assert torch.npu.max_memory_allocated() - base >= 6 * MiB
    torch.npu.reset_peak_memory_stats()
    assert torch.npu.max_memory_allocated() == base
    assert torch.npu.memory_reserved() >= 20 * MiB
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < 20 * MiB + base
    assert "out-of-memory errors" in torch.npu.memory_summary()
    assert all(s["allocated_size"] <= s["total_size"] for s in torch.npu.memory_snapshot())


def test_temporaries_of_kernels_are_charged():
    torch.npu.reset_peak_memory_stats()
    x = torch.randn(256, 256, device="npu")
    base = torch.npu.memory_allocated()
    torch.linalg.svd(x)
    assert torch.npu.max_memory_allocated() - base > 2 * x.nbytes


def test_out_of_memory():
    old = torch.npu.get_memory_limit()
    try:
        torch.npu.set_memory_limit(torch.npu.memory_reserved() + 64 * MiB)
        kept = torch.empty(40 * MiB, dtype=torch.uint8, device="npu")
        with pytest.raises(
            torch.OutOfMemoryError,
            match=r"NPU out of memory. Tried to allocate 32.00 MiB. NPU 0 has a total",
        ):
            torch.empty(32 * MiB, dtype=torch.uint8, device="npu")
        with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 40.00 MiB"):
            kept + 1
        assert torch.npu.memory_stats()["num_ooms"] >= 2
        del kept
        assert torch.ones(32 * MiB, dtype=torch.uint8, device="npu")[-1].item() == 1
        with pytest.raises(RuntimeError, match="free tensors and call empty_cache"):
            torch.npu.set_memory_limit(1)
    finally:
        torch.npu.set_memory_limit(old)
    with pytest.raises(ValueError, match="Invalid fraction"):
        torch.npu.set_per_process_memory_fraction(1.5)


def test_limit_from_the_environment(run_python):
    text = "import torch, torch_npu; print(torch.npu.mem_get_info()); torch.empty(1 << 30, device='npu')"
    code, out = run_python(text, PTO_NPU_MEMORY="256MiB")
    assert code and "(268435456, 268435456)" in out and "total capacity of 256.00 MiB" in out


def test_no_growth_over_a_loop():
    x = torch.randn(100, 100, device="npu")

    def step():
        for _ in range(50):
            (x @ x).relu().sum().item()

    step()
    reserved = torch.npu.memory_reserved()
    for _ in range(5):
        step()
    assert torch.npu.memory_reserved() == reserved


def test_freed_memory_is_not_overwritten_before_its_last_use(ext):
    x = torch.full((1000,), 5.0, device="npu")
    torch.npu.synchronize()
    ext.gate_stream()
    y = x * 2
    del x
    for _ in range(20):  # fresh tensors may take x's bytes: they are written behind the product
        torch.full((1000,), -1.0, device="npu")
    ext.open_gates()
    assert y.cpu().eq(10).all()


def test_record_stream(ext):
    s = torch.npu.Stream()
    x = torch.full((1000,), 5.0, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(s):
        ext.gate_stream()
        y = x * 2
    x.record_stream(s)
    address = x.data_ptr()
    del x
    fresh = [torch.full((1000,), -1.0, device="npu") for _ in range(20)]
    assert address not in [t.data_ptr() for t in fresh]
    ext.open_gates()
    s.synchronize()
    assert y.cpu().eq(10).all()


def test_pinned_memory():
    x = torch.arange(10).pin_memory()
    assert x.is_pinned() and not torch.arange(10).is_pinned()
    assert x.npu(non_blocking=True).cpu().tolist() == list(range(10))
    assert torch.empty(10, pin_memory=True)[2:].is_pinned()


def test_copy_from_pinned_memory_is_asynchronous(ext):
    x = torch.arange(1000, dtype=torch.float32).pin_memory()
    y = torch.empty(1000, device="npu")
    torch.npu.synchronize()
    ext.gate_stream()
    back = torch.zeros(1000).pin_memory()
    y.copy_(x, non_blocking=True)  # would wait here for the gate
    back.copy_(y, non_blocking=True)
    assert not torch.npu.current_stream().query() and not back.any()
    ext.open_gates()
    torch.npu.synchronize()
    assert torch.equal(back, x)


def test_tensors_stay_readable_after_storage_games():
    x = torch.arange(6.0, device="npu")
    x.untyped_storage().resize_(6 * 8)
    assert x.sum().item() == 15
    x.resize_(3, 4)
    assert x.flatten()[:6].sum().item() == 15
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(5, device="npu"), 1, out=out)
    assert out.tolist() == [2] * 5
    out.set_(torch.arange(4, device="npu").float())
    assert out.tolist() == [0, 1, 2, 3]
