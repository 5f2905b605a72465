"""`CompiledArtifact`: what compiling for one chip gives, without anything of a run.

    artifact = _compile_artifact(kernel, contract=ArtifactExecutionMode.KERNEL)
    artifact.metadata.params            # ParamInfo of a call
    artifact.load().chip_callable       # for simpler.Worker.register

Folder, platform, metadata, and code that is loaded when first asked for. Handles, streams and tensors
belong to those who run it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypto.enums import BackendType
from pypto.ir.artifact_key import ArtifactKey
from pypto.ir.artifact_metadata import (
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    ExecutionCapabilities,
    ExecutionMode,
    check_pool_capacity,
)
from pypto.runtime.process_lock import process_lock

if TYPE_CHECKING:
    from pypto.runtime.artifact_runtime import ArtifactRuntime

__all__ = [
    "ArtifactError",
    "ArtifactExecutionMode",
    "ArtifactMetadata",
    "CompiledArtifact",
    "ExecutionCapabilities",
    "ExecutionMode",
    "LoadedArtifact",
]


class CompiledArtifact:
    """An artifact of one chip.

    It has one entry, or several that share its code; `metadata` is that of the first. `key` is the
    identity of an artifact of the store, None for a private one, whose identity is the object: a folder
    that is written again is another artifact.
    """

    def __init__(
        self,
        metadata: ArtifactMetadata,
        *,
        runtime: ArtifactRuntime | None = None,
        code: bytes | None = None,
        write: Callable[[str], None] | None = None,
        others: Mapping[str, CompiledArtifact] | None = None,
        key: ArtifactKey | None = None,
    ):
        """`runtime` loads the code of a folder; `code` is machine code that is there already, `write`
        then writes the folder when somebody asks for it."""
        if runtime is None and code is None and not others:
            raise ValueError("an artifact has a folder or code")
        check_pool_capacity(metadata.params, metadata.entry or "the program")
        self.metadata = metadata
        self.key = key
        self._runtime = runtime
        self._code = code
        self._write = write
        self._others = dict(others or {})
        self._directory = None if runtime is None else str(runtime.source)
        self._lock = process_lock()
        self._loaded: dict[str, LoadedArtifact] = {}

    @classmethod
    def from_dir(
        cls, directory: str | os.PathLike, *, platform: str | None = None
    ) -> CompiledArtifact:
        """The artifact in a folder. Reads metadata only; nothing native is loaded. `platform` overrides
        the target, within one chip. FileNotFoundError, ArtifactError."""
        from pypto.runtime.artifact_runtime import ArtifactRuntime

        folder = Path(directory).absolute()
        metadata = ArtifactMetadata.read(folder).on(platform, str(folder))
        others = {
            name: cls.from_dir(folder / "next_levels" / name, platform=platform)
            for name in metadata.entries
            if name != metadata.entry
        }
        where = folder / "next_levels" / metadata.entry if metadata.entries else folder
        made = cls(metadata, runtime=ArtifactRuntime(None, where, metadata.platform), others=others)
        made._directory = str(folder)
        return made

    # What it is.

    @property
    def platform(self) -> str:
        """The effective target."""
        return self.metadata.platform

    @property
    def backend_type(self) -> BackendType:
        return self.metadata.backend_type

    @property
    def execution_mode(self) -> ExecutionMode:
        return self.metadata.execution_mode

    @property
    def identity(self) -> Hashable:
        """Equal for artifacts whose code may be registered once for both: the key, or the object."""
        return self if self.key is None else (self.key.digest, self.platform)

    @property
    def directory(self) -> str | None:
        """The folder of its files; None while there is none."""
        return self._directory

    @property
    def entry_names(self) -> tuple[str, ...]:
        return (self.metadata.entry, *self._others)

    def entry(self, name: str) -> ArtifactMetadata:
        """Metadata of an entry; KeyError."""
        if name == self.metadata.entry:
            return self.metadata
        return self._others[name].metadata

    def require(self, mode: ArtifactExecutionMode) -> None:
        """ArtifactError unless it was compiled and checked for that contract."""
        self.metadata.capabilities.require(mode, self._name)

    @property
    def _name(self) -> str:
        return self._directory or self.metadata.entry or "the artifact"

    def __repr__(self) -> str:
        modes = "/".join(self.metadata.capabilities.record())
        return f"<compiled artifact {self._name}: {modes} for {self.platform}>"

    # Code.

    def load(self, entry: str | None = None) -> LoadedArtifact:
        """Its code in this process. One thread loads, others wait; a failure leaves nothing behind and
        the next call tries again. No worker is started and nothing is registered."""
        name = self.metadata.entry if entry is None else entry
        with self._lock:
            loaded = self._loaded.get(name)
            if loaded is None:
                loaded = self._assemble(name)
                self._loaded[name] = loaded
            return loaded

    def _assemble(self, name: str) -> LoadedArtifact:
        other = self._others.get(name)
        if other is not None and other._runtime is not None:
            return other.load()
        metadata = self.entry(name)
        if self._code is not None:
            return LoadedArtifact(metadata, self._code)
        loaded = self._runtime.load()
        if not metadata.entry:  # metadata of schema 1 and 2 do not say; the code's manifest does
            entry = loaded.manifest["orchestration"].get("function_name", "")
            metadata = replace(metadata, entry=entry)
        return LoadedArtifact(metadata, loaded.code)

    @property
    def is_loaded(self) -> bool:
        return bool(self._loaded)

    @property
    def chip_callable(self) -> Any:
        return self.load().chip_callable

    @property
    def runtime_name(self) -> str:
        return self.metadata.runtime

    @property
    def runtime_config(self) -> dict[str, Any]:
        return {"runtime": self.metadata.runtime, "aicpu_thread_num": 0}

    # Files.

    def save(self, folder: str | os.PathLike) -> str:
        """Writes its files into `folder`, which becomes its directory."""
        if self._write is None:
            raise ArtifactError(
                f"{self._name}: the compiler's result is not at hand; copy its folder instead"
            )
        self._write(os.fspath(folder))
        self._directory = os.path.abspath(folder)
        return self._directory

    @property
    def run_directory(self) -> Path | None:
        """Where runs write, outside of the artifact's own files; None while it has no folder."""
        return None if self._runtime is None else self._runtime.run_directory


class LoadedArtifact:
    """Code of an entry in this process. It stays loaded while this object, its `executable` or a callable
    made from it is alive. Threads may share it."""

    def __init__(self, metadata: ArtifactMetadata, code: bytes):
        """ResourceError where the code cannot be loaded or lacks the entry."""
        self.metadata = metadata
        self.param_count = len(metadata.params)
        self.code = code
        self.executable = _executable(metadata, code)
        self._lock = process_lock()
        self._chip_callable: Any = None

    @property
    def entry_address(self) -> int:
        """Address of a SimplerOrchFn (simpler/c_api.h): descriptors of the tensor parameters in order,
        then a word for each scalar parameter in order."""
        return self.executable.entry_address

    @property
    def chip_callable(self) -> Any:
        """`ChipCallable` for the `register` of simpler's Worker; made when first asked for."""
        with self._lock:
            if self._chip_callable is None:
                from pypto.runtime.task_interface import ArgDirection, ChipCallable

                self._chip_callable = ChipCallable.build(
                    [
                        getattr(ArgDirection, param.direction.name.upper())
                        for param in self.tensor_params
                    ],
                    self.metadata.entry,
                    self.code,
                )
            return self._chip_callable

    @functools.cached_property
    def tensor_params(self) -> tuple:
        """The tensors as the code takes them."""
        params = self.metadata.lowered_params
        params = self.metadata.params if params is None else params
        return tuple(param for param in params if param.is_tensor)


def _executable(metadata: ArtifactMetadata, code: bytes) -> Any:
    """The object that takes arguments as the signature says and runs the code."""
    from pypto import bridge

    slots: list[tuple] = []
    for param in metadata.params:
        if param.is_scalar:
            slots.append(("scalar", param.name, param.dtype.name, ""))
            continue
        slots.append(
            (
                "tensor",
                param.name,
                param.direction.name.lower(),
                param.dtype.name,
                list(param.shape),
                list(param.dim_names),
                list(param.strides),
            )
        )
    return bridge.core().Executable(
        code,
        name=metadata.entry,
        arch=metadata.arch,
        entry=metadata.entry,
        slots=slots,
        returns=list(metadata.results),
        returns_tuple=len(metadata.results) > 1,
    )
