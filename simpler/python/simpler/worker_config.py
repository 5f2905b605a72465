"""The keys of Worker(level, **keys), and what values they may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
KEYS = {
    "platform": None,
    "runtime": None,
    "device_id": 0,
    "device_ids": (),
    "num_sub_workers": 0,
    "enable_sdma": False,
    "heap_ring_size": None,
    "startup_timeout_s": None,
    "py_control_timeout_s": None,
    "threads": None,
    "workspace_budget_bytes": None,
}


def checked(level: int, keys: dict[str, Any]) -> dict[str, Any]:
    """All keys with their values or defaults; TypeError or ValueError says which is wrong."""
    if level not in (2, 3) or isinstance(level, bool):
        raise ValueError(
            f"Worker: level {level!r} is not supported; 2 is a device, 3 a node of devices"
        )
    unknown = sorted(set(keys) - set(KEYS))
    if unknown:
        raise TypeError(f"Worker: unknown key {unknown[0]!r}; known are {', '.join(sorted(KEYS))}")
    config = {**KEYS, **keys}
    platform, runtime = config["platform"], config["runtime"]
    if platform not in PLATFORMS:
        raise ValueError(f"Worker: platform {platform!r} is none of {', '.join(PLATFORMS)}")
    if runtime not in RUNTIMES:
        raise ValueError(f"Worker: runtime {runtime!r} is none of {', '.join(RUNTIMES)}")
    if not _is_int(config["device_id"]) or config["device_id"] < 0:
        raise ValueError(f"Worker: device_id is {config['device_id']!r}; an id, 0 or more")
    if type(config["enable_sdma"]) is not bool:
        raise TypeError(f"Worker: enable_sdma is {config['enable_sdma']!r}; True or False")
    threads = config["threads"]
    if threads is not None and not (_is_int(threads) and 0 <= threads <= 200):
        raise ValueError(f"Worker: threads is {threads!r}; it must be 0 (one per core) to 200")
    budget = config["workspace_budget_bytes"]
    if budget is not None and not (_is_int(budget) and budget >= 1024):
        raise ValueError(f"Worker: workspace_budget_bytes is {budget!r}; at least 1024")
    _check_children(config)
    return config


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_children(config: dict[str, Any]) -> None:
    """device_ids, num_sub_workers, and what times and sizes go with them."""
    devices, subs = config["device_ids"], config["num_sub_workers"]
    is_list = isinstance(devices, Iterable) and not isinstance(devices, (str, bytes))
    if not is_list or not all(type(d) is int and d >= 0 for d in devices):
        raise ValueError(f"Worker: device_ids is {devices!r}; a list of ids, each 0 or more")
    if len(set(devices)) != len(devices):
        raise ValueError(f"Worker: device_ids {list(devices)} names a device twice")
    if type(subs) is not int or subs < 0:
        raise ValueError(f"Worker: num_sub_workers is {subs!r}; a number, 0 or more")
    for key in ("heap_ring_size", "startup_timeout_s", "py_control_timeout_s"):
        value = config[key]
        if value is None:
            continue
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
            raise ValueError(f"Worker: {key} is {value!r}; it must be positive")
