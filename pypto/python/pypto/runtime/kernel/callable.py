"""What was registered with the Worker: which artifact, in which context, under which handle."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from pypto.runtime import _execution_mode


class ArtifactIdentity:
    """Tells whether two artifacts are one for registration.

    A cached artifact is its ArtifactKey: the content. A private one is the object itself, because its
    folder may be overwritten; the identity keeps it alive, so that its id cannot come back.
    """

    __slots__ = ("_key", "_artifact")

    def __init__(self, artifact: Any) -> None:
        self._key = artifact.key
        self._artifact = artifact if self._key is None else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArtifactIdentity):
            return NotImplemented
        return self._key == other._key and self._artifact is other._artifact

    def __hash__(self) -> int:
        return hash(self._key) if self._key is not None else id(self._artifact)

    def __repr__(self) -> str:
        return f"<artifact {self._key if self._key is not None else hex(id(self._artifact))}>"


@dataclass(frozen=True, eq=False)
class KernelRegistration:
    """A callable that the Worker of one context knows. `handle` is opaque."""

    identity: ArtifactIdentity
    generation: int
    handle: Any = field(repr=False)
    callable: Any = field(repr=False)
    artifact: Any = field(repr=False)
    owner: Any = field(repr=False)
    pid: int = field(default_factory=os.getpid)

    def require_live(self, owner: Any, generation: int) -> None:
        """RuntimeError unless it belongs to this process, this manager and this context."""
        if self.pid != os.getpid():
            raise RuntimeError(f"Kernel registration: {_execution_mode.SPAWN_HINT}")
        if self.owner is not owner or self.generation != generation:
            raise RuntimeError(
                "Kernel registration: it was made in a context that has ended or by another manager"
            )
