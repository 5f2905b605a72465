"""Records what the process does into one Chrome/Perfetto trace."""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from contextlib import contextmanager

_depth = 0


def active() -> bool:
    return _depth > 0


def start() -> None:
    """Starts recording compile stages, calls and tasks."""
    global _depth
    from pypto import bridge

    _depth += 1
    if _depth == 1:
        bridge.core().trace_start()


def stop(path: str) -> None:
    """Ends what `start` began and writes the events since to `path`."""
    global _depth
    from pypto import bridge

    core = bridge.core()
    _depth -= 1
    if _depth == 0:
        core.trace_stop()
    handle, runtime_path = tempfile.mkstemp(prefix="pto-trace-", suffix=".json")
    os.close(handle)
    try:
        trace = json.loads(core.trace_take(runtime_path))
        with open(runtime_path, encoding="utf-8") as file:
            text = file.read()
        if text:
            tasks = json.loads(text)
            trace["traceEvents"] += tasks["traceEvents"] if isinstance(tasks, dict) else tasks
    finally:
        os.unlink(runtime_path)
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    os.replace(temporary, path)


@contextmanager
def recording(path: str | None):
    """Records what happens inside into `path`; nothing without one."""
    if not path:
        yield
        return
    start()
    try:
        yield
    finally:
        stop(path)


def record_process(core, path: str) -> None:
    """Records from now to the end of the process into `path` (PTO_TRACE)."""
    global _depth
    _depth += 1
    core.trace_start()
    atexit.register(stop, path)
