"""Storage formats: the codes of aclFormat, queries and casts."""

from __future__ import annotations

import enum
import warnings

import torch


class Format(enum.IntEnum):
    """Codes of storage formats."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33


def get_npu_format(tensor: torch.Tensor) -> Format:
    """The storage format of an NPU tensor."""
    if tensor.device.type != "npu":
        raise RuntimeError(f"get_npu_format: expected an NPU tensor, got one on {tensor.device}")
    return Format(torch.ops.npu.get_npu_format(tensor))


def npu_format_cast(tensor: torch.Tensor, acl_format: int) -> torch.Tensor:
    """The tensor with another storage format: the logical shape stays, NZ (29) blocks the bytes."""
    if acl_format == Format.FRACTAL_NZ and tensor.device.type == "npu":
        refused = None
        if not torch.npu.config.allow_internal_format:
            refused = "format 29 needs torch_npu.npu.config.allow_internal_format = True"
        elif tensor.dim() < 2:
            refused = "FRACTAL_NZ needs at least 2 dimensions"
        if refused:
            warnings.warn(
                f"npu_format_cast: {refused}; the tensor keeps its base format", stacklevel=2
            )
            return tensor
    return torch.ops.npu.npu_format_cast(tensor, int(acl_format))
