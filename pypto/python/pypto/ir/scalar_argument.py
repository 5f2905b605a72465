"""`ScalarArgument`: the value of one scalar argument, checked against its parameter and not yet encoded."""

from __future__ import annotations

import ctypes
import math
import struct
from dataclasses import dataclass
from typing import Any

from pypto import dtypes
from pypto.dtypes import DataType
from pypto.ir.param_info import ParamInfo
from pypto.ir.type_tables import scalar_ctype

_LARGEST_FLOAT = {"FP16": 65504.0, "BF16": 3.3895313892515355e38}


@dataclass(frozen=True)
class ScalarArgument:
    """`value` is a Python int, float or bool in the range of `dtype`. How it lies in memory is the
    runtime's business: it goes to `TaskArgs.add_scalar` as it is."""

    name: str
    param_index: int
    dtype: DataType
    value: int | float | bool


def scalar_argument(param: ParamInfo, index: int, value: Any) -> ScalarArgument:
    """Checks an argument against the scalar parameter at position `index`.

    Integers take an int (a bool is none) or the ctypes object of exactly their type, floats an int or a
    float, bools a bool. TypeError for other kinds, ValueError for an integer out of range and for a
    finite number that overflows. A ctypes object is read now: later changes of it do not count.
    """
    dtype = param.dtype
    ctype = scalar_ctype(dtype)
    if isinstance(value, ctypes._SimpleCData):
        if type(value) is not ctype:
            raise TypeError(
                f"Parameter '{param.name}' takes {dtype} ({ctype.__name__}),"
                f" got {type(value).__name__}"
            )
        value = value.value
    if dtype.name == "BOOL":
        if not isinstance(value, bool):
            raise TypeError(f"Parameter '{param.name}' takes a bool, got {_kind(value)}")
        return ScalarArgument(param.name, index, dtype, value)
    if dtype.is_float():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(
                f"Parameter '{param.name}' takes a number ({dtype}), got {_kind(value)}"
            )
        return ScalarArgument(param.name, index, dtype, _float(param, value))
    if type(value) is not int:
        raise TypeError(f"Parameter '{param.name}' takes an int ({dtype}), got {_kind(value)}")
    low, high = dtypes.RANGES[dtype.name]
    if not low <= value <= high:
        raise ValueError(
            f"Parameter '{param.name}': {value} does not fit {dtype} ({low} to {high})"
        )
    return ScalarArgument(param.name, index, dtype, value)


def _float(param: ParamInfo, value: int | float) -> float:
    try:
        number = float(value)
        if not math.isfinite(number):
            return number
        fits = _fits(param.dtype, number)
    except OverflowError:
        fits = False
    if not fits:
        raise ValueError(f"Parameter '{param.name}': {value} overflows {param.dtype}")
    return number


def _fits(dtype: DataType, number: float) -> bool:
    if dtype.name == "FP32":
        struct.pack("<f", number)  # OverflowError
        return True
    # Numbers between the largest and the next step round down to it.
    largest = _LARGEST_FLOAT[dtype.name]
    half_step = {"FP16": 16.0, "BF16": 2.0**119}[dtype.name]
    return abs(number) < largest + half_step


def _kind(value: Any) -> str:
    return (
        f"{type(value).__name__} {value!r}"
        if isinstance(value, (int, float))
        else type(value).__name__
    )
