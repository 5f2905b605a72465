"""Kernels as torch operators: `register`.

    pypto.torch.register("mylib", "add", add)
    torch.ops.mylib.add(x, y)                # makes its result
    torch.ops.mylib.add.out(x, y, out)       # writes into the caller's

Both overloads have C++ kernels for "cpu" and "npu" (`bindings/torch`), a Fake kernel, and one for autograd; so they
work in eager mode, under torch.compile and torch.export, and in graph captures.
"""

from __future__ import annotations

import inspect
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from pypto.errors import ArgumentTypeError, ArgumentValueError
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.ir.type_tables import DISPATCHER_KINDS, torch_dtype
from pypto.torch.launching import extension, kernel_of, open_names, params_of
from pypto.torch.registration import RegistrationSignature, _check_name, _check_scalar

_RESERVED = "_pypto_"
_lock = threading.Lock()
_registered: dict[str, Registration] = {}


@dataclass(frozen=True)
class Registration:
    """A registered operator. `packet` is `torch.ops.<namespace>.<name>`; the names are its overloads."""

    name: str
    kernel: Any
    overloads: tuple[str, ...]
    identity: tuple = field(repr=False)
    libraries: tuple = field(repr=False)
    handles: tuple[int, ...] = field(repr=False)

    @property
    def packet(self) -> Any:
        namespace, _, name = self.name.partition("::")
        return getattr(getattr(torch.ops, namespace), name)


def register(
    namespace: str,
    name: str,
    kernel: Any,
    *,
    backward: Any = None,
    example: Sequence[Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> Any:
    """Makes a kernel the operator `torch.ops.<namespace>.<name>` and returns that.

    `kernel` is a `@pl.jit` function or a compiled program. Where the shape of each Out parameter follows from
    the inputs, the operator returns new tensors (an InOut parameter: a changed copy), and the overload `.out` takes
    all parameters and returns nothing. Otherwise the operator itself takes all parameters.

    backward
        The derivative: a kernel, or a function of torch operators. The names of its parameters say what it gets:
        `grad_<out>` the gradient of a result, any other name that argument or result. A kernel writes `grad_<x>`, the
        gradient of argument x; a function returns the gradients of the floating-point tensor arguments in order,
        None for those that have none. Without it, arguments that require grad are refused.
    example
        Arguments like those of a call, where annotations do not say what the parameters are.
    outputs
        Shapes of Out parameters that do not follow from dimension names: `{"y": "x"}` as x, or
        `{"y": [("x", 0), 64]}`, an axis of a parameter or a number each.

    The operator stays until the process ends. The same registration again gives the same operator; another one under
    a name that is taken is a ValueError, and a registration that fails leaves nothing behind.
    """
    _check_name("operator", namespace)
    _check_name("operator", name)
    if namespace.startswith(_RESERVED) or name.startswith(_RESERVED):
        raise ValueError(f"operator {namespace}::{name}: the prefix {_RESERVED} is reserved")
    qualified = f"{namespace}::{name}"
    identity = (id(kernel), id(backward), repr(outputs))
    with _lock:
        known = _registered.get(qualified)
        if known is not None:
            if known.identity == identity:
                return known.packet
            raise ValueError(
                f"operator {qualified}: it is registered for {_shown(known.kernel)} already"
            )
        if torch._C._jit_get_schemas_for_operator(qualified):
            raise ValueError(
                f"operator {qualified}: torch has one of this name, of another library"
            )
        made = _Builder(namespace, name, kernel, backward, example, outputs).build()
        made = Registration(qualified, kernel, made[0], identity, made[1], made[2])
        _registered[qualified] = made
    return made.packet


def _shown(kernel: Any) -> str:
    return getattr(kernel, "__name__", None) or repr(kernel)


@dataclass
class _Output:
    """How a written parameter becomes a result."""

    param: int
    copy: bool = False
    like: int = -1
    dims: list[tuple[int, int, int]] = field(default_factory=list)  # constant, parameter, axis

    def row(self, params: Sequence[ParamInfo]) -> tuple:
        return (self.param, self.copy, params[self.param].dtype.name, self.like, self.dims)


class _Builder:
    """Makes one operator; `build` undoes what it did when a step fails."""

    def __init__(self, namespace, name, kernel, backward, example, outputs):
        self.namespace = namespace
        self.name = name
        self.kernel = kernel
        self.backward = backward
        self.native = kernel_of(kernel, example)
        # Of a parameter without annotation the compiler knows that it is written, not that nobody reads
        # what was there before; naming its shape says that.
        self.params = tuple(
            replace(param, direction=ParamDirection.Out)
            if param.name in (outputs or {}) and param.name in open_names(kernel)
            else param
            for param in params_of(kernel, example)
        )
        self.signature = RegistrationSignature(self.params)
        if outputs is not None and not isinstance(outputs, Mapping):
            raise ArgumentTypeError(
                f"operator {self.qualified}: outputs is a {type(outputs).__name__}, it takes a dict",
                hint='write outputs={"y": "x"}',
            )
        self.outputs = _outputs(self.qualified, self.params, outputs or {})
        self.library: Any = None
        self.libraries: list = []
        self.handles: list[int] = []
        if backward is not None and self.outputs is None:
            raise ArgumentValueError(
                f"operator {self.qualified}: an operator that writes into its arguments has no derivative",
                hint="say with outputs= what shapes its results have, so that it can return them",
            )

    @property
    def qualified(self) -> str:
        return f"{self.namespace}::{self.name}"

    def build(self) -> tuple[tuple[str, ...], Any, tuple[int, ...]]:
        self.library = torch.library.Library(self.namespace, "FRAGMENT")  # noqa: TOR901
        self.libraries.append(self.library)
        try:
            if self.outputs is None:
                overloads = ("default",)
                self._mutating("")
            else:
                overloads = ("default", "out")
                self._functional()
                self._mutating("out")
        except BaseException:
            for handle in self.handles:
                extension().remove(handle)
            for library in self.libraries:
                library._destroy()
            raise
        return overloads, tuple(self.libraries), tuple(self.handles)

    def _define(self, schema: str, fake: Callable, overload: str, tags: tuple = ()) -> None:
        self.library.define(schema, tags=(torch.Tag.pt2_compliant_tag, *tags))
        full = f"{self.qualified}.{overload}" if overload else self.qualified
        torch.library.register_fake(full, fake, lib=self.library)

    def _install(self, overload: str, arguments: list[int], outputs: list, backward: Any) -> None:
        self.handles.append(
            extension().install(
                {
                    "name": self.qualified,
                    "overload": overload,
                    "kernel": self.native,
                    "arguments": arguments,
                    "outputs": [output.row(self.params) for output in outputs],
                    "backward": backward,
                }
            )
        )

    def _mutating(self, overload: str) -> None:
        defaults: dict[str, Any] = {}
        for param in reversed(self.params):  # schemas take them at the end only, as Python does
            value = self._default(param)
            if value is None:
                break
            defaults[param.name] = value

        def fake(*args: Any) -> Any:
            # The dispatcher leaves out trailing arguments that have their default.
            return self.signature.fake(*args, *(defaults[p.name] for p in self.params[len(args) :]))

        schema = self.signature.schema(self.name, defaults)
        if overload:
            schema = schema.replace("(", f".{overload}(", 1)
        self._define(schema, fake, overload, (torch.Tag.needs_exact_strides,))
        self._install(overload, list(range(len(self.params))), [], None)

    def _functional(self) -> None:
        fresh = {output.param for output in self.outputs if not output.copy}
        arguments = [i for i in range(len(self.params)) if i not in fresh]
        words = ", ".join(self._argument(i) for i in arguments)
        results = ", ".join(["Tensor"] * len(self.outputs))
        if len(self.outputs) != 1:
            results = f"({results})"
        self._define(f"{self.name}({words}) -> {results}", _Fake(self, arguments), "")
        rule = None
        if self.backward is not None:
            rule = _Backward(self, arguments).rule()
        self._install("", arguments, self.outputs, rule)

    def _argument(self, index: int) -> str:
        param = self.params[index]
        kind = "Tensor" if param.is_tensor else DISPATCHER_KINDS[param.dtype.name]
        default = self._default(param)
        return f"{kind} {param.name}" + ("" if default is None else f"={default}")

    def _default(self, param: ParamInfo) -> Any:
        defaults = getattr(getattr(self.kernel, "impl", None), "defaults", {})
        value = defaults.get(param.name)
        if not param.is_scalar or not isinstance(value, (bool, int, float)):
            return None
        return value if math.isfinite(value) else None  # schemas have no word for inf and nan


class _Fake:
    """The functional overload on tensors without memory."""

    def __init__(self, builder: _Builder, arguments: list[int]):
        self.params = builder.params
        self.arguments = arguments
        self.outputs = builder.outputs
        self.name = builder.qualified

    def __call__(self, *args: Any) -> Any:
        values: list[Any] = [None] * len(self.params)
        device = None
        extents: dict[str, Any] = {}
        for index, value in zip(self.arguments, args):
            param = self.params[index]
            values[index] = value
            if param.is_scalar:
                _check_scalar(param, index, value)
                continue
            self._check(param, value, extents)
            if device is None:
                device = value.device
            elif value.device != device:
                raise ValueError(
                    f"Parameter '{param.name}' is on {value.device}, an earlier parameter on {device}"
                )
        results = tuple(self._result(output, values, device) for output in self.outputs)
        return results[0] if len(results) == 1 else results

    def _check(self, param: ParamInfo, value: Any, extents: dict[str, Any]) -> None:
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"Parameter '{param.name}' takes a tensor, got {type(value).__name__}")
        if value.dtype is not torch_dtype(param.dtype):
            raise TypeError(f"Parameter '{param.name}' takes {param.dtype}, got {value.dtype}")
        if value.dim() != len(param.shape):
            raise ValueError(
                f"Parameter '{param.name}' takes rank {len(param.shape)}, got rank {value.dim()}"
            )
        names = param.dim_names or ("",) * len(param.shape)
        for axis, (wanted, name) in enumerate(zip(param.shape, names)):
            extent = value.shape[axis]
            if wanted < 0 and name:
                wanted = extents.setdefault(name, extent)
            if wanted is extent or (isinstance(wanted, int) and wanted < 0):
                continue
            text = f"Parameter '{param.name}': axis {axis} is {{}}, it must be {{}}"
            torch._check(extent == wanted, lambda e=extent, w=wanted, t=text: t.format(e, w))

    def _result(self, output: _Output, values: list[Any], device: Any) -> torch.Tensor:
        param = self.params[output.param]
        if output.copy:
            return torch.empty_like(values[output.param], memory_format=torch.contiguous_format)
        if output.like >= 0:
            shape = tuple(values[output.like].shape)
        else:
            shape = tuple(c if p < 0 else values[p].shape[axis] for c, p, axis in output.dims)
        return torch.empty(shape, dtype=torch_dtype(param.dtype), device=device)


def _outputs(
    where: str, params: Sequence[ParamInfo], rules: Mapping[str, Any]
) -> list[_Output] | None:
    """How each written parameter is made; None where a shape does not follow from the inputs."""
    index = {param.name: i for i, param in enumerate(params)}
    places: dict[str, tuple[int, int]] = {}  # dimension name -> parameter, axis
    inputs = [i for i, p in enumerate(params) if p.is_tensor and p.direction.value != "Out"]
    for i in inputs:
        for axis, name in enumerate(params[i].dim_names):
            if name:
                places.setdefault(name, (i, axis))
    for name in rules:
        if name not in index or params[index[name]].direction.value != "Out":
            raise ArgumentValueError(f"operator {where}: outputs names {name!r}, no Out parameter")
    found: list[_Output] = []
    for i, param in enumerate(params):
        if not (param.is_tensor and param.is_written):
            continue
        if param.direction.value == "InOut":
            found.append(_Output(i, copy=True))
        elif param.name in rules:
            found.append(_ruled(where, i, param, rules[param.name], params, index))
        else:
            dims = _derived(param, places)
            if dims is None:
                return None
            found.append(_Output(i, dims=dims))
    return found if found and inputs else None


def _derived(
    param: ParamInfo, places: Mapping[str, tuple[int, int]]
) -> list[tuple[int, int, int]] | None:
    names = param.dim_names or ("",) * len(param.shape)
    dims = []
    for extent, name in zip(param.shape, names):
        if extent >= 0:
            dims.append((extent, -1, 0))
        elif name in places:
            dims.append((0, *places[name]))
        else:
            return None
    return dims


def _ruled(
    where: str,
    position: int,
    param: ParamInfo,
    rule: Any,
    params: Sequence[ParamInfo],
    index: Mapping[str, int],
) -> _Output:
    def tensor(name: Any) -> int:
        if (
            name not in index
            or not params[index[name]].is_tensor
            or params[index[name]].direction.value == "Out"
        ):
            raise ArgumentValueError(
                f"operator {where}: the shape of {param.name} is taken from {name!r}, which is no tensor that a call passes"
            )
        return index[name]

    if isinstance(rule, str):
        return _Output(position, like=tensor(rule))
    if not isinstance(rule, Sequence):
        raise _no_rule(where, param, rule)
    dims = []
    for dim in rule:
        if isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0:
            dims.append((dim, -1, 0))
            continue
        if not (isinstance(dim, Sequence) and len(dim) == 2 and isinstance(dim[1], int)):
            raise _no_rule(where, param, dim)
        source, axis = dim
        source = tensor(source)
        if not 0 <= axis < len(params[source].shape):
            raise ArgumentValueError(f"operator {where}: {params[source].name} has no axis {axis}")
        dims.append((0, source, axis))
    if len(dims) != len(param.shape):
        raise ArgumentValueError(
            f"operator {where}: {param.name} has rank {len(param.shape)}, outputs gives {len(dims)} extents"
        )
    for axis, (wanted, (extent, source, _)) in enumerate(zip(param.shape, dims)):
        if wanted >= 0 and source < 0 and extent != wanted:
            raise ArgumentValueError(
                f"operator {where}: outputs gives axis {axis} of {param.name} the extent {extent}, "
                f"the kernel says {wanted}"
            )
    return _Output(position, dims=dims)


def _no_rule(where: str, param: ParamInfo, got: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"operator {where}: outputs[{param.name!r}] cannot be {got!r}",
        hint='name a tensor that it is like ("x"), or list an extent for each axis: a number or ("x", 0), an axis of x',
    )


class _Backward:
    """Binds a derivative to an operator by the names of its parameters."""

    def __init__(self, builder: _Builder, arguments: list[int]):
        self.builder = builder
        self.params = builder.params
        self.arguments = arguments
        self.results = [self.params[output.param].name for output in builder.outputs]

    def rule(self) -> dict[str, Any]:
        derivative = self.builder.backward
        if callable(derivative) and not hasattr(derivative, "__pypto_function__"):
            return self._function(derivative)
        return self._kernel(derivative)

    def _function(self, function: Callable) -> dict[str, Any]:
        names = []
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise ArgumentTypeError(
                    f"backward of {self.builder.qualified}: {parameter} has no fixed name",
                    hint="name what it takes: grad_<result>, arguments, results",
                )
            names.append(name)
        targets = [
            position
            for position, index in enumerate(self.arguments)
            if self.params[index].is_tensor and self.params[index].dtype.is_float()
        ]
        return {
            "sources": [self._source(name) for name in names],
            "targets": targets,
            "function": function,
        }

    def _kernel(self, kernel: Any) -> dict[str, Any]:
        params = params_of(kernel)
        named = {self.params[index].name: position for position, index in enumerate(self.arguments)}
        targets, rules = [], {}
        for param in params:
            if not param.is_written:
                continue
            match = re.fullmatch(r"grad_(\w+)", param.name)
            if match is None or match[1] not in named or param.direction.value != "Out":
                raise ArgumentTypeError(
                    f"backward of {self.builder.qualified}: it writes {param.name}, which is no gradient of an argument",
                    hint=f"write {', '.join('grad_' + each for each in named)}",
                )
            targets.append(named[match[1]])
            inputs = [p.name for p in params if p.is_tensor and not p.is_written]
            if match[1] in inputs:
                rules[param.name] = match[1]
        sources = [self._source(p.name) for p in params if not p.is_written]
        name = f"{self.builder.name}_backward"
        inner = _Builder(self.builder.namespace, name, kernel, None, None, rules)
        if inner.outputs is None:
            raise ArgumentTypeError(
                f"backward of {self.builder.qualified}: the shapes of its gradients do not follow from its inputs",
                hint="let it take the arguments that it writes the gradients of, or use dimension names",
            )
        made = inner.build()
        self.builder.handles.extend(made[2])
        self.builder.libraries.extend(made[1])
        return {
            "sources": sources,
            "targets": targets,
            "function": f"{self.builder.namespace}::{name}",
        }

    def _source(self, name: str) -> tuple[str, int]:
        if name.startswith("grad_") and name[5:] in self.results:
            return ("gradient", self.results.index(name[5:]))
        for position, index in enumerate(self.arguments):
            if self.params[index].name == name:
                return ("argument", position)
        if name in self.results:
            return ("result", self.results.index(name))
        known = [f"grad_{each}" for each in self.results]
        known += [self.params[index].name for index in self.arguments] + self.results
        raise ArgumentTypeError(
            f"backward of {self.builder.qualified}: it takes {name}, and there is no such value",
            hint=f"it can take {', '.join(known)}",
        )
