"""The simulated NPU against PyTorch's CPU device and plain memory copies, in one process."""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from pathlib import Path

import torch
from figure import Figure, in_turns

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "torch-npu-sim/python"))


def operator_overhead() -> Figure:
    a, b = torch.ones(16), torch.ones(16)
    x, y = a.npu(), b.npu()
    ours, peer = in_turns(lambda: torch.add(x, y), lambda: torch.add(a, b))
    return Figure("torch.add of 16 elements on npu", ours * 1e6, peer * 1e6, "cpu", "us", 1 / 1.3)


def fallback_overhead() -> Figure:
    a = torch.ones(16)
    x = a.npu()
    ours, peer = in_turns(lambda: torch.erf(x), lambda: torch.erf(a))
    return Figure(
        "torch.erf of 16 elements on npu (no own kernel)",
        ours * 1e6,
        peer * 1e6 + 2.5,
        "cpu + 2.5 us",
        "us",
        1.0,
    )


def copies() -> list[Figure]:
    size = 64 << 20
    host, other = torch.ones(size, dtype=torch.uint8), torch.ones(size, dtype=torch.uint8)
    device = host.npu()
    rows = []
    for name, ours in [
        ("host to npu", lambda: device.copy_(host)),
        ("npu to host", lambda: host.copy_(device)),
    ]:
        mine, peer = in_turns(
            ours, lambda: ctypes.memmove(other.data_ptr(), host.data_ptr(), size), rounds=9
        )
        rows.append(
            Figure(
                f"copy of 64 MiB, {name}",
                size / mine / 1e9,
                size / peer / 1e9,
                "memcpy",
                "GB/s",
                0.9,
                True,
            )
        )
    return rows


def allocation() -> Figure:
    """Allocations and frees of 200 sizes in mixed order, by what torch.empty adds to an empty on the meta device."""
    sizes = [1 + (i * 7919) % 40000 for i in range(200)]

    def run(device):
        live = [torch.empty(n, dtype=torch.uint8, device=device) for n in sizes]
        del live[::2]
        live.extend(torch.empty(n, dtype=torch.uint8, device=device) for n in sizes[::2])

    ours, peer = in_turns(lambda: run("npu"), lambda: run("meta"))
    return Figure(
        "allocation plus free, without the tensor",
        max(ours - peer, 1e-9) / 600 * 1e9,
        200.0,
        "goal",
        "ns",
        1.0,
    )


def host_time(name: str, graph: torch.npu.NPUGraph) -> Figure:
    """What a replay of 100 kernels costs the thread that asks for it, on an idle device."""
    times = []
    for _ in range(300):
        torch.npu.synchronize()
        start = time.perf_counter()
        graph.replay()
        times.append(time.perf_counter() - start)
    torch.npu.synchronize()
    return Figure(name, statistics.median(times) * 1e6, 15.0, "goal", "us", 1.0)


def replay() -> Figure:
    x = torch.ones(16, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x
        for _ in range(100):
            y = y + 1
    return host_time("replay of 100 kernels, host time", graph)


def figures(host) -> list[Figure]:
    import torch_npu  # noqa: F401

    return [operator_overhead(), fallback_overhead(), *copies(), allocation(), replay()]
