"""Describing one call: borrowed NPU tensors and scalars, checked against a signature.

    signature = CallSignature(artifact.metadata.params, return_aliases=artifact.metadata.return_aliases)
    frame = signature.describe_call(args)

A frame is a snapshot of the call. Nothing is copied, converted, switched, synchronised or enqueued; no
Worker is made. A frame keeps its tensors and their storages alive, but that does not protect asynchronous
use on the device after the frame is gone: owning memory in the queue and recording streams with the
allocator belong to the launch. While a frame is in use, its caller must not resize or free the storages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from pypto.dtypes import DataType
from pypto.ir.param_info import (
    ParamDirection,
    ParamInfo,
    bind_complete_args,
    block_nz_shape,
    check_return_aliases,
    check_unique_names,
)
from pypto.ir.scalar_argument import ScalarArgument, scalar_argument
from pypto.ir.type_tables import torch_dtype

__all__ = [
    "CallFrame",
    "CallSignature",
    "ScalarArgument",
    "TensorArgument",
    "TensorMetadata",
    "query_nz_storage",
]

FORMAT_NCHW, FORMAT_ND, FORMAT_NCDHW, FORMAT_NZ = 0, 2, 30, 29
_NZ_TYPES = ("FP16", "BF16", "INT8")
_NZ_PLATFORM = "a2a3"


@dataclass(frozen=True)
class TensorMetadata:
    """What a call sees of one tensor. Sizes and strides in elements, addresses and `…nbytes` in bytes;
    `data_ptr` is the address of the view's first element, `storage_ptr` that of its storage."""

    name: str
    param_index: int
    direction: ParamDirection
    dtype: DataType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device_index: int
    format: int
    data_ptr: int
    storage_ptr: int
    storage_offset: int
    storage_nbytes: int
    nbytes: int


@dataclass(frozen=True)
class TensorArgument:
    """A borrowed tensor; the storage is held beside it, because the tensor may be given another one."""

    metadata: TensorMetadata
    tensor: torch.Tensor
    storage: Any


@dataclass(frozen=True)
class CallFrame:
    """One call. `tensors` and `scalars` are each in the order of the signature; how they are laid out for
    native code follows from the artifact's metadata, not from this order. `stream` is the torch_npu
    stream that was current."""

    tensors: tuple[TensorArgument, ...]
    scalars: tuple[ScalarArgument, ...]
    device_index: int
    stream: Any
    return_tensors: tuple[torch.Tensor, ...]

    def alias_result(self) -> torch.Tensor | tuple[torch.Tensor, ...] | None:
        """What the call returns: the caller's own tensors that the return aliases name."""
        if not self.return_tensors:
            return None
        return self.return_tensors[0] if len(self.return_tensors) == 1 else self.return_tensors


class CallSignature:
    """The parameters of a kernel and which of them its results are. Immutable; any thread.

    `return_aliases` are positions in the whole list of parameters, scalars included; repeats are allowed.
    `caller_name` begins the text about a wrong number of arguments. `platform` is that of the artifact;
    parameters of layout NZ need "a2a3".
    """

    def __init__(
        self,
        params: Sequence[ParamInfo],
        *,
        return_aliases: Sequence[int] = (),
        caller_name: str = "torch call",
        platform: str | None = None,
    ) -> None:
        self._params = tuple(params)
        check_unique_names(self._params, caller_name)
        self._aliases = check_return_aliases(self._params, return_aliases, caller_name)
        self._caller_name = caller_name
        self._platform = platform
        self._dtypes = tuple(torch_dtype(p.dtype) if p.is_tensor else None for p in self._params)

    @property
    def params(self) -> tuple[ParamInfo, ...]:
        return self._params

    @property
    def return_aliases(self) -> tuple[int, ...]:
        return self._aliases

    def describe_call(self, args: Sequence[Any]) -> CallFrame:
        """Checks the arguments and takes the snapshot.

        In this order: number of arguments; each argument by itself, from what plain torch says; one
        device; then torch_npu is loaded: formats and storages; overlaps; current device; current stream.
        TypeError for kinds of things (not a tensor, not on an NPU, another dtype, another scalar type),
        ValueError for values (shape, strides, storage, overlap, gradient, range), RuntimeError without
        torch_npu.
        """
        args = bind_complete_args(args, self._params, caller_name=self._caller_name)
        tensors: list[tuple[int, ParamInfo, torch.Tensor]] = []
        scalars: list[ScalarArgument] = []
        for index, (param, value) in enumerate(zip(self._params, args)):
            if param.is_scalar:
                scalars.append(scalar_argument(param, index, value))
            else:
                _check_tensor(param, value, self._dtypes[index])
                tensors.append((index, param, value))
        _check_extents(tensors)
        _check_one_device(tensors)
        torch_npu = _torch_npu()
        described = tuple(
            _describe(torch_npu, index, param, tensor, self._platform)
            for index, param, tensor in tensors
        )
        _check_overlaps(described)
        device_index = torch_npu.npu.current_device()
        for argument in described:
            if argument.metadata.device_index != device_index:
                raise ValueError(
                    f"Parameter '{argument.metadata.name}' is on npu:{argument.metadata.device_index}, the "
                    f"current device is npu:{device_index}; call torch.npu.set_device first, calls do not switch devices"
                )
        stream = torch_npu.npu.current_stream(device_index)
        if stream.device.index != device_index:
            raise ValueError(
                f"{self._caller_name}: the current stream is on {stream.device}, the current device is npu:{device_index}"
            )
        return CallFrame(
            tensors=described,
            scalars=tuple(scalars),
            device_index=device_index,
            stream=stream,
            return_tensors=tuple(args[index] for index in self._aliases),
        )


def _torch_npu() -> Any:
    try:
        import torch_npu
    except ImportError as error:
        raise RuntimeError(
            f"Describing NPU calls requires a compatible torch_npu installation: {error}"
        ) from error
    return torch_npu


# What plain torch tells.


def _check_tensor(param: ParamInfo, value: Any, dtype: torch.dtype) -> None:
    name = f"Parameter '{param.name}'"
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} takes an NPU torch.Tensor, got {type(value).__module__}.{type(value).__name__}"
        )
    if isinstance(value, FakeTensor) or value.device.type == "meta":
        raise TypeError(
            f"{name} is a fake or meta tensor: it has no memory that a kernel could use"
        )
    if value.device.type != "npu":
        raise TypeError(
            f"{name} takes an NPU tensor, got one on {value.device}; move it with .npu()"
        )
    if value.layout is not torch.strided:
        raise ValueError(f"{name} takes a strided tensor, got layout {value.layout}")
    if value.dtype is not dtype:
        raise TypeError(f"{name} takes {param.dtype} ({dtype}), got {value.dtype}")
    _check_shape(name, param, tuple(value.shape))
    for kind, pending in (("conj", value.is_conj()), ("neg", value.is_neg())):
        if pending:
            raise ValueError(
                f"{name} is a view with unresolved {kind} bit: its values are not in memory; pass tensor.resolve_{kind}()"
            )
    if not value.is_contiguous():
        raise ValueError(
            f"{name} is not contiguous: strides {tuple(value.stride())} for shape {tuple(value.shape)}; pass "
            "tensor.contiguous(), kernels take borrowed memory as it is"
        )
    if value.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            f"{name} requires grad, and the kernel has no backward; call it under torch.no_grad(), or pass tensor.detach()"
        )


def _check_shape(name: str, param: ParamInfo, shape: tuple[int, ...]) -> None:
    wanted = param.shape
    if len(shape) != len(wanted):
        raise ValueError(
            f"{name} takes rank {len(wanted)} {_shape(param)}, got rank {len(shape)} {list(shape)}"
        )
    for axis, (want, got) in enumerate(zip(wanted, shape)):
        if want >= 0 and want != got:
            raise ValueError(
                f"{name} takes shape {_shape(param)}, got {list(shape)}: axis {axis} is {got}"
            )


def _shape(param: ParamInfo) -> str:
    names = param.dim_names or ("",) * len(param.shape)
    return "[" + ", ".join(str(e) if e >= 0 else n or "?" for e, n in zip(param.shape, names)) + "]"


def _check_extents(tensors: Sequence[tuple[int, ParamInfo, torch.Tensor]]) -> None:
    """Extents with one name are equal within a call: the code was compiled so."""
    first: dict[str, tuple[str, int]] = {}
    for _, param, tensor in tensors:
        for axis, dim in enumerate(param.dim_names):
            if not dim or param.shape[axis] >= 0:
                continue
            other, extent = first.setdefault(dim, (param.name, tensor.shape[axis]))
            if extent != tensor.shape[axis]:
                raise ValueError(
                    f"Parameter '{param.name}': extent {dim} (axis {axis}) is {tensor.shape[axis]}, in '{other}' it is {extent}"
                )


def _check_one_device(tensors: Sequence[tuple[int, ParamInfo, torch.Tensor]]) -> None:
    for _, param, tensor in tensors[1:]:
        if tensor.device.index != tensors[0][2].device.index:
            raise ValueError(
                f"Parameter '{param.name}' is on {tensor.device}, '{tensors[0][1].name}' on "
                f"{tensors[0][2].device}; all tensors of a call are on one device"
            )


# What torch_npu tells.


def _describe(
    torch_npu: Any, index: int, param: ParamInfo, tensor: torch.Tensor, platform: str | None
) -> TensorArgument:
    storage = tensor.untyped_storage()
    item = tensor.element_size()
    metadata = TensorMetadata(
        name=param.name,
        param_index=index,
        direction=param.direction,
        dtype=param.dtype,
        shape=tuple(tensor.shape),
        strides=tuple(tensor.stride()),
        device_index=tensor.device.index,
        format=int(torch_npu.get_npu_format(tensor)),
        data_ptr=tensor.data_ptr(),
        storage_ptr=storage.data_ptr(),
        storage_offset=tensor.storage_offset(),
        storage_nbytes=storage.nbytes(),
        nbytes=tensor.numel() * item,
    )
    if param.layout == "NZ":
        _check_nz(param, tensor, metadata, platform)
    elif metadata.format not in (FORMAT_NCHW, FORMAT_ND):
        raise ValueError(_format_text(metadata))
    _check_bounds(metadata, item)
    return TensorArgument(metadata, tensor, storage)


def _format_text(metadata: TensorMetadata) -> str:
    text = (
        f"Parameter '{metadata.name}' has storage format {metadata.format}; kernels take base formats "
        f"NCHW ({FORMAT_NCHW}) and ND ({FORMAT_ND}) as they are and convert none"
    )
    if metadata.format == FORMAT_NCDHW and len(metadata.shape) == 5:
        text += (
            ". torch_npu gives every tensor of rank 5 the format NCDHW (30); pass a view of rank 4 or less, "
            "such as tensor.flatten(0, 1)"
        )
    elif metadata.format == FORMAT_NZ:
        text += ". Cast it with torch_npu.npu_format_cast(tensor, 2), or declare the parameter layout NZ"
    return text


def _check_bounds(metadata: TensorMetadata, item: int) -> None:
    name = f"Parameter '{metadata.name}'"
    if metadata.storage_offset < 0:
        raise ValueError(f"{name} begins at element {metadata.storage_offset} of its storage")
    if metadata.nbytes == 0:
        return  # touches nothing, wherever it begins
    begin = metadata.storage_offset * item
    if begin + metadata.nbytes > metadata.storage_nbytes:
        raise ValueError(
            f"{name} covers bytes {begin} to {begin + metadata.nbytes} of a storage of {metadata.storage_nbytes}; "
            "the storage was resized or belongs to something else"
        )
    if metadata.data_ptr != metadata.storage_ptr + begin:
        raise ValueError(
            f"{name} is at address {metadata.data_ptr:#x}, its storage says {metadata.storage_ptr + begin:#x}"
        )


def query_nz_storage(tensor: torch.Tensor) -> tuple[int, tuple[int, ...], int, int]:
    """The physical side of an NPU tensor: format, sizes in that format, storage offset in elements,
    capacity in bytes. Asks pypto._torch_npu, which is loaded now."""
    from pypto.runtime.kernel.session import load_extension

    format_, sizes, offset, capacity = load_extension().storage_descriptor(tensor)
    return int(format_), tuple(sizes), offset, capacity


def _check_nz(
    param: ParamInfo, tensor: torch.Tensor, metadata: TensorMetadata, platform: str | None
) -> None:
    """A complete, unpadded NZ matrix that is only read. The logical shape has been checked; here the
    blocked sizes and the bytes are."""
    name = f"Parameter '{param.name}' (layout NZ)"
    if platform != _NZ_PLATFORM:
        raise ValueError(
            f"{name}: native NZ tensors are passed on platform {_NZ_PLATFORM!r} only, this kernel is for {platform!r}"
        )
    if param.direction is not ParamDirection.In:
        raise ValueError(f"{name}: NZ tensors are read only, this one is {param.direction.value}")
    if param.dtype.name not in _NZ_TYPES:
        raise ValueError(f"{name}: NZ tensors are FP16, BF16 or INT8, not {param.dtype}")
    if metadata.format != FORMAT_NZ:
        raise ValueError(
            f"{name}: its storage format is {metadata.format}; cast it with torch_npu.npu_format_cast(tensor, {FORMAT_NZ})"
        )
    if metadata.storage_offset != 0:
        raise ValueError(
            f"{name}: a view that begins at element {metadata.storage_offset} is no complete NZ matrix"
        )
    format_, sizes, offset, capacity = query_nz_storage(tensor)
    if format_ != FORMAT_NZ or offset != 0:
        raise ValueError(f"{name}: its storage has format {format_} and offset {offset}")
    try:
        blocked = block_nz_shape(metadata.shape, param.dtype)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    batch = 1
    for extent in sizes[:-4]:
        batch *= extent
    if len(sizes) < 4 or (batch, *sizes[-4:]) != blocked:
        raise ValueError(
            f"{name}: its storage has the blocks {list(sizes)}, shape {list(metadata.shape)} needs {list(blocked)}"
        )
    if metadata.nbytes > capacity:
        raise ValueError(f"{name}: needs {metadata.nbytes} bytes, its storage has {capacity}")


def _check_overlaps(arguments: Sequence[TensorArgument]) -> None:
    """Two views may be the very same bytes, may be apart, and may overlap if neither is written."""
    spans = [
        (a.metadata, a.metadata.data_ptr, a.metadata.data_ptr + a.metadata.nbytes)
        for a in arguments
        if a.metadata.nbytes
    ]
    written = [span for span in spans if span[0].direction.is_written]
    for one, begin, end in written:
        for other, other_begin, other_end in spans:
            if other is one or other_begin >= end or begin >= other_end:
                continue
            if (begin, end) != (other_begin, other_end):
                raise ValueError(
                    f"Parameter '{one.name}' is written and overlaps '{other.name}' in part: bytes {begin:#x} to "
                    f"{end:#x} and {other_begin:#x} to {other_end:#x}; pass separate tensors, or the very same view"
                )
