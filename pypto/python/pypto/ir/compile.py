"""`ir.compile`: a class program to a `CompiledProgram`."""

from __future__ import annotations

import os
from typing import Any

from pypto import backend, bridge, cache, executable, knobs
from pypto.enums import (
    BackendType,
    OptimizationStrategy,
    PassDumpLevel,
    RuntimeKind,
    VerificationLevel,
)
from pypto.errors import ArgumentTypeError, ArgumentValueError, UnsupportedFeatureError
from pypto.ir.compiled import CompiledProgram
from pypto.program import program_of
from pypto.runtime.config import PLATFORMS
from pypto.source import snapshot


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
    memory_planner: Any = None,
    enable_pypto_l0c_double_buffer: bool | None = None,
    profiling: bool = False,
    platform: str | None = None,
    distributed_config: Any = None,
    analyze_auto_scopes_for_deps: bool = False,
    emit_source_loc: bool | None = None,
    dump_ptoas_passes: bool = False,
    runtime: RuntimeKind | None = None,
) -> CompiledProgram:
    """Compiles a program for the signatures of its functions.

    Files are written to `output_dir` when it is given; otherwise when `CompiledProgram.output_dir` or
    `save()` asks for them. `dump_passes` decides whether they include the IR of each stage.
    `platform` wins over `backend_type`. Options about verification, diagnostics and memory planning
    steer the toolchain for hardware; the native target takes them and checks as it always does.
    """
    made = program_of(program)
    if distributed_config is not None:
        raise UnsupportedFeatureError("programs that span several devices are not available yet")
    if not isinstance(strategy, OptimizationStrategy):
        raise ArgumentTypeError(f"strategy: takes an OptimizationStrategy, got {strategy!r}")
    if platform is None:
        if backend_type is BackendType.Ascend910B and backend.is_backend_configured():
            backend_type = backend.get_backend_type()
        platform = backend.simulator_of(backend_type)
    if platform not in PLATFORMS:
        raise ArgumentValueError(
            f"platform {platform!r} does not exist", hint=f"one of {', '.join(PLATFORMS)}"
        )
    backend.notice(platform)
    dumps = dump_passes is True or (
        isinstance(dump_passes, PassDumpLevel) and dump_passes is not PassDumpLevel.NONE
    )
    if output_dir is None and knobs.get("PTO_DUMP"):
        output_dir, dumps = os.path.join(knobs.get("PTO_DUMP"), made.name), True
    options = {**bridge.default_options(), "platform": platform}
    snap = snapshot(made.functions)
    headers = _cached(made, snap, options)
    result = None
    if headers is None or output_dir is not None:
        emit = {"emit_pto": output_dir is not None, "emit_dumps": output_dir is not None and dumps}
        result = bridge.compile_program(
            made.name, True, made.functions, snap, None, {**options, **emit}
        )
        headers = _store(made, snap, options, result)
    units = [(header, executable.load(header, code)) for header, code in headers]
    (header, entry), *others = units
    compiled = CompiledProgram(
        header,
        entry,
        platform=platform,
        program=made,
        result=result,
        others={
            h["name"]: CompiledProgram(h, e, platform=platform, program=made) for h, e in others
        },
        recompile=lambda: bridge.compile_program(
            made.name,
            True,
            made.functions,
            snap,
            None,
            {**options, "emit_pto": True, "emit_dumps": dumps},
        ),
        profile=profiling,
    )
    if output_dir is not None:
        compiled.save(output_dir)
    return compiled


def _cached(made: Any, snap: Any, options: dict[str, Any]) -> list[tuple[dict, bytes]] | None:
    """All entries of a program from disk; None unless every one is there."""
    first = cache.load(bridge.key_for(snap, ("class", made.name, 0), options))
    if first is None:
        return None
    entries = [first]
    for index in range(1, first[0]["units"]):
        entry = cache.load(bridge.key_for(snap, ("class", made.name, index), options))
        if entry is None:
            return None
        entries.append(entry)
    bridge._replay(first[0]["warnings"])
    return entries


def _store(made: Any, snap: Any, options: dict[str, Any], result: dict[str, Any]) -> list:
    units = [result["unit"], *result["others"]]
    entries = []
    for index, unit in enumerate(units):
        order = [param["name"] for param in unit["params"]]
        header = executable.header_of(unit, order, options["platform"], {})
        header["units"] = len(units)
        header["warnings"] = result["warnings"]
        cache.store(
            bridge.key_for(snap, ("class", made.name, index), options), header, unit["code"]
        )
        entries.append((header, unit["code"]))
    return entries
