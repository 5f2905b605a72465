"""A graph of tasks with inferred and explicit edges.

Each `pl.at` scope is a task. `left` and `right` read `x` and may run side by side; `join` reads what both wrote, so the
runtime makes it wait. `erase` overwrites the scratch tensor that `join` reads: that edge is found too. The last task
touches nothing that the others touch and is ordered by hand, with `deps=`.
"""

import pypto.language as pl
import torch
from program import Program, main

N = 256


@pl.jit
def task_graph(
    x: pl.Tensor[[N, N], pl.FP32],
    y: pl.Out[pl.Tensor[[N, N], pl.FP32]],
    done: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
):
    scratch = pl.create_tensor([2 * N, N], dtype=pl.FP32)
    for r in pl.range(0, N, 64):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="left"):
            scratch[r : r + 64, 0:N] = pl.exp(x[r : r + 64, 0:N])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="right"):
            scratch[N + r : N + r + 64, 0:N] = pl.mul(x[r : r + 64, 0:N], x[r : r + 64, 0:N])
    ids = pl.array.create(4, pl.TASK_ID)
    for i in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="join") as joined:
            r = i * 64
            y[r : r + 64, 0:N] = pl.add(scratch[r : r + 64, 0:N], scratch[N + r : N + r + 64, 0:N])
        ids[i] = joined
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="erase"):
        scratch[0:64, 0:N] = pl.full([64, N], dtype=pl.FP32, value=0.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="finished", deps=[ids]):
        done[0:1, 0:16] = pl.full([1, 16], dtype=pl.FP32, value=1.0)
    return y, done


PROGRAMS = [
    Program(
        name="task graph",
        entry=task_graph,
        inputs=lambda: (torch.randn(N, N), torch.empty(N, N), torch.empty(1, 16)),
        reference=lambda x, y, done: {1: x.double().exp() + x.double() ** 2, 2: torch.ones(1, 16)},
        torch=lambda x, y, done: (y.copy_(x.exp() + x * x), done.fill_(1.0)),
    )
]

if __name__ == "__main__":
    main(PROGRAMS)
