"""`RunConfig`: how a program is compiled and run."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from pypto.enums import (
    BackendType,
    DiagnosticPhase,
    MemoryPlanner,
    OptimizationStrategy,
    PassDumpLevel,
)
from pypto.errors import ArgumentValueError

PLATFORMS = ("a2a3sim", "a2a3", "a5sim", "a5")

# Accepted and checked; on this target they change nothing, and using one says so once.
_WITHOUT_EFFECT = {
    "aicpu_thread_num": "the simulated device schedules on host threads",
    "ring_task_window": "the runtime's pools grow as needed",
    "ring_heap": "the runtime's pools grow as needed",
    "ring_dep_pool": "the runtime's pools grow as needed",
    "enable_pmu": "there are no hardware counters on the simulated device",
    "enable_chip_swimlane": "this output does not exist yet; trace=file records tasks on their threads",
    "enable_dump_args": "this output does not exist yet",
    "enable_dep_gen": "this output does not exist yet",
    "enable_scope_stats": "this output does not exist yet",
    "analyze_auto_scopes_for_deps": "the runtime finds the edges of AUTO scopes",
    "dump_ptoas_passes": "the native target runs no assembler; dump_passes writes every stage",
}
_said: set[str] = set()


@dataclass
class RunConfig:
    """Options of a call (`entry(…, config=RunConfig(…))`) or of `runtime.run`.

    `platform` is one of a2a3sim, a2a3, a5sim, a5 and decides `backend_type`. Tolerances, `codegen_only`
    and `golden_data_dir` matter to `runtime.run` only. Flags that write files imply `save_kernels`;
    files go to `save_kernels_dir` or to a new folder below build_output. `trace` names a file that gets
    a Chrome/Perfetto trace of the call.
    """

    platform: str = "a2a3sim"
    device_id: int = 0
    rtol: float = 1e-5
    atol: float = 1e-5
    strategy: OptimizationStrategy = OptimizationStrategy.Default
    backend_type: BackendType = BackendType.Ascend910B
    dump_passes: bool | PassDumpLevel = False
    save_kernels: bool = False
    save_kernels_dir: str | None = None
    codegen_only: bool = False
    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    compile_profiling: bool = False
    diagnostic_phase: DiagnosticPhase | None = None
    disabled_diagnostics: Any = None
    golden_data_dir: str | None = None
    aicpu_thread_num: int | None = None
    ring_task_window: int | list[int] | None = None
    ring_heap: int | list[int] | None = None
    ring_dep_pool: int | list[int] | None = None
    distributed_config: Any = None
    analyze_auto_scopes_for_deps: bool = False
    memory_planner: MemoryPlanner | None = None
    dump_ptoas_passes: bool = False
    enable_l2_swimlane: int | None = field(default=None, repr=False)
    trace: str | None = None

    def __post_init__(self):
        if self.platform not in PLATFORMS:
            raise ArgumentValueError(
                f"platform {self.platform!r} does not exist", hint=f"one of {', '.join(PLATFORMS)}"
            )
        self.backend_type = (
            BackendType.Ascend950 if self.platform.startswith("a5") else BackendType.Ascend910B
        )
        if self.enable_l2_swimlane is not None:
            if self.enable_chip_swimlane:
                raise ArgumentValueError(
                    "enable_l2_swimlane and enable_chip_swimlane are one option, given twice",
                    hint="use enable_chip_swimlane",
                )
            warnings.warn(
                "enable_l2_swimlane is now enable_chip_swimlane", DeprecationWarning, stacklevel=3
            )
            self.enable_chip_swimlane = self.enable_l2_swimlane
            self.enable_l2_swimlane = None
        self.enable_chip_swimlane = _level("enable_chip_swimlane", self.enable_chip_swimlane, 4)
        self.enable_dump_args = _level("enable_dump_args", self.enable_dump_args, 2)
        if isinstance(self.dump_passes, bool):
            self.dump_passes = PassDumpLevel.CONCISE if self.dump_passes else PassDumpLevel.NONE
        _ring("ring_task_window", self.ring_task_window, 4, None, power_of_two=True)
        _ring("ring_heap", self.ring_heap, 1024, None, power_of_two=True)
        _ring("ring_dep_pool", self.ring_dep_pool, 4, 2**31 - 1, power_of_two=False)
        if self.any_dfx_enabled():
            self.save_kernels = True
        for name, why in _WITHOUT_EFFECT.items():
            if getattr(self, name) and name not in _said:
                _said.add(name)
                warnings.warn(f"RunConfig.{name} has no effect: {why}", UserWarning, stacklevel=3)

    def any_dfx_enabled(self) -> bool:
        """Whether a flag asks for files about the run."""
        return bool(
            self.enable_chip_swimlane
            or self.enable_dump_args
            or self.enable_pmu
            or self.enable_dep_gen
            or self.enable_scope_stats
        )

    # For the call path.

    @property
    def _call_key(self) -> str | None:
        """What tells programs of one function apart by their config; None when the call itself has to
        be recorded or checked, which Python does."""
        if self.trace or self.any_dfx_enabled():
            return None
        return self._compile_key

    @property
    def _compile_key(self) -> str:
        if self.wants_artifacts:
            return (
                f"{self.platform} {self.dump_passes} {self.save_kernels_dir} {self.compile_profiling}"
                f" {self.memory_planner}"
            )
        return "" if self.platform == _default_platform() else self.platform

    @property
    def wants_artifacts(self) -> bool:
        """Whether compiling writes files."""
        return bool(
            self.save_kernels
            or self.save_kernels_dir
            or self.dump_passes is not PassDumpLevel.NONE
            or self.dump_ptoas_passes
            or self.compile_profiling
            or _dump_folder()
        )

    def without_recording(self) -> RunConfig:
        """The same compilation, for a call that is being recorded already."""
        return replace(
            self,
            trace=None,
            enable_chip_swimlane=0,
            enable_dump_args=0,
            enable_pmu=0,
            enable_dep_gen=False,
            enable_scope_stats=False,
        )

    def save(self, name: str, result: dict[str, Any]) -> str:
        """Writes the files of a compilation and gives their folder."""
        from pypto.ir import output_folder
        from pypto.ir.signature import metadata_of

        dumps = _dump_folder()
        folder = self.save_kernels_dir or (dumps and os.path.join(dumps, name))
        folder = folder or output_folder.new_folder(name)
        output_folder.write(
            folder,
            result,
            [metadata_of(result["unit"], platform=self.platform)],
            dumps=self.dump_passes is not PassDumpLevel.NONE or bool(dumps),
            profile=self.compile_profiling,
        )
        return folder

    def compile_kwargs(self) -> dict[str, Any]:
        """The fields that `ir.compile` has parameters for."""
        names = (
            "strategy",
            "dump_passes",
            "backend_type",
            "diagnostic_phase",
            "disabled_diagnostics",
            "memory_planner",
            "platform",
            "distributed_config",
            "analyze_auto_scopes_for_deps",
            "dump_ptoas_passes",
        )
        return {name: getattr(self, name) for name in names} | {"profiling": self.compile_profiling}


def default_config() -> RunConfig:
    """The config of calls that pass none."""
    return RunConfig(platform=_default_platform())


def _default_platform() -> str:
    from pypto import knobs

    return knobs.get("PTO_PLATFORM")


def _dump_folder() -> str:
    from pypto import knobs

    return knobs.get("PTO_DUMP")


def _level(name: str, value: Any, highest: int) -> int:
    if value is True:
        return highest
    if isinstance(value, bool) or value is None:
        return 0
    if not isinstance(value, int) or not 0 <= value <= highest:
        raise ArgumentValueError(f"{name}={value!r}", hint=f"takes 0 to {highest}, True or False")
    return value


def _ring(name: str, value: Any, low: int, high: int | None, *, power_of_two: bool) -> None:
    if value is None:
        return
    values = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, (list, tuple)) and len(value) != 4:
        raise ArgumentValueError(f"{name}: a list has 4 entries, got {len(value)}")
    what = "a power of two" if power_of_two else "a whole number"
    limit = f">= {low}" if high is None else f"from {low} to {high}"
    for entry in values:
        if entry == 0 and entry is not False and isinstance(value, (list, tuple)):
            continue  # the default of that ring
        good = (
            isinstance(entry, int)
            and not isinstance(entry, bool)
            and entry >= low
            and (high is None or entry <= high)
            and (not power_of_two or entry & (entry - 1) == 0)
        )
        if not good:
            raise ArgumentValueError(f"{name}={entry!r}", hint=f"takes {what} {limit}")
