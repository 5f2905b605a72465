"""`ParamInfo`: one parameter of a compiled program, and the rules that whole signatures obey.

A signature is the same immutable value for everybody who needs it: calls of compiled programs, the
checks of torch arguments, operator schemas and the assembly of callables. This module imports no
runtime and no torch, so that all of them can use it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pypto.dtypes import DataType
from pypto.ir import type_tables

MAX_RANK = 5  # of a tensor argument
LAYOUTS = ("ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN")

# Blocks of the layout NZ: 16 rows of 32 bytes.
NZ_ROWS = 16
NZ_ROW_BYTES = 32

_SSA_SUFFIX = re.compile(r"__(?:ssa|rv|tmp)_v\d+$")


class ParamDirection(enum.Enum):
    """What a program does with a parameter. The values are the words of the sidecar."""

    In = "In"
    Out = "Out"
    InOut = "InOut"

    @property
    def is_written(self) -> bool:
        return self is not ParamDirection.In


@dataclass(frozen=True)
class ParamInfo:
    """A parameter.

    `shape` is None for a scalar; an extent of -1 is decided by each call. A tensor of packed elements
    (FP4, two in a byte) has the shape of its carrier. `layout` is None or one of LAYOUTS; None reads as
    ND. `dim_names` names extents that are equal within one call ("" = no name); `strides`, in elements,
    are those the code was compiled for, () for contiguous row-major.
    """

    name: str
    direction: ParamDirection
    shape: tuple[int, ...] | None
    dtype: DataType
    layout: str | None = None
    dim_names: tuple[str, ...] = ()
    strides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for field in ("shape", "dim_names", "strides"):
            value = getattr(self, field)
            if value is not None and not isinstance(value, tuple):
                object.__setattr__(self, field, tuple(value))

    @property
    def is_scalar(self) -> bool:
        return self.shape is None

    @property
    def is_tensor(self) -> bool:
        return self.shape is not None

    @property
    def is_written(self) -> bool:
        return self.direction.is_written

    @property
    def is_dynamic(self) -> bool:
        """Whether an extent is decided by the call."""
        return self.shape is not None and any(extent < 0 for extent in self.shape)

    def record(self) -> dict[str, Any]:
        """The JSON form; fields that say nothing are left out."""
        record: dict[str, Any] = {
            "name": self.name,
            "direction": self.direction.value,
            "shape": None if self.shape is None else list(self.shape),
            "dtype": str(self.dtype),
            "layout": self.layout,
        }
        if any(self.dim_names):
            record["dim_names"] = list(self.dim_names)
        if self.strides:
            record["strides"] = list(self.strides)
        return record

    @classmethod
    def from_record(cls, record: Any) -> ParamInfo:
        """Reads the JSON form; ValueError says which field is wrong and what it holds."""
        if not isinstance(record, dict):
            raise ValueError(f"a parameter is {record!r}, not an object")
        name = record.get("name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"a parameter has the name {name!r}")
        try:
            direction = ParamDirection(record.get("direction"))
        except ValueError:
            raise ValueError(
                f"parameter {name!r}: direction is {record.get('direction')!r},"
                " not In, Out or InOut"
            ) from None
        text = record.get("dtype")
        try:
            dtype = type_tables.by_printed_name(text)
        except (KeyError, TypeError):
            raise ValueError(f"parameter {name!r}: dtype is {text!r}") from None
        if "shape" not in record:
            raise ValueError(f"parameter {name!r}: shape is missing")
        shape = record["shape"]
        if shape is not None:
            shape = _ints(name, "shape", shape, lowest=-1)
            if len(shape) > MAX_RANK:
                raise ValueError(
                    f"parameter {name!r}: rank {len(shape)}; tensors have up to {MAX_RANK}"
                )
        layout = record.get("layout")
        if layout is not None and layout not in LAYOUTS:
            raise ValueError(f"parameter {name!r}: layout is {layout!r}")
        names = record.get("dim_names", [])
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise ValueError(f"parameter {name!r}: dim_names is {names!r}")
        strides = _ints(name, "strides", record.get("strides", []), lowest=0)
        for field, value in (("dim_names", names), ("strides", strides)):
            if value and (shape is None or len(value) != len(shape)):
                raise ValueError(f"parameter {name!r}: {field} has another length than shape")
        return cls(name, direction, shape, dtype, layout, tuple(names), strides)


def _ints(name: str, field: str, value: Any, *, lowest: int) -> tuple[int, ...]:
    good = isinstance(value, list) and all(
        isinstance(each, int) and not isinstance(each, bool) and each >= lowest for each in value
    )
    if not good:
        raise ValueError(f"parameter {name!r}: {field} is {value!r}, not a list of extents")
    return tuple(value)


def external_name(name: str) -> str:
    """A name as callers know it: without the version that SSA form gives it (`x__ssa_v2` is `x`)."""
    return _SSA_SUFFIX.sub("", name)


# Rules of whole signatures.


def check_unique_names(params: Sequence[ParamInfo], what: str = "the signature") -> None:
    """ValueError where two parameters have one name."""
    seen: dict[str, int] = {}
    for index, param in enumerate(params):
        if param.name in seen:
            raise ValueError(
                f"{what}: parameters {seen[param.name]} and {index} are both named {param.name!r}"
            )
        seen[param.name] = index


def check_return_aliases(
    params: Sequence[ParamInfo], aliases: Sequence[int], what: str = "the signature"
) -> tuple[int, ...]:
    """The aliases as a tuple. Each is a position in the full list of parameters, scalars included, of
    the tensor that a result is; repeats are allowed. ValueError for other positions."""
    for number, index in enumerate(aliases):
        if isinstance(index, bool) or not isinstance(index, int):
            raise ValueError(f"{what}: result {number} is {index!r}, not the index of a parameter")
        if not 0 <= index < len(params):
            raise ValueError(
                f"{what}: result {number} is parameter {index}; there are {len(params)}"
            )
        if params[index].is_scalar:
            raise ValueError(
                f"{what}: result {number} is the scalar {params[index].name!r}; results are tensors"
            )
    return tuple(aliases)


def bind_complete_args(
    args: Sequence[Any], params: Sequence[ParamInfo], *, caller_name: str
) -> tuple[Any, ...]:
    """The arguments as a tuple when there is one for every parameter, Out and InOut included;
    TypeError otherwise."""
    if len(args) != len(params):
        raise TypeError(
            f"{caller_name} expects {len(params)} arguments including all Out/InOut parameters, "
            f"got {len(args)}. Parameters: {[param.name for param in params]}"
        )
    return tuple(args)


# Shapes in memory.


def carrier_shape(shape: Sequence[int], dtype: DataType) -> tuple[int, ...]:
    """The shape that torch sees: FP4 lies in pairs, so its last extent is half as long."""
    shape = tuple(shape)
    if dtype.name != "FP4" or not shape or shape[-1] < 0:
        return shape
    if shape[-1] % 2 or shape[-1] == 0:
        raise ValueError(
            f"{dtype}: {shape[-1]} elements in a row; pairs need an even number above 0"
        )
    return (*shape[:-1], shape[-1] // 2)


def nz_row_elements(dtype: DataType) -> int:
    """Elements in one row of an NZ block."""
    return NZ_ROW_BYTES // dtype.get_byte()


def block_nz_shape(shape: Sequence[int], dtype: DataType) -> tuple[int, ...]:
    """The blocked form of a logical `[…, R, C]`: `[batch, C/c0, R/16, 16, c0]`, in elements, c0 = 32 bytes.

    Leading extents become one; it is -1 when one of them is. R and C must be known and fill their
    blocks, because there is no padding: both forms then have the same elements and bytes.
    """
    shape = tuple(shape)
    if len(shape) < 2:
        raise ValueError(f"NZ: shape {list(shape)} has no rows and columns")
    *batch, rows, columns = shape
    if rows < 0 or columns < 0:
        raise ValueError(
            f"NZ: shape {list(shape)}: only extents before the last two may depend on the call"
        )
    width = nz_row_elements(dtype)
    if rows % NZ_ROWS or rows == 0:
        raise ValueError(f"NZ: {rows} rows do not fill blocks of {NZ_ROWS}")
    if columns % width or columns == 0:
        raise ValueError(f"NZ: {columns} columns do not fill blocks of {width} ({dtype})")
    count = 1
    for extent in batch:
        count = -1 if extent < 0 or count < 0 else count * extent
    return (count, columns // width, rows // NZ_ROWS, NZ_ROWS, width)


def lowered_form(param: ParamInfo) -> ParamInfo:
    """What lowering must make of a parameter: the same, in the shape that its layout has in memory."""
    if param.layout != "NZ" or param.shape is None:
        return param
    return replace(param, shape=block_nz_shape(param.shape, param.dtype), dim_names=(), strides=())
