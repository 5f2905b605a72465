"""Closing kernel mode before torch_npu goes away.

torch_npu's exit handler calls two functions of its `_C` in a row; both are attributes. They are replaced
by functions that close the process manager first. What cannot be closed safely is kept alive until the
process is gone, so that no destructor runs in a context that no longer exists.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

VALIDATED_VERSIONS = ("2.6.0.post2", "2.10.0.post2")
HOOKS = ("_npu_shutdown_synchronize", "_npu_shutdown")
_MARK = "_pypto_kernel_teardown"


def check_framework(torch_npu: Any) -> None:
    """RuntimeError unless this torch_npu's way of shutting down is one that was validated."""
    version = str(getattr(torch_npu, "__version__", "unknown"))
    if version.split("+")[0] not in VALIDATED_VERSIONS:
        raise RuntimeError(
            f"Kernel mode: torch_npu {version} is not one of the validated versions "
            f"{', '.join(VALIDATED_VERSIONS)} (a build suffix such as +sim is allowed). Its shutdown order is "
            "unknown, and a context that ends too early would be used after its end"
        )
    missing = [
        hook for hook in HOOKS if not callable(getattr(getattr(torch_npu, "_C", None), hook, None))
    ]
    if missing:
        raise RuntimeError(f"Kernel mode: torch_npu {version} has no torch_npu._C.{missing[0]}")


_kept: list[Any] = []


def keep_until_exit(thing: Any) -> None:
    """Keeps `thing` alive until the process is gone, through interpreter shutdown: the native anchor.
    Without the extension nothing native is held, and a reference is enough."""
    extension = sys.modules.get("pypto._torch_npu")
    if extension is not None:
        extension.retain_until_exit(thing)
    else:
        _kept.append(thing)


def install(torch_npu: Any, manager: Any, keep: Callable[[Any], None] = keep_until_exit) -> None:
    """Wraps the hooks of `torch_npu._C` once for a process; `manager` is closed once, by the first."""
    native = torch_npu._C
    if getattr(native, _MARK, None) is not None:
        return
    closing = _OnceAtExit(manager, keep)
    for hook in HOOKS:
        setattr(native, hook, _after(closing, getattr(native, hook)))
    setattr(native, _MARK, closing)


def _after(first: Callable[[], None], original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        first()
        return original(*args, **kwargs)

    return hook


class _OnceAtExit:
    """Closes the manager, or keeps what it holds."""

    def __init__(self, manager: Any, keep: Callable[[Any], None]) -> None:
        self._manager = manager
        self._keep = keep
        self._pid = os.getpid()
        self._done = False

    def __call__(self) -> None:
        if self._done:
            return
        self._done = True
        if os.getpid() != self._pid:  # the parent closes what is the parent's
            self._keep(self._manager)
            return
        try:
            self._manager.close()
        except BaseException as error:
            self._keep(self._manager)
            self._manager.abandon(f"kernel mode could not be closed ({error})")
            _warn(error)


def _warn(error: BaseException) -> None:
    text = (
        "pypto kernel mode could not be closed before torch_npu; its resources are retained until process "
        f"exit ({type(error).__name__}: {error})"
    )
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except Warning:  # warnings are errors here; a shutdown hook must go on
        print(f"RuntimeWarning: {text}", file=sys.stderr)
