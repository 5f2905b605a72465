"""Worker: one simulated device (level 2), or a node of several devices and Python functions (level 3)."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from simpler import _log
from simpler._task_interface import (
    CallConfig,
    ChipCallable,
    DataType,
    DeviceLane,
    LoadedCallable,
    TaskArgs,
    Tensor,
    get_element_size,
)
from simpler.buffer import (
    Buffer,
    allocate_device,
    create_host_shared_buffer,
    host_memory,
    whole_numbers,
    wrap_node_memory,
)
from simpler.callable_identity import (
    CHIP_CALLABLE,
    PYTHON_SERIALIZED,
    CallableHandle,
    chip_digest,
    python_digest,
)
from simpler.caller_stream import CallerStreamRun
from simpler.node import Node
from simpler.orchestrator import Orchestrator
from simpler.run_handle import RunHandle
from simpler.worker_config import checked

MAX_CALLABLES = 64
_owners = itertools.count(1)


class Worker:
    """`Worker(level=2, platform=…, runtime=…)`: NEW, then `init()`, then runs, then `close()`.

    Keys: platform, runtime, device_id (level 2), threads of a device (default: one per core, or SIMPLER_THREADS),
    workspace_budget_bytes. Level 3: device_ids and num_sub_workers, each a child process; heap_ring_size, a quarter of
    the addresses for shared buffers (default: as much as the machine's memory); startup_timeout_s (60);
    py_control_timeout_s (10), how long the running tasks of a failed run may take to stop before their process is ended.
    An unknown key is a TypeError.
    """

    def __init__(self, level: int, **config: Any) -> None:
        self._config = checked(level, config)
        self.level = level
        self.platform, self.runtime = self._config["platform"], self._config["runtime"]
        self._state = "NEW"
        self._owner = next(_owners)
        self._generation: int | None = None
        self._lifecycle_thread: int | None = None
        self._lanes: list[DeviceLane] = []
        self._node: Node | None = None
        self._slots: dict[int, tuple[CallableHandle, Any]] = {}
        self._names: dict[int, str] = {}
        self._program = threading.local()  # .orchestrator: of the program that this thread runs
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
            if not isinstance(prewarm_config, CallConfig):
                raise TypeError(
                    f"Worker.init: prewarm_config must be a CallConfig, got {type(prewarm_config).__name__}"
                )
            prewarm_config.validate()
        if borrowed_context_generation is not None:
            if type(borrowed_context_generation) is not int or borrowed_context_generation == 0:
                raise ValueError("Worker.init: borrowed_context_generation must be a non-zero int")
            self._generation = borrowed_context_generation
            self._lifecycle_thread = threading.get_ident()
        self._state = "INITIALIZING"
        try:
            _log.apply_threshold()
            threads = self._config["threads"] or int(os.environ.get("SIMPLER_THREADS", "0") or 0)
            if self.level == 2:
                replay = self.runtime == "host_build_graph"
                self._lanes = [DeviceLane(self.platform, threads, replay)]
            else:
                self._start_node(threads)
        except BaseException:
            self._state = "FAILED"
            if self._node is not None:
                self._node.close()
            raise
        self._state = "READY"

    def _start_node(self, threads: int) -> None:
        """Forks the children. What is registered and shared now is theirs as it is."""
        config = self._config
        self._node = Node(
            self.platform,
            self.runtime,
            len(config["device_ids"]),
            config["num_sub_workers"],
            ring_bytes=config["heap_ring_size"],
            threads=threads,
            grace_seconds=config["py_control_timeout_s"] or 10.0,
        )
        # At exit too: children must not wait for their parent's end to notice.
        self._finalizer = weakref.finalize(self, self._node.close)
        known = {slot: item for slot, (_, item) in self._slots.items()}
        self._node.start(known, config["startup_timeout_s"] or 60.0)

    def close(self) -> None:
        """Waits for submitted runs, frees the devices and ends the children. Idempotent."""
        if self._state == "CLOSED":
            return
        self._lifecycle("close")
        if os.getpid() != self._pid:
            self._state = "CLOSED"  # a copy in a forked process: nothing of it is ours
            return
        if self._node is not None and self._state == "READY":
            self._drain("close")
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
        if self._node is not None:
            self._node.add(handle.slot, target)
        self._slots[handle.slot] = (handle, item)
        name = getattr(target, "func_name", None) or getattr(target, "__qualname__", None)
        self._names[handle.slot] = name or type(target).__name__
        return handle

    def _loaded(self, chip: ChipCallable, digest: str) -> LoadedCallable:
        for handle, item in self._slots.values():
            if handle.hashid == digest:
                return item
        return LoadedCallable(chip, digest)

    def unregister(self, handle: CallableHandle) -> None:
        self._item(handle, "unregister")
        del self._slots[handle.slot], self._names[handle.slot]
        if self._node is not None:
            self._node.remove(handle.slot)

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
        lanes = self._lanes  # another thread may close the worker meanwhile
        if self._state != "READY" or (self._node is not None and os.getpid() != self._pid):
            self._need("READY", "run")
        if self.level == 2:
            entry = self._slots.get(callable.slot) if isinstance(callable, CallableHandle) else None
            item = (
                entry[1]
                if entry is not None and entry[0] is callable
                else self._item(callable, "run")
            )
            lanes[0].run(item, args if args is not None else TaskArgs(), config)
        else:
            self._submit_node(callable, args, config).wait()

    def submit(
        self,
        callable: Any,
        args: TaskArgs | None = None,
        config: CallConfig | None = None,
        *,
        stream: Any = None,
    ) -> RunHandle:
        """Queues a run; runs of one worker take effect in the order of submission. Level 3: the program has run when
        this returns, its tasks may go on.

        `stream` (level 2) is a queue of the caller: an object whose `launch(function)` calls `function()`
        once, at its place in that queue. The run happens inside that call and is ordered by the caller's
        queue only. If the queue drops the function, the handle fails as soon as the queue lets go of it.
        """
        lanes = self._lanes
        self._need("READY", "submit")
        if stream is not None:
            return self._submit_on(stream, callable, args, config)
        if self.level == 2:
            item = self._item(callable, "submit")
            return RunHandle(
                self, lanes[0].submit(item, args if args is not None else TaskArgs(), config)
            )
        return self._submit_node(callable, args, config)

    def _submit_on(
        self, stream: Any, callable: Any, args: TaskArgs | None, config: CallConfig | None
    ) -> RunHandle:
        if self.level != 2:
            raise TypeError("Worker.submit: stream= is for level 2")
        item = self._item(callable, "submit")
        if config is not None:
            config.validate()
        args = args if args is not None else TaskArgs()
        lane = self._lanes[0]
        state = CallerStreamRun()
        stream.launch(state.work(lambda: lane.run(item, args, config)))
        return RunHandle(self, state)

    def _submit_node(self, program: Any, args: Any, config: CallConfig | None) -> RunHandle:
        if not callable(program) or isinstance(program, CallableHandle):
            raise TypeError(
                "Worker.run: at level 3 the first argument is a function f(orch, args, config)"
            )
        config = config if config is not None else CallConfig()
        config.validate()
        if getattr(self._program, "orchestrator", None) is not None:
            raise RuntimeError("Worker.run: a program cannot start another run of its own worker")
        run = self._node.lane.begin_run()
        orchestrator = Orchestrator(self, run)
        handle = RunHandle(self, run, orchestrator._finish)
        self._program.orchestrator = orchestrator
        try:
            program(orchestrator, args, config)
        except BaseException as error:
            run.seal(f"the program raised {type(error).__name__}: {error}")
            handle._await_end()
            raise
        finally:
            self._program.orchestrator = None
        run.seal()
        return handle

    def _name(self, handle: CallableHandle) -> str:
        return self._names[handle.slot]

    def _drain(self, what: str) -> None:
        """Until every submitted run has ended; lets Ctrl-C in. A program would wait for itself."""
        if getattr(self._program, "orchestrator", None) is not None:
            raise RuntimeError(
                f"Worker.{what}: waits for runs to end, so a program cannot call it; use its orchestrator"
            )
        for lane in self._lanes:
            lane.drain()
        while self._node is not None and not self._node.lane.wait_idle(0.1):
            pass

    def _settle(self, base: int, nbytes: int) -> None:
        """Until no submitted task of a node uses these bytes."""
        while self._node is not None and not self._node.lane.wait_quiet(base, base + nbytes, 0.1):
            pass

    def interrupt(self) -> None:
        """Asks the runs in progress to stop at the next task."""
        for lane in self._lanes:
            lane.interrupt()
        if self._node is not None:
            self._node.lane.cancel_all()

    def flush_diagnostics(self) -> None:
        """Waits until everything submitted has ended; files of diagnostics are then complete."""
        self._need("READY", "flush_diagnostics")
        self._drain("flush_diagnostics")

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
        if self._node is None:
            return self._own(allocate_device(nbytes))
        lane = self._node.lane
        buffer = self._own(wrap_node_memory(lane, nbytes, lane.heap, "Worker.alloc_child_tensor"))
        buffer.owner_worker_id = worker_id
        return buffer

    def _device(self, worker_id: Any) -> int:
        if type(worker_id) is not int:
            raise TypeError(f"worker: expected an int, got {type(worker_id).__name__}")
        count = 1 if self.level == 2 else len(self._config["device_ids"])
        if not 0 <= worker_id < count:
            raise ValueError(
                f"worker: {worker_id} is not in 0..{count - 1}" if count else "worker: no devices"
            )
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
        self._drain("free")  # a submitted run may still name it
        self._forget(buffer)

    def release_buffer(self, buffer: Buffer) -> None:
        """Frees a buffer; RuntimeError while a run that has not ended names it."""
        self._owned(buffer, "release_buffer")
        lane = self._node.lane if self._node is not None else None
        if lane is not None and not lane.wait_quiet(buffer.base, buffer.base + buffer.nbytes, 0):
            raise RuntimeError(
                "Worker.release_buffer: a run that has not ended uses the buffer; wait for it first"
            )
        if lane is None:
            self._drain("release_buffer")
        self._forget(buffer)

    def _forget(self, buffer: Buffer) -> None:
        del self._buffers[buffer.identity[1]]
        if self._node is not None:
            if buffer.shm is not None:
                self._node.lane.unshare(buffer.base)
            else:
                self._node.lane.release(buffer.base)
        buffer.close()

    def alloc_shared_tensor(self, shapes: Sequence[int], dtype: DataType) -> Tensor:
        """Zeroed memory for tasks of the program that calls this; freed when its run ends."""
        orchestrator = getattr(self._program, "orchestrator", None)
        if orchestrator is None:
            raise RuntimeError(
                "Worker.alloc_shared_tensor: only inside a program of a level-3 run; use create_buffer elsewhere"
            )
        return orchestrator.alloc(shapes, dtype).tensor(shapes, dtype)

    def create_buffer(self, nbytes: int) -> Buffer:
        self._need("READY", "create_buffer")
        buffer = self._own(create_host_shared_buffer(nbytes))
        if self._node is not None:
            self._node.lane.share(buffer.shm.name.lstrip("/"), buffer.base, buffer.nbytes)
        return buffer

    def copy_to(self, dst: Buffer, src: Any) -> None:
        """Fills a device buffer from contiguous host memory."""
        self._owned(dst, "copy_to")
        address, nbytes, keep = host_memory(src, "Worker.copy_to")
        if nbytes > dst.nbytes:
            raise ValueError(f"Worker.copy_to: {nbytes} bytes into a buffer of {dst.nbytes}")
        self._drain("copy_to")
        ctypes.memmove(dst.base, address, nbytes)
        del keep

    def copy_from(self, dst: Any, src: Buffer) -> None:
        self._owned(src, "copy_from")
        address, nbytes, keep = host_memory(dst, "Worker.copy_from", writable=True)
        if nbytes > src.nbytes:
            raise ValueError(f"Worker.copy_from: {nbytes} bytes from a buffer of {src.nbytes}")
        self._drain("copy_from")
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
        shapes = whole_numbers(shapes, "Worker.make_tensor_arg: extent")
        if hasattr(tensor, "data_ptr"):
            storage = tensor.untyped_storage()
            base, nbytes = storage.data_ptr(), storage.nbytes()
            offset = tensor.data_ptr() - base
            owner: Any = tensor
        else:
            base, nbytes, owner = host_memory(tensor, "Worker.make_tensor_arg", writable=True)
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
    def borrowed_context_generation(self) -> int | None:
        """The token that init was given: which context of its framework the worker lives in. None: its own."""
        return self._generation

    @property
    def live_domains(self) -> dict[str, Any]:
        return {}

    # -- checks --------------------------------------------------------------------------------------------------
    def _need(self, state: str, what: str) -> None:
        if what != "init" and os.getpid() != self._pid:
            raise RuntimeError(
                f"Worker.{what}: the worker was made before fork and belongs to the parent process"
            )
        if self._state != state:
            raise RuntimeError(f"Worker.{what}: the worker is {self._state}, it must be {state}")

    def _lifecycle(self, what: str) -> None:
        if self._lifecycle_thread is not None and threading.get_ident() != self._lifecycle_thread:
            raise RuntimeError(
                f"Worker.{what}: only the thread that borrowed the context may call it"
            )
