"""From the files of an artifact to machine code in this process: the only place that does it.

An artifact is GENERATED (what the compiler wrote, with the lowered program) or READY (machine code as
well, under `prebuilt/`). `ArtifactRuntime` loads the code, and makes it first where it is missing or
was made by another toolchain: in the store under the artifact's key, in a plain folder in place. Loading
starts no worker and registers nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypto.ir.artifact_metadata import (
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    ExecutionCapabilities,
)
from pypto.runtime.artifact_store import (
    ArtifactSpec,
    ArtifactStage,
    ArtifactStore,
    StoredArtifact,
)
from pypto.runtime.process_lock import process_lock

BINARY_MANIFEST = "prebuilt/binary_manifest.json"
ORCHESTRATION = "prebuilt/orchestration.bin"
BINARY_SCHEMA = 1


def lowered_file(entry: str) -> str:
    """Name of the file of a lowered program, from which code is made."""
    return f"orchestration/{entry}.mlir"


@dataclass(frozen=True)
class Prebuilt:
    """Machine code of an artifact, and the manifest that describes it."""

    code: bytes
    manifest: dict[str, Any]


class ArtifactRuntime:
    """Loads one artifact, once.

    `source` is a StoredArtifact (with the `store` that keeps it), or a folder. `platform` is the
    effective one. `run_directory` is where runs write, outside of any cache. Several threads may call
    `load`; the first does the work, and nothing is remembered of an attempt that failed.
    """

    def __init__(
        self,
        store: ArtifactStore | None,
        source: StoredArtifact | str | os.PathLike,
        platform: str | None = None,
        run_directory: str | os.PathLike | None = None,
    ):
        self._store = store
        self._stored = source if isinstance(source, StoredArtifact) else None
        # Where the artifact was found: promotion to READY does not change it.
        self.source = self._stored.path if self._stored else Path(source).absolute()
        self.platform = platform
        self._run_directory = run_directory
        self._lock = process_lock()
        self._loaded: Prebuilt | None = None

    @property
    def run_directory(self) -> Path:
        """The folder for output of runs; not made here."""
        if self._run_directory is not None:
            return Path(self._run_directory)
        from pypto import knobs

        return Path(knobs.get("PYPTO_PROG_BUILD_DIR")) / "runs" / self.source.name

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> Prebuilt:
        """The machine code. ArtifactError where the files are damaged or from an incompatible compiler."""
        with self._lock:
            if self._loaded is None:
                loaded = self._from_store() if self._stored else self._from_folder()
                self._loaded = loaded  # complete, or not there at all
            return self._loaded

    def _from_store(self) -> Prebuilt:
        stored = self._stored
        if stored.spec.stage is ArtifactStage.BINARY_READY:
            return read_prebuilt(stored.path)
        store = self._store or ArtifactStore(stored.path, readonly=True)
        ready = store.get_or_build(stored.key, ready_spec(stored.spec), self._promote)
        self._ready = ready  # keeps the folder of a private one
        return read_prebuilt(ready.path)

    def _promote(self, folder: Path) -> None:
        self._stored.materialize(folder)
        assemble(folder, self.platform)

    def _from_folder(self) -> Prebuilt:
        folder = self.source
        found = _usable_prebuilt(folder)
        if found is not None:
            return found
        with _build_lock(folder) as writable:
            found = _usable_prebuilt(folder)  # another process may have been first
            if found is not None:
                return found
            made = build(folder, self.platform)
            if writable:
                _write_prebuilt(folder, made)
            return made


def generated_spec(contract: ArtifactExecutionMode) -> ArtifactSpec:
    return ArtifactSpec(
        ArtifactStage.GENERATED,
        ("compiled_meta.json", "kernel_config.py"),
        ExecutionCapabilities([contract]),
    )


def ready_spec(generated: ArtifactSpec) -> ArtifactSpec:
    files = {*generated.required_files, BINARY_MANIFEST, ORCHESTRATION}
    return ArtifactSpec(
        ArtifactStage.BINARY_READY,
        tuple(sorted(files)),
        generated.capabilities,
        generated.build_kind,
    )


def assemble(folder: str | os.PathLike, platform: str | None = None) -> None:
    """Makes `prebuilt/` of a folder from its lowered program."""
    _write_prebuilt(Path(folder), build(folder, platform))


def build(folder: str | os.PathLike, platform: str | None = None) -> Prebuilt:
    """Machine code for this host from the lowered program in a folder; nothing is written."""
    from pypto import bridge

    folder = Path(folder)
    metadata = ArtifactMetadata.read(folder).on(platform, str(folder))
    if not metadata.entry:
        raise ArtifactError(
            f"{folder}: its metadata is of an old schema and names no entry; compile the program"
            " again with ir.compile()"
        )
    path = folder / lowered_file(metadata.entry)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArtifactError(
            f"{folder} holds neither machine code nor the lowered program ({path.name}); compile the"
            " program again with ir.compile()"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{path} cannot be read: {error}; compile the program again") from None
    code = bridge.compile_lowered(text, str(path))
    return Prebuilt(code, binary_manifest(metadata, code))


def binary_manifest(metadata: ArtifactMetadata, code: bytes) -> dict[str, Any]:
    """What stands beside machine code: target, signature, digest, and the toolchain that made it."""
    params = metadata.params if metadata.lowered_params is None else metadata.lowered_params
    return {
        "schema": BINARY_SCHEMA,
        "platform": metadata.platform,
        "runtime_name": metadata.runtime,
        "runtime_config": {"runtime": metadata.runtime, "aicpu_thread_num": 0},
        "toolchain": toolchain_stamp(),
        "orchestration": {
            "function_name": metadata.entry,
            "display_name": metadata.entry,
            "signature": [p.direction.name.upper() for p in params if p.is_tensor]
            + ["SCALAR" for p in params if p.is_scalar],
            "binary": {
                "path": ORCHESTRATION,
                "size": len(code),
                "sha256": hashlib.sha256(code).hexdigest(),
            },
        },
        # Their code is in the orchestration's object.
        "kernels": [
            {"func_id": number, **kernel.record()} for number, kernel in enumerate(metadata.kernels)
        ],
    }


def toolchain_stamp() -> str:
    """Tells toolchains apart whose machine code differs; "" where this one cannot be identified."""
    from pypto.ir.artifact_key import toolchain_identity

    identity = toolchain_identity()
    return identity.digest if identity.usable else ""


def read_prebuilt(folder: str | os.PathLike) -> Prebuilt:
    """The machine code of a folder, size and digest checked. FileNotFoundError where there is none,
    ArtifactError where it is damaged. Runs no compiler and none of the folder's Python files."""
    folder = Path(folder)
    path = folder / BINARY_MANIFEST
    data = path.read_bytes()
    try:
        manifest = json.loads(data)
        binary = manifest["orchestration"]["binary"]
        name, size, digest = binary["path"], binary["size"], binary["sha256"]
        good = manifest["schema"] == BINARY_SCHEMA and name == ORCHESTRATION
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ArtifactError(f"{path} is damaged ({error!r}); compile the program again") from None
    if not good:
        raise ArtifactError(f"{path} is of another version; compile the program again")
    try:
        code = (folder / name).read_bytes()
    except FileNotFoundError:
        raise ArtifactError(f"{folder / name} is missing; compile the program again") from None
    if len(code) != size or hashlib.sha256(code).hexdigest() != digest:
        raise ArtifactError(
            f"{folder / name} is not the file that {path.name} describes; compile the program again"
        )
    return Prebuilt(code, manifest)


def _usable_prebuilt(folder: Path) -> Prebuilt | None:
    """The code in a folder, if it is whole and this toolchain made it."""
    try:
        found = read_prebuilt(folder)
    except (FileNotFoundError, ArtifactError):
        return None
    stamp = toolchain_stamp()
    return found if stamp and found.manifest.get("toolchain") == stamp else None


@contextlib.contextmanager
def _build_lock(folder: Path):
    """Holds the build lock of a plain folder; gives whether the folder can be written at all."""
    path = folder / "cache" / ".binary_context.lock"
    try:
        path.parent.mkdir(exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield True
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _write_prebuilt(folder: Path, made: Prebuilt) -> None:
    """Writes code, then the manifest. A reader between the two sees a digest that does not fit and waits
    for the lock."""
    from pypto.ir.output_folder import put

    put(folder, ORCHESTRATION, made.code)
    put(folder, BINARY_MANIFEST, json.dumps(made.manifest, indent=2) + "\n")
