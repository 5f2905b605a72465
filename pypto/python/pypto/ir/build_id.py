"""Build ids of shared objects: the digest of their contents that the linker wrote into them."""

from __future__ import annotations

import os
import struct

_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3
_MOST_NOTES = 1 << 16  # bytes of notes worth reading


def build_id(path: str | os.PathLike) -> str:
    """The GNU build id of an ELF file, in hex. ValueError where it has none, OSError where it cannot be
    read. Reads headers only."""
    with open(path, "rb") as file:
        header = file.read(64)
        if len(header) < 64 or header[:4] != b"\x7fELF" or header[4] != 2 or header[5] != 1:
            raise ValueError(f"{os.fspath(path)} is no 64-bit little-endian ELF file")
        offset, size, count = (
            struct.unpack_from("<Q", header, 32)[0],
            *struct.unpack_from("<HH", header, 54),
        )
        file.seek(offset)
        table = file.read(size * count)
        for index in range(count):
            if len(table) < (index + 1) * size or size < 56:
                break
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", table, index * size)
            if kind != _PT_NOTE or length > _MOST_NOTES:
                continue
            file.seek(at)
            found = _in_notes(file.read(length))
            if found:
                return found
    raise ValueError(f"{os.fspath(path)} has no build id; link it with --build-id")


def _in_notes(notes: bytes) -> str | None:
    at = 0
    while at + 12 <= len(notes):
        name_length, length, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12 : at + 12 + name_length]
        at += 12 + (name_length + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and name == b"GNU\0":
            return notes[at : at + length].hex() or None
        at += (length + 3) // 4 * 4
    return None
