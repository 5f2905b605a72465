"""simpler's types for runs on a Worker, as this package uses them.

One of two modules that import simpler (the other is `kernel_compiler`): a runtime that was not built
from the sources beside it is found out here, before a structure is read with the wrong layout.
"""

from __future__ import annotations

from pypto.runtime.runtime_pin import check_runtime_pin

check_runtime_pin()

from simpler.buffer import Buffer  # noqa: E402
from simpler.task_interface import (  # noqa: E402
    ArgDirection,
    CallConfig,
    ChipCallable,
    ChipStorageTaskArgs,
    DataType,
    TaskArgs,
    Tensor,
    TensorArgType,
)
from simpler.worker import RunHandle, Worker  # noqa: E402

__all__ = [
    "ArgDirection",
    "Buffer",
    "CallConfig",
    "ChipCallable",
    "ChipStorageTaskArgs",
    "DataType",
    "RunHandle",
    "TaskArgs",
    "Tensor",
    "TensorArgType",
    "Worker",
]
