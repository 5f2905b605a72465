"""Names of the distributed language (`import pypto.language.distributed as pld`).

Types and enumerations exist, so that modules which only mention them can be imported. Programs that
span devices cannot be compiled yet; using an operation says so.
"""

from __future__ import annotations

from typing import Any

from pypto.enums import AtomicType, NotifyOp, ReduceOp, WaitCmp
from pypto.errors import UnsupportedFeatureError
from pypto.types import CommCtx, DistributedTensor

_NAMES = (
    "alloc_window_buffer",
    "get_comm_ctx",
    "nranks",
    "rank",
    "remote_load",
    "remote_store",
    "window",
    "world_size",
)

__all__ = [
    "AtomicType",
    "CommCtx",
    "DistributedTensor",
    "NotifyOp",
    "ReduceOp",
    "WaitCmp",
] + list(_NAMES)


class _NotYet:
    def __init__(self, name: str, open_ended: bool = False):
        self.__name__ = name
        self._open_ended = open_ended

    def __call__(self, *args: Any, **kwargs: Any):
        raise UnsupportedFeatureError(
            f"{self.__name__}: programs that span several devices are not available yet",
            hint="programs for one device use pypto.language only",
        )

    def __getattr__(self, name: str):
        if name.startswith("__") or not self._open_ended:
            raise AttributeError(name)
        return _NotYet(f"{self.__name__}.{name}")

    def __repr__(self) -> str:
        return f"<{self.__name__}: not available yet>"


globals().update({name: _NotYet(f"pld.{name}") for name in _NAMES})
system = _NotYet("pld.system", open_ended=True)
tensor = _NotYet("pld.tensor", open_ended=True)
tile = _NotYet("pld.tile", open_ended=True)
