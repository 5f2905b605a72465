"""Which way of running programs the process has chosen: PROGRAM (calls that own their run) or KERNEL
(kernels that borrow the context of torch_npu). The two exclude each other for the life of the process.

Importing, compiling and reading metadata choose nothing. A choice survives failures and `close`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

PROGRAM = "program"
KERNEL = "kernel"

SPAWN_HINT = (
    "this process was forked from one that had initialised kernel mode; its device context belongs to "
    "the parent. Start workers with the 'spawn' method (multiprocessing.set_start_method('spawn'))"
)


class _ModeGate:
    """One choice for one process. Competing claims take one lock: the first wins, the other raises."""

    def __init__(self, inherited_kernel: bool = False) -> None:
        self._lock = threading.Lock()
        self._mode: str | None = KERNEL if inherited_kernel else None
        self._inherited = inherited_kernel

    @property
    def mode(self) -> str | None:
        return self._mode

    @property
    def inherited(self) -> bool:
        """Whether the choice was made by a parent process, and nothing may run in this one."""
        return self._inherited

    def claim(self, mode: str) -> None:
        """Chooses `mode`; again is fine. RuntimeError if the other was chosen, or a parent had KERNEL."""
        if mode not in (PROGRAM, KERNEL):
            raise ValueError(f"execution mode {mode!r} is neither {PROGRAM!r} nor {KERNEL!r}")
        if self._inherited:
            raise RuntimeError(f"Cannot initialize {mode.upper()} mode: {SPAWN_HINT}")
        with self._lock:
            if self._mode is None:
                self._mode = mode
            elif self._mode != mode:
                raise RuntimeError(
                    f"Cannot initialize {mode.upper()} mode: this process already claimed "
                    f"{self._mode.upper()} mode, and one process runs only in one of the two. "
                    + _WAY_OUT[mode]
                )


_WAY_OUT = {
    PROGRAM: "After pypto.torch.init(), run kernels through pypto.torch.launch, or call programs "
    "(@pl.jit, CompiledProgram, Worker) from another process",
    KERNEL: "Call pypto.torch.init() before the first call of a program, or in a process of its own",
}

_gate = _ModeGate()
_after_fork: list[Callable[[], None]] = []


def current_mode() -> str | None:
    return _gate.mode


def claim(mode: str) -> None:
    _gate.claim(mode)


def claim_program() -> None:
    """What runs a program calls first."""
    _gate.claim(PROGRAM)


def check_process() -> None:
    """RuntimeError in a process that inherited KERNEL mode."""
    if _gate.inherited:
        raise RuntimeError(f"Kernel mode: {SPAWN_HINT}")


def on_fork_in_child(function: Callable[[], None]) -> None:
    """`function` runs in a forked child after the gate was replaced, while it has one thread only."""
    _after_fork.append(function)


def _replace_in_child() -> None:
    """A parent's PROGRAM, or no choice, is not the child's; its KERNEL is, and stays. The lock is
    replaced in either case: another thread of the parent may have held it."""
    global _gate
    _gate = _ModeGate(inherited_kernel=_gate.mode == KERNEL)
    for function in _after_fork:
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_in_child)
