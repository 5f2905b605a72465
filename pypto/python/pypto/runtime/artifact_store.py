"""A store of compiled artifacts: folders that appear whole, under their key, and never change.

    <root>/locks/<key>.lock
    <root>/artifacts/<toolchain>/<key>/<spec>/{generated|ready}/artifact_manifest.json and the files

A writer holds the key's lock, builds in a private folder outside the store, copies into a staging folder
beside the slot, syncs, writes the manifest last and renames with "must not exist". A process that dies
leaves a staging folder at most, which the next writer of the key removes. Readers take no lock: they
compare every file with the manifest, and what does not fit is INVALID and left as it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pypto.ir.artifact_key import ARTIFACT_SCHEMA, ArtifactKey, digest_record
from pypto.ir.artifact_metadata import ExecutionCapabilities

MANIFEST = "artifact_manifest.json"
_MOST_MANIFEST_BYTES = 16 << 20
_STAGING = ".tmp."
_FOLDER_MODE, _FILE_MODE, _PROGRAM_MODE = 0o700, 0o600, 0o700


class ArtifactStage(enum.Enum):
    """GENERATED: what the compiler writes. BINARY_READY: machine code as well."""

    GENERATED = "generated"
    BINARY_READY = "ready"


class Lookup(enum.Enum):
    HIT = "hit"
    MISS = "miss"
    INVALID = "invalid"  # something lies in the slot that is no whole artifact of this key
    STORAGE_ERROR = "storage_error"  # the store cannot be read


class Outcome(enum.Enum):
    """How `get_or_build` came to an artifact."""

    HIT = "hit"
    PUBLISHED = "published"
    PRIVATE = "private"  # built, but not kept in the store; `reason` says why


@dataclass(frozen=True)
class ArtifactSpec:
    """What a slot holds. `required_files` are those without which the artifact is of no use."""

    stage: ArtifactStage
    required_files: tuple[str, ...]
    capabilities: ExecutionCapabilities
    build_kind: str = "single_chip"

    def __post_init__(self) -> None:
        if self.build_kind not in ("single_chip", "distributed"):
            raise ValueError(f"build_kind is {self.build_kind!r}; single_chip or distributed")
        files = tuple(self.required_files)
        if not files or list(files) != sorted(set(files)):
            raise ValueError("required_files: one or more, sorted, each once")
        for name in files:
            _check_path(name)
        object.__setattr__(self, "required_files", files)

    @property
    def digest(self) -> str:
        return digest_record(
            [
                "spec",
                self.stage.value,
                self.build_kind,
                list(self.required_files),
                self.capabilities.record(),
            ]
        )


@dataclass(frozen=True)
class StoredArtifact:
    """An artifact on disk. Folders of HIT and PUBLISHED belong to the store; a PRIVATE one goes with this
    object."""

    key: ArtifactKey
    spec: ArtifactSpec
    path: Path
    outcome: Outcome
    reason: str = ""
    _private: tempfile.TemporaryDirectory | None = field(default=None, repr=False, compare=False)

    def materialize(self, folder: str | os.PathLike) -> None:
        """Copies the files, without the manifest, into a folder that is empty or does not exist."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name in _walk(self.path):
            if name == MANIFEST:
                continue
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.path / name, place)


class ArtifactStore:
    """Artifacts below `root`. Several processes and threads may use one root at once.

    With `readonly` nothing is ever written, no lock is taken either: what is not there is built privately.
    """

    def __init__(self, root: str | os.PathLike | None = None, *, readonly: bool = False):
        """Without a root: `artifacts` in the folder of PTO_CACHE_DIR."""
        self.root = Path(default_root() if root is None else root).expanduser().absolute()
        self.readonly = readonly

    def slot(self, key: ArtifactKey, spec: ArtifactSpec) -> Path:
        """The folder that an artifact has in the store, whether it is there or not."""
        return (
            self.root
            / "artifacts"
            / key.environment.digest
            / key.digest
            / spec.digest
            / spec.stage.value
        )

    def lookup(self, key: ArtifactKey, spec: ArtifactSpec) -> tuple[Lookup, str]:
        """Whether the slot holds the artifact, every file of it checked; the reason where it does not."""
        path = self.slot(key, spec)
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return Lookup.INVALID, f"{path} is no folder"
        except FileNotFoundError:
            return Lookup.MISS, ""
        except OSError as error:
            return Lookup.STORAGE_ERROR, str(error)
        try:
            wrong = _compare(path, key, spec)
        except OSError as error:
            return Lookup.STORAGE_ERROR, str(error)
        return (Lookup.INVALID, f"{path}: {wrong}") if wrong else (Lookup.HIT, "")

    def get_or_build(
        self, key: ArtifactKey, spec: ArtifactSpec, build: Callable[[Path], None]
    ) -> StoredArtifact:
        """The artifact from the store, or built by `build(folder)` and published.

        Errors of `build` are passed on and leave nothing behind. Where the store cannot be used the
        result is PRIVATE. Of several processes that want one key one builds, the others wait for it.
        """
        found, reason = self.lookup(key, spec)
        if found is Lookup.HIT:
            return StoredArtifact(key, spec, self.slot(key, spec), Outcome.HIT)
        if found is not Lookup.MISS:  # never mended while others may read it
            return self._private(key, spec, build, reason)
        if self.readonly:
            return self._private(key, spec, build, "the store is read-only")
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(self._locked(key))
            except OSError as error:
                return self._private(key, spec, build, f"no lock: {error}")
            found, reason = self.lookup(key, spec)  # another process may have been first
            if found is Lookup.HIT:
                return StoredArtifact(key, spec, self.slot(key, spec), Outcome.HIT)
            made = self._private(key, spec, build, reason)
            if found is not Lookup.MISS:
                return made
            try:
                self._publish(made)
            except OSError as error:
                found, _ = self.lookup(key, spec)
                if found is not Lookup.HIT:
                    return StoredArtifact(
                        key, spec, made.path, Outcome.PRIVATE, f"not kept: {error}", made._private
                    )
        return StoredArtifact(key, spec, self.slot(key, spec), Outcome.PUBLISHED)

    # Writing.

    def _private(
        self, key: ArtifactKey, spec: ArtifactSpec, build: Callable[[Path], None], reason: str
    ) -> StoredArtifact:
        folder = tempfile.TemporaryDirectory(prefix="pypto-artifact-", ignore_cleanup_errors=True)
        try:
            path = Path(folder.name)
            build(path)
            _check_built(path, spec)
        except BaseException:
            folder.cleanup()
            raise
        return StoredArtifact(key, spec, path, Outcome.PRIVATE, reason, folder)

    @contextlib.contextmanager
    def _locked(self, key: ArtifactKey) -> Iterator[None]:
        folder = self.root / "locks"
        _make_folder(folder)
        path = folder / f"{key.digest}.lock"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _FILE_MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            # A child that was forked meanwhile has the file open too and would keep the lock.
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)

    def _publish(self, made: StoredArtifact) -> None:
        """Moves a copy into its slot. The lock of the key is held. OSError leaves no trace."""
        slot = self.slot(made.key, made.spec)
        _make_folder(slot.parent)
        for entry in slot.parent.iterdir():  # of writers that died: they held the lock too
            if entry.name.startswith(_STAGING):
                shutil.rmtree(entry, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=slot.parent))
        try:
            files = _copy(made.path, staging)
            record = _manifest(made.key, made.spec, files)
            _write_synced(staging / MANIFEST, _canonical(record), _FILE_MODE)
            for folder in [staging, *(p for p in staging.rglob("*") if p.is_dir())]:
                _sync_folder(folder)
            _rename_new(staging, slot)
            _sync_folder(slot.parent)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise


def default_root() -> Path:
    """Where artifacts are kept when nobody says where."""
    from pypto import knobs

    return Path(knobs.get("PTO_CACHE_DIR")) / "artifacts"


# Manifests.


def _manifest(key: ArtifactKey, spec: ArtifactSpec, files: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": ARTIFACT_SCHEMA,
        "key": key.digest,
        "components": key.components,
        "state": spec.stage.value,
        "build_kind": spec.build_kind,
        "required_files": list(spec.required_files),
        "capabilities": spec.capabilities.record(),
        "files": files,
    }


def _canonical(record: Any) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def _compare(path: Path, key: ArtifactKey, spec: ArtifactSpec) -> str:
    """What is wrong with a folder as an artifact of this key and spec, or ""."""
    manifest = path / MANIFEST
    try:
        status = os.lstat(manifest)
    except FileNotFoundError:
        return "it has no manifest"
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_MANIFEST_BYTES:
        return "its manifest is no file, or too large"
    data = manifest.read_bytes()
    try:
        listed = [name for name in _walk(path) if name != MANIFEST]
    except ValueError as error:
        return str(error)
    missing = [name for name in spec.required_files if name not in listed]
    if missing:
        return f"{missing[0]} is missing"
    expected = _manifest(key, spec, [_entry(path, name) for name in listed])
    # The manifest is canonical: an equal text is an equal record, and nothing has to be parsed.
    return "" if data == _canonical(expected) else "its files are not those of its manifest"


def _entry(root: Path, name: str) -> dict[str, Any]:
    path = root / name
    data = path.read_bytes()
    return {
        "path": name,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "execute": bool(path.stat().st_mode & stat.S_IXUSR),
    }


def _walk(root: Path) -> list[str]:
    """Names of all files below `root`, sorted. ValueError for what is neither file nor folder."""
    names: list[str] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(root / prefix) as entries:
            for entry in entries:
                name = f"{prefix}{entry.name}"
                if entry.is_symlink():
                    raise ValueError(f"{name} is a link")
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{name}/")
                elif entry.is_file(follow_symlinks=False):
                    names.append(name)
                else:
                    raise ValueError(f"{name} is neither a file nor a folder")
    return sorted(names)


def _check_path(name: str) -> None:
    parts = name.split("/")
    if name.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\0" in name:
        raise ValueError(f"{name!r} is no path inside an artifact")


def _check_built(path: Path, spec: ArtifactSpec) -> None:
    names = _walk(path)
    if MANIFEST in names:
        raise ValueError(f"an artifact may not have a file {MANIFEST} of its own")
    missing = [name for name in spec.required_files if name not in names]
    if missing:
        raise ValueError(f"the build made no {missing[0]}")


# Files.


def _make_folder(path: Path) -> None:
    path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def _copy(source: Path, target: Path) -> list[dict[str, Any]]:
    """Copies all files, synced, and gives their entries in the manifest."""
    files = []
    for name in _walk(source):
        entry = _entry(source, name)
        place = target / name
        place.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        mode = _PROGRAM_MODE if entry["execute"] else _FILE_MODE
        _write_synced(place, (source / name).read_bytes(), mode)
        files.append(entry)
    return files


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_RENAME_NOREPLACE = 1
_AT_FDCWD = -100


def _rename_new(source: Path, target: Path) -> None:
    """Renames a folder; FileExistsError where the target exists."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        names = os.fsencode(source), os.fsencode(target)
        if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_NOREPLACE) == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS):  # the file system cannot
            raise OSError(code, os.strerror(code), str(target))
    # A folder that is not empty is not replaced by rename either, and no artifact is empty.
    os.rename(source, target)
