"""The processes of a level-3 worker: one child for each device and each sub-worker, forked by `init`.

What children know is what the process was at that moment: functions and device programs that were registered before,
memory that was shared before. Whatever comes later reaches them with the task that needs it: programs and functions as
bytes, buffers of `create_buffer` by their name, other host memory as a copy that is copied back after the task.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from simpler._task_interface import ChipCallable, DeviceLane, LoadedCallable, NodeChild, NodeLane
from simpler.sub_args import SubArgs

_RINGS = 4


def _default_ring() -> int:
    """Addresses for as much as the machine's memory holds."""
    try:
        return max(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _RINGS, 1 << 30)
    except (ValueError, OSError):
        return 1 << 30


class Node:
    """Owns the children. `platform`, `runtime`: of the devices; `ring_bytes`: a quarter of the addresses that shared
    buffers, and copies of memory that is not shared, may take; pages are used as they are written. `grace_seconds`: how long running tasks of a
    failed run may take to stop before their child is ended."""

    def __init__(
        self,
        platform: str,
        runtime: str,
        devices: int,
        sub_workers: int,
        *,
        ring_bytes: int | None = None,
        threads: int = 0,
        grace_seconds: float = 10.0,
    ) -> None:
        self._platform, self._replay, self._threads = (
            platform,
            runtime == "host_build_graph",
            threads,
        )
        self.devices, self.sub_workers = devices, sub_workers
        self.lane = NodeLane(
            devices, sub_workers, _RINGS * (ring_bytes or _default_ring()), grace_seconds
        )
        self._inherited: set[int] = set()
        self._pid = os.getpid()

    # -- in the parent -------------------------------------------------------------------------------------------
    def start(self, callables: dict[int, Any], seconds: float) -> None:
        """Forks all children and waits for them. `callables`: by slot, LoadedCallable or function. RuntimeError names
        the child that did not come up; the caller closes the node then."""
        self._inherited = set(callables)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()  # or each child would write it again
            except (AttributeError, ValueError, OSError):
                pass
        for child in range(self.devices + self.sub_workers):
            self.lane.open_channel(child)
            try:
                pid = os.fork()
            except OSError as error:
                raise RuntimeError(
                    f"Worker.init: child {child} cannot be forked: {error.strerror}"
                ) from error
            if pid == 0:
                self._be_child(child, callables)  # does not return
            self.lane.forked(child, pid)
        problem = self.lane.start(seconds)
        if problem:
            raise RuntimeError(f"Worker.init: {problem}")

    def add(self, slot: int, target: Any) -> None:
        """Makes a callable that was registered after the fork known to the children."""
        if isinstance(target, ChipCallable):
            self.lane.define(slot, target.to_bytes())
        else:
            self.lane.define(slot, pack_function(target))

    def remove(self, slot: int) -> None:
        self.lane.forget(slot)

    def close(self) -> None:
        if os.getpid() == self._pid:
            self.lane.close()

    # -- in a child ----------------------------------------------------------------------------------------------
    def _be_child(self, index: int, callables: dict[int, Any]) -> None:
        status = 1
        try:
            channel = self.lane.child_of(index)
            _settle_in()
            if index < self.devices:
                self._be_device(channel, callables)
            else:
                _be_sub_worker(channel, callables)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            _flush()
            os._exit(status)  # nothing of the parent's is ours to clean up

    def _be_device(self, channel: NodeChild, callables: dict[int, Any]) -> None:
        programs = {s: c for s, c in callables.items() if isinstance(c, LoadedCallable)}
        try:
            lane = DeviceLane(self._platform, self._threads, self._replay)
        except Exception as error:
            channel.refuse(f"cannot start: {error}")
            return
        channel.serve_device(lane, programs)
        lane.close()


def _settle_in() -> None:
    # Ctrl-C reaches the whole group: the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()  # what was the parent's stays as it is
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)  # the parent's pool of threads is not here


def _be_sub_worker(channel: NodeChild, callables: dict[int, Any]) -> None:
    functions: dict[int, Any] = {
        s: c for s, c in callables.items() if not isinstance(c, LoadedCallable)
    }

    def define(slot: int, contents: bytes | None) -> None:
        if contents is None:
            functions.pop(slot, None)
            return
        try:
            functions[slot] = pickle.loads(contents)
        except BaseException:
            functions[slot] = _Broken(traceback.format_exc())

    def call(slot: int, args: Any) -> str | None:
        try:
            functions[slot](SubArgs(args))
            return None
        except BaseException as error:
            return describe(error)
        finally:
            _flush()

    def stop(signum: int, frame: Any) -> None:
        if channel.should_stop:
            raise KeyboardInterrupt("the run was stopped")

    signal.signal(signal.SIGUSR1, stop)
    channel.serve_python(call, define)


class _Broken:
    """Stands for a function whose pickle could not be loaded."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __call__(self, args: Any) -> None:
        raise RuntimeError(f"the function could not be loaded in the sub-worker:\n{self._why}")


def describe(error: BaseException) -> str:
    """The exception's name and text first, then the traceback without the frames of this module."""
    trail = error.__traceback__
    while trail is not None and trail.tb_frame.f_code.co_filename == __file__:
        trail = trail.tb_next
    first = "".join(traceback.format_exception_only(type(error), error)).strip()
    return f"{first}\n" + "".join(traceback.format_exception(type(error), error, trail)).rstrip()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass


def pack_function(function: Callable[..., Any]) -> bytes:
    """Bytes from which another process makes the function. Closures and lambdas need the package cloudpickle."""
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    try:
        return pickler.dumps(function)
    except Exception as error:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"Worker.register: the function '{name}' cannot be sent to sub-workers that run already ({error}); register "
            "it before init(), define it at the top level of a module, or install cloudpickle"
        ) from error
