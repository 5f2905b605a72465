"""Operators of torch_npu that are no PyTorch operators."""

from __future__ import annotations

import torch


def npu_quant_matmul(
    x1: torch.Tensor,
    x2: torch.Tensor,
    scale: torch.Tensor,
    *,
    offset: torch.Tensor | None = None,
    pertoken_scale: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """int8 [.., M, K] times int8 [.., K, N], accumulated in int32, then scaled per tensor or column (and per row).

    `bias` is int32 [N] and joins the accumulator, or floating and joins the scaled result. The output is int8
    (default; rounded to nearest even and saturated after `offset`), float16, bfloat16 or int32 (not scaled).
    """
    if x1.dtype != torch.int8 or x2.dtype != torch.int8:
        raise RuntimeError(
            f"npu_quant_matmul: x1 and x2 must be int8, got {x1.dtype} and {x2.dtype}"
        )
    if x1.shape[-1] != x2.shape[-2]:
        raise RuntimeError(
            f"npu_quant_matmul: inner extents differ, x1 is {tuple(x1.shape)}, x2 is {tuple(x2.shape)}"
        )
    output_dtype = output_dtype or torch.int8
    total = torch.matmul(x1.to(torch.int32), x2.to(torch.int32))
    if bias is not None and bias.dtype == torch.int32:
        total = total + bias
    if output_dtype == torch.int32:
        return total
    result = total.to(torch.float32) * scale.to(torch.float32)
    if pertoken_scale is not None:
        result = result * pertoken_scale.to(torch.float32).unsqueeze(-1)
    if bias is not None and bias.dtype != torch.int32:
        result = result + bias.to(torch.float32)
    if output_dtype == torch.int8:
        if offset is not None:
            result = result + offset.to(torch.float32)
        return torch.clamp(torch.round(result), -128, 127).to(torch.int8)
    return result.to(output_dtype)
