"""compiled_meta.json: signatures, results, target and verified contracts of one entry.

Schema 3 is written, 1 to 3 are read. Files of schema 1 and 2 describe programs; that they could serve
as kernels is never concluded from them.
"""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pypto.enums import BackendType
from pypto.ir.param_info import (
    MAX_RANK,
    ParamDirection,
    ParamInfo,
    check_return_aliases,
    check_unique_names,
    external_name,
    lowered_form,
)
from pypto.runtime.config import PLATFORMS

SCHEMA = 3
FILE = "compiled_meta.json"
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")

# Arguments of one run on one chip: simpler's argument block.
MAX_TENSORS = 256
MAX_SCALARS = 128


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
    """An artifact that cannot be used as asked. The text names it and says what to do."""


@dataclass(frozen=True)
class ExecutionCapabilities:
    """The contracts that an artifact was compiled and checked for: those that were asked for, no more."""

    modes: frozenset[ArtifactExecutionMode]

    def __init__(self, modes: Iterable[ArtifactExecutionMode]):
        object.__setattr__(self, "modes", frozenset(modes))
        if not self.modes or not all(isinstance(m, ArtifactExecutionMode) for m in self.modes):
            raise ValueError("an artifact supports at least one of program, kernel")

    def record(self) -> list[str]:
        """JSON form (`supported_execution_modes`)."""
        return sorted(mode.value for mode in self.modes)

    @classmethod
    def from_record(cls, record: Any) -> ExecutionCapabilities:
        """ValueError for unknown, repeated or no modes."""
        known = {mode.value: mode for mode in ArtifactExecutionMode}
        if not isinstance(record, list) or not record:
            raise ValueError(f"supported_execution_modes is {record!r}")
        if not all(isinstance(each, str) and each in known for each in record):
            raise ValueError(f"supported_execution_modes is {record!r}: known are {sorted(known)}")
        if len(set(record)) != len(record):
            raise ValueError(f"supported_execution_modes is {record!r}: a mode is named twice")
        return cls(known[each] for each in record)

    def require(self, mode: ArtifactExecutionMode, what: str = "the artifact") -> None:
        """ArtifactError when `mode` is not among them."""
        if mode not in self.modes:
            raise ArtifactError(
                f"{what} was compiled and checked for {', '.join(self.record())} use, not as a "
                f"{mode.value}; compile it again with contract {mode.name}"
            )


@dataclass(frozen=True)
class KernelInfo:
    """A kernel that an entry launches: its name, the cores it runs on (aic, aiv, mix), and the words IN,
    OUT, INOUT for its tensors."""

    name: str
    core_type: str
    signature: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "core_type": self.core_type,
            "signature": list(self.signature),
        }

    @classmethod
    def from_record(cls, record: Any) -> KernelInfo:
        try:
            name, core, words = record["name"], record["core_type"], record["signature"]
            good = isinstance(name, str) and core in ("aic", "aiv", "mix")
            good = good and isinstance(words, list) and set(words) <= {"IN", "OUT", "INOUT"}
        except (TypeError, KeyError):
            good = False
        if not good:
            raise ValueError(f"kernels holds {record!r}")
        return cls(name, core, tuple(words))


@dataclass(frozen=True)
class ArtifactMetadata:
    """What compiled_meta.json says about an entry.

    `params` is the signature that callers see: calls bind to it, outputs are allocated from it.
    `lowered_params` is the one that the code was found to have; None where it is not known (schema 1, 2,
    or no canonical form). `return_aliases` has for each result its position in `params`, None where only
    the number of results is known.
    """

    entry: str
    params: tuple[ParamInfo, ...]
    lowered_params: tuple[ParamInfo, ...] | None
    return_count: int
    return_aliases: tuple[int, ...] | None
    platform: str
    backend_type: BackendType
    capabilities: ExecutionCapabilities
    runtime: str = RUNTIMES[0]
    kernels: tuple[KernelInfo, ...] = ()  # by first use: the position is the func_id
    entries: tuple[str, ...] = ()  # names of all entries where there are several

    @property
    def param_names(self) -> tuple[str, ...]:
        return tuple(param.name for param in self.params)

    @property
    def output_indices(self) -> tuple[int, ...]:
        """Positions of the parameters that are written and not read."""
        return tuple(
            index
            for index, param in enumerate(self.params)
            if param.is_tensor and param.direction is ParamDirection.Out
        )

    @property
    def has_return(self) -> bool:
        return self.return_count > 0

    @property
    def results(self) -> tuple[int, ...]:
        """Positions in `params` of what a call gives back: the aliases, or the outputs in order."""
        return self.output_indices if self.return_aliases is None else self.return_aliases

    @property
    def execution_mode(self) -> ExecutionMode:
        return ExecutionMode.SIM if self.platform.endswith("sim") else ExecutionMode.ONBOARD

    @property
    def arch(self) -> str:
        return self.platform.removesuffix("sim")

    def on(self, platform: str | None, what: str = "the artifact") -> ArtifactMetadata:
        """The same for an explicit target. ArtifactError for a platform of another chip."""
        if platform is None or platform == self.platform:
            return self
        if platform not in PLATFORMS:
            raise ArtifactError(
                f"{what}: platform {platform!r} does not exist; one of {', '.join(PLATFORMS)}"
            )
        if platform.removesuffix("sim") != self.arch:
            raise ArtifactError(
                f"{what} is compiled for {self.platform}; compile it again for {platform}"
            )
        return replace(self, platform=platform)

    def record(self) -> dict[str, Any]:
        """The JSON form, schema 3."""
        record = {
            "schema": SCHEMA,
            "entry": self.entry,
            "params": [param.record() for param in self.params],
            "lowered_params": None
            if self.lowered_params is None
            else [param.record() for param in self.lowered_params],
            "num_return_types": self.return_count,
            "return_aliases": None if self.return_aliases is None else list(self.return_aliases),
            "platform": self.platform,
            "backend_type": self.backend_type.name,
            "runtime": self.runtime,
            "supported_execution_modes": self.capabilities.record(),
            "kernels": [kernel.record() for kernel in self.kernels],
        }
        if self.entries:
            record["entries"] = list(self.entries)
        return record

    def text(self) -> str:
        return json.dumps(self.record(), indent=2) + "\n"

    @classmethod
    def from_record(cls, record: Any, what: str) -> ArtifactMetadata:
        """Reads the JSON form of schema 1 to 3. ArtifactError names `what` and the field."""
        try:
            return _read(cls, record)
        except ValueError as error:
            raise ArtifactError(
                f"{what}: {error}. Compile the program again with ir.compile()"
            ) from None

    @classmethod
    def read(cls, directory: str | os.PathLike) -> ArtifactMetadata:
        """Reads a folder's compiled_meta.json. FileNotFoundError where there is none."""
        path = os.path.join(os.fspath(directory), FILE)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} does not exist: the folder holds no compiled program; write one with"
                " ir.compile(program, output_dir)"
            ) from None
        try:
            record = json.loads(data, object_pairs_hook=_no_repeats)
        except (ValueError, RecursionError) as error:
            raise ArtifactError(
                f"{path} is not JSON: {error}. Compile the program again with ir.compile()"
            ) from None
        return cls.from_record(record, path)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _read(cls: type[ArtifactMetadata], record: Any) -> ArtifactMetadata:
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    schema = record.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise ValueError(f"schema is {schema!r}; this version reads 1 to {SCHEMA}")
    params = _params(record, "params")
    count = record.get("num_return_types")
    if type(count) is not int or count < 0:
        raise ValueError(f"num_return_types is {count!r}")
    platform = record.get("platform")
    if platform not in PLATFORMS:
        raise ValueError(f"platform is {platform!r}")
    backend = record.get("backend_type")
    if not isinstance(backend, str) or backend not in BackendType.__members__:
        raise ValueError(f"backend_type is {backend!r}")
    common = dict(
        params=params,
        return_count=count,
        platform=platform,
        backend_type=BackendType[backend],
    )
    if schema < SCHEMA:
        return cls(
            entry="",
            lowered_params=None,
            return_aliases=None,
            capabilities=ExecutionCapabilities([ArtifactExecutionMode.PROGRAM]),
            **common,
        )
    entry = record.get("entry")
    if not isinstance(entry, str) or not entry:
        raise ValueError(f"entry is {entry!r}")
    runtime = record.get("runtime")
    if runtime not in RUNTIMES:
        raise ValueError(f"runtime is {runtime!r}")
    entries = record.get("entries", [])
    if not isinstance(entries, list) or not all(isinstance(e, str) and e for e in entries):
        raise ValueError(f"entries is {entries!r}")
    kernels = record.get("kernels", [])
    if not isinstance(kernels, list):
        raise ValueError(f"kernels is {kernels!r}")
    for field in ("lowered_params", "return_aliases"):
        if field not in record:
            raise ValueError(f"{field} is missing")
    lowered = None if record["lowered_params"] is None else _params(record, "lowered_params")
    aliases = record["return_aliases"]
    if aliases is not None:
        if not isinstance(aliases, list):
            raise ValueError(f"return_aliases is {aliases!r}")
        aliases = check_return_aliases(params, aliases, "return_aliases")
        if len(aliases) != count:
            raise ValueError(f"return_aliases has {len(aliases)} entries for {count} results")
    made = cls(
        entry=entry,
        lowered_params=lowered,
        return_aliases=aliases,
        capabilities=ExecutionCapabilities.from_record(record.get("supported_execution_modes")),
        runtime=runtime,
        kernels=tuple(map(KernelInfo.from_record, kernels)),
        entries=tuple(entries),
        **common,
    )
    if lowered is not None:
        check_lowered_signature(params, lowered)
    if ArtifactExecutionMode.KERNEL in made.capabilities.modes:
        check_kernel_metadata(made)
    return made


def _params(record: dict[str, Any], field: str) -> tuple[ParamInfo, ...]:
    listed = record.get(field)
    if not isinstance(listed, list):
        raise ValueError(f"{field} is {listed!r}")
    params = tuple(ParamInfo.from_record(each) for each in listed)
    check_unique_names(params, field)
    return params


# Rules at the boundary of one chip.


def check_pool_capacity(params: Sequence[ParamInfo], what: str = "the program") -> None:
    """ValueError where the arguments of one run do not fit the chip's argument block. Programs of
    several chips are not bound by it: each chip's part is checked by itself."""
    for kind, found, most in (
        ("tensors", [p for p in params if p.is_tensor], MAX_TENSORS),
        ("scalars", [p for p in params if p.is_scalar], MAX_SCALARS),
    ):
        if len(found) > most:
            raise ValueError(
                f"{what} takes {len(found)} {kind}; one run on a chip takes {most} (the first "
                f"that does not fit is {found[most].name!r})"
            )


def check_lowered_signature(params: Sequence[ParamInfo], lowered: Sequence[ParamInfo]) -> None:
    """ValueError where the code takes other parameters than callers pass: their number, order, names,
    directions, element types, or how they lie in memory."""
    if len(params) != len(lowered):
        raise ValueError(f"lowering made {len(lowered)} parameters of {len(params)}")
    for index, (param, made) in enumerate(zip(params, lowered, strict=True)):
        want = lowered_form(param)
        where = f"lowering changed parameter {index} ({param.name!r})"
        if external_name(made.name) != param.name:
            raise ValueError(f"{where}: its name is {made.name!r}")
        for field in ("direction", "dtype", "layout", "shape", "strides"):
            have, expected = _value(made, field), _value(want, field)
            if have != expected:
                raise ValueError(f"{where}: its {field} is {have}, expected is {expected}")


def _value(param: ParamInfo, field: str) -> Any:
    value = getattr(param, field)
    if field == "layout":
        return value or "ND"
    return value.value if isinstance(value, ParamDirection) else value


def check_kernel_metadata(metadata: ArtifactMetadata) -> None:
    """ValueError where metadata lack what a kernel needs."""
    if metadata.lowered_params is None:
        raise ValueError("a kernel needs lowered_params")
    if metadata.return_aliases is None:
        raise ValueError("a kernel needs return_aliases")
    if metadata.entries:
        raise ValueError(f"a kernel has one entry, not {', '.join(metadata.entries)}")
    check_pool_capacity(metadata.params, "the kernel")
    for param in metadata.params:
        if param.is_tensor and not 1 <= len(param.shape) <= MAX_RANK:
            raise ValueError(
                f"tensor {param.name!r} has rank {len(param.shape)}, not 1 to {MAX_RANK}"
            )
        if param.is_scalar and param.direction is not ParamDirection.In:
            raise ValueError(f"scalar {param.name!r} is {param.direction.value}; scalars are In")
