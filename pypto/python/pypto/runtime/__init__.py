"""Running programs: `RunConfig`, `run`, `ChipWorker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pypto.runtime import _execution_mode
from pypto.runtime.config import RunConfig

if TYPE_CHECKING:
    from pypto.runtime.device_tensor import DeviceTensor
    from pypto.runtime.pto_file import PtoError, run_pto
    from pypto.runtime.worker import ChipWorker, RegistrationHandle

__all__ = [
    "ChipWorker",
    "DeviceTensor",
    "RegistrationHandle",
    "PtoError",
    "RunConfig",
    "run",
    "run_pto",
]


def __getattr__(name: str):
    # The runtime is loaded by those who use a worker, not by everyone who runs a program.
    if name in ("ChipWorker", "RegistrationHandle"):
        from pypto.runtime import worker

        return getattr(worker, name)
    if name in ("run_pto", "PtoError"):
        from pypto.runtime import pto_file

        return getattr(pto_file, name)
    if name == "DeviceTensor":
        from pypto.runtime.device_tensor import DeviceTensor

        return DeviceTensor
    raise AttributeError(f"module 'pypto.runtime' has no attribute {name!r}")


def run(program: Any, *tensors: Any, config: RunConfig | None = None):
    """Compiles a class program, calls it with `tensors` in place, and gives the compiled program.

    With `config.codegen_only` it is compiled and not called.
    """
    from pypto import ir

    config = config or RunConfig()
    if config.distributed_config is not None and not config.codegen_only:
        # Before host tensors become shared memory and old dispatch files are cleared.
        _execution_mode.claim_program()
    folder = config.save_kernels_dir
    compiled = ir.compile(program, folder, **config.compile_kwargs())
    if config.save_kernels:
        compiled.save()
    if not config.codegen_only:
        compiled(*tensors, config=config)
    return compiled
