"""Identity of registered callables: a hash of what they are, and a handle that one worker gave out."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

CHIP_CALLABLE = "CHIP_CALLABLE"
PYTHON_SERIALIZED = "PYTHON_SERIALIZED"


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def chip_digest(chip: Any, arch: str, platform: str, runtime: str) -> str:
    """SHA-256 over kind, target, contents and signature (little-endian)."""
    directions = [int(d) for d in chip.signature]
    signature = struct.pack(f"<II{len(directions)}I", 1, len(directions), *directions)
    text = struct.pack("<II", 1, 1) + _text(arch) + _text(platform) + _text(runtime)
    text += hashlib.sha256(chip.to_bytes()).digest() + hashlib.sha256(signature).digest()
    return "sha256:" + hashlib.sha256(text).hexdigest()


def python_digest(function: Any) -> str:
    """Functions stay in this process: their identity is where they are defined and the object."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}:{id(function)}"
    return "sha256:" + hashlib.sha256(struct.pack("<II", 1, 2) + name.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class CallableHandle:
    """What `Worker.register` returns. Valid for that worker until it is unregistered."""

    hashid: str
    kind: str
    target_namespace: str
    owner: int
    slot: int
