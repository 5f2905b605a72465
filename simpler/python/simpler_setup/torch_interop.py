"""torch tensors as task arguments: in place, contiguous CPU tensors."""

from __future__ import annotations

from typing import Any

from simpler._task_interface import ChipTensor, DataType, Tensor

_NAMES = {
    "torch.float32": DataType.FLOAT32,
    "torch.float16": DataType.FLOAT16,
    "torch.bfloat16": DataType.BFLOAT16,
    "torch.int64": DataType.INT64,
    "torch.int32": DataType.INT32,
    "torch.int16": DataType.INT16,
    "torch.int8": DataType.INT8,
    "torch.uint8": DataType.UINT8,
    "torch.uint16": DataType.UINT16,
    "torch.uint32": DataType.UINT32,
    "torch.uint64": DataType.UINT64,
    "torch.bool": DataType.BOOL,
    "torch.float8_e4m3fn": DataType.FP8E4M3FN,
    "torch.float8_e8m0fnu": DataType.FP8E8M0,
    "torch.float4_e2m1fn_x2": DataType.FP4E2M1,
}


def torch_dtype_to_datatype(dtype: Any) -> DataType:
    try:
        return _NAMES[str(dtype)]
    except KeyError:
        raise ValueError(f"{dtype} has no element type; known are {', '.join(_NAMES)}") from None


def _checked(tensor: Any) -> Any:
    if not hasattr(tensor, "data_ptr"):
        raise TypeError(f"expected a torch tensor, got {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise ValueError(f"expected a CPU tensor, got one on {tensor.device}")
    if not tensor.is_contiguous():
        raise ValueError(
            f"expected a contiguous tensor, got strides {tuple(tensor.stride())}; call .contiguous() first"
        )
    return tensor


def make_tensor_arg(worker: Any, tensor: Any) -> Tensor:
    """A Tensor over the torch tensor's memory; the torch tensor is kept alive by it."""
    _checked(tensor)
    return worker.make_tensor_arg(
        tensor, tuple(tensor.shape) or (1,), torch_dtype_to_datatype(tensor.dtype)
    )


def make_chip_tensor_arg(tensor: Any) -> ChipTensor:
    """A bare descriptor: the caller keeps the torch tensor alive."""
    _checked(tensor)
    return ChipTensor.make(
        tensor.data_ptr(), list(tensor.shape) or [1], torch_dtype_to_datatype(tensor.dtype)
    )
