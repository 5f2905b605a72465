"""Running programs: `RunConfig`, `run`."""

from __future__ import annotations

from typing import Any

from pypto.runtime.config import RunConfig

__all__ = ["RunConfig", "run"]


def run(program: Any, *tensors: Any, config: RunConfig | None = None):
    """Compiles a class program, calls it with `tensors` in place, and gives the compiled program.

    With `config.codegen_only` it is compiled and not called.
    """
    from pypto import ir

    config = config or RunConfig()
    folder = config.save_kernels_dir
    compiled = ir.compile(program, folder, **config.compile_kwargs())
    if config.save_kernels:
        compiled.save()
    if not config.codegen_only:
        compiled(*tensors, config=config)
    return compiled
