"""`ir.compile`: a class program to a `CompiledProgram`; `_compile_artifact`: one entry to an artifact."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypto import backend, bridge, cache, knobs
from pypto.enums import (
    BackendType,
    MemoryPlanner,
    OptimizationStrategy,
    PassDumpLevel,
    RuntimeKind,
    VerificationLevel,
)
from pypto.errors import ArgumentTypeError, ArgumentValueError, UnsupportedFeatureError
from pypto.ir import output_folder
from pypto.ir.artifact import ArtifactExecutionMode, ArtifactMetadata, CompiledArtifact
from pypto.ir.artifact_key import ArtifactKey, digest_record, toolchain_identity
from pypto.ir.compiled import CompiledProgram
from pypto.ir.signature import RUNTIMES, metadata_of
from pypto.program import program_of
from pypto.runtime.config import PLATFORMS
from pypto.source import Record, Snapshot, snapshot

if TYPE_CHECKING:
    from pypto.runtime.artifact_store import ArtifactStore


@dataclass(frozen=True)
class CompileRequest:
    """What is compiled, for what: source, arguments, options and the contract."""

    name: str
    is_class: bool
    records: list[Record]
    snap: Snapshot
    specs: Sequence[tuple] | None  # None: what the annotations say
    options: dict[str, Any]
    platform: str
    runtime: str
    contract: ArtifactExecutionMode = ArtifactExecutionMode.PROGRAM
    planner: MemoryPlanner | None = None  # of the texts; machine code does not depend on it

    @property
    def compiler_options(self) -> dict[str, Any]:
        return {
            **self.options,
            "platform": self.platform,
            "kernel_contract": self.contract is ArtifactExecutionMode.KERNEL,
            "host_build_graph": self.runtime == RUNTIMES[RuntimeKind.HOST_BUILD_GRAPH],
        }

    @property
    def specialization(self) -> list[Any]:
        """What the code depends on besides its source, in a typed form."""
        return [
            "class" if self.is_class else "function",
            self.name,
            None if self.specs is None else [_typed_spec(spec) for spec in self.specs],
            dict(sorted(self.compiler_options.items())),
            self.runtime,
            self.contract.value,
        ]

    def cache_key(self) -> str:
        """Key of the programs on disk (pypto.cache)."""
        return bridge.key_for(
            self.snap, ("artifact", digest_record(self.specialization)), self.compiler_options
        )

    def artifact_key(self) -> ArtifactKey:
        """Key of the artifact store."""
        return ArtifactKey(
            toolchain_identity(),
            digest_record(["source", list(self.snap.texts)]),
            digest_record(self.specialization),
        )


def _typed_spec(spec: tuple) -> list[Any]:
    """An argument specification in plain lists; values of constants by their own text."""
    return [
        list(part)
        if isinstance(part, tuple)
        else part
        if part is None or isinstance(part, (bool, int, float, str))
        else repr(part)
        for part in spec
    ]


@dataclass(frozen=True)
class CompiledFiles:
    """What passes and code generation gave: lowered programs and how they were built. Nothing of it runs."""

    request: CompileRequest
    result: dict[str, Any]
    metadata: tuple[ArtifactMetadata, ...]  # of each entry
    directory: str | None

    @property
    def lowered(self) -> str:
        return self.result["unit"]["lowered"]

    def write(
        self, folder: str, *, dumps: bool = False, profile: bool = False, assembled: bool = True
    ) -> None:
        output_folder.write(
            folder,
            self.result,
            self.metadata,
            dumps=dumps,
            profile=profile,
            assembled=assembled,
        )


def _compile_to_files(
    request: CompileRequest,
    output_dir: str | os.PathLike | None = None,
    *,
    dumps: bool = False,
    profile: bool = False,
    assembled: bool = True,
    code: bool = True,
) -> CompiledFiles:
    """Passes and code generation, for programs and kernels alike; writes the folder where one is given.

    Without `code` it stops at the lowered program, from which machine code is made later. Makes no
    object that runs anything. Errors of the program are raised with their place.
    """
    emit = {
        "emit_pto": output_dir is not None or not code,
        "bake_addresses": request.planner is not MemoryPlanner.PTOAS,
        "emit_lowered": output_dir is not None or not code,
        "emit_dumps": output_dir is not None and dumps,
        "lower_only": not code,
    }
    result = bridge.compile_program(
        request.name,
        request.is_class,
        request.records,
        request.snap,
        request.specs,
        {**request.compiler_options, **emit},
    )
    units = [result["unit"], *result["others"]]
    names = [unit["name"] for unit in units]
    if result["bake"]:
        return CompiledFiles(request, result, (), None)
    metadata = tuple(
        metadata_of(
            unit,
            platform=request.platform,
            mode=request.contract,
            runtime=request.runtime,
            entries=names,
        )
        for unit in units
    )
    made = CompiledFiles(request, result, metadata, output_dir and os.fspath(output_dir))
    if output_dir is not None:
        made.write(os.fspath(output_dir), dumps=dumps, profile=profile, assembled=assembled)
    return made


def compile(
    program: Any,
    output_dir: str | os.PathLike | None = None,
    strategy: OptimizationStrategy = OptimizationStrategy.Default,
    dump_passes: bool | PassDumpLevel = True,
    backend_type: BackendType = BackendType.Ascend910B,
    skip_ptoas: bool = False,
    verification_level: VerificationLevel | None = None,
    diagnostic_phase: Any = None,
    disabled_diagnostics: Any = None,
    memory_planner: MemoryPlanner | None = None,
    enable_pypto_l0c_double_buffer: bool | None = None,
    profiling: bool = False,
    platform: str | None = None,
    distributed_config: Any = None,
    analyze_auto_scopes_for_deps: bool = False,
    emit_source_loc: bool | None = None,
    dump_ptoas_passes: bool = False,
    runtime: RuntimeKind | None = None,
) -> CompiledProgram:
    """Compiles a program for the signatures of its functions, with the contract PROGRAM.

    Files are written to `output_dir` when it is given; otherwise when `CompiledProgram.output_dir` or
    `save()` asks for them. `dump_passes` decides whether they include the IR of each stage.
    `platform` wins over `backend_type`. With `skip_ptoas` kernels are left as .pto texts. Tiles of .pto texts have addresses (level3), with
    `MemoryPlanner.PTOAS` the assembler gives them (level2). Options about verification and diagnostics
    steer the toolchain for hardware; the native target takes them and checks as it always does.
    """
    made = program_of(program)
    if distributed_config is not None:
        raise UnsupportedFeatureError("programs that span several devices are not available yet")
    if not isinstance(strategy, OptimizationStrategy):
        raise ArgumentTypeError(f"strategy: takes an OptimizationStrategy, got {strategy!r}")
    dumps = dump_passes is True or (
        isinstance(dump_passes, PassDumpLevel) and dump_passes is not PassDumpLevel.NONE
    )
    if output_dir is None and knobs.get("PTO_DUMP"):
        output_dir, dumps = os.path.join(knobs.get("PTO_DUMP"), made.name), True
    request = _request_for(
        made, _platform(platform, backend_type), runtime, ArtifactExecutionMode.PROGRAM
    )
    request = replace(request, planner=_planner(memory_planner))
    files = None
    entries = cache.load_all(request.cache_key())
    if entries is None or output_dir is not None:
        files = _compile_to_files(
            request, output_dir, dumps=dumps, profile=profiling, assembled=not skip_ptoas
        )
        entries = _store(request, files)
    else:
        bridge._replay(entries[0][0]["warnings"])
    write = _Writer(request, files, dumps, profiling, not skip_ptoas)
    return CompiledProgram._wrap(
        _in_memory(entries, write), program=made, header=entries[0][0], folder=output_dir
    )


def _compile_artifact(
    program: Any,
    *args: Any,
    contract: ArtifactExecutionMode = ArtifactExecutionMode.KERNEL,
    platform: str | None = None,
    runtime: RuntimeKind | None = None,
    output_dir: str | os.PathLike | None = None,
    store: ArtifactStore | None = None,
    memory_planner: MemoryPlanner | None = None,
) -> CompiledArtifact:
    """Compiles one entry for one chip, checked for `contract`.

    `program` is a class program, a function or a `@pl.jit` function. For the latter `args` are samples,
    one for each parameter: tensors of torch on any device (meta and fake ones too) or of NumPy,
    ParamInfo, numbers, `pl.RUNTIME`; without samples the annotations decide. With a `store` the artifact
    has a key and is found there again, and its texts have addresses; without one, `memory_planner` is that
    of `compile`. Errors of the program have their place; ArtifactError where it does not meet the contract.
    """
    if not isinstance(contract, ArtifactExecutionMode):
        raise ArgumentTypeError(f"contract: takes an ArtifactExecutionMode, got {contract!r}")
    platform = _platform(platform, BackendType.Ascend910B)
    planner = None if store is not None else _planner(memory_planner)
    make = getattr(program, "artifact_request", None)
    if make is None:
        if args:
            raise ArgumentTypeError(
                "samples are for @pl.jit functions; a program has its annotations"
            )
        request = _request_for(program_of(program), platform, runtime, contract)
        return _artifact(replace(request, planner=planner), output_dir, store, set())
    baked: set[str] = set()
    while True:
        needed: set[int] = set()
        request = replace(make(args, platform, runtime, contract, baked), planner=planner)
        made = _artifact(request, output_dir, store, needed)
        if made is not None:
            return made
        names = {program.names[index] for index in needed} - baked
        if not names:
            raise ArgumentValueError(
                f"{program.__name__}: a parameter is needed as a constant and no value is known",
                hint="give samples with values",
            )
        baked |= names


def function_request(
    implementation: Any,
    specs: Sequence[tuple],
    auto_scope: bool,
    platform: str,
    runtime: RuntimeKind | None,
    contract: ArtifactExecutionMode | None,
) -> CompileRequest:
    """The request for a `@pl.jit` function."""
    record = implementation.record
    return CompileRequest(
        implementation.__name__,
        False,
        [record],
        snapshot([record]),
        specs,
        {**bridge.default_options(), "auto_scope": auto_scope},
        platform,
        _runtime(runtime),
        contract or ArtifactExecutionMode.PROGRAM,
    )


def from_header(
    header: dict[str, Any],
    code: bytes,
    request: Callable[[], CompileRequest],
    result: dict[str, Any] | None,
    *,
    program: Any,
) -> CompiledProgram:
    """The program of a `@pl.jit` function's cache entry. `request` compiles it again where files are
    asked for and the compiler's texts are not at hand."""
    metadata = ArtifactMetadata.from_record(header["metadata"], "the cached program")

    def write(folder: str) -> None:
        if result is not None and result["unit"]["lowered"]:
            output_folder.write(folder, result, [metadata], dumps=True)
        else:
            _compile_to_files(request(), folder, dumps=True)

    artifact = CompiledArtifact(metadata, code=code, write=write)
    return CompiledProgram._wrap(artifact, program=program, header=header)


def _artifact(
    request: CompileRequest,
    output_dir: str | os.PathLike | None,
    store: ArtifactStore | None,
    needed: set[int],
) -> CompiledArtifact | None:
    """None, and positions in `needed`, where the program needs constants."""
    if store is not None and toolchain_identity().usable:
        return _stored(request, store, output_dir, needed)
    files = None
    entries = cache.load_all(request.cache_key()) if output_dir is None else None
    if entries is None:
        files = _compile_to_files(request, output_dir)
        if files.result["bake"]:
            cache.store(request.cache_key(), {"bake": sorted(files.result["bake"])}, b"")
            needed.update(files.result["bake"])
            return None
        _one_entry(request, files.metadata)
        entries = _store(request, files)
    elif "bake" in entries[0][0]:
        needed.update(entries[0][0]["bake"])
        return None
    else:
        bridge._replay(entries[0][0]["warnings"])
    made = _in_memory(entries, _Writer(request, files, False, False))
    if output_dir is not None:
        made._directory = os.path.abspath(output_dir)
    return made


class _NeedsConstants(Exception):
    def __init__(self, positions: list[int]):
        self.positions = positions


def _stored(
    request: CompileRequest, store: ArtifactStore, output_dir: Any, needed: set[int]
) -> CompiledArtifact | None:
    """The artifact from the store, compiled to GENERATED files if need be."""
    from pypto.runtime.artifact_runtime import ArtifactRuntime, generated_spec

    def build(folder: Path) -> None:
        files = _compile_to_files(request, folder, code=False)
        if files.result["bake"]:
            raise _NeedsConstants(files.result["bake"])
        _one_entry(request, files.metadata)

    key = request.artifact_key()
    try:
        found = store.get_or_build(key, generated_spec(request.contract), build)
    except _NeedsConstants as needs:
        needed.update(needs.positions)
        return None
    metadata = ArtifactMetadata.read(found.path)
    runtime = ArtifactRuntime(store, found, metadata.platform, output_dir)
    return CompiledArtifact(metadata, runtime=runtime, key=key)


def _one_entry(request: CompileRequest, metadata: Sequence[ArtifactMetadata]) -> None:
    if len(metadata) != 1:
        raise ArgumentValueError(
            f"{request.name}: an artifact has one entry; this program has"
            f" {', '.join(each.entry for each in metadata)}",
            hint="compile it with ir.compile",
        )


# Inside.


def _platform(platform: str | None, backend_type: BackendType) -> str:
    if platform is None:
        if backend_type is BackendType.Ascend910B and backend.is_backend_configured():
            backend_type = backend.get_backend_type()
        platform = backend.simulator_of(backend_type)
    if platform not in PLATFORMS:
        raise ArgumentValueError(
            f"platform {platform!r} does not exist", hint=f"one of {', '.join(PLATFORMS)}"
        )
    backend.notice(platform)
    return platform


def _planner(planner: MemoryPlanner | None) -> MemoryPlanner | None:
    if planner is not None and not isinstance(planner, MemoryPlanner):
        raise ArgumentTypeError(f"memory_planner: takes a MemoryPlanner, got {planner!r}")
    return planner


def _runtime(runtime: RuntimeKind | None) -> str:
    if runtime is None:
        runtime = RuntimeKind.TENSORMAP_AND_RINGBUFFER
    if not isinstance(runtime, RuntimeKind):
        raise ArgumentTypeError(f"runtime: takes a RuntimeKind, got {runtime!r}")
    return RUNTIMES[runtime]


def _request_for(
    made: Any, platform: str, runtime: RuntimeKind | None, contract: ArtifactExecutionMode
) -> CompileRequest:
    """The request for a class program."""
    return CompileRequest(
        made.name,
        True,
        made.functions,
        snapshot(made.functions),
        None,
        bridge.default_options(),
        platform,
        _runtime(runtime),
        contract,
    )


def _store(request: CompileRequest, files: CompiledFiles) -> list[tuple[dict[str, Any], bytes]]:
    """Headers and code of the entries, put into the cache on disk."""
    key = request.cache_key()
    units = [files.result["unit"], *files.result["others"]]
    entries = []
    for index, (unit, metadata) in enumerate(zip(units, files.metadata, strict=True)):
        header = {
            "metadata": metadata.record(),
            "stage_ms": unit["stage_ms"],
            "units": len(units),
            "warnings": files.result["warnings"],
        }
        # All entries are in one object; it is kept with the first.
        cache.store(cache.part_of(key, index), header, unit["code"] if index == 0 else b"")
        entries.append((header, unit["code"] if index == 0 else b""))
    return entries


def _in_memory(entries: list[tuple[dict[str, Any], bytes]], write: Any) -> CompiledArtifact:
    """The artifact of compiled or cached entries."""
    (header, code), *rest = entries
    others = {}
    for each, _ in rest:
        metadata = ArtifactMetadata.from_record(each["metadata"], "the cached program")
        others[metadata.entry] = CompiledArtifact(metadata, code=code, write=write)
    metadata = ArtifactMetadata.from_record(header["metadata"], "the cached program")
    return CompiledArtifact(metadata, code=code, write=write, others=others)


class _Writer:
    """Writes a program's files when somebody asks for them; compiles again where the texts are not kept."""

    def __init__(
        self,
        request: CompileRequest,
        files: CompiledFiles | None,
        dumps: bool,
        profile: bool,
        assembled: bool = True,
    ):
        self._request = request
        self._files = files
        self._how = {"dumps": dumps, "profile": profile, "assembled": assembled}

    def __call__(self, folder: str) -> None:
        if self._files is None or not self._files.lowered:
            self._files = _compile_to_files(self._request, folder, **self._how)
        else:
            self._files.write(folder, **self._how)
