"""What a level-3 program is given as its first argument."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from simpler._task_interface import CallConfig, DataType, NodeRun, TaskArgs, get_element_size
from simpler.buffer import AccessMode, Buffer, host_memory, wrap_node_memory
from simpler.callable_identity import CHIP_CALLABLE, PYTHON_SERIALIZED
from simpler.sub_args import SubArgs, SubTensor
from simpler.task_interface import TensorArgType

if TYPE_CHECKING:
    from simpler.worker import Worker

__all__ = ["Orchestrator", "SubArgs", "SubTensor"]


class Orchestrator:
    """Submits tasks to devices and Python sub-workers; edges follow from the tensors. Valid during its run."""

    def __init__(self, worker: Worker, run: NodeRun) -> None:
        self._worker = worker
        self._run = run
        self._buffers: list[Buffer] = []
        self._scopes = 0

    # -- tasks -----------------------------------------------------------------------------------------------------
    def submit_next_level(
        self, handle: Any, args: TaskArgs, config: CallConfig | None = None, *, worker: int
    ) -> None:
        """A run on device `worker`; a device takes its ready tasks one after another."""
        self._to_devices("submit_next_level", handle, [args], config, [worker])

    def submit_next_level_group(
        self,
        handle: Any,
        args_list: Sequence[TaskArgs],
        config: CallConfig | None = None,
        *,
        workers: Sequence[int],
    ) -> None:
        """One task with a member on each of the distinct `workers`; all members start together."""
        if len(args_list) != len(workers) or len(set(workers)) != len(workers) or not workers:
            raise ValueError(
                f"submit_next_level_group: {len(args_list)} argument lists for workers {list(workers)}; one for each of "
                "at least one, distinct workers is needed"
            )
        self._to_devices("submit_next_level_group", handle, args_list, config, workers)

    def _to_devices(
        self,
        what: str,
        handle: Any,
        args_list: Sequence[TaskArgs],
        config: CallConfig | None,
        workers: Sequence[int],
    ) -> None:
        devices = [self._worker._device(worker) for worker in workers]
        self._worker._item(handle, what)
        if handle.kind != CHIP_CALLABLE:
            raise TypeError(f"{what}: the handle is a Python function; use submit_sub")
        self._check(what, args_list)
        config = config if config is not None else CallConfig()
        self._run.submit_devices(
            handle.slot, self._worker._name(handle), list(args_list), config, devices
        )

    def submit_sub(self, handle: Any, args: TaskArgs | None = None) -> None:
        """Calls a registered Python function in any free sub-worker."""
        self._to_subs("submit_sub", handle, [args if args is not None else TaskArgs()])

    def submit_sub_group(self, handle: Any, args_list: Sequence[TaskArgs]) -> None:
        """One task with a member for each argument list; members start as sub-workers become free."""
        if not args_list:
            raise ValueError("submit_sub_group: no argument lists")
        self._to_subs("submit_sub_group", handle, args_list)

    def _to_subs(self, what: str, handle: Any, args_list: Sequence[TaskArgs]) -> None:
        self._worker._item(handle, what)
        if handle.kind != PYTHON_SERIALIZED:
            raise TypeError(f"{what}: the handle is a device callable; use submit_next_level")
        if self._worker._config["num_sub_workers"] < 1:
            raise ValueError(
                f"{what}: the worker has no sub-workers; give num_sub_workers to Worker"
            )
        self._check(what, args_list)
        self._run.submit_python(handle.slot, self._worker._name(handle), list(args_list))

    @staticmethod
    def _check(what: str, args_list: Sequence[TaskArgs]) -> None:
        for args in args_list:
            if not isinstance(args, TaskArgs):
                raise TypeError(f"{what}: expected TaskArgs, got {type(args).__name__}")
            for i in range(args.tensor_count()):
                buffer = args.tensor(i).buffer
                if not isinstance(buffer, Buffer):
                    continue
                if buffer.closed:
                    raise ValueError(f"{what}: the buffer of argument {i} is closed")
                if buffer.access == AccessMode.READ and args.tag(i) not in (
                    TensorArgType.INPUT,
                    TensorArgType.NO_DEP,
                ):
                    raise ValueError(f"{what}: argument {i} is written, its buffer is READ only")

    # -- scopes ----------------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Groups tasks for the reader; what is allocated lives as long as the run."""
        self.scope_begin()
        try:
            yield
        finally:
            self.scope_end()

    def scope_begin(self) -> None:
        self._scopes += 1

    def scope_end(self) -> None:
        if self._scopes == 0:
            raise RuntimeError("scope_end: no scope is open")
        self._scopes -= 1

    # -- memory ----------------------------------------------------------------------------------------------------
    def alloc(self, shape: Sequence[int], dtype: DataType) -> Buffer:
        """Zeroed memory that all devices and sub-workers see; lives as long as the run."""
        nbytes = get_element_size(dtype)
        for extent in shape:
            nbytes *= extent
        if nbytes <= 0:
            raise ValueError(f"alloc: shape {tuple(shape)} has no elements")
        buffer = wrap_node_memory(self._run, nbytes, self._worker._node.lane.heap, "alloc")
        self._buffers.append(buffer)
        return buffer

    def alloc_child_tensor(self, worker_id: int, shapes: Sequence[int], dtype: DataType) -> Buffer:
        device = self._worker._device(worker_id)
        buffer = self.alloc(shapes, dtype)
        buffer.owner_worker_id = device
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Waits for the tasks that use it, then gives the memory back before the run ends."""
        if buffer not in self._buffers:
            raise ValueError("free: the buffer was not made by this orchestrator, or was freed")
        self._worker._settle(buffer.base, buffer.nbytes)
        self._buffers.remove(buffer)
        self._worker._node.lane.release(buffer.base)
        buffer.close()

    def copy_to(self, dst: Buffer, src: Any) -> None:
        """Fills the start of a buffer from host memory, after the tasks so far that use either."""
        self._copy("copy_to", dst, src)

    def copy_from(self, dst: Any, src: Buffer) -> None:
        """Fills host memory from the start of a buffer, after the tasks so far that use either."""
        self._copy("copy_from", dst, src)

    def _copy(self, what: str, dst: Any, src: Any) -> None:
        to, room, keep_to = host_memory(dst, what, writable=True)
        origin, there, keep_from = host_memory(src, what)
        nbytes = there if what == "copy_to" else room
        if nbytes > min(room, there):
            raise ValueError(f"{what}: {there} bytes there, {room} bytes here")
        self._worker._settle(to, nbytes)
        self._worker._settle(origin, nbytes)
        ctypes.memmove(to, origin, nbytes)
        del keep_to, keep_from

    def committed_device_memory(self, worker_id: int = 0) -> int:
        return self._worker.committed_device_memory(worker_id) + sum(
            b.nbytes for b in self._buffers if b.owner_worker_id == worker_id
        )

    def _finish(self) -> None:
        for buffer in self._buffers:
            buffer.close()
        self._buffers.clear()
