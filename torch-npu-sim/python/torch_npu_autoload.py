"""Entry point of group `torch.backends`: `import torch` brings the device with it.

A device that cannot be loaded must not keep torch from loading, so the reason becomes a warning.
TORCH_DEVICE_BACKEND_AUTOLOAD=0 turns it off.
"""

from __future__ import annotations

import warnings


def _autoload() -> None:
    try:
        import torch_npu  # noqa: F401
    except ImportError as error:
        warnings.warn(f"the simulated NPU is not available: {error}", stacklevel=2)
