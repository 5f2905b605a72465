"""Launching kernels on the NPU: `launch` and `prepare`, and how torch sees a kernel.

    pypto.torch.prepare(add, x, y, out)     # outside a graph capture: compiles for such arguments
    pypto.torch.launch(add, x, y, out)      # current stream of x's device, returns at once

A launch borrows its tensors: no copies, the current stream, memory that is not reused before the kernel has
run. It needs no `pypto.torch.init()` and claims no mode; after `init()` it follows the state of the process, so
that nothing is launched once that is FAILED or CLOSED. The kernels of a launch stay loaded until the process ends.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from pypto import bridge, dtypes, executable
from pypto.errors import ArgumentTypeError, ResourceError
from pypto.ir import type_tables
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.ir.signature import DIRECTIONS
from pypto.source import snapshot
from pypto.types import Annotation, DynVar


@functools.cache
def extension():
    """pypto._torch_ops, which runs kernels for torch."""
    bridge.core()
    try:
        from pypto import _torch_ops
    except ImportError as error:
        raise ResourceError(
            f"the part of the package for torch is not built: {error}",
            hint="build it with `make build`",
        ) from None
    return _torch_ops


launch = extension().launch


def prepare(kernel: Any, *example: Any, **named: Any) -> None:
    """Compiles a kernel for arguments like these, for `launch`, for graph captures and for operators.

    `example` are arguments as for `launch`; of tensors only dtype and shape matter, so they may be on any
    device, "meta" included. A kernel that is prepared already costs a look-up. Not allowed in a capture.
    """
    _refuse_in_capture(f"prepare({_name_of(kernel)})")
    args = order(kernel, example, named)
    if len(args) != len(_names(kernel)):
        raise _wrong_count(f"prepare({_name_of(kernel)})", kernel, args)
    made = kernel_of(kernel, args)
    if not made.has(*args):
        compile_for(kernel, made, args)


def kernel_of(kernel: Any, example: Sequence[Any] | None = None):
    """The `_torch_ops.Kernel` of a kernel, which is made once and kept with it. `example` is needed where
    annotations do not say what the parameters are."""
    known = getattr(kernel, "__pypto_torch__", None)
    if known is not None:
        return known
    if isinstance(kernel, bridge.core().JITFunction):
        kernel.impl._check_form()
        made = _from_jit(kernel, example)
    elif not _is_compiled(kernel):
        raise _no_kernel(kernel)
    else:
        made = _from_artifact(kernel)
    kernel.__pypto_torch__ = made
    return made


def params_of(kernel: Any, example: Sequence[Any] | None = None) -> tuple[ParamInfo, ...]:
    """The parameters of a kernel. What annotations leave open comes from the example; extents of such a
    tensor are open."""
    if isinstance(kernel, bridge.core().JITFunction):
        if example is not None and not isinstance(example, Sequence):
            raise ArgumentTypeError(f"example is a {type(example).__name__}, it takes a tuple")
        if example is not None and len(example) != len(kernel.impl.names):
            raise _wrong_count(f"{kernel.__name__}: example", kernel, example)
        found = []
        for index, name in enumerate(kernel.impl.names):
            value = None if example is None else example[index]
            param = _annotated(name, kernel.impl.annotations.get(name))
            if param is None and example is None:
                raise ArgumentTypeError(
                    f"{kernel.__name__}: nothing says what {name} is",
                    hint=f"annotate it, as in {name}: pl.Tensor[[M, N], pl.FP32], or give example=",
                )
            found.append(param or _like(name, value))
        if open_names(kernel) and example is not None:
            found = _with_directions(found, _compile(kernel, _stand_ins(example))[0])
        return tuple(found)
    if not _is_compiled(kernel):
        raise _no_kernel(kernel)
    return tuple(kernel.metadata.params)


def open_names(kernel: Any) -> list[str]:
    """Parameters of a `@pl.jit` function that no annotation says the direction of."""
    if not isinstance(kernel, bridge.core().JITFunction):
        return []
    annotations = kernel.impl.annotations
    return [
        name
        for name in kernel.impl.names
        if not isinstance(annotations.get(name), (Annotation, dtypes.DataType))
    ]


def compile_for(kernel: Any, made: Any, args: Sequence[Any]) -> None:
    """Compiles a `@pl.jit` function for arguments and gives the program to its `_torch_ops.Kernel`."""
    if not isinstance(kernel, bridge.core().JITFunction):
        raise ArgumentTypeError(
            f"{_name_of(kernel)} was compiled for {_signature(params_of(kernel))}, "
            f"these arguments are {_shown(args)}",
            hint="compile it for them, or launch the @pl.jit function, which compiles by itself",
        )
    made.add(_compile(kernel, _stand_ins(args))[1])


# What the extension asks for.


def load_npu() -> None:
    """Makes launches on the NPU possible: torch_npu and the extension that knows its streams."""
    try:
        import torch_npu  # noqa: F401
    except ImportError as error:
        raise RuntimeError(
            f"launching on the NPU requires a compatible torch_npu installation: {error}"
        ) from None
    from pypto import _torch_ops_npu  # noqa: F401
    from pypto.runtime.kernel import context

    context.manager().add_participant(_Admission())


def describe(kernel: Any, args: tuple) -> tuple:
    """The arguments of a launch that the extension could not accept by itself: raises what is wrong with
    them, or gives them in a form that it takes."""
    from pypto.torch.interop import CallSignature

    params = params_of(kernel, args if len(args) == len(_names(kernel)) else None)
    frame = CallSignature(params, caller_name=f"launch({_name_of(kernel)})").describe_call(args)
    plain = list(args)
    for scalar in frame.scalars:
        plain[scalar.param_index] = scalar.value
    return tuple(plain)


def order(kernel: Any, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """Arguments in the order of the parameters; names and defaults as in a call of the kernel."""
    if isinstance(kernel, bridge.core().JITFunction):
        values = kernel.impl._by_name(args, dict(kwargs))
        return tuple(values[name] for name in kernel.impl.names if name in values)
    if not _is_compiled(kernel):
        raise _no_kernel(kernel)
    names = _names(kernel)
    for name in kwargs:
        if name not in names:
            raise ArgumentTypeError(f"{_name_of(kernel)} has no parameter {name!r}")
    return (*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs))


class _Admission:
    """Follows the process's kernel context: after a failure or a close nothing is launched."""

    def state_changed(self, state: Any, generation: int) -> None:
        name = getattr(state, "name", str(state))
        closed = name in ("FAILED", "CLOSING", "CLOSED")
        extension().set_admission(f"the process's kernel context is {name}" if closed else None)

    def drain(self) -> None:
        import torch

        for index in range(torch.npu.device_count()):
            torch.npu.synchronize(index)

    def abandon(self, reason: str) -> None:
        extension().set_admission(reason)


# Kernels of each kind.


def _from_jit(kernel: Any, example: Sequence[Any] | None):
    params = params_of(kernel, example)
    open_types = {
        name
        for name in kernel.impl.names
        if _annotated(name, kernel.impl.annotations.get(name)) is None
    }
    made = extension().Kernel(
        kernel.__name__,
        [_row(param, param.name in open_types) for param in params],
        kernel,
        lambda *args: compile_for(kernel, made, args),
    )
    return made


def _from_artifact(artifact: Any):
    """Of what ir.compile returned, whose contract allows a call with all its parameters."""
    loaded = artifact.load()
    made = extension().Kernel(
        loaded.executable.__name__,
        [_row(param, False) for param in artifact.metadata.params],
        None,
        lambda *args: compile_for(artifact, made, args),
    )
    made.add(loaded.executable)
    return made


def _row(param: ParamInfo, open_type: bool) -> tuple:
    """A parameter as `_torch_ops.Kernel` takes it."""
    direction = param.direction.value.lower()
    kind = "scalar" if param.is_scalar else "tensor"
    if open_type:
        return (param.name, kind, direction, "", None)
    return (param.name, kind, direction, param.dtype.name, param.shape)


def _annotated(name: str, annotation: Any) -> ParamInfo | None:
    """What an annotation says; None if it leaves type or shape open."""
    if isinstance(annotation, dtypes.DataType):
        return ParamInfo(name, ParamDirection.In, None, annotation)
    if not isinstance(annotation, Annotation) or annotation.dtype is None:
        return None
    if annotation.kind == "scalar":
        return ParamInfo(name, ParamDirection.In, None, annotation.dtype)
    if annotation.kind != "tensor" or annotation.shape is None:
        return None
    return ParamInfo(
        name,
        DIRECTIONS[annotation.direction],
        tuple(-1 if isinstance(d, DynVar) else int(d) for d in annotation.shape),
        annotation.dtype,
        dim_names=tuple(d.name if isinstance(d, DynVar) else "" for d in annotation.shape),
    )


def _like(name: str, value: Any) -> ParamInfo:
    """The parameter that an argument would be for."""
    import torch

    if isinstance(value, torch.Tensor):
        known = type_tables.name_of_torch(value.dtype)
        if known is None:
            raise ArgumentTypeError(f"{name}: no kernel takes {value.dtype}")
        return ParamInfo(name, ParamDirection.In, (-1,) * max(value.dim(), 1), dtypes.ALL[known])
    for kind, dtype in ((bool, "BOOL"), (int, "INDEX"), (float, "FP32")):
        if isinstance(value, kind):
            return ParamInfo(name, ParamDirection.In, None, dtypes.ALL[dtype])
    raise ArgumentTypeError(f"{name}: takes a tensor or a number, got {type(value).__name__}")


def _with_directions(params: list[ParamInfo], header: dict[str, Any]) -> list[ParamInfo]:
    """Parameters with the directions that the compiler found."""
    found = {slot[1]: slot[2] for slot in header["slots"] if slot[0] == "tensor"}
    return [
        dataclasses.replace(param, direction=DIRECTIONS[found[param.name]])
        if param.is_tensor and param.name in found
        else param
        for param in params
    ]


# Compiling.


def _compile(kernel: Any, args: tuple) -> tuple[dict, Any]:
    """Header and executable for these arguments, from memory, the cache or the compiler."""
    impl = kernel.impl
    snap = snapshot([impl.record])
    header, code, _ = impl._find(snap, args, _default_config())
    made = executable.load(header, code, dict(zip(impl.names, args, strict=True)).get)
    kernel.add(made, "", snap.guards)
    return header, made


def _default_config():
    from pypto.runtime.config import default_config

    return default_config()


def _stand_ins(args: Sequence[Any]) -> tuple:
    """Arguments for the compiler, which looks at types and shapes: memory that nobody touches."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        return tuple(
            torch.empty(tuple(map(int, a.shape)), dtype=a.dtype, device="cpu")
            if isinstance(a, torch.Tensor)
            else a
            for a in map(_plain, args)
        )


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, ctypes._SimpleCData) else value


def _refuse_in_capture(what: str) -> None:
    import torch

    npu = getattr(torch, "npu", None)
    if npu is not None and npu.is_initialized() and npu.is_current_stream_capturing():
        raise RuntimeError(
            f"{what}: a graph is being captured; Kernel capture requires warmup outside capture"
        )


def _is_compiled(kernel: Any) -> bool:
    return hasattr(kernel, "metadata") and hasattr(kernel, "load")


def _no_kernel(kernel: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{type(kernel).__name__} is no kernel",
        hint="pass a function decorated with @pl.jit, or what ir.compile returned",
    )


# Words of messages.


def _name_of(kernel: Any) -> str:
    return getattr(kernel, "__name__", None) or getattr(kernel, "name", type(kernel).__name__)


def _wrong_count(where: str, kernel: Any, args: Sequence[Any]) -> ArgumentTypeError:
    names = _names(kernel)
    return ArgumentTypeError(
        f"{where} has {len(args)} arguments, the kernel {len(names)} parameters",
        hint=f"give one for each of {', '.join(names)}",
    )


def _names(kernel: Any) -> list[str]:
    if isinstance(kernel, bridge.core().JITFunction):
        return list(kernel.impl.names)
    return [param.name for param in params_of(kernel)]


def _signature(params: Sequence[ParamInfo]) -> str:
    return ", ".join(
        f"{p.name}: {p.dtype}" + ("" if p.is_scalar else f"[{', '.join(map(str, p.shape))}]")
        for p in params
    )


def _shown(args: Sequence[Any]) -> str:
    import torch

    return ", ".join(
        f"{a.dtype}[{', '.join(map(str, a.shape))}]" if isinstance(a, torch.Tensor) else repr(a)
        for a in args
    )


def __getattr__(name: str) -> Any:
    if name in ("register", "Registration"):
        from pypto.torch import operators

        return getattr(operators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["launch", "prepare"]
