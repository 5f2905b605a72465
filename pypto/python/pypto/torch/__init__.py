"""pypto kernels on torch's NPU tensors.

    import pypto.torch
    pypto.torch.init()                      # kernel mode for the current NPU device

Importing this package, `pypto.torch.interop` or `pypto.torch.registration` asks for neither torch_npu nor
simpler nor an extension module; what needs them is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypto.torch.initialization import init
    from pypto.torch.launching import Registration, launch, prepare, register  # noqa: F401

__all__ = ["init"]

_LAZY = {
    "init": "pypto.torch.initialization",
    "Registration": "pypto.torch.launching",
    "launch": "pypto.torch.launching",
    "prepare": "pypto.torch.launching",
    "register": "pypto.torch.launching",
}


def __getattr__(name: str):
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pypto.torch' has no attribute {name!r}")
