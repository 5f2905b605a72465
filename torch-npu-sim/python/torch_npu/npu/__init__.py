"""`torch.npu`: devices, streams, memory, random numbers and graphs of the simulated NPU."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import torch

from .. import _C

_tls = threading.local()
_lock = threading.Lock()
_initialized = False
_queued_calls: list[Any] = []


def is_available() -> bool:
    """Whether there is at least one device."""
    return device_count() > 0


def device_count() -> int:
    """Devices that the process sees; ASCEND_RT_VISIBLE_DEVICES counts until the first use of a device."""
    return _C._npu_getDeviceCount()


def is_initialized() -> bool:
    return _initialized and not _is_in_bad_fork()


def _is_in_bad_fork() -> bool:
    return _C._npu_isInBadFork()


def init() -> None:
    """Starts the device; done by itself on first use."""
    _lazy_init()


def _lazy_call(call) -> None:
    """Runs `call` now if the device has started, else right after its start."""
    if is_initialized():
        call()
    else:
        _queued_calls.append(call)


def _lazy_init() -> None:
    global _initialized
    if is_initialized() or getattr(_tls, "starting", False):
        return
    with _lock:
        if is_initialized():
            return
        _C._npu_init()
        _tls.starting = True
        try:
            calls = _queued_calls[:]
            _queued_calls.clear()
            for call in calls:
                call()
        finally:
            _tls.starting = False
        _initialized = True


def _get_device_index(device: Any, optional: bool = False) -> int:
    """Index of an int, string or torch.device; None means the current device if `optional`."""
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "npu":
            raise ValueError(f"Expected a npu device, but got: {device}")
        return current_device() if device.index is None else device.index
    if device is None and optional:
        return current_device()
    raise ValueError(f"Expected a npu device (int, str or torch.device), but got: {device!r}")


def current_device() -> int:
    """Index of the calling thread's device."""
    _lazy_init()
    return _C._npu_getDevice()


def set_device(device: Any) -> None:
    """Makes a device the calling thread's; a negative index changes nothing."""
    index = _get_device_index(device)
    if index >= 0:
        _lazy_init()
        _C._npu_setDevice(index)


def _exchange_device(index: int) -> int:
    old = current_device()
    if index >= 0:
        _C._npu_setDevice(index)
    return old


_maybe_exchange_device = _exchange_device


class device:
    """Context manager: the given device is the current one inside. None or a negative index changes nothing."""

    def __init__(self, device: Any):
        self.idx = -1 if device is None else _get_device_index(device)
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = _exchange_device(self.idx)
        return self

    def __exit__(self, *exc):
        _exchange_device(self.prev_idx)
        return False


class device_of(device):
    """Context manager: the device of an NPU tensor or storage is the current one inside."""

    def __init__(self, obj):
        place = getattr(obj, "device", None)
        super().__init__(
            place.index if isinstance(place, torch.device) and place.type == "npu" else -1
        )


@dataclass(frozen=True)
class _NpuDeviceProperties:
    """What a device is; sizes in bytes."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    cube_core_num: int
    vector_core_num: int
    L2_cache_size: int


def _checked_index(device: Any) -> int:
    index = _get_device_index(device, optional=True)
    if index < 0 or index >= device_count():
        raise AssertionError("Invalid device id")
    return index


def get_device_properties(device: Any = None) -> _NpuDeviceProperties:
    _checked_index(device)
    p = _C._npu_properties()
    return _NpuDeviceProperties(
        name=p["name"],
        major=p["arch"] // 100,
        minor=p["arch"] % 100,
        total_memory=p["total_memory"],
        multi_processor_count=p["cube_core_num"],
        cube_core_num=p["cube_core_num"],
        vector_core_num=p["vector_core_num"],
        L2_cache_size=p["L2_cache_size"],
    )


def get_device_name(device: Any = None) -> str:
    """Product name, such as Ascend910B1; PTO_NPU_SOC selects it."""
    return get_device_properties(device).name


def get_soc_version() -> int:
    """Number of the architecture: 2201 or 3510."""
    return _C._npu_properties()["arch"]


def get_device_capability(device: Any = None) -> tuple[int, int]:
    p = get_device_properties(device)
    return p.major, p.minor


def synchronize(device: Any = None) -> None:
    """Waits for the task queue and all streams of a device; reports an error of work that ran behind its call."""
    _lazy_init()
    _C._npu_synchronize(_get_device_index(device, optional=True))


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16, torch.float32]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


class _Config:
    """`torch.npu.config`: switches of the device."""

    @property
    def allow_internal_format(self) -> bool:
        """Whether format 29 (FRACTAL_NZ) may be made."""
        return _C._npu_getAllowInternalFormat()

    @allow_internal_format.setter
    def allow_internal_format(self, on: bool) -> None:
        _C._npu_setAllowInternalFormat(bool(on))


config = _Config()

from .graphs import (  # noqa: E402
    NPUGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from .memory import (  # noqa: E402
    empty_cache,
    get_memory_limit,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
    set_memory_limit,
    set_per_process_memory_fraction,
)
from .random import (  # noqa: E402
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (  # noqa: E402
    Event,
    Stream,
    StreamContext,
    SyncLaunchStream,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "Event", "NPUGraph", "Stream", "StreamContext", "SyncLaunchStream", "config", "current_device", "current_stream",
    "default_generators", "default_stream", "device", "device_count", "device_of", "empty_cache", "get_amp_supported_dtype",
    "get_device_capability", "get_device_name", "get_device_properties", "get_memory_limit", "get_rng_state",
    "get_rng_state_all", "graph", "graph_pool_handle", "init", "initial_seed", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "make_graphed_callables", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot",
    "memory_stats", "memory_summary", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_memory_limit", "set_per_process_memory_fraction",
    "set_rng_state", "set_rng_state_all", "set_stream", "stream", "synchronize",
]  # fmt: skip
