"""What a level-3 program is given as its first argument."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from simpler._task_interface import CallConfig, DataType, NodeLane, TaskArgs, get_element_size
from simpler.buffer import Buffer, allocate_device
from simpler.callable_identity import CHIP_CALLABLE, PYTHON_SERIALIZED

if TYPE_CHECKING:
    from simpler.worker import Worker


class SubTensor:
    """A tensor as a Python task sees it: its bytes and its shape."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.shapes = tuple(tensor.shapes)
        self.strides = tuple(tensor.strides)
        self.dtype = tensor.dtype

    @property
    def buffer(self) -> memoryview:
        whole = Buffer.wrap(self._tensor.data, nbytes=self._tensor.nbytes())
        return whole.buffer


class SubArgs:
    """Arguments of a Python task: `args[i].buffer`, `args.scalar(i)`, `args.tensor_count()`."""

    def __init__(self, args: TaskArgs) -> None:
        self._args = args

    def __getitem__(self, i: int) -> SubTensor:
        return SubTensor(self._args.tensor(i))

    def tensor_count(self) -> int:
        return self._args.tensor_count()

    def scalar_count(self) -> int:
        return self._args.scalar_count()

    def scalar(self, i: int) -> int:
        return self._args.scalar(i)


class Orchestrator:
    """Submits tasks to devices and Python workers; edges follow from the tensors. Valid during its run."""

    def __init__(self, worker: Worker, node: NodeLane) -> None:
        self._worker = worker
        self._node = node
        self._buffers: list[Buffer] = []

    def submit_next_level(
        self, handle: Any, args: TaskArgs, config: CallConfig | None = None, *, worker: int
    ) -> None:
        """A run on device `worker`; runs of one device keep their order."""
        chip = self._worker._device(worker)
        item = self._worker._item(handle, "submit_next_level")
        if handle.kind != CHIP_CALLABLE:
            raise TypeError("submit_next_level: the handle is a Python function; use submit_sub")
        self._node.submit_chip(item, args, config if config is not None else CallConfig(), chip)

    def submit_next_level_group(
        self,
        handle: Any,
        args_list: Sequence[TaskArgs],
        config: CallConfig | None = None,
        *,
        workers: Sequence[int],
    ) -> None:
        if len(args_list) != len(workers) or len(set(workers)) != len(workers):
            raise ValueError(
                "submit_next_level_group: one argument list for each of the distinct workers"
            )
        for args, worker in zip(args_list, workers, strict=True):
            self.submit_next_level(handle, args, config, worker=worker)

    def submit_sub(self, handle: Any, args: TaskArgs | None = None) -> None:
        """Calls a registered Python function on any free thread."""
        function = self._worker._item(handle, "submit_sub")
        if handle.kind != PYTHON_SERIALIZED:
            raise TypeError("submit_sub: the handle is a device callable; use submit_next_level")
        self._node.submit_python(
            lambda a: function(SubArgs(a)), args if args is not None else TaskArgs()
        )

    def submit_sub_group(self, handle: Any, args_list: Sequence[TaskArgs]) -> None:
        for args in args_list:
            self.submit_sub(handle, args)

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        self.scope_begin()
        try:
            yield
        finally:
            self.scope_end()

    def scope_begin(self) -> None:
        self._node.scope_begin()

    def scope_end(self) -> None:
        self._node.scope_end()

    def alloc(self, shape: Sequence[int], dtype: DataType) -> Buffer:
        """Memory that lives as long as the run."""
        nbytes = get_element_size(dtype)
        for extent in shape:
            nbytes *= extent
        buffer = allocate_device(nbytes)
        self._buffers.append(buffer)
        return buffer

    def alloc_child_tensor(self, worker_id: int, shapes: Sequence[int], dtype: DataType) -> Buffer:
        self._worker._device(worker_id)
        return self.alloc(shapes, dtype)

    def free(self, buffer: Buffer) -> None:
        """Memory of `alloc` is freed with the run; this only checks that it is one of ours."""
        if buffer not in self._buffers:
            raise ValueError("free: the buffer was not made by this orchestrator")

    def committed_device_memory(self, worker_id: int = 0) -> int:
        return self._worker.committed_device_memory(worker_id)

    def _finish(self) -> None:
        for buffer in self._buffers:
            buffer.close()
        self._buffers.clear()
