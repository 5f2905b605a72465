"""What compiling gives: `CompiledProgram`, `LoweredProgram`."""

from __future__ import annotations

import os
from typing import Any

from pypto.enums import BackendType
from pypto.errors import ArgumentTypeError, ArgumentValueError
from pypto.ir import output_folder
from pypto.ir.artifact import (
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    CompiledArtifact,
    LoadedArtifact,
)
from pypto.ir.param_info import ParamInfo
from pypto.ir.type_tables import TORCH_NAMES, torch_dtype


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
    """A compiled program: an artifact, and what running it as a program takes.

    Called with all parameters it works in place and returns None. Called without the pure outputs of a
    program that has results it allocates them (zeros) and returns its results: one tensor or a tuple.
    As a path (`str`, `os.fspath`) it is the folder of its files, which is written when first asked for.
    Programs with several entries: `compiled["name"]` or `compiled.name` is another entry of the same
    artifact.
    """

    def __init__(
        self,
        program: Any,
        output_dir: str | os.PathLike,
        *,
        backend_type: BackendType | None = None,
        platform: str | None = None,
    ):
        """A program at hand and the folder that it was compiled into. Where the folder has no
        compiled_meta.json, one is made from the signature of the program."""
        artifact = _artifact_of_folder(program, os.fspath(output_dir), backend_type, platform)
        self._set(artifact, artifact.metadata.entry, program, {})
        self._folder = os.fspath(output_dir)

    @classmethod
    def _wrap(
        cls,
        artifact: CompiledArtifact,
        *,
        program: Any = None,
        header: dict[str, Any] | None = None,
        folder: str | os.PathLike | None = None,
        entry: str | None = None,
    ) -> CompiledProgram:
        """Around an artifact that is there; writes nothing."""
        made = cls.__new__(cls)
        made._set(artifact, entry or artifact.metadata.entry, program, header or {})
        made._folder = None if folder is None else os.fspath(folder)
        return made

    def _set(
        self, artifact: CompiledArtifact, entry: str, program: Any, header: dict[str, Any]
    ) -> None:
        self._artifact = artifact
        self._entry = entry
        self._header = header
        self._folder: str | None = None
        self._parent: CompiledProgram | None = None
        self._loaded: LoadedArtifact | None = None
        self._children: dict[str, CompiledProgram] = {}
        self.program = program

    @classmethod
    def from_dir(
        cls,
        directory: str | os.PathLike,
        *,
        platform: str | None = None,
        backend_type: BackendType | None = None,
    ) -> CompiledProgram:
        """The program in a folder that `ir.compile` wrote; `program` is None. Reads metadata only:
        nothing is loaded before the first call. FileNotFoundError, ArtifactError (a ValueError)."""
        artifact = CompiledArtifact.from_dir(directory, platform=platform)
        artifact.require(ArtifactExecutionMode.PROGRAM)
        if backend_type is not None and backend_type is not artifact.backend_type:
            raise ArtifactError(
                f"{os.fspath(directory)} is compiled for {artifact.backend_type.name}; compile it"
                f" again for {backend_type.name}"
            )
        return cls._wrap(artifact, folder=directory)

    # What it is: derived from the artifact.

    @property
    def artifact(self) -> CompiledArtifact:
        return self._artifact

    @property
    def metadata(self) -> ArtifactMetadata:
        """Of the entry that this object calls."""
        return self._artifact.entry(self._entry)

    @property
    def name(self) -> str:
        return self._entry or os.path.basename(self._artifact.directory or "")

    @property
    def platform(self) -> str:
        return self._artifact.platform

    @property
    def backend_type(self) -> BackendType:
        return self._artifact.backend_type

    @property
    def params(self) -> tuple[ParamInfo, ...]:
        return self.metadata.params

    @property
    def param_names(self) -> list[str]:
        return list(self.metadata.param_names)

    @property
    def output_indices(self) -> list[int]:
        """Positions of the parameters that are written and not read."""
        return list(self.metadata.output_indices)

    @property
    def has_return(self) -> bool:
        return self.metadata.has_return

    @property
    def orchestration_names(self) -> list[str]:
        return list(self._artifact.entry_names)

    @property
    def kernel_names(self) -> list[str]:
        return [kernel.name for kernel in self.metadata.kernels]

    @property
    def stage_ms(self) -> dict[str, float]:
        """Milliseconds of each stage of the compilation that made the code; {} where it is not known."""
        return dict(map(tuple, self._header.get("stage_ms", ())))

    def __getitem__(self, name: str) -> CompiledProgram:
        if name == self._entry:
            return self
        if name not in self._artifact.entry_names:
            raise KeyError(f"{name}: the program has {', '.join(self.orchestration_names)}")
        child = self._children.get(name)
        if child is None:
            child = self._wrap(
                self._artifact, program=self.program, header=self._header, entry=name
            )
            child._parent = self
            child = self._children.setdefault(name, child)
        return child

    def __getattr__(self, name: str) -> Any:
        artifact = self.__dict__.get("_artifact")
        if artifact is not None and name in artifact.entry_names:
            return self[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    # Code.

    def load(self) -> LoadedArtifact:
        """Its code in this process; loaded once."""
        loaded = self._loaded
        if loaded is None:
            loaded = self._loaded = self._artifact.load(self._entry)
        return loaded

    @property
    def chip_callable(self) -> Any:
        """`simpler.task_interface.ChipCallable`, for a Worker."""
        return self.load().chip_callable

    @property
    def runtime_name(self) -> str:
        return self._artifact.runtime_name

    @property
    def runtime_config(self) -> dict[str, Any]:
        return self._artifact.runtime_config

    # Calls.

    def __call__(self, *args: Any, config: Any = None):
        if config is not None:
            return self._call_with(config, args)
        loaded = self._loaded or self.load()
        if len(args) == loaded.param_count:
            loaded.executable(*args)
            return None
        return loaded.executable(*self._with_outputs(args))

    def _with_outputs(self, args: tuple) -> tuple:
        """The arguments of a call that leaves its outputs out, with zeroed outputs in their places."""
        metadata = self.metadata
        outputs = metadata.output_indices
        if not metadata.has_return or len(args) != len(metadata.params) - len(outputs):
            raise ArgumentTypeError(self._count_message(len(args), len(outputs)))
        given = iter(args)
        return tuple(
            _allocate(param, args) if index in outputs else next(given)
            for index, param in enumerate(metadata.params)
        )

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
        count = len(self.metadata.params)
        text = f"{self.name} takes {count} arguments"
        if self.has_return and outputs:
            text += f", or {count - outputs} without its outputs"
        return f"{text}; got {got}"

    def build_orch_args(self, *args: Any, worker: Any = None) -> Any:
        """`simpler.task_interface.TaskArgs` for a run on a Worker: views of the tensors' memory and
        typed scalars. Takes all parameters, or leaves the outputs out as a call does."""
        from pypto.runtime.task_args import build_task_args

        if len(args) != len(self.metadata.params):
            args = self._with_outputs(args)
        return build_task_args(self.metadata, args)

    def build_call_config(
        self,
        config: Any = None,
        *,
        aicpu_thread_num: int | None = None,
        dfx_dir: str | os.PathLike | None = None,
    ) -> Any:
        """`simpler.task_interface.CallConfig` for a run on a Worker, checked. Output of diagnostics goes
        to `dfx_dir`, else below the artifact's run directory."""
        from pypto.runtime.task_args import call_config

        if dfx_dir is None and self._artifact.run_directory is not None:
            dfx_dir = self._artifact.run_directory / "dfx_outputs"
        return call_config(config, aicpu_thread_num=aicpu_thread_num, dfx_dir=dfx_dir)

    # Files.

    @property
    def output_dir(self) -> str:
        """The folder of the program's files; written now if it was not yet."""
        if self._parent is not None:
            return os.path.join(self._parent.output_dir, "next_levels", self._entry)
        return self._folder or self.save()

    def save(self, folder: str | os.PathLike | None = None) -> str:
        """Writes the program's files into `folder`, or into a new one below build_output."""
        target = os.fspath(folder) if folder is not None else output_folder.new_folder(self._title)
        self._artifact.save(target)
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


def _allocate(param: ParamInfo, args: tuple) -> Any:
    """A zeroed tensor for an output, of the kind that the inputs are."""
    if param.is_dynamic:
        raise ArgumentValueError(
            f"{param.name}: its shape {list(param.shape)} depends on the call (-1)",
            hint="pass the output tensor",
        )
    if any(type(arg).__module__.partition(".")[0] == "torch" for arg in args):
        import torch

        return torch.zeros(param.shape, dtype=torch_dtype(param.dtype))
    import numpy

    name = TORCH_NAMES.get(param.dtype.name, "")
    if not hasattr(numpy, name):
        raise ArgumentTypeError(f"{param.name}: NumPy has no {param.dtype}; pass the output")
    return numpy.zeros(param.shape, dtype=name)


def _artifact_of_folder(
    program: Any, folder: str, backend_type: BackendType | None, platform: str | None
) -> CompiledArtifact:
    """The artifact in a folder; its sidecar is made from the live program where it has none."""
    from pypto import backend
    from pypto.ir.signature import signature_of

    if not os.path.exists(os.path.join(folder, output_folder.FILE)):
        target = platform or backend.simulator_of(backend_type or BackendType.Ascend910B)
        output_folder.put(folder, output_folder.FILE, signature_of(program, target).text())
    return CompiledArtifact.from_dir(folder, platform=platform)
