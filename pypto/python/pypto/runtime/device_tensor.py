"""`DeviceTensor`: a tensor in memory that a Worker allocated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto.dtypes import DataType
from pypto.errors import ArgumentTypeError, ArgumentValueError


class DeviceTensor:
    """A row-major tensor in device memory. `buffer` is simpler's Buffer that holds it; a tensor made from an
    address alone borrows memory that the caller keeps.

    It belongs to the worker that allocated it and is freed by it (`ChipWorker.free_tensor`).
    """

    __slots__ = ("buffer", "dtype", "shape", "_data_ptr")

    def __init__(self, data_ptr: int, shape: Sequence[int], dtype: DataType, *, buffer: Any = None):
        if not isinstance(dtype, DataType):
            raise ArgumentTypeError(f"dtype: takes pl.FP32 and the like, got {dtype!r}")
        shape = tuple(shape)
        if not shape or any(isinstance(e, bool) or not isinstance(e, int) or e < 1 for e in shape):
            raise ArgumentValueError(f"shape: takes extents from 1, got {list(shape)}")
        self._data_ptr = data_ptr
        self.shape = shape
        self.dtype = dtype
        if buffer is None:
            from pypto.runtime.task_interface import Buffer

            buffer = Buffer.wrap(data_ptr, nbytes=self.nbytes, device=True)
        self.buffer = buffer

    @property
    def data_ptr(self) -> int:
        return self._data_ptr

    @property
    def numel(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.get_byte()

    def __repr__(self) -> str:
        return f"DeviceTensor({list(self.shape)}, {self.dtype!r})"
