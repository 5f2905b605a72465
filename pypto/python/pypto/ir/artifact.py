"""`CompiledArtifact`: what compiling one entry for one chip gives, without anything of a run.

    artifact = _compile_artifact(kernel, contract=ArtifactExecutionMode.KERNEL)
    artifact.metadata.params          # ParamInfo of the call
    artifact.load().chip_callable     # for simpler.Worker.register

Folder, platform, metadata, and code that is loaded when first asked for. Handles, streams and tensors
belong to those who run it.
"""

from __future__ import annotations

import enum
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pypto.enums import BackendType
from pypto.ir.artifact_key import ArtifactKey
from pypto.ir.param_info import ParamDirection, ParamInfo

if TYPE_CHECKING:
    from pathlib import Path


class ArtifactExecutionMode(enum.Enum):
    """The contract of a call. PROGRAM: outputs may be allocated, the host may take part. KERNEL: every
    Out and InOut buffer is passed, results are parameters, nothing touches data on the host."""

    PROGRAM = "program"
    KERNEL = "kernel"


class ExecutionMode(enum.Enum):
    """Where the target platform runs: simulated or on a board. Independent of the contract."""

    SIM = "sim"
    ONBOARD = "onboard"


class ArtifactError(ValueError):
    """An artifact that cannot be used as asked; the text names the file and says to compile it again."""


@dataclass(frozen=True)
class ExecutionCapabilities:
    """The contracts that an artifact was compiled and checked for."""

    modes: frozenset[ArtifactExecutionMode]

    def record(self) -> list[str]:
        """JSON form (`supported_execution_modes`)."""
        raise NotImplementedError

    @classmethod
    def from_record(cls, record: Any) -> ExecutionCapabilities:
        """ValueError for unknown, repeated or no modes."""
        raise NotImplementedError

    def require(self, mode: ArtifactExecutionMode, what: str) -> None:
        """ArtifactError when `mode` is not among them."""
        raise NotImplementedError


@dataclass(frozen=True)
class ArtifactMetadata:
    """compiled_meta.json. `params` is the signature that callers see, `lowered_params` the one that the
    code has (None in files of schema 1 and 2)."""

    params: tuple[ParamInfo, ...]
    lowered_params: tuple[ParamInfo, ...] | None
    return_count: int
    return_aliases: tuple[int, ...]  # for each result, its position in `params`
    platform: str
    backend_type: BackendType
    capabilities: ExecutionCapabilities
    entry: str
    runtime: str = "tensormap_and_ringbuffer"

    # Derived: param_names, output_indices, has_return, record(), from_record(record, path)


class CompiledArtifact:
    """An artifact of one chip.

    Attributes: `directory` (None until its files are asked for), `platform` (the effective one),
    `metadata`, `key` (ArtifactKey, or None for a private artifact), `identity` (hashable: the key, or
    the object itself where there is none). Methods: `require(mode)`, `load()`, `from_dir(…)`.
    """


@dataclass(frozen=True)
class LoadedArtifact:
    """Code of an artifact in this process; alive while it is referenced.

    `chip_callable`: simpler.task_interface.ChipCallable for `Worker.register`, made when first asked
    for. `executable`: pypto._core.Executable; `executable.entry_address` is a `SimplerOrchFn` for
    `simpler_run(worker, fn, tensors, n, scalars, m)`: descriptors of the tensor parameters in order,
    then one word for each scalar parameter in order.
    """

    metadata: ArtifactMetadata
    executable: Any
    code: bytes = field(repr=False)
