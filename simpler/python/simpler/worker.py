"""Worker: one simulated device (level 2), or a node of several devices and Python functions (level 3)."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from simpler import _log
from simpler._task_interface import (
    CallConfig,
    ChipCallable,
    DataType,
    DeviceLane,
    LoadedCallable,
    NodeLane,
    TaskArgs,
    Tensor,
    get_element_size,
)
from simpler.buffer import Buffer, allocate_device, create_host_shared_buffer
from simpler.callable_identity import (
    CHIP_CALLABLE,
    PYTHON_SERIALIZED,
    CallableHandle,
    chip_digest,
    python_digest,
)
from simpler.orchestrator import Orchestrator

PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
MAX_CALLABLES = 64
_KEYS = {
    "platform": None,
    "runtime": None,
    "device_id": 0,
    "device_ids": (),
    "num_sub_workers": 0,
    "enable_sdma": False,
    "heap_ring_size": None,
    "startup_timeout_s": None,
    "py_control_timeout_s": None,
    "threads": None,
    "workspace_budget_bytes": None,
}
_owners = itertools.count(1)


class RunHandle:
    """One submitted run. `done` polls; `wait` retires it and raises its error; both may be repeated."""

    def __init__(self, worker: Worker, state: Any = None) -> None:
        self._worker = worker  # a handle keeps its worker alive
        self._state = state  # None: ended without an error

    @property
    def done(self) -> bool:
        return self._state is None or self._state.done

    def wait(self, timeout: float | None = None) -> None:
        if self._state is None:
            return
        if timeout is not None or threading.current_thread() is not threading.main_thread():
            if not self._state.wait_raw(timeout):
                raise TimeoutError(f"the run has not ended within {timeout} s")
        else:
            while not self._state.wait_raw(0.1):  # lets Ctrl-C in
                pass
        self._state.raise_if_failed()

    result = wait

    def cancel(self) -> bool:
        """True: it had not started and will not. A started run is asked to stop at the next task."""
        return self._state is not None and self._state.cancel()

    def add_done_callback(self, function: Callable[[RunHandle], None]) -> None:
        """Calls function(self) when the run is done, from the thread that ended it."""
        if self._state is None:
            function(self)
        else:
            self._state.on_done(lambda: function(self))

    def __await__(self):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(None)

        self.add_done_callback(lambda _: loop.call_soon_threadsafe(finish))
        yield from future.__await__()
        return self.wait()


class Worker:
    """`Worker(level=2, platform=…, runtime=…)`: NEW, then `init()`, then runs, then `close()`.

    Keys: platform, runtime, device_id (level 2), device_ids and num_sub_workers (level 3), threads (default: one per
    core, or SIMPLER_THREADS). An unknown key is a TypeError.
    """

    def __init__(self, level: int, **config: Any) -> None:
        if level not in (2, 3):
            raise ValueError(
                f"Worker: level {level} is not supported; 2 is a device, 3 a node of devices"
            )
        unknown = sorted(set(config) - set(_KEYS))
        if unknown:
            raise TypeError(
                f"Worker: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}"
            )
        self.level = level
        self._config = {**_KEYS, **config}
        platform, runtime = self._config["platform"], self._config["runtime"]
        if platform not in PLATFORMS:
            raise ValueError(f"Worker: platform {platform!r} is none of {', '.join(PLATFORMS)}")
        if runtime not in RUNTIMES:
            raise ValueError(f"Worker: runtime {runtime!r} is none of {', '.join(RUNTIMES)}")
        budget = self._config["workspace_budget_bytes"]
        if budget is not None and budget < 1024:
            raise ValueError(f"Worker: workspace_budget_bytes is {budget}; at least 1024")
        self.platform, self.runtime = platform, runtime
        self._state = "NEW"
        self._owner = next(_owners)
        self._generation: int | None = None
        self._lifecycle_thread: int | None = None
        self._lanes: list[DeviceLane] = []
        self._node: NodeLane | None = None
        self._slots: dict[int, tuple[CallableHandle, Any]] = {}
        self._next_slot = itertools.count()
        self._buffers: dict[int, Buffer] = {}
        self._wrapped: dict[tuple[int, int], Buffer] = {}
        self._pid = os.getpid()

    # -- life ----------------------------------------------------------------------------------------------------
    def init(
        self,
        prewarm_config: CallConfig | None = None,
        *,
        borrowed_context_generation: int | None = None,
    ) -> None:
        """Makes the device(s) ready. `borrowed_context_generation`: the worker lives in a context that a framework
        owns; a non-zero token, and only the calling thread may init, register and close."""
        self._need("NEW", "init")
        if prewarm_config is not None:
            prewarm_config.validate()
        if borrowed_context_generation is not None:
            if not isinstance(borrowed_context_generation, int) or borrowed_context_generation == 0:
                raise ValueError("Worker.init: borrowed_context_generation must be a non-zero int")
            self._generation = borrowed_context_generation
            self._lifecycle_thread = threading.get_ident()
        self._state = "INITIALIZING"
        try:
            _log.apply_threshold()
            threads = self._config["threads"] or int(os.environ.get("SIMPLER_THREADS", "0") or 0)
            count = 1 if self.level == 2 else len(self._config["device_ids"])
            replay = self.runtime == "host_build_graph"
            self._lanes = [DeviceLane(self.platform, threads, replay) for _ in range(count)]
            if self.level == 3:
                self._node = NodeLane(self._lanes, self._config["num_sub_workers"])
        except BaseException:
            self._state = "FAILED"
            raise
        self._state = "READY"

    def close(self) -> None:
        """Waits for submitted runs and frees the device. Idempotent."""
        if self._state == "CLOSED":
            return
        self._lifecycle("close")
        self._state = "CLOSED"
        if self._node is not None:
            self._node.close()
        for lane in self._lanes:
            lane.close()
        self._lanes, self._node = [], None
        self._slots.clear()
        for buffer in list(self._buffers.values()):
            buffer.close()
        self._buffers.clear()
        self._wrapped.clear()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- callables -----------------------------------------------------------------------------------------------
    def register(self, target: Any, *, workers: Sequence[int] | None = None) -> CallableHandle:
        """A handle for a ChipCallable (level 3 also: a Python function). The same target twice: two handles, one hash."""
        if self._state in ("CLOSED", "FAILED"):
            raise RuntimeError(f"Worker.register: the worker is {self._state}")
        self._lifecycle("register")
        if isinstance(target, ChipCallable):
            digest = chip_digest(
                target, self.platform.removesuffix("sim"), self.platform, self.runtime
            )
            item: Any = self._loaded(target, digest)
            kind, namespace = CHIP_CALLABLE, "LOCAL_CHIP"
        elif self.level >= 3 and callable(target):
            digest, item = python_digest(target), target
            kind, namespace = PYTHON_SERIALIZED, "LOCAL_PYTHON"
        else:
            wanted = "a ChipCallable" if self.level == 2 else "a ChipCallable or a Python function"
            raise TypeError(f"Worker.register: expected {wanted}, got {type(target).__name__}")
        if len({h.hashid for h, _ in self._slots.values()} | {digest}) > MAX_CALLABLES:
            raise RuntimeError(
                f"Worker.register: all {MAX_CALLABLES} slots are in use; unregister something first"
            )
        handle = CallableHandle(digest, kind, namespace, self._owner, next(self._next_slot))
        self._slots[handle.slot] = (handle, item)
        return handle

    def _loaded(self, chip: ChipCallable, digest: str) -> LoadedCallable:
        for handle, item in self._slots.values():
            if handle.hashid == digest:
                return item
        return LoadedCallable(chip, digest)

    def unregister(self, handle: CallableHandle) -> None:
        self._item(handle, "unregister")
        del self._slots[handle.slot]

    def _item(self, handle: Any, what: str) -> Any:
        if not isinstance(handle, CallableHandle):
            raise TypeError(
                f"Worker.{what}: expected a handle from register, got {type(handle).__name__}"
            )
        entry = self._slots.get(handle.slot)
        if handle.owner != self._owner or entry is None or entry[0] is not handle:
            raise ValueError(
                f"Worker.{what}: the handle was not given out by this worker, or was unregistered"
            )
        return entry[1]

    # -- runs ----------------------------------------------------------------------------------------------------
    def run(
        self, callable: Any, args: TaskArgs | None = None, config: CallConfig | None = None
    ) -> None:
        """Runs to completion; on an idle level-2 worker on this very thread."""
        if self._state != "READY":
            self._need("READY", "run")
        if self.level == 2:
            entry = self._slots.get(callable.slot) if isinstance(callable, CallableHandle) else None
            item = (
                entry[1]
                if entry is not None and entry[0] is callable
                else self._item(callable, "run")
            )
            self._lanes[0].run(item, args if args is not None else TaskArgs(), config)
        else:
            self._run_node(callable, args, config)

    def submit(
        self, callable: Any, args: TaskArgs | None = None, config: CallConfig | None = None
    ) -> RunHandle:
        """Queues a run; runs of one worker take effect in the order of submission."""
        self._need("READY", "submit")
        if self.level == 2:
            item = self._item(callable, "submit")
            return RunHandle(
                self, self._lanes[0].submit(item, args if args is not None else TaskArgs(), config)
            )
        self._run_node(callable, args, config)
        return RunHandle(self)

    def _run_node(self, program: Any, args: Any, config: CallConfig | None) -> None:
        if not callable(program):
            raise TypeError(
                "Worker.run: at level 3 the first argument is a function f(orch, args, config)"
            )
        config = config if config is not None else CallConfig()
        config.validate()
        orchestrator = Orchestrator(self, self._node)
        try:
            self._node.execute(lambda: program(orchestrator, args, config))
        finally:
            orchestrator._finish()

    def interrupt(self) -> None:
        """Asks the runs in progress to stop at the next task."""
        for lane in self._lanes:
            lane.interrupt()

    def flush_diagnostics(self) -> None:
        """Waits until everything submitted has ended; files of diagnostics are then complete."""
        self._need("READY", "flush_diagnostics")
        for lane in self._lanes:
            lane.drain()

    # -- memory --------------------------------------------------------------------------------------------------
    def malloc(self, nbytes: int) -> Buffer:
        if self.level != 2:
            raise TypeError("Worker.malloc: level 2 only; use create_buffer or alloc_child_tensor")
        self._need("READY", "malloc")
        budget = self._config["workspace_budget_bytes"]
        if budget is not None and self.committed_device_memory() + nbytes > budget:
            raise MemoryError(
                f"Worker.malloc: {nbytes} bytes exceed the budget of {budget} ({self.committed_device_memory()} in use)"
            )
        return self._own(allocate_device(nbytes))

    def alloc_child_tensor(self, worker_id: int, shapes: Sequence[int], dtype: DataType) -> Buffer:
        self._need("READY", "alloc_child_tensor")
        self._device(worker_id)
        nbytes = get_element_size(dtype)
        for extent in shapes:
            nbytes *= extent
        buffer = self._own(allocate_device(nbytes))
        buffer.owner_worker_id = worker_id
        return buffer

    def _device(self, worker_id: Any) -> int:
        if type(worker_id) is not int:
            raise TypeError(f"worker: expected an int, got {type(worker_id).__name__}")
        if not 0 <= worker_id < len(self._lanes):
            raise ValueError(f"worker: {worker_id} is not in 0..{len(self._lanes) - 1}")
        return worker_id

    def _own(self, buffer: Buffer) -> Buffer:
        self._buffers[buffer.identity[1]] = buffer
        return buffer

    def _owned(self, buffer: Any, what: str) -> Buffer:
        if not isinstance(buffer, Buffer):
            raise TypeError(f"Worker.{what}: expected a Buffer, got {type(buffer).__name__}")
        if buffer.closed or buffer.identity[1] not in self._buffers:
            raise ValueError(
                f"Worker.{what}: the buffer was freed already or belongs to another worker"
            )
        return buffer

    def free(self, buffer: Buffer) -> None:
        self._owned(buffer, "free")
        for lane in self._lanes:
            lane.drain()  # a submitted run may still name it
        del self._buffers[buffer.identity[1]]
        buffer.close()

    release_buffer = free

    def create_buffer(self, nbytes: int) -> Buffer:
        self._need("READY", "create_buffer")
        return self._own(create_host_shared_buffer(nbytes))

    def copy_to(self, dst: Buffer, src: Any) -> None:
        """Fills a device buffer from contiguous host memory."""
        self._owned(dst, "copy_to")
        address, nbytes, keep = _host_memory(src, "copy_to")
        if nbytes > dst.nbytes:
            raise ValueError(f"Worker.copy_to: {nbytes} bytes into a buffer of {dst.nbytes}")
        self.flush_diagnostics()
        ctypes.memmove(dst.base, address, nbytes)
        del keep

    def copy_from(self, dst: Any, src: Buffer) -> None:
        self._owned(src, "copy_from")
        address, nbytes, keep = _host_memory(dst, "copy_from", writable=True)
        if nbytes > src.nbytes:
            raise ValueError(f"Worker.copy_from: {nbytes} bytes from a buffer of {src.nbytes}")
        self.flush_diagnostics()
        ctypes.memmove(address, src.base, nbytes)
        del keep

    def make_tensor_arg(
        self,
        tensor: Any,
        shapes: Sequence[int],
        dtype: DataType,
        *,
        strides: Sequence[int] | None = None,
    ) -> Tensor:
        """Describes host memory in place: a torch tensor, a buffer-protocol object or an address."""
        shapes = list(shapes)
        if hasattr(tensor, "data_ptr"):
            storage = tensor.untyped_storage()
            base, nbytes = storage.data_ptr(), storage.nbytes()
            offset = tensor.data_ptr() - base
            owner: Any = tensor
        else:
            base, nbytes, owner = _host_memory(tensor, "make_tensor_arg", writable=True)
            offset = 0
        if any(extent == 0 for extent in shapes):
            base = nbytes = offset = 0
        buffer = Buffer.wrap(base, nbytes=nbytes)
        buffer._owner = owner
        return Tensor(
            buffer,
            base,
            nbytes,
            shapes,
            dtype,
            list(strides) if strides is not None else None,
            offset,
        )

    def committed_device_memory(self, worker_id: int = 0) -> int:
        return sum(
            b.nbytes
            for b in self._buffers.values()
            if b.shm is None and b.owner_worker_id == worker_id
        )

    @property
    def live_domains(self) -> dict[str, Any]:
        return {}

    # -- checks --------------------------------------------------------------------------------------------------
    def _need(self, state: str, what: str) -> None:
        if self._state != state:
            raise RuntimeError(f"Worker.{what}: the worker is {self._state}, it must be {state}")
        if what == "init":
            return
        if os.getpid() != self._pid:
            raise RuntimeError(
                f"Worker.{what}: the worker was made before fork and belongs to the parent process"
            )

    def _lifecycle(self, what: str) -> None:
        if self._lifecycle_thread is not None and threading.get_ident() != self._lifecycle_thread:
            raise RuntimeError(
                f"Worker.{what}: only the thread that borrowed the context may call it"
            )


def _host_memory(source: Any, what: str, *, writable: bool = False) -> tuple[int, int, Any]:
    """Address, bytes and owner of contiguous host memory."""
    if isinstance(source, Buffer):
        return source.base, source.nbytes, source
    if hasattr(source, "data_ptr"):
        if not source.is_contiguous():
            raise ValueError(f"Worker.{what}: the tensor is not contiguous")
        return source.data_ptr(), source.numel() * source.element_size(), source
    view = memoryview(source).cast("B")
    if view.readonly:
        if writable:
            raise TypeError(f"Worker.{what}: the memory is read-only")
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return ctypes.addressof(copy), view.nbytes, copy
    return (
        ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0,
        view.nbytes,
        view,
    )
