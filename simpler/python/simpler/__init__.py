"""The PTO task runtime: devices, runs and tasks on the CPU."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["RunError", "RunHandle", "Worker"]


def __getattr__(name: str):
    # Lazy: importing the package must not load the extension.
    if name in ("Worker", "RunHandle"):
        from simpler import worker

        return getattr(worker, name)
    if name == "RunError":
        from simpler.errors import RunError

        return RunError
    raise AttributeError(f"module 'simpler' has no attribute {name!r}")
