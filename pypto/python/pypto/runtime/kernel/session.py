"""Configuration, preflight, and the Worker of a borrowed context.

`preflight` checks everything that can be checked before the process chooses kernel mode, in an order
that lets each step fail before the next one touches what is optional. `_BorrowedWorkerSession` adapts the
life of a public `simpler.Worker` to the context that torch_npu owns. It executes nothing: simpler
registers and runs, the process manager admits and caches.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pypto.runtime import _execution_mode
from pypto.runtime.kernel import teardown
from pypto.runtime.kernel.owner import OwnerThread

SUPPORTED = (("a2a3", "tensormap_and_ringbuffer"), ("a2a3", "host_build_graph"))
RING_COUNT = 4  # one for each scope depth
LEAST_WORKSPACE_BYTES = 1024

Rings = tuple[int, ...]


@dataclass(frozen=True)
class KernelConfig:
    """What a Worker in a borrowed context is started with. Two equal ones are one configuration.

    Rings have one value for each scope depth, 0 for the runtime's own. `workspace_budget_bytes` limits
    what the Worker allocates itself; borrowed tensors do not count. The diagnostic settings are kept for
    the windows that will use them.
    """

    platform: str
    runtime: str
    device_index: int
    aicpu_thread_num: int = 0
    enable_chip_swimlane: int = 0
    enable_dep_gen: bool = False
    output_dir: str | None = None
    ring_task_window: Rings = (0,) * RING_COUNT
    ring_heap: Rings = (0,) * RING_COUNT
    ring_dep_pool: Rings = (0,) * RING_COUNT
    workspace_budget_bytes: int | None = None

    def call_config(self) -> Any:
        """The runtime's form, validated by it."""
        from simpler.task_interface import CallConfig

        config = CallConfig()
        config.aicpu_thread_num = self.aicpu_thread_num
        config.enable_chip_swimlane = self.enable_chip_swimlane
        config.enable_dep_gen = self.enable_dep_gen
        config.output_prefix = self.output_dir or ""
        config.runtime_env.ring_task_window = list(self.ring_task_window)
        config.runtime_env.ring_heap = list(self.ring_heap)
        config.runtime_env.ring_dep_pool = list(self.ring_dep_pool)
        config.validate()
        return config


@dataclass(frozen=True)
class Preflight:
    """A checked configuration and the modules that it needs."""

    config: KernelConfig
    torch_npu: Any
    extension: Any

    def session(self, generation: int) -> _BorrowedWorkerSession:
        """For the manager; from here on torch_npu's shutdown closes it first."""
        from pypto.runtime.kernel import context

        teardown.install(self.torch_npu, context.manager())
        return _BorrowedWorkerSession(self.config, self.extension, generation, self.torch_npu)


def preflight(
    *,
    device: Any,
    platform: str,
    runtime: str,
    aicpu_thread_num: int,
    enable_chip_swimlane: int | bool,
    enable_dep_gen: bool,
    output_dir: str | os.PathLike | None,
    ring_task_window: int | list[int] | None,
    ring_heap: int | list[int] | None,
    ring_dep_pool: int | list[int] | None,
    workspace_budget_bytes: int | None,
) -> Preflight:
    """Checks all that `pypto.torch.init` needs and changes nothing. Errors of the parts below pass
    through with their own types."""
    _execution_mode.check_process()
    if (platform, runtime) not in SUPPORTED:
        raise ValueError(
            f"Kernel mode does not support platform {platform!r} with runtime {runtime!r}; it supports "
            + ", ".join(f"{p} with {r}" for p, r in SUPPORTED)
        )
    wanted = _device_index(device)
    torch_npu = load_torch_npu("pypto.torch.init()")
    current = torch_npu.npu.current_device()
    if wanted is not None and wanted != current:
        raise ValueError(
            f"pypto.torch.init(device={device!r}): the current device is npu:{current}; "
            f"call torch.npu.set_device({wanted}) first, init does not switch devices"
        )
    config = KernelConfig(
        platform=platform,
        runtime=runtime,
        device_index=current,
        aicpu_thread_num=_aicpu_threads(aicpu_thread_num),
        enable_chip_swimlane=_swimlane(enable_chip_swimlane),
        enable_dep_gen=_flag("enable_dep_gen", enable_dep_gen),
        output_dir=_folder(output_dir),
        ring_task_window=_rings("ring_task_window", ring_task_window),
        ring_heap=_rings("ring_heap", ring_heap),
        ring_dep_pool=_rings("ring_dep_pool", ring_dep_pool),
        workspace_budget_bytes=_budget(workspace_budget_bytes),
    )
    if (config.enable_chip_swimlane or config.enable_dep_gen) and config.output_dir is None:
        raise ValueError(
            "pypto.torch.init: enable_chip_swimlane and enable_dep_gen write files; give output_dir"
        )
    _import_runtime("simpler.task_interface")
    config.call_config()
    teardown.check_framework(torch_npu)
    check_runtime_identity()
    check_runtime_capability()
    extension = load_extension()
    if torch_npu.npu.is_current_stream_capturing():
        raise NotImplementedError(
            "pypto.torch.init() during graph capture: initialise before the capture begins"
        )
    return Preflight(config, torch_npu, extension)


# Optional modules.


def load_torch_npu(who: str) -> Any:
    """torch_npu, or a RuntimeError that says for what it is needed."""
    try:
        return importlib.import_module("torch_npu")
    except ImportError as error:
        raise RuntimeError(
            f"{who} requires a compatible torch_npu installation: {error}"
        ) from error


def load_extension() -> Any:
    """pypto's lifecycle extension for torch_npu."""
    try:
        return importlib.import_module("pypto._torch_npu")
    except ImportError as error:
        raise RuntimeError(
            "Kernel mode requires the extension pypto._torch_npu, which is built with "
            f"-DPYPTO_BUILD_TORCH_NPU=ON against this torch and torch_npu: {error}"
        ) from error


def _import_runtime(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RuntimeError(f"Kernel mode requires the runtime package simpler: {error}") from error


# Arguments.


def _device_index(device: Any) -> int | None:
    """Index of an explicit device, None for "the current one"."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    kind, index = getattr(device, "type", None), getattr(device, "index", None)
    if isinstance(device, str):
        match = re.fullmatch(r"(\w+?)(?::(\d+))?", device)
        kind = match[1] if match else device
        index = int(match[2]) if match and match[2] else None
    elif kind is None:
        raise TypeError(
            f"pypto.torch.init: device is an int, a string or a torch.device, got {type(device).__name__}"
        )
    if kind != "npu":
        raise ValueError(f"pypto.torch.init: {device} is no NPU; kernel mode runs on 'npu' devices")
    return index


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"pypto.torch.init: {name} is an int, got {type(value).__name__} {value!r}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"pypto.torch.init: {name} is True or False, got {value!r}")
    return value


def _aicpu_threads(value: Any) -> int:
    if _integer("aicpu_thread_num", value) not in (0, 2, 3, 4, 5):
        raise ValueError(
            f"pypto.torch.init: aicpu_thread_num is 0 (the platform's own) or 2 to 5, got {value}"
        )
    return value


def _swimlane(value: Any) -> int:
    if isinstance(value, bool):
        return 4 if value else 0
    if not 0 <= _integer("enable_chip_swimlane", value) <= 4:
        raise ValueError(f"pypto.torch.init: enable_chip_swimlane is 0 to 4 or a bool, got {value}")
    return value


def _folder(value: Any) -> str | None:
    return None if value is None else os.path.abspath(os.fspath(value))


def _rings(name: str, value: Any) -> Rings:
    """One value for all rings, or one for each. What the values may be, the runtime's validate knows."""
    if value is None:
        return (0,) * RING_COUNT
    if not isinstance(value, (list, tuple)):
        value = [value] * RING_COUNT
    if len(value) != RING_COUNT:
        raise ValueError(
            f"pypto.torch.init: {name} has one value or {RING_COUNT}, one for each scope depth; got {len(value)}"
        )
    values = tuple(_integer(name, each) for each in value)
    if any(each < 0 for each in values):
        raise ValueError(f"pypto.torch.init: {name} is {list(values)}; sizes are not negative")
    return values


def _budget(value: Any) -> int | None:
    if value is None:
        return None
    if _integer("workspace_budget_bytes", value) < LEAST_WORKSPACE_BYTES:
        raise ValueError(
            f"pypto.torch.init: workspace_budget_bytes is {value}; at least {LEAST_WORKSPACE_BYTES}"
        )
    return value


# Runtime.


def check_runtime_identity() -> None:
    """The loaded binding of the runtime is the one that was built from this tree's sources."""
    from pypto.runtime.runtime_pin import check_runtime_pin

    check_runtime_pin()


def _takes(function: Any, *names: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return all(name in parameters for name in names)


def _interfaces() -> list[tuple[str, Callable[[], bool]]]:
    worker = importlib.import_module("simpler.worker")
    buffer = importlib.import_module("simpler.buffer")
    task = importlib.import_module("simpler.task_interface")

    def has(owner: Any, *path: str) -> bool:
        for name in path:
            owner = getattr(owner, name, None)
        return owner is not None

    return [
        (
            "Worker.init(prewarm_config=, borrowed_context_generation=)",
            lambda: _takes(worker.Worker.init, "prewarm_config", "borrowed_context_generation"),
        ),
        ("Worker.submit(…, stream=)", lambda: _takes(worker.Worker.submit, "stream")),
        ("Worker.register", lambda: has(worker.Worker, "register")),
        ("Worker.flush_diagnostics", lambda: has(worker.Worker, "flush_diagnostics")),
        ("RunHandle.done", lambda: has(worker, "RunHandle", "done")),
        ("RunHandle.wait", lambda: has(worker, "RunHandle", "wait")),
        ("Buffer.wrap", lambda: has(buffer, "Buffer", "wrap")),
        ("Buffer.tensor", lambda: has(buffer, "Buffer", "tensor")),
        ("TaskArgs.add_tensor", lambda: has(task, "TaskArgs", "add_tensor")),
        ("TaskArgs.add_scalar", lambda: has(task, "TaskArgs", "add_scalar")),
        ("CallConfig.validate", lambda: has(task, "CallConfig", "validate")),
    ]


def check_runtime_capability() -> None:
    """RuntimeError that lists the public interfaces of simpler that kernel mode needs and that are not
    there. Presence only: it says nothing about results on a device."""
    missing = [name for name, present in _interfaces() if not present()]
    if missing:
        raise RuntimeError(
            f"Kernel mode needs interfaces that this simpler does not have: {', '.join(missing)}"
        )


class _BorrowedWorkerSession:
    """A `simpler.Worker` whose life runs on an owner thread that is bound to torch_npu's context."""

    def __init__(
        self,
        config: KernelConfig,
        extension: Any,
        generation: int,
        torch_npu: Any,
        make_worker: Callable[..., Any] | None = None,
    ) -> None:
        self.config = config
        self.generation = generation
        self._torch_npu = torch_npu
        self._context = extension.borrow_context(config.device_index)
        self._owner = OwnerThread()
        self._make_worker = make_worker
        self._worker: Any = None

    @property
    def worker(self) -> Any:
        """The Worker, for submitting. Its life is this session's."""
        return self._worker

    def is_lifecycle_thread(self) -> bool:
        return self._owner.alive and self._owner.ident == threading.get_ident()

    def start(self) -> None:
        """Makes the Worker and initialises it in the bound context. A Worker that fails is kept."""
        self._owner.call(self._start)

    def _start(self) -> None:
        self._context.bind()
        make = self._make_worker
        if make is None:
            from simpler import Worker as make
        self._worker = make(
            level=2,
            platform=self.config.platform,
            runtime=self.config.runtime,
            device_id=self.config.device_index,
            workspace_budget_bytes=self.config.workspace_budget_bytes,
        )
        self._worker.init(
            prewarm_config=self.config.call_config(),
            borrowed_context_generation=self.generation,
        )

    def register(self, artifact: Any) -> tuple[Any, Any]:
        """Loads the artifact's callable and registers it. The loader's, the capability's and the
        registry's errors pass through."""
        from pypto.ir.artifact import ArtifactExecutionMode

        artifact.require(ArtifactExecutionMode.KERNEL)
        metadata = artifact.metadata
        for what, has, wants in (
            ("platform", artifact.platform, self.config.platform),
            ("runtime", metadata.runtime, self.config.runtime),
        ):
            if has != wants:
                raise ValueError(
                    f"Kernel {metadata.entry}: it is compiled for {what} {has!r}, kernel mode runs {wants!r}"
                )
        callable_ = artifact.load().chip_callable
        return self._owner.call(lambda: self._worker.register(callable_)), callable_

    def synchronize(self) -> None:
        """Waits for what torch_npu has queued on the device."""
        self._torch_npu.npu.synchronize(self.config.device_index)

    def refuse_in_capture(self, what: str) -> None:
        """RuntimeError while the current stream is being captured."""
        if self._torch_npu.npu.is_current_stream_capturing():
            raise RuntimeError(
                f"Kernel mode cannot {what} during graph capture: it waits for the device, which would break "
                "the capture"
            )

    def close(self) -> None:
        """Closes the Worker on its thread, then ends the thread. Raises and keeps both on failure."""
        if self._owner.alive:
            self._owner.call(self._close)
        self._owner.stop()

    def _close(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._context.unbind()
