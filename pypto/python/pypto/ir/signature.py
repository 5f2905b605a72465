"""The compiler's description of an entry as metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto import dtypes
from pypto.enums import BackendType, RuntimeKind
from pypto.ir.artifact_metadata import (
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    ExecutionCapabilities,
    KernelInfo,
    check_kernel_metadata,
    check_lowered_signature,
)
from pypto.ir.param_info import ParamDirection, ParamInfo, carrier_shape, external_name

DIRECTIONS = {
    "in": ParamDirection.In,
    "out": ParamDirection.Out,
    "inout": ParamDirection.InOut,
}
RUNTIMES = {
    RuntimeKind.TENSORMAP_AND_RINGBUFFER: "tensormap_and_ringbuffer",
    RuntimeKind.HOST_BUILD_GRAPH: "host_build_graph",
}


def param_of(described: dict[str, Any]) -> ParamInfo:
    """A parameter as the compiler describes it, under the name that callers know."""
    dtype = dtypes.ALL[described["dtype"]]
    name = external_name(described["name"])
    if not described["tensor"]:
        return ParamInfo(name, ParamDirection.In, None, dtype)
    return ParamInfo(
        name,
        DIRECTIONS[described["direction"]],
        carrier_shape(described["shape"], dtype),
        dtype,
        described["layout"] or "ND",
        tuple(described["dynamic"]) if any(described["dynamic"]) else (),
        tuple(described["strides"]),
    )


def lowered_params_of(
    unit: dict[str, Any], params: Sequence[ParamInfo]
) -> tuple[ParamInfo, ...] | None:
    """The signature of the lowered code, if it is that of `params`; None where there is none.

    ArtifactError where there is one and it differs: callers and code would not agree about memory.
    """
    if not unit["lowered_params"] and params:
        return None
    lowered = tuple(map(param_of, unit["lowered_params"]))
    try:
        check_lowered_signature(params, lowered)
    except ValueError as error:
        raise ArtifactError(f"{unit['name']}: {error}") from None
    return lowered


def metadata_of(
    unit: dict[str, Any],
    *,
    platform: str,
    mode: ArtifactExecutionMode = ArtifactExecutionMode.PROGRAM,
    runtime: str = RUNTIMES[RuntimeKind.TENSORMAP_AND_RINGBUFFER],
    entries: Sequence[str] = (),
) -> ArtifactMetadata:
    """Metadata of a compiled entry, for the one contract that was asked for.

    A program whose lowered signature has no canonical form gets none; a kernel needs it (ArtifactError).
    """
    params = tuple(map(param_of, unit["params"]))
    try:
        lowered = lowered_params_of(unit, params)
    except ArtifactError:
        if mode is ArtifactExecutionMode.KERNEL:
            raise
        lowered = None
    metadata = ArtifactMetadata(
        entry=unit["name"],
        params=params,
        lowered_params=lowered,
        return_count=len(unit["returns"]),
        return_aliases=tuple(unit["returns"]),
        platform=platform,
        backend_type=BackendType.Ascend950 if platform.startswith("a5") else BackendType.Ascend910B,
        capabilities=ExecutionCapabilities([mode]),
        runtime=runtime,
        kernels=tuple(
            KernelInfo(
                kernel["name"],
                kernel["core_type"],
                tuple(word.upper() for word in kernel["signature"]),
            )
            for kernel in unit["kernel_descriptions"]
        ),
        entries=tuple(entries) if len(entries) > 1 else (),
    )
    if mode is ArtifactExecutionMode.KERNEL:
        try:
            check_kernel_metadata(metadata)
        except ValueError as error:
            raise ArtifactError(f"{unit['name']}: {error}") from None
    return metadata


def signature_of(program: Any, platform: str) -> ArtifactMetadata:
    """Metadata of a program at hand, from what it declares. How its code takes the parameters is left
    open: nothing is lowered."""
    from pypto import bridge
    from pypto.program import program_of
    from pypto.source import snapshot

    made = program_of(program)
    options = {**bridge.default_options(), "platform": platform, "import_only": True}
    result = bridge.compile_program(
        made.name, True, made.functions, snapshot(made.functions), None, options
    )
    units = [result["unit"], *result["others"]]
    return metadata_of(units[0], platform=platform, entries=[unit["name"] for unit in units])
