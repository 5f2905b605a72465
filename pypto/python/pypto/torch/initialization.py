"""`pypto.torch.init`: kernel mode for the device that torch_npu has made current."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def init(
    *,
    device: int | str | torch.device | None = None,
    platform: str = "a2a3",
    runtime: str = "tensormap_and_ringbuffer",
    aicpu_thread_num: int = 0,
    enable_chip_swimlane: int | bool = 0,
    enable_dep_gen: bool = False,
    output_dir: str | os.PathLike | None = None,
    ring_task_window: int | list[int] | None = None,
    ring_heap: int | list[int] | None = None,
    ring_dep_pool: int | list[int] | None = None,
    workspace_budget_bytes: int | None = None,
) -> None:
    """Borrows the current context of torch_npu and starts a Worker in it. The process is in kernel mode
    from then on: direct calls of programs (`@pl.jit`, CompiledProgram, Worker) are refused.

    `device` must be the current one if given; init does not switch. `platform` is "a2a3", `runtime`
    "tensormap_and_ringbuffer" or "host_build_graph". `aicpu_thread_num`: 0 = the platform's own, or 2 to
    5. Rings take one size or four, one for each scope depth: task windows are powers of two from 4,
    heaps at least 1024 bytes, dependency pools at least 4. `workspace_budget_bytes` (at least 1024)
    limits the Worker's own memory, not borrowed tensors. The diagnostic settings need `output_dir`.

    Again with the same configuration does nothing; from several threads at once all share one result.
    The Worker is closed when torch_npu shuts down.

    Raises TypeError and ValueError for arguments, another configuration than the bound one, and a device
    that is not current; RuntimeError without torch_npu, simpler or the extension pypto._torch_npu, for a
    torch_npu that was not validated, in a process that runs programs, was forked from a kernel-mode
    process, or has closed or lost kernel mode; NotImplementedError during graph capture. Nothing has
    changed after an error of the preflight; after one of the start itself the mode is FAILED.
    """
    from pypto.runtime.kernel import context
    from pypto.runtime.kernel.session import preflight

    checked = preflight(
        device=device,
        platform=platform,
        runtime=runtime,
        aicpu_thread_num=aicpu_thread_num,
        enable_chip_swimlane=enable_chip_swimlane,
        enable_dep_gen=enable_dep_gen,
        output_dir=output_dir,
        ring_task_window=ring_task_window,
        ring_heap=ring_heap,
        ring_dep_pool=ring_dep_pool,
        workspace_budget_bytes=workspace_budget_bytes,
    )
    context.manager().ensure_worker(checked.config, checked.session)
