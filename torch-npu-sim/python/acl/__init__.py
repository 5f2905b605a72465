"""The few functions of the `acl` module that scripts around operator libraries ask for."""

from __future__ import annotations


def get_soc_name() -> str:
    """Product name of the simulated device, such as Ascend910B1."""
    import torch_npu

    return torch_npu.npu.get_device_name(0)
