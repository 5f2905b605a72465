"""A simulated NPU as PyTorch's device "npu", with the surface of torch_npu.

Importing registers the device; the device itself starts with its first use. Device memory is host
memory, operators run PyTorch's CPU kernels on it in stream order.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import sys

_autoload_setting = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
if "torch" not in sys.modules:  # torch would load this package, which is just being loaded
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
import torch  # noqa: E402

if _autoload_setting is not None:
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = _autoload_setting
else:
    os.environ.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)

__version__ = "2.10.0.post2+sim"

#: True here; the real package has no such attribute.
is_simulated = True


def _refuse_beside_real_package() -> None:
    try:
        real = importlib.metadata.version("torch-npu")
    except importlib.metadata.PackageNotFoundError:
        real = None
    if real is not None:
        raise ImportError(
            f"torch_npu {real} for real devices is installed; its simulated twin cannot be loaded beside it. "
            "Take one of the two off the module path."
        )
    taken = torch._C._get_privateuse1_backend_name()
    if taken not in ("privateuseone", "npu") or (taken == "npu" and hasattr(torch, "npu")):
        raise ImportError(
            f"PyTorch's slot for an out-of-tree device already belongs to '{taken}'; "
            "one process can hold only one such device."
        )


_refuse_beside_real_package()

from . import _C  # noqa: E402

torch.utils.rename_privateuse1_backend("npu")

from . import npu  # noqa: E402

torch._register_device_module("npu", npu)
sys.modules.setdefault("torch.npu", npu)
torch.utils.generate_methods_for_privateuse1_backend(
    for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
)

from .npu import compiler as _compiler  # noqa: E402

_compiler.install()

from ._formats import Format, get_npu_format, npu_format_cast  # noqa: E402
from ._operators import npu_quant_matmul  # noqa: E402

__all__ = ["Format", "get_npu_format", "is_simulated", "npu", "npu_format_cast", "npu_quant_matmul"]


def _shut_down() -> None:
    """At exit: finish the device's work, take process groups down, then end the device's threads."""
    success = _C._npu_shutdown_synchronize()
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
    _C._npu_shutdown(success)


atexit.register(_shut_down)
