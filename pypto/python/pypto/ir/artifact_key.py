"""What a compiled artifact is made of, as digests: `ToolchainIdentity`, `ArtifactKey`.

Values are written in a typed form before they are hashed, so that 1, 1.0, True and "1" differ and
nothing depends on how an object prints itself.
"""

from __future__ import annotations

import functools
import hashlib
import json
import struct
from dataclasses import dataclass
from typing import Any

IDENTITY_SCHEMA = 1
ARTIFACT_SCHEMA = 3


def encode_record(value: Any) -> bytes:
    """The typed form of None, bool, int, float, str, bytes, list, tuple and dict (with str keys) as
    canonical JSON. TypeError for other types, ValueError for a value that contains itself."""
    typed = _typed(value, set())
    return json.dumps(["pypto.identity", IDENTITY_SCHEMA, typed], separators=(",", ":")).encode()


def digest_record(value: Any) -> str:
    """SHA-256 of the typed form, in hex."""
    return hashlib.sha256(encode_record(value)).hexdigest()


def _typed(value: Any, above: set[int]) -> list:
    if value is None:
        return ["none"]
    kind = type(value)
    if kind is bool:
        return ["bool", value]
    if kind is int:
        return ["int", str(value)]
    if kind is float:
        return ["float64", struct.pack(">d", value).hex()]
    if kind is str:
        return ["str", value.encode("utf-8", "surrogatepass").hex()]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind not in (list, tuple, dict):
        raise TypeError(f"{kind.__name__} has no typed form; an identity is made of plain values")
    if id(value) in above:
        raise ValueError("a value that contains itself has no typed form")
    above.add(id(value))
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"a dict of an identity has the key {key!r}; keys are texts")
        items = [[_typed(key, above), _typed(value[key], above)] for key in sorted(value)]
        made = ["dict", items]
    else:
        made = [kind.__name__, [_typed(item, above) for item in value]]
    above.discard(id(value))
    return made


@dataclass(frozen=True)
class ToolchainIdentity:
    """What compiles and runs an artifact: one digest or build id for each part.

    A part that could not be identified is None, and `failures` says why. An identity that is not
    `usable` never becomes a key: what is compiled with it is not kept.
    """

    pypto: str | None
    runtime: str | None
    pto_isa: str | None
    ptoas: str | None
    device_toolchain: str | None
    failures: tuple[str, ...] = ()
    schema: int = IDENTITY_SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "failures", tuple(self.failures))

    @property
    def parts(self) -> dict[str, str | None]:
        return {
            name: getattr(self, name)
            for name in ("pypto", "runtime", "pto_isa", "ptoas", "device_toolchain")
        }

    @property
    def usable(self) -> bool:
        return all(self.parts.values()) and not self.failures

    @functools.cached_property
    def digest(self) -> str:
        """ValueError when a part is missing."""
        if not self.usable:
            missing = [name for name, value in self.parts.items() if not value]
            why = "; ".join(self.failures) or f"no identity of {', '.join(missing)}"
            raise ValueError(f"the toolchain is not identified: {why}")
        return digest_record(["toolchain", self.schema, self.parts])


@dataclass(frozen=True)
class ArtifactKey:
    """Identity of an artifact: toolchain, source, specialisation (arguments, options and the contract,
    PROGRAM or KERNEL, that was asked for). Addresses, scalar values of calls and streams are no part of
    it."""

    environment: ToolchainIdentity
    source_digest: str
    specialization_digest: str

    @functools.cached_property
    def digest(self) -> str:
        return digest_record(
            [
                "artifact",
                ARTIFACT_SCHEMA,
                self.environment.digest,
                self.source_digest,
                self.specialization_digest,
            ]
        )

    @property
    def components(self) -> dict[str, Any]:
        """What the digest is made of, for the manifest of a stored artifact."""
        return {
            "toolchain": self.environment.parts,
            "source": self.source_digest,
            "specialization": self.specialization_digest,
        }


@functools.cache
def toolchain_identity() -> ToolchainIdentity:
    """The toolchain of this process.

    Parts are the build ids of the libraries that make and run code: the linker derives them from their
    contents, so nothing has to be walked. `ptoas` is linked into the compiler and has its id; the
    device's toolchain is the code generator for this CPU with the instruction set that is asked for.
    """
    from pypto import bridge, knobs
    from pypto.ir.build_id import build_id

    failures: list[str] = []

    def identify(what: str, path: str | None) -> str | None:
        try:
            if path is None:
                raise ValueError(f"no library of {what} is loaded")
            return f"build-id:{build_id(path)}"
        except (OSError, ValueError) as error:
            failures.append(f"{what}: {error}")
            return None

    def loaded(word: str) -> str | None:
        return next((path for path in bridge.core().library_paths() if word in path), None)

    compiler = identify("pypto", bridge.compiler_path())
    return ToolchainIdentity(
        pypto=compiler,
        runtime=identify("runtime", loaded("libsimpler")),
        pto_isa=identify("pto_isa", loaded("libpto_kernels")),
        ptoas=compiler and f"in pypto, {compiler}",
        device_toolchain=f"cpu {bridge.core().host_id()} isa {knobs.get('PTO_ISA')}",
        failures=tuple(failures),
    )
