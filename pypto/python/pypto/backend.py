"""The architecture that programs are compiled for when nothing else names one."""

from __future__ import annotations

import sys

from pypto.enums import BackendType

__all__ = [
    "BackendType",
    "get_backend_type",
    "is_backend_configured",
    "reset_for_testing",
    "set_backend_type",
]

_current: BackendType | None = None


def set_backend_type(backend: BackendType) -> None:
    """Chooses the backend of later `ir.compile` calls that name no platform."""
    global _current
    if not isinstance(backend, BackendType):
        raise TypeError(f"set_backend_type takes a BackendType, got {backend!r}")
    _current = backend


def get_backend_type() -> BackendType:
    return _current or BackendType.Ascend910B


def is_backend_configured() -> bool:
    return _current is not None


def reset_for_testing() -> None:
    global _current
    _current = None


def simulator_of(backend: BackendType) -> str:
    """Platform that simulates a backend."""
    return "a5sim" if backend is BackendType.Ascend950 else "a2a3sim"


_noticed = False


def notice(platform: str) -> None:
    """Says once that a platform of hardware is simulated, since this package drives no NPU."""
    global _noticed
    if platform.endswith("sim") or _noticed:
        return
    _noticed = True
    print(f"pypto: no NPU is driven; {platform} runs on the simulated device", file=sys.stderr)
