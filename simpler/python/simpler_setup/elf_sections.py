"""Sections of ELF files."""

from __future__ import annotations

import struct


def extract_text_section(elf: bytes) -> bytes:
    """The bytes of `.text` of a 64-bit little-endian ELF file."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    entry, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)

    def header(i: int) -> tuple[int, int, int]:
        (name,) = struct.unpack_from("<I", elf, offset + i * entry)
        start, size = struct.unpack_from("<QQ", elf, offset + i * entry + 0x18)
        return name, start, size

    names = header(names_at)[1]
    for i in range(count):
        name, start, size = header(i)
        if elf[names + name : elf.index(b"\0", names + name)] == b".text":
            return elf[start : start + size]
    raise ValueError("the ELF file has no .text section")
