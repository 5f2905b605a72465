"""Compiled programs on disk.

An entry is one file: a line of magic and digest, a JSON header, the shared object. Its name is the key,
the SHA-256 of everything the code depends on, so an entry is never changed, only removed. A file is
written under another name, synced and renamed; a reader sees all of it or none. An entry that does not
read back as written is removed and counts as absent. Where the folder cannot be written, programs
are compiled each time; one warning says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path

from pypto import knobs

_MAGIC = b"PTOCACHE1 "
_SUFFIX = ".pto"
_STALE_SECONDS = 3600  # temporary files of writers that died

_warned: set[str] = set()


def key_of(*parts: str) -> str:
    """Digest of texts; their borders count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def enabled() -> bool:
    return knobs.get("PTO_CACHE")


def folder() -> Path:
    return Path(knobs.get("PTO_CACHE_DIR")) / "programs"


def load(key: str) -> tuple[dict, bytes] | None:
    """Header and shared object of an entry, or None."""
    if not enabled():
        return None
    path = folder() / (key + _SUFFIX)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    entry = _unpack(data)
    if entry is None:
        _remove(path)
        return None
    try:
        os.utime(path)  # what was used last goes last
    except OSError:
        pass  # a cache that may only be read
    return entry


def part_of(key: str, index: int) -> str:
    """Key of one of several entries that belong together; the first has the key itself."""
    return key if index == 0 else key_of(key, str(index))


def load_all(key: str) -> list[tuple[dict, bytes]] | None:
    """All entries of a program, whose first says how many there are; None unless every one is there."""
    first = load(key)
    if first is None:
        return None
    entries = [first]
    for index in range(1, first[0].get("units", 1)):
        entry = load(part_of(key, index))
        if entry is None:
            return None
        entries.append(entry)
    return entries


def store(key: str, header: dict, code: bytes) -> bool:
    """Publishes an entry; False where that was not possible. Existing entries stay."""
    if not enabled():
        return False
    root = folder()
    path = root / (key + _SUFFIX)
    if path.exists():
        return True
    data = _pack(header, code)
    limit = knobs.get("PTO_CACHE_SIZE")
    if len(data) > limit:
        return False
    temporary = None
    try:
        root.mkdir(parents=True, exist_ok=True)
        _make_room(root, limit - len(data))
        handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=root)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
        return True
    except OSError as error:
        if temporary:
            _remove(Path(temporary))
        _warn(root, error)
        return False


def clear() -> None:
    """Removes every entry."""
    for path in _files(folder()):
        _remove(path)


def size() -> tuple[int, int]:
    """Number of entries and their bytes."""
    sizes = [path.stat().st_size for path in _files(folder()) if path.suffix == _SUFFIX]
    return len(sizes), sum(sizes)


def _pack(header: dict, code: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    body = len(text).to_bytes(8, "little") + text + code
    return _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _unpack(data: bytes) -> tuple[dict, bytes] | None:
    start = len(_MAGIC) + 65
    body = data[start:]
    if len(body) < 8 or not data.startswith(_MAGIC):
        return None
    if data[len(_MAGIC) : start] != hashlib.sha256(body).hexdigest().encode() + b"\n":
        return None
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length]), body[8 + length :]


def _files(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if path.suffix == _SUFFIX or path.name[0] == "."]
    except OSError:
        return []


def _make_room(root: Path, limit: int) -> None:
    """Removes the least recently used entries until `limit` bytes are not exceeded."""
    entries = []
    newest = 0.0
    for path in _files(root):
        try:
            status = path.stat()
        except OSError:  # another process removed it
            continue
        entries.append((status.st_mtime, status.st_size, path))
        newest = max(newest, status.st_mtime)
    for when, _, path in entries:
        if path.name.startswith(".tmp-") and when < newest - _STALE_SECONDS:
            _remove(path)
    entries = sorted(entry for entry in entries if entry[2].suffix == _SUFFIX)
    total = sum(entry[1] for entry in entries)
    for _, length, path in entries:
        if total <= limit:
            break
        _remove(path)
        total -= length


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass


def _warn(root: Path, error: OSError) -> None:
    if str(root) in _warned:
        return
    _warned.add(str(root))
    warnings.warn(
        f"compiled programs are not kept: {root}: {error.strerror or error}"
        " (PTO_CACHE_DIR names another folder, PTO_CACHE=0 turns the cache off)",
        RuntimeWarning,
        stacklevel=2,
    )
