"""Device memory: the caching allocator's figures, limit and cache. All sizes in bytes."""

from __future__ import annotations

from typing import Any

from .. import _C


def _index(device: Any) -> int:
    from . import _get_device_index, _lazy_init

    _lazy_init()
    return _get_device_index(device, optional=True)


def empty_cache() -> None:
    """Gives unused cached memory of all devices back to the host."""
    if _C._npu_initialized():
        _C._npu_emptyCache()


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counters of the allocator, with the keys of torch.cuda.memory_stats."""
    return dict(sorted(_C._npu_memoryStats(_index(device)).items()))


def memory_allocated(device: Any = None) -> int:
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Any = None) -> int:
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Any = None) -> int:
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: Any = None) -> int:
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device: Any = None) -> None:
    _C._npu_resetPeak(_index(device))


reset_max_memory_allocated = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    _C._npu_resetAccumulated(_index(device))


def get_memory_limit(device: Any = None) -> int:
    """What the device may reserve: PTO_NPU_MEMORY, or the product's memory (at most 80 % of the host's)."""
    return _C._npu_memoryLimit(_index(device))


def set_memory_limit(size: int, device: Any = None) -> None:
    """Sets the device's memory; not below what is reserved at the moment."""
    _C._npu_setMemoryLimit(_index(device), size)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    set_memory_limit(int(_C._npu_properties()["total_memory"] * fraction), device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total)."""
    index = _index(device)
    total = _C._npu_memoryLimit(index)
    return total - memory_reserved(index), total


def memory_snapshot() -> list[dict]:
    """The allocator's segments on all devices."""
    from . import device_count

    _index(None)
    return [segment for index in range(device_count()) for segment in _C._npu_memorySegments(index)]


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    stats = memory_stats(device)
    rows = [
        "allocated_bytes",
        "active_bytes",
        "requested_bytes",
        "reserved_bytes",
        "allocation",
        "segment",
    ]
    lines = [f"memory of npu:{_index(device)}, out-of-memory errors: {stats['num_ooms']}"]
    lines.append(f"{'':18}{'current':>16}{'peak':>16}{'allocated':>20}{'freed':>20}")
    for row in rows:
        values = [stats[f"{row}.all.{kind}"] for kind in ("current", "peak", "allocated", "freed")]
        lines.append(f"{row:18}{values[0]:>16}{values[1]:>16}{values[2]:>20}{values[3]:>20}")
    return "\n".join(lines)
