"""What an element type of the language is called elsewhere: in torch, in ctypes, in torch's dispatcher.

Leaf module: torch is asked for only when a name has to become a `torch.dtype`.
"""

from __future__ import annotations

import ctypes
from typing import Any

from pypto import dtypes
from pypto.dtypes import DataType

# Types that a tensor of torch can have, and what torch calls them. INDEX lies in memory as int64; FP4 in
# pairs (see `pypto.ir.param_info.carrier_shape`).
TORCH_NAMES: dict[str, str] = {
    "FP16": "float16",
    "FP32": "float32",
    "BF16": "bfloat16",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "INDEX": "int64",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "BOOL": "bool",
    "FP8E4M3FN": "float8_e4m3fn",
    "FP8E5M2": "float8_e5m2",
    "FP8E8M0": "float8_e8m0fnu",
    "FP4": "float4_e2m1fn_x2",
}

# Half-precision scalars travel as 32-bit floats; the device rounds.
CTYPES: dict[str, type] = {
    "FP16": ctypes.c_float,
    "FP32": ctypes.c_float,
    "BF16": ctypes.c_float,
    "INT8": ctypes.c_int8,
    "INT16": ctypes.c_int16,
    "INT32": ctypes.c_int32,
    "INT64": ctypes.c_int64,
    "INDEX": ctypes.c_int64,
    "UINT8": ctypes.c_uint8,
    "UINT16": ctypes.c_uint16,
    "UINT32": ctypes.c_uint32,
    "UINT64": ctypes.c_uint64,
    "BOOL": ctypes.c_bool,
}

# Scalars of an operator's schema. UINT64 has none: the dispatcher's integers are signed.
DISPATCHER_KINDS: dict[str, str] = {
    name: "bool" if name == "BOOL" else "float" if dtypes.ALL[name].is_float() else "SymInt"
    for name in CTYPES
    if name != "UINT64"
}

# simpler's names of the types that a tensor on a device can have.
SIMPLER_NAMES: dict[str, str] = {
    "FP16": "FLOAT16",
    "FP32": "FLOAT32",
    "BF16": "BFLOAT16",
    "INT8": "INT8",
    "INT16": "INT16",
    "INT32": "INT32",
    "INT64": "INT64",
    "INDEX": "INT64",
    "UINT8": "UINT8",
    "UINT16": "UINT16",
    "UINT32": "UINT32",
    "UINT64": "UINT64",
    "BOOL": "BOOL",
    "FP8E4M3FN": "FP8E4M3FN",
    "FP8E8M0": "FP8E8M0",
    "FP4": "FP4E2M1",
}

_BY_PRINTED = {str(each): each for each in dtypes.ALL.values()}


def by_printed_name(text: str) -> DataType:
    """The type that `str()` writes as `text` ("fp32"); KeyError for other texts."""
    return _BY_PRINTED[text]


def torch_dtype(dtype: DataType) -> Any:
    """The `torch.dtype` of tensors of a type; TypeError where torch, or this version of it, has none."""
    import torch

    made = getattr(torch, TORCH_NAMES.get(dtype.name, ""), None)
    if made is None:
        raise TypeError(f"torch {torch.__version__} has no element type for {dtype}")
    return made


def name_of_torch(dtype: Any) -> str | None:
    """The name of the language's type for a `torch.dtype`; None where it has none."""
    text = str(dtype).removeprefix("torch.")
    return next((n for n, t in TORCH_NAMES.items() if t == text and n != "INDEX"), None)


def scalar_ctype(dtype: DataType) -> type:
    """The ctypes class of scalars of a type; TypeError for types that only tensors have."""
    if dtype.name not in CTYPES:
        raise TypeError(f"{dtype} is an element type of tensors; no scalar has it")
    return CTYPES[dtype.name]


def describe_torch(tensor: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], bool]:
    """Element type, shape, strides (() for row-major) and False of a torch tensor, from what it says of
    itself: its memory is not touched. TypeError for types that the language does not have."""
    name = name_of_torch(tensor.dtype)
    if name is None:
        raise TypeError(f"tensors of {tensor.dtype} are none of the language")
    strides = () if tensor.is_contiguous() else tuple(int(s) for s in tensor.stride())
    return name, tuple(int(extent) for extent in tensor.shape), strides, False
