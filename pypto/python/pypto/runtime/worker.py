"""`ChipWorker`: one simulated device on which compiled programs run, with memory of its own."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Any

from pypto.dtypes import DataType
from pypto.errors import ArgumentTypeError, ArgumentValueError, Error
from pypto.ir.artifact_metadata import RUNTIMES
from pypto.ir.compiled import CompiledProgram
from pypto.runtime import _execution_mode
from pypto.runtime.config import RunConfig, default_config
from pypto.runtime.device_tensor import DeviceTensor

_current: contextvars.ContextVar[tuple[ChipWorker, ...]] = contextvars.ContextVar(
    "pypto_workers", default=()
)


class RegistrationHandle:
    """A program that a worker knows. Called with a program's arguments it runs there and returns as a
    call of the program does."""

    def __init__(self, worker: ChipWorker, compiled: CompiledProgram, handle: Any):
        self.worker = worker
        self.compiled = compiled
        self._handle = handle

    def __call__(self, *args: Any, config: RunConfig | None = None):
        return self.worker._run(self, args, config)

    def unregister(self) -> None:
        self.worker._forget(self)


class ChipWorker:
    """A device at level 2 (one chip). Use it as a context manager, or `init` and `close` it.

    It runs in the mode PROGRAM: a process that called `pypto.torch.init()` cannot start one.
    """

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        level: int = 2,
        runtime: str = RUNTIMES[0],
        enable_sdma: bool = False,
        auto_init: bool | None = None,
    ):
        if level != 2:
            raise ArgumentValueError(f"level {level}: a ChipWorker is one chip (2)")
        if runtime not in RUNTIMES:
            raise ArgumentValueError(
                f"runtime {runtime!r} does not exist", hint=f"one of {', '.join(RUNTIMES)}"
            )
        self.config = config or default_config()
        self.runtime = runtime
        self._enable_sdma = enable_sdma
        self._worker: Any = None
        self._registered: dict[Any, RegistrationHandle] = {}
        self._tokens: list[contextvars.Token] = []
        if auto_init:
            self.init()

    @classmethod
    def current(cls) -> ChipWorker:
        """The innermost worker whose `with` block is open."""
        stack = _current.get()
        if not stack:
            raise Error("no ChipWorker is open here", hint="use `with ChipWorker() as worker:`")
        return stack[-1]

    # Life.

    def init(self) -> None:
        """Starts the device; again is fine."""
        if self._worker is not None:
            return
        _execution_mode.claim_program()
        from pypto.runtime.task_interface import CallConfig, Worker

        worker = Worker(
            level=2,
            platform=self.config.platform,
            runtime=self.runtime,
            device_id=self.config.device_id,
            enable_sdma=self._enable_sdma,
        )
        worker.init(prewarm_config=CallConfig())
        self._worker = worker

    def close(self) -> None:
        """Waits for runs and frees the device's memory. Idempotent."""
        worker, self._worker = self._worker, None
        self._registered.clear()
        if worker is not None:
            worker.close()

    def __enter__(self) -> ChipWorker:
        self.init()
        self._tokens.append(_current.set((*_current.get(), self)))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())
        self.close()

    @property
    def _live(self) -> Any:
        if self._worker is None:
            raise Error("the ChipWorker is not started", hint="use it in a `with` block, or init()")
        return self._worker

    # Programs.

    def register(self, compiled: CompiledProgram) -> RegistrationHandle:
        """Loads a program into the device; the same program again gives the same handle."""
        worker = self._live
        if not isinstance(compiled, CompiledProgram):
            raise ArgumentTypeError(
                f"register: takes a compiled program, got {type(compiled).__name__}",
                hint="compile it with ir.compile",
            )
        key = (compiled.artifact.identity, compiled.name)
        known = self._registered.get(key)
        if known is None:
            self._check_target(compiled)
            handle = worker.register(compiled.chip_callable)
            known = self._registered[key] = RegistrationHandle(self, compiled, handle)
        return known

    def _check_target(self, compiled: CompiledProgram) -> None:
        mine = self.config.platform.removesuffix("sim")
        if compiled.platform.removesuffix("sim") != mine:
            raise ArgumentValueError(
                f"{compiled.name} is compiled for {compiled.platform}, the worker is {self.config.platform}",
                hint=f"compile it with platform={self.config.platform!r}",
            )

    def run(self, compiled: CompiledProgram, *args: Any, config: RunConfig | None = None):
        """Registers if need be, runs to completion, returns as a call of the program does."""
        return self._run(self.register(compiled), args, config)

    def _run(self, registered: RegistrationHandle, args: tuple, config: RunConfig | None):
        worker = self._live
        compiled = registered.compiled
        if self._registered.get((compiled.artifact.identity, compiled.name)) is not registered:
            raise Error(f"{compiled.name} is not registered with this worker any more")
        metadata = compiled.metadata
        complete = len(args) == len(metadata.params)
        full = tuple(args) if complete else compiled._with_outputs(args)
        task_args = compiled.build_orch_args(*full)
        call = compiled.build_call_config(config if config is not None else self.config)
        worker.run(registered._handle, task_args, call)
        if complete:
            return None
        results = tuple(full[index] for index in metadata.results)
        return results[0] if len(results) == 1 else results

    def _forget(self, registered: RegistrationHandle) -> None:
        compiled = registered.compiled
        if self._registered.pop((compiled.artifact.identity, compiled.name), None) is registered:
            self._live.unregister(registered._handle)

    # Memory.

    def malloc(self, nbytes: int) -> Any:
        """Zeroed device memory (simpler's Buffer)."""
        return self._live.malloc(nbytes)

    def free(self, buffer: Any) -> None:
        self._live.free(buffer)

    def copy_to(self, destination: Any, source: Any) -> None:
        """Host memory to a DeviceTensor or Buffer."""
        self._live.copy_to(_buffer_of(destination), source)

    def copy_from(self, destination: Any, source: Any) -> None:
        """A DeviceTensor or Buffer to host memory."""
        self._live.copy_from(destination, _buffer_of(source))

    def alloc_tensor(self, shape: Sequence[int], dtype: DataType) -> DeviceTensor:
        """A zeroed tensor on the device."""
        draft = DeviceTensor(0, shape, dtype, buffer=object())
        buffer = self.malloc(draft.nbytes)
        return DeviceTensor(buffer.base, shape, dtype, buffer=buffer)

    def free_tensor(self, tensor: DeviceTensor) -> None:
        self.free(tensor.buffer)


def _buffer_of(value: Any) -> Any:
    return value.buffer if isinstance(value, DeviceTensor) else value
