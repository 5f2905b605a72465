"""Matrix products of one tile task, one core, operands in cache."""

from __future__ import annotations

from functools import partial

import pypto.language as pl
import torch
from figure import Figure, in_turns

REPEAT = 200
SIZE = 128


@pl.jit
def repeated_product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    """The same tile task, load to store, REPEAT times in one kernel: the cost of a launch does not count."""
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="tile_product"):
        for _ in pl.range(REPEAT):
            left = pl.load(a, [0, 0], [SIZE, SIZE], target_memory=pl.MemorySpace.Mat)
            right = pl.load(b, [0, 0], [SIZE, SIZE], target_memory=pl.MemorySpace.Mat)
            acc = pl.matmul(
                pl.move(left, target_memory=pl.MemorySpace.Left),
                pl.move(right, target_memory=pl.MemorySpace.Right),
            )
            c = pl.store(acc, [0, 0], c)
    return c


def gflops(seconds: float) -> float:
    return 2 * SIZE**3 / seconds * 1e-9


def figures(host) -> list[Figure]:
    rows = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for dtype, name, target in (
            (torch.float32, "fp32", 1.1),
            (torch.bfloat16, "bf16", 3.0 if host.amx else 1.0),
        ):
            a, b = torch.randn(SIZE, SIZE).to(dtype), torch.randn(SIZE, SIZE).to(dtype)
            c, d = torch.empty(SIZE, SIZE), torch.empty(SIZE, SIZE, dtype=dtype)
            ours, peer = in_turns(
                partial(repeated_product, a, b, c), partial(torch.mm, a, b, out=d)
            )
            ours /= REPEAT
            peak = host.fp32_gflops if dtype == torch.float32 else host.bf16_gflops
            torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-3, atol=1e-3)
            share = gflops(ours) / peak if peak else None
            common = dict(unit="GFLOP/s", higher_is_better=True, peak=share)
            rows.append(
                Figure(
                    f"matmul tile 128^3 {name}, 1 core",
                    gflops(ours),
                    gflops(peer),
                    "torch.mm",
                    target=target,
                    **common,
                )
            )
            if dtype == torch.float32 and peak:
                rows.append(
                    Figure(
                        "matmul tile 128^3 fp32, share of FMA peak",
                        gflops(ours),
                        peak,
                        "measured peak",
                        target=0.9,
                        **common,
                    )
                )
    finally:
        torch.set_num_threads(threads)
    return rows
