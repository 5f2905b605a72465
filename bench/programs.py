"""Whole programs of examples/ on all cores against torch eager, torch.compile and numba."""

from __future__ import annotations

import importlib
from functools import partial

import torch
from figure import Figure, in_turns


def example(module: str, name: str):
    return next(p for p in importlib.import_module(module).PROGRAMS if p.name == name)


def against(
    title: str,
    program,
    peer,
    peer_name: str,
    target: float,
    args=None,
    work: float | None = None,
    peak: float | None = None,
) -> Figure:
    """`work` in GFLOP turns times into GFLOP/s, `peak` in the same unit gives the share of the host's peak."""
    args = args or program.inputs()
    ours, theirs = in_turns(lambda: program.entry(*args), lambda: peer(*args))
    if work:
        share = work / ours / peak if peak else None
        return Figure(
            title,
            work / ours,
            work / theirs,
            peer_name,
            "GFLOP/s",
            target,
            higher_is_better=True,
            peak=share,
        )
    return Figure(title, ours * 1e3, theirs * 1e3, peer_name, "ms", target)


def products(host) -> list[Figure]:
    work = 2 * 1024**3 * 1e-9
    fp32, bf16 = (
        example("08_matmul_pipelined", "matmul 1024 fp32"),
        example("08_matmul_pipelined", "matmul 1024 bf16"),
    )
    out = torch.empty(1024, 1024, dtype=torch.bfloat16)
    cores = host.cores
    return [
        against(
            "matmul 1024^3 fp32",
            fp32,
            fp32.torch,
            "torch.mm",
            1.0,
            work=work,
            peak=host.fp32_gflops * cores,
        ),
        against(
            "matmul 1024^3 bf16",
            bf16,
            lambda a, b, c: torch.mm(a, b, out=out),
            "torch.mm",
            0.8 if host.amx else 1.0,
            work=work,
            peak=host.bf16_gflops * cores,
        ),
    ]


def rows(host) -> list[Figure]:
    softmax = example("04_row_softmax", "row softmax")
    rms, layer = example("05_norms", "RMSNorm"), example("05_norms", "LayerNorm")
    functional = torch.nn.functional
    compiled = torch.compile(lambda x, g: functional.rms_norm(x, (x.shape[1],), g[0], 1e-5))
    return [
        against("softmax 1024x4096 fp32", softmax, softmax.torch, "torch eager", 1.3),
        against(
            "RMSNorm 1024x4096 fp32",
            rms,
            lambda x, g, y: functional.rms_norm(x, (x.shape[1],), g[0], 1e-5),
            "torch eager",
            1.3,
        ),
        against(
            "RMSNorm 1024x4096 fp32, compiled peer",
            rms,
            lambda x, g, y: compiled(x, g),
            "torch.compile",
            1.0,
        ),
        against(
            "LayerNorm 1024x4096 fp32",
            layer,
            lambda x, g, b, y: functional.layer_norm(x, (x.shape[1],), g[0], b[0], 1e-5),
            "torch eager",
            1.3,
        ),
    ]


def chain(host) -> list[Figure]:
    import numba
    import numpy as np

    program = example("02_elementwise_chain", "elementwise chain")
    args = program.inputs()

    def eager(x, y):
        return ((x * 1.5 + 0.25).clamp(min=-1.0).clamp(max=1.0)).square() - 0.5

    compiled = torch.compile(eager)

    @numba.njit(parallel=True, fastmath=True)
    def loops(x, y):
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                t = min(
                    max(x[i, j] * np.float32(1.5) + np.float32(0.25), np.float32(-1)), np.float32(1)
                )
                y[i, j] = t * t - np.float32(0.5)

    x, y = args[0].numpy(), torch.empty_like(args[1]).numpy()
    title = "chain of 6 elementwise ops, 16 M fp32"
    return [
        against(title, program, eager, "torch eager", 3.0, args),
        against(title + ", compiled peer", program, compiled, "torch.compile", 1.0, args),
        against(
            title + ", numba peer",
            program,
            lambda *_: loops(x, y),
            "numba njit(parallel)",
            1.0,
            args,
        ),
    ]


def attend(causal: bool, q, k, v, y):
    return importlib.import_module("11_flash_attention").sdpa(q, k, v, causal)


def attention(host) -> list[Figure]:
    found = []
    for kind in ("fp32", "fp32, causal", "bf16"):
        program = example("11_flash_attention", f"flash attention {kind}")
        causal = "causal" in kind
        found.append(
            against(
                f"flash attention 8x1024x64 {kind}",
                program,
                partial(attend, causal),
                "torch SDPA",
                1.0,
            )
        )
    return found


def figures(host) -> list[Figure]:
    return products(host) + rows(host) + chain(host) + attention(host)
