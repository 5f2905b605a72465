"""What compiling gives: `CompiledProgram`, `LoweredProgram`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pypto import dtypes
from pypto.enums import BackendType
from pypto.errors import ArgumentTypeError, ArgumentValueError


class LoweredProgram:
    """A program after all passes. `str()` is the text of its last stage, `stages` are all of them."""

    def __init__(self, name: str, stages: list[tuple[str, str]]):
        self.name = name
        self.stages = list(stages)

    def __str__(self) -> str:
        return self.stages[-1][1] if self.stages else ""

    def __repr__(self) -> str:
        return f"<lowered program {self.name}: {len(self.stages)} stages>"


class CompiledProgram:
    """A compiled program.

    Called with all parameters it works in place and returns None. Called without the pure outputs of a
    program that has results it allocates them (zeros) and returns them: one tensor or a tuple.
    As a path (`str`, `os.fspath`) it is the folder of its files, which is written when first asked for.
    """

    def __init__(
        self,
        header: dict[str, Any],
        executable: Any,
        *,
        platform: str,
        program: Any = None,
        result: dict[str, Any] | None = None,
        others: dict[str, CompiledProgram] | None = None,
        recompile: Callable[[], dict[str, Any]] | None = None,
        profile: bool = False,
    ):
        self._header = header
        self._executable = executable
        self._result = result
        self._others = others or {}
        self._recompile = recompile
        self._profile = profile
        self._folder: str | None = None
        # Parameters of a call; what was compiled in is no longer one.
        self._slots = [slot for slot in header["slots"] if slot[0] != "baked"]
        self._baked = len(self._slots) != len(header["slots"])
        self.platform = platform
        self.program = program
        self.name = header["name"]

    @property
    def backend_type(self) -> BackendType:
        return BackendType.Ascend950 if self.platform.startswith("a5") else BackendType.Ascend910B

    @property
    def param_names(self) -> list[str]:
        return [slot[1] for slot in self._slots]

    @property
    def output_indices(self) -> list[int]:
        """Positions of the parameters that are written and not read."""
        return [i for i, slot in enumerate(self._slots) if slot[0] == "tensor" and slot[2] == "out"]

    @property
    def has_return(self) -> bool:
        return bool(self._header["returns"])

    @property
    def orchestration_names(self) -> list[str]:
        return [self.name, *self._others]

    @property
    def kernel_names(self) -> list[str]:
        return list(self._header["kernels"])

    @property
    def stage_ms(self) -> dict[str, float]:
        """Milliseconds of each stage of the compilation that made the code."""
        return dict(map(tuple, self._header["stage_ms"]))

    def __getitem__(self, name: str) -> CompiledProgram:
        if name == self.name:
            return self
        if name not in self._others:
            raise KeyError(f"{name}: the program has {', '.join(self.orchestration_names)}")
        return self._others[name]

    def __call__(self, *args: Any, config: Any = None):
        if config is not None:
            return self._call_with(config, args)
        if len(args) == len(self._slots):
            self._run(args)
            return None
        outputs = self.output_indices
        if not self.has_return or len(args) != len(self._slots) - len(outputs):
            raise ArgumentTypeError(self._count_message(len(args), len(outputs)))
        given = iter(args)
        full = [
            self._allocate(slot, args) if i in outputs else next(given)
            for i, slot in enumerate(self._slots)
        ]
        results = self._run(tuple(full))
        return results

    def _run(self, args: tuple):
        if self._baked:  # the executable counts what was compiled in
            values = iter(args)
            baked = self._header["baked"]
            args = tuple(
                baked[slot[1]] if slot[0] == "baked" else next(values)
                for slot in self._header["slots"]
            )
        return self._executable(*args)

    def _call_with(self, config: Any, args: tuple):
        from pypto.runtime import trace
        from pypto.runtime.config import RunConfig

        if not isinstance(config, RunConfig):
            raise ArgumentTypeError(f"config: takes a RunConfig, got {type(config).__name__}")
        if config.platform.removesuffix("sim") != self.platform.removesuffix("sim"):
            raise ArgumentValueError(
                f"{self.name} is compiled for {self.platform}, the config asks for {config.platform}",
                hint=f"compile it with platform={config.platform!r}",
            )
        with trace.recording(config.trace):
            return self(*args)

    def _count_message(self, got: int, outputs: int) -> str:
        text = f"{self.name} takes {len(self._slots)} arguments"
        if self.has_return and outputs:
            text += f", or {len(self._slots) - outputs} without its outputs"
        return f"{text}; got {got}"

    def _allocate(self, slot: list, args: tuple):
        """A zeroed tensor for an output, of the kind that the inputs are."""
        _, name, _, dtype, shape, _, _ = slot
        if any(extent < 0 for extent in shape):
            raise ArgumentValueError(
                f"{name}: its shape {shape} depends on the call (-1)",
                hint="pass the output tensor",
            )
        if any(type(arg).__module__.partition(".")[0] == "torch" for arg in args):
            import torch

            return torch.zeros(shape, dtype=getattr(torch, _TORCH_NAMES[dtype]))
        import numpy

        if dtype not in _NUMPY_NAMES:
            raise ArgumentTypeError(f"{name}: NumPy has no {dtypes.ALL[dtype]}; pass the output")
        return numpy.zeros(shape, dtype=_NUMPY_NAMES[dtype])

    # Files.

    @property
    def output_dir(self) -> str:
        """The folder of the program's files; written now if it was not yet."""
        return self._folder or self.save()

    def save(self, folder: str | os.PathLike | None = None) -> str:
        """Writes the program's files into `folder`, or into a new one below build_output."""
        from pypto.ir import artifacts

        if self._result is None or not self._result["unit"]["pto"]:
            self._result = self._recompile() if self._recompile else self._result
        target = os.fspath(folder) if folder is not None else artifacts.new_folder(self._title)
        artifacts.write(
            target,
            self._result,
            dumps=True,
            profile=self._profile,
            meta=artifacts.meta_of(self._header, self.platform),
        )
        self._folder = target
        return target

    @property
    def _title(self) -> str:
        return getattr(self.program, "name", None) or self.name

    def __fspath__(self) -> str:
        return self.output_dir

    def __str__(self) -> str:
        return self.output_dir

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.output_dir == other
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<compiled program {self._title} for {self.platform}>"


_TORCH_NAMES = {
    "FP16": "float16",
    "FP32": "float32",
    "BF16": "bfloat16",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "INDEX": "int64",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "BOOL": "bool",
    "FP8E4M3FN": "float8_e4m3fn",
    "FP8E5M2": "float8_e5m2",
    "FP8E8M0": "float8_e8m0fnu",
}
_NUMPY_NAMES = {
    name: torch_name
    for name, torch_name in _TORCH_NAMES.items()
    if not torch_name.startswith(("bfloat", "float8"))
}
