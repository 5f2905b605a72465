"""Arguments as a Python task of level 3 sees them."""

from __future__ import annotations

import ctypes
from typing import Any

from simpler._task_interface import TaskArgs


class SubTensor:
    """A tensor as a Python task sees it: its bytes and its shape. Valid while the task runs."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.shapes = tuple(tensor.shapes)
        self.strides = tuple(tensor.strides)
        self.dtype = tensor.dtype

    @property
    def buffer(self) -> memoryview:
        """The bytes from the first element on: those of the elements when they are contiguous, else up to the last."""
        array = (ctypes.c_char * self._tensor.span()).from_address(self._tensor.data)
        return memoryview(array).cast("B")


class SubArgs:
    """Arguments of a Python task: `args[i].buffer`, `args.scalar(i)`, `args.tensor_count()`."""

    def __init__(self, args: TaskArgs) -> None:
        self._args = args

    def __getitem__(self, i: int) -> SubTensor:
        return SubTensor(self._args.tensor(i))

    def __len__(self) -> int:
        return self._args.tensor_count()

    def tensor_count(self) -> int:
        return self._args.tensor_count()

    def scalar_count(self) -> int:
        return self._args.scalar_count()

    def scalar(self, i: int) -> int:
        return self._args.scalar(i)
