"""Arguments of a call as simpler's `TaskArgs`: views of memory that others own, and typed scalars.

No address is read or kept here: a tensor is a `Buffer` that wraps its storage and a view of it, which
simpler resolves when the run starts; a scalar is a value with its type, which simpler encodes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pypto.errors import ArgumentTypeError, ArgumentValueError
from pypto.ir.artifact_metadata import ArtifactMetadata
from pypto.ir.param_info import ParamDirection, ParamInfo, bind_complete_args
from pypto.ir.scalar_argument import scalar_argument
from pypto.ir.type_tables import SIMPLER_NAMES, describe_torch
from pypto.runtime.device_tensor import DeviceTensor

_TAGS = {
    ParamDirection.In: "INPUT",
    ParamDirection.Out: "OUTPUT_EXISTING",
    ParamDirection.InOut: "INOUT",
}
# Half-precision scalars travel as 32-bit floats.
_SCALARS = {**SIMPLER_NAMES, "FP16": "FLOAT32", "BF16": "FLOAT32"}


def build_task_args(metadata: ArtifactMetadata, args: Sequence[Any]) -> Any:
    """`TaskArgs` of a complete call: tensors in order, then scalars in order.

    Tensors are torch tensors in host memory, NumPy arrays or DeviceTensor; they are checked against the
    signature as a direct call checks them and kept alive by the result. TypeError, ValueError.
    """
    from pypto.runtime.task_interface import DataType, TaskArgs, TensorArgType

    args = bind_complete_args(args, metadata.params, caller_name=metadata.entry or "the program")
    lowered = metadata.params if metadata.lowered_params is None else metadata.lowered_params
    made = TaskArgs()
    extents: dict[str, tuple[int, str]] = {}
    for param, low, value in zip(metadata.params, lowered, args, strict=True):
        if param.is_tensor:
            view = _view(param, low, value, extents)
            made.add_tensor(view, getattr(TensorArgType, _TAGS[param.direction]))
    for index, (param, value) in enumerate(zip(metadata.params, args, strict=True)):
        if param.is_scalar:
            scalar = scalar_argument(param, index, value)
            made.add_scalar(scalar.value, getattr(DataType, _SCALARS[scalar.dtype.name]))
    return made


def _view(param: ParamInfo, lowered: ParamInfo, value: Any, extents: dict) -> Any:
    from pypto.runtime.task_interface import Buffer, DataType, Tensor

    dtype = getattr(DataType, SIMPLER_NAMES[param.dtype.name])
    if isinstance(value, DeviceTensor):
        shape, strides, offset = value.shape, (), 0
        _check(param, str(value.dtype), value.dtype.name, shape, strides, extents)
        buffer = value.buffer
    elif type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "untyped_storage"):
        if value.device.type != "cpu":
            raise ArgumentTypeError(
                f"{param.name}: takes a tensor in host memory, got one on {value.device}",
                hint="pass tensor.cpu(), or launch the kernel with pypto.torch",
            )
        name, shape, strides, _ = describe_torch(value)
        _check(param, str(value.dtype).removeprefix("torch."), name, shape, strides, extents)
        offset = value.storage_offset() * value.element_size()
        buffer = Buffer.wrap(value) if value.numel() else None
    else:
        shape, strides = _array(param, value, extents)
        offset = 0
        buffer = Buffer.wrap(value) if 0 not in shape else None
    target = _memory_shape(param, lowered, shape)
    if buffer is None or 0 in shape:  # nothing to refer to
        return Tensor(None, 0, 0, list(target), dtype)
    return buffer.tensor(target, dtype, list(strides) or None, offset)


def _array(param: ParamInfo, value: Any, extents: dict) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of a NumPy array."""
    from pypto import bridge

    what = bridge.core().describe(value)
    if not isinstance(what, tuple):
        raise ArgumentTypeError(f"{param.name}: takes a tensor, got {type(value).__name__}")
    name, shape, strides, read_only = what
    _check(param, name, name, shape, strides or (), extents)
    if read_only or not value.flags.c_contiguous:
        raise ArgumentValueError(
            f"{param.name}: the array is read-only or not contiguous", hint="pass a copy of it"
        )
    return tuple(shape), ()


def _check(
    param: ParamInfo,
    shown: str,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int],
    extents: dict[str, tuple[int, str]],
) -> None:
    """Raises where a tensor is not what its parameter says."""
    wanted = f"[{', '.join('?' if e < 0 else str(e) for e in param.shape)}] {param.dtype.name}"
    got = f"[{', '.join(map(str, shape))}] {shown}"
    same = {dtype, param.dtype.name} == {"INT64", "INDEX"} or dtype == param.dtype.name
    if not same or len(shape) != len(param.shape):
        raise ArgumentTypeError(f"{param.name}: takes {wanted}, got {got}")
    for axis, (want, have) in enumerate(zip(param.shape, shape, strict=True)):
        if want >= 0 and want != have:
            raise ArgumentTypeError(
                f"{param.name}: takes {wanted}, got {got}: axis {axis} has {have} elements"
            )
        name = param.dim_names[axis] if param.dim_names else ""
        if name:
            first, where = extents.setdefault(name, (have, param.name))
            if first != have:
                raise ArgumentValueError(
                    f"dimension {name} is {first} in {where} and {have} in {param.name}"
                )
    if tuple(strides) != param.strides:
        raise ArgumentValueError(
            f"{param.name}: its strides {list(strides)} are not those that the program is compiled for",
            hint="pass tensor.contiguous()",
        )


def _memory_shape(param: ParamInfo, lowered: ParamInfo, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a tensor as the code sees its memory: blocked for NZ, else its own."""
    if lowered.shape == param.shape:
        return tuple(shape)
    from pypto.ir.param_info import lowered_form

    return lowered_form(replace(param, shape=tuple(shape))).shape


def call_config(
    config: Any = None,
    *,
    aicpu_thread_num: int | None = None,
    dfx_dir: str | os.PathLike | None = None,
) -> Any:
    """`CallConfig` of simpler from a RunConfig, checked (ValueError)."""
    from pypto.runtime.config import RunConfig
    from pypto.runtime.task_interface import CallConfig

    made = CallConfig()
    if config is not None:
        if not isinstance(config, RunConfig):
            raise ArgumentTypeError(f"config: takes a RunConfig, got {type(config).__name__}")
        aicpu_thread_num = config.aicpu_thread_num if aicpu_thread_num is None else aicpu_thread_num
        made.enable_chip_swimlane = config.enable_chip_swimlane
        made.enable_dump_args = config.enable_dump_args
        made.enable_pmu = config.enable_pmu
        made.enable_dep_gen = config.enable_dep_gen
        made.enable_scope_stats = config.enable_scope_stats
        for name in ("ring_task_window", "ring_heap", "ring_dep_pool"):
            value = getattr(config, name)
            if value is not None:
                setattr(made.runtime_env, name, value)
        if config.any_dfx_enabled():
            if dfx_dir is None:
                raise ArgumentValueError("diagnostics need a folder", hint="pass dfx_dir")
            os.makedirs(dfx_dir, exist_ok=True)
            made.output_prefix = os.fspath(dfx_dir)
    if aicpu_thread_num is not None:
        made.aicpu_thread_num = aicpu_thread_num
    made.validate()
    return made
