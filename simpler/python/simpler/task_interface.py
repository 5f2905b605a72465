"""What programs pass to a worker: element types, tensors, arguments, callables, options."""

from __future__ import annotations

from simpler import _task_interface
from simpler._task_interface import (
    MAX_TENSOR_DIMS,
    AddressSpace,
    ArgDirection,
    CallConfig,
    ChipCallable,
    ChipTensor,
    CoreCallable,
    DataType,
    RuntimeEnv,
    TaskArgs,
    Tensor,
    TensorArgType,
    arg_direction_name,
    get_dtype_name,
    get_element_size,
    scalar_to_uint64,
)

# The fixed argument block of a device program: here any number of tensors fits.
ChipStorageTaskArgs = TaskArgs

__build_commit__ = _task_interface.__build_commit__

__all__ = [
    "MAX_TENSOR_DIMS",
    "AddressSpace",
    "ArgDirection",
    "CallConfig",
    "ChipCallable",
    "ChipStorageTaskArgs",
    "ChipTensor",
    "CoreCallable",
    "DataType",
    "RuntimeEnv",
    "TaskArgs",
    "Tensor",
    "TensorArgType",
    "arg_direction_name",
    "get_dtype_name",
    "get_element_size",
    "scalar_to_uint64",
]
