"""Kernels as torch operators: what an operator, a launch and a graph cost, and a model made of them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pypto.language as pl
import pypto.torch
import torch
from figure import Figure, in_turns
from npu_device import host_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "torch-npu-sim/python"))

LARGE, SMALL = 512, 16


@pl.jit
def add(
    x: pl.Tensor[[LARGE, LARGE], pl.FP32],
    y: pl.Tensor[[LARGE, LARGE], pl.FP32],
    out: pl.Out[pl.Tensor[[LARGE, LARGE], pl.FP32]],
):
    for block in pl.spmd(LARGE // 32, name_hint="add"):
        r = block * 32
        out[r : r + 32, 0:LARGE] = pl.add(x[r : r + 32, 0:LARGE], y[r : r + 32, 0:LARGE])
    return out


@pl.jit
def add_small(
    x: pl.Tensor[[SMALL, SMALL], pl.FP32],
    y: pl.Tensor[[SMALL, SMALL], pl.FP32],
    out: pl.Out[pl.Tensor[[SMALL, SMALL], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:SMALL, 0:SMALL] = pl.add(x[0:SMALL, 0:SMALL], y[0:SMALL, 0:SMALL])
    return out


def operators() -> list[Figure]:
    """Against torch's own add on the same device, and what the operator adds to a call of the kernel."""
    large = pypto.torch.register("pypto_bench", "add", add)
    small = pypto.torch.register("pypto_bench", "add_small", add_small)
    found = []
    for device in ("cpu", "npu"):
        x, y = (torch.randn(LARGE, LARGE, device=device) for _ in range(2))
        ours, peer = in_turns(lambda: large(x, y), lambda: torch.add(x, y))  # noqa: B023
        found.append(
            Figure(
                f"operator add of {LARGE}x{LARGE} on {device}",
                ours * 1e6,
                peer * 1e6,
                f"torch.add, {device}",
                "us",
                1 / 1.3,
            )
        )
        x, y = (torch.randn(SMALL, SMALL) for _ in range(2))
        out = torch.empty(SMALL, SMALL)
        a, b = x.to(device), y.to(device)
        ours, kernel = in_turns(lambda: small(a, b), lambda: add_small(x, y, out))  # noqa: B023
        found.append(
            Figure(
                f"operator on {device}, on top of its kernel",
                max(ours - kernel, 1e-9) * 1e6,
                2.5,
                "goal",
                "us",
                1.0,
            )
        )
    return found


def launch() -> Figure:
    x, y, out = (torch.randn(SMALL, SMALL, device="npu") for _ in range(3))
    run = pypto.torch.launch
    ours, _ = in_turns(lambda: run(add_small, x, y, out), lambda: None)
    return Figure("pypto.torch.launch, kernel included", ours * 1e6, 3.0, "goal", "us", 1.0)


def replay() -> Figure:
    x, y, out = (torch.randn(SMALL, SMALL, device="npu") for _ in range(3))
    pypto.torch.prepare(add_small, x, y, out)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        for _ in range(50):
            pypto.torch.launch(add_small, x, y, out)
            pypto.torch.launch(add_small, out, y, x)
    return host_time("replay of a graph of 100 pypto kernels, host time", graph)


def model() -> Figure:
    llama = importlib.import_module("15_llama_in_torch")
    ids, logits = llama.tokens(), torch.empty(llama.TOKENS, llama.VOCAB)
    ours, plain = (llama.forward(llama.Llama(ops)) for ops in (llama.Kernels, llama.Plain))
    mine, theirs = in_turns(lambda: ours(ids, logits), lambda: plain(ids, logits), each=0.05)
    return Figure(
        "forward of the Llama-like example", mine * 1e3, theirs * 1e3, "eager torch", "ms", 1.2
    )


def figures(host) -> list[Figure]:
    import torch_npu  # noqa: F401

    return [*operators(), launch(), replay(), model()]
