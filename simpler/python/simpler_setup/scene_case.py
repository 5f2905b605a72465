"""Scene tests: a callable built from sources, cases with arguments, a golden computed in Python.

Under pytest each case is one test (options come from simpler_setup.pytest_plugin); `SceneTestCase.run_module(__name__)`
makes a file runnable by itself with the same options.
"""

from __future__ import annotations

import argparse
import ctypes
import enum
import inspect
import json
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from simpler.task_interface import (
    ArgDirection,
    CallConfig,
    ChipCallable,
    CoreCallable,
    TaskArgs,
    TensorArgType,
    scalar_to_uint64,
)

from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.torch_interop import make_tensor_arg

_TAGS = {
    ArgDirection.IN: TensorArgType.INPUT,
    ArgDirection.OUT: TensorArgType.OUTPUT_EXISTING,
    ArgDirection.INOUT: TensorArgType.INOUT,
}


class SceneTestLevel(enum.IntEnum):
    CHIP = 2
    NODE = 3
    NETWORK1 = 4


@dataclass
class TensorArg:
    name: str
    value: Any  # torch tensor


@dataclass
class Scalar:
    name: str
    value: Any  # Python or ctypes number


class TaskArgsBuilder:
    """Named arguments in order; `args.x` is the value."""

    def __init__(self, *items: TensorArg | Scalar) -> None:
        self.items = list(items)
        for item in items:
            setattr(self, item.name, item.value)

    def tensors(self) -> list[TensorArg]:
        return [i for i in self.items if isinstance(i, TensorArg)]

    def scalars(self) -> list[Scalar]:
        return [i for i in self.items if isinstance(i, Scalar)]

    def clone(self) -> TaskArgsBuilder:
        return TaskArgsBuilder(
            *(
                TensorArg(i.name, i.value.clone()) if isinstance(i, TensorArg) else i
                for i in self.items
            )
        )


class CallableNamespace(SimpleNamespace):
    """Handles of a level-3 scene, by name."""


@dataclass
class SceneOptions:
    """What the command line chooses."""

    platform: str | None = None
    device: str = "0"
    case: str | None = None
    manual: str = "exclude"
    runtime: str | None = None
    level: int | None = None
    exclude_level: int | None = None
    rounds: int = 1
    skip_golden: bool = False
    enable_chip_swimlane: int = 0
    enable_pmu: int = 0
    dump_args: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False


def add_options(add: Any) -> None:
    """Declares the options through `add(name, **keywords)`: argparse's and pytest's spelling agree."""
    add("--platform", default=None, help="a2a3sim, a5sim, …; default: the first of the case")
    add("--device", default="0", help="device id, range or list; the simulator has one of each")
    add("--case", default=None, help="Case, Class::Case or Class::")
    add(
        "--manual",
        default="exclude",
        choices=["exclude", "include", "only"],
        help="cases marked manual",
    )
    add("--runtime", default=None)
    add("--level", type=int, default=None, choices=[2, 3, 4])
    add("--exclude-level", type=int, default=None)
    add("--rounds", type=int, default=1, help="repetitions; diagnostics are off when more than 1")
    add("--skip-golden", action="store_true")
    add("--enable-chip-swimlane", type=int, nargs="?", const=4, default=0)
    add("--enable-pmu", type=int, nargs="?", const=2, default=0)
    add("--dump-args", type=int, nargs="?", const=1, default=0)
    add("--enable-dep-gen", action="store_true")
    add("--enable-scope-stats", action="store_true")


def options_from(get: Any) -> SceneOptions:
    return SceneOptions(**{name: get(name) for name in SceneOptions.__dataclass_fields__})


def scene_level(cls: type) -> SceneTestLevel:
    return SceneTestLevel(cls.LEVEL)


def scene_test(level: int = 2, runtime: str = "tensormap_and_ringbuffer") -> Any:
    """Marks a SceneTestCase with its level and runtime and gives pytest one test for each case."""

    def decorate(cls: type) -> type:
        cls.LEVEL, cls.RUNTIME = SceneTestLevel(level), runtime
        cls.SOURCE = Path(inspect.getfile(cls)).resolve()
        if "pytest" in sys.modules:
            import pytest

            @pytest.mark.parametrize("scene_case", [c["name"] for c in cls.CASES])
            def test_case(self: Any, scene_case: str, request: Any) -> None:
                options = options_from(
                    lambda name: request.config.getoption(f"--{name.replace('_', '-')}", None)
                )
                case = next(c for c in cls.CASES if c["name"] == scene_case)
                reason = cls.why_not(case, options)
                if reason:
                    pytest.skip(reason)
                cls().run_case(case, options)

            cls.test_case = test_case
        return cls

    return decorate


class SceneTestCase:
    """Base of scenes. A subclass gives CALLABLE, CASES, generate_args and compute_golden."""

    RTOL = ATOL = 1e-5
    CALLABLE: dict[str, Any] = {}
    CASES: list[dict[str, Any]] = []
    LEVEL = SceneTestLevel.CHIP
    RUNTIME = "tensormap_and_ringbuffer"
    SOURCE = Path()

    def generate_args(self, params: dict[str, Any]) -> TaskArgsBuilder:
        raise NotImplementedError

    def compute_golden(self, args: TaskArgsBuilder, params: dict[str, Any]) -> None:
        raise NotImplementedError

    def compare_outputs(
        self,
        test_args: TaskArgsBuilder,
        golden_args: TaskArgsBuilder,
        output_names: list[str],
        params: dict[str, Any],
    ) -> None:
        import torch

        for name in output_names:
            got, want = getattr(test_args, name), getattr(golden_args, name)
            torch.testing.assert_close(
                got, want, rtol=self.RTOL, atol=self.ATOL, msg=lambda m, n=name: f"{n}: {m}"
            )

    # -- selection -----------------------------------------------------------------------------------------------
    @classmethod
    def why_not(cls, case: dict[str, Any], options: SceneOptions) -> str | None:
        """A reason to leave the case out, or None."""
        platform = options.platform or case["platforms"][0]
        if platform not in case["platforms"]:
            return f"not for {platform}"
        manual = bool(case.get("manual"))
        named = False
        if options.case:
            owner, _, name = options.case.rpartition("::")
            if owner not in ("", cls.__name__) or name not in ("", case["name"]):
                return "another case was asked for"
            named = bool(name)
        manual_mode = options.manual or "exclude"
        if not named and (
            (manual and manual_mode == "exclude") or (not manual and manual_mode == "only")
        ):
            return "manual" if manual else "not manual"
        if options.runtime and options.runtime != cls.RUNTIME:
            return f"runtime is {cls.RUNTIME}"
        if (options.level and options.level != cls.LEVEL) or options.exclude_level == cls.LEVEL:
            return f"level is {int(cls.LEVEL)}"
        return None

    # -- building ------------------------------------------------------------------------------------------------
    def _chip(self, spec: dict[str, Any], platform: str) -> tuple[ChipCallable, list[ArgDirection]]:
        compiler = KernelCompiler(platform)
        includes = compiler.get_orchestration_include_dirs(self.RUNTIME)
        folder = self.SOURCE.parent
        orchestration = spec["orchestration"]
        children = []
        for kernel in spec.get("incores", []):
            extra = [str(folder / d) for d in kernel.get("extra_include_dirs", [])]
            binary = compiler.compile_incore(
                str(folder / kernel["source"]),
                core_type=kernel.get("core_type", "aiv"),
                extra_include_dirs=[*includes, *extra],
            )
            children.append(
                (
                    kernel["func_id"],
                    CoreCallable.build(signature=kernel.get("signature", []), binary=binary),
                )
            )
        signature = list(orchestration["signature"])
        chip = ChipCallable.build(
            signature=signature,
            func_name=orchestration["function_name"],
            binary=compiler.compile_orchestration(
                self.RUNTIME, str(folder / orchestration["source"])
            ),
            children=children,
            config_name=orchestration.get("config_name", ""),
        )
        return chip, signature

    # -- running -------------------------------------------------------------------------------------------------
    def run_case(self, case: dict[str, Any], options: SceneOptions) -> None:
        from simpler import Worker

        platform = options.platform or case["platforms"][0]
        params, settings = case.get("params", {}), dict(case.get("config", {}))
        rounds = max(1, options.rounds or 1)
        config = CallConfig()
        for name, value in settings.get("runtime_env", {}).items():
            setattr(config.runtime_env, name, value)
        config.aicpu_thread_num = settings.get("aicpu_thread_num", 0)
        if rounds == 1:
            self._diagnostics(config, case, options)
        keys: dict[str, Any] = {"platform": platform, "runtime": self.RUNTIME}
        if self.LEVEL >= SceneTestLevel.NODE:
            keys |= {
                "device_ids": list(range(settings.get("device_count", 1))),
                "num_sub_workers": settings.get("num_sub_workers", 0),
            }
        with Worker(level=int(self.LEVEL), **keys) as worker:
            run, signature = self._program(worker, platform)
            worker.init()
            for _ in range(rounds):
                args = self.generate_args(params)
                golden = args.clone()
                run(args, config)
                self._write_names(config)
                if options.skip_golden or settings.get("skip_golden"):
                    continue
                self.compute_golden(golden, params)
                tensors = args.tensors()
                outputs = [
                    t.name
                    for i, t in enumerate(tensors)
                    if signature is None
                    or i >= len(signature)
                    or signature[i] in (ArgDirection.OUT, ArgDirection.INOUT)
                ]
                self.compare_outputs(args, golden, outputs, params)

    def _program(self, worker: Any, platform: str) -> tuple[Any, list[ArgDirection] | None]:
        """A function (args, config) that runs the scene once, and the signature that says what is an output."""
        if self.LEVEL == SceneTestLevel.CHIP:
            chip, signature = self._chip(self.CALLABLE, platform)
            handle = worker.register(chip)
            return lambda args, config: worker.run(
                handle, self._task_args(worker, args, signature), config
            ), signature
        handles = CallableNamespace()
        for spec in self.CALLABLE["callables"]:
            target = self._chip(spec, platform)[0] if "orchestration" in spec else spec["function"]
            setattr(handles, spec["name"], worker.register(target))
        program = self.CALLABLE["orchestration"]

        def run(args: TaskArgsBuilder, config: CallConfig) -> None:
            worker.run(lambda orch, _, c: program(orch, handles, args, c), None, config)

        return run, None

    @staticmethod
    def _task_args(worker: Any, args: TaskArgsBuilder, signature: list[ArgDirection]) -> TaskArgs:
        result = TaskArgs()
        for i, item in enumerate(args.tensors()):
            direction = signature[i] if i < len(signature) else ArgDirection.INOUT
            result.add_tensor(make_tensor_arg(worker, item.value), _TAGS[direction])
        for scalar in args.scalars():
            value = scalar.value
            if isinstance(value, (ctypes.c_float, ctypes.c_double)):
                value = float(value.value)
            result.add_scalar(scalar_to_uint64(value))
        return result

    def _diagnostics(self, config: CallConfig, case: dict[str, Any], options: SceneOptions) -> None:
        config.enable_chip_swimlane = options.enable_chip_swimlane or 0
        config.enable_pmu = options.enable_pmu or 0
        config.enable_dump_args = options.dump_args or 0
        config.enable_dep_gen = bool(options.enable_dep_gen)
        config.enable_scope_stats = bool(options.enable_scope_stats)
        stamp = time.strftime("%Y%m%d_%H%M%S")
        name = re.sub(r"\W", "_", f"{type(self).__name__}_{case['name']}")
        config.output_prefix = f"outputs/{name}_{stamp}"

    def _write_names(self, config: CallConfig) -> None:
        """Beside the files of diagnostics, the names of kernels for the tools that show them."""
        folder = Path(config.output_prefix or "")
        if not config.output_prefix or not folder.is_dir():
            return
        specs = self.CALLABLE.get("callables", [self.CALLABLE])
        for spec in specs:
            if not isinstance(spec.get("orchestration"), dict):
                continue
            names = {
                str(k["func_id"]): k.get("name") or Path(k["source"]).stem
                for k in spec.get("incores", [])
            }
            entry = spec["orchestration"]["function_name"]
            file = "name_map.json" if len(specs) == 1 else f"name_map_{spec['name']}.json"
            (folder / file).write_text(
                json.dumps(
                    {
                        "level": int(SceneTestLevel.CHIP),
                        "orchestrator_name": entry,
                        "callable_id_to_name": names,
                    }
                )
            )

    @classmethod
    def run_module(cls, module: str) -> int:
        """Runs the scenes of a module from the command line; the exit status is the number of failures, at most 1."""
        parser = argparse.ArgumentParser()
        add_options(parser.add_argument)
        parser.add_argument("-x", action="store_true", help="stop at the first failure")
        parsed = parser.parse_args()
        options = options_from(lambda name: getattr(parsed, name))
        passed = failed = 0
        for scene in list(vars(sys.modules[module]).values()):
            if not (isinstance(scene, type) and issubclass(scene, SceneTestCase) and scene.CASES):
                continue
            for case in scene.CASES:
                if scene.why_not(case, options):
                    continue
                try:
                    scene().run_case(case, options)
                    passed += 1
                    print(f"PASS {scene.__name__}::{case['name']}")
                except Exception as error:
                    failed += 1
                    print(f"FAIL {scene.__name__}::{case['name']}: {error}")
                    if parsed.x:
                        break
        print(f"{passed} passed, {failed} failed")
        return min(failed, 1)
