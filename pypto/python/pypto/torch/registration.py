"""Operator schemas and Fake/Meta kernels for kernels that write their results into passed tensors.

    signature = RegistrationSignature(metadata.params, return_aliases=metadata.return_aliases)
    signature.schema("add_rows")      # add_rows(Tensor(a0) x, SymInt n, Tensor(a2!) y) -> Tensor(a2!)
    signature.define(library, "add_rows")

Nothing here reads memory, asks for an NPU or calls a Worker: shapes may be symbols and tensors abstract.
What cannot be proven of abstract tensors (formats, storages, overlaps) the real call checks
(`pypto.torch.interop`). Importing this module registers nothing.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from pypto import dtypes
from pypto.ir.param_info import (
    ParamDirection,
    ParamInfo,
    bind_complete_args,
    check_return_aliases,
    check_unique_names,
)
from pypto.ir.scalar_argument import scalar_argument
from pypto.ir.type_tables import DISPATCHER_KINDS, torch_dtype

_NAME = re.compile(r"^[A-Za-z_]\w*$")


class RegistrationSignature:
    """The parameters of an operator and which of them its results are. Immutable; any thread.

    All parameters are passed by the caller, Out ones included. `return_aliases` are positions in the whole
    list of parameters, of Out or InOut tensors: the dispatcher forbids returning an input that is only
    read. Raises ValueError for names, directions, extents and aliases that a schema cannot have, TypeError
    for scalar types that the dispatcher cannot carry.
    """

    def __init__(self, params: Sequence[ParamInfo], *, return_aliases: Sequence[int] = ()) -> None:
        self._params = tuple(params)
        check_unique_names(self._params, "operator")
        for param in self._params:
            _check_parameter(param)
        if not any(param.is_tensor for param in self._params):
            raise ValueError(
                "operator: it has no tensor parameter, so the dispatcher could not choose a device"
            )
        self._aliases = check_return_aliases(self._params, return_aliases, "operator")
        for number, index in enumerate(self._aliases):
            if not self._params[index].is_written:
                raise ValueError(
                    f"operator: result {number} is the read-only input {self._params[index].name!r}; "
                    "a result is an Out or InOut tensor"
                )
        self._dtypes = tuple(torch_dtype(p.dtype) if p.is_tensor else None for p in self._params)

    @property
    def params(self) -> tuple[ParamInfo, ...]:
        return self._params

    @property
    def return_aliases(self) -> tuple[int, ...]:
        return self._aliases

    # Schema.

    def schema(self, name: str, defaults: Mapping[str, bool | int | float] | None = None) -> str:
        """The schema of an operator `name` (without namespace). Each tensor has an alias set of its own,
        numbered by its position; written ones are marked, and each result is in the set of its tensor.
        `defaults` are finite values of the last scalars."""
        _check_name("operator", name)
        arguments = ", ".join(
            f"{self._type(index)} {param.name}"
            + (f"={defaults[param.name]}" if defaults and param.name in defaults else "")
            for index, param in enumerate(self._params)
        )
        results = [self._type(index) for index in self._aliases]
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"{name}({arguments}) -> {returned}"

    def _type(self, index: int) -> str:
        param = self._params[index]
        if param.is_scalar:
            return DISPATCHER_KINDS[param.dtype.name]
        return f"Tensor(a{index}{'!' if param.is_written else ''})"

    # Fake and Meta.

    def fake(self, *args: Any) -> Any:
        """The operator on abstract tensors (FakeTensor or meta): checks what they tell and returns the
        arguments that the results are, as they are. Symbols stay symbols; a static extent becomes a
        condition on them."""
        args = bind_complete_args(args, self._params, caller_name="operator")
        device = None
        for index, (param, value) in enumerate(zip(self._params, args)):
            if param.is_scalar:
                _check_scalar(param, index, value)
                continue
            device = self._check_abstract(param, value, self._dtypes[index], device)
        if not self._aliases:
            return None
        results = tuple(args[index] for index in self._aliases)
        return results[0] if len(results) == 1 else results

    def _check_abstract(
        self, param: ParamInfo, value: Any, dtype: torch.dtype, device: Any
    ) -> torch.device:
        name = f"Parameter '{param.name}'"
        if not isinstance(value, torch.Tensor) or not (
            isinstance(value, FakeTensor) or value.device.type == "meta"
        ):
            kind = type(value).__name__
            raise TypeError(f"{name}: a fake kernel takes FakeTensor or meta tensors, got {kind}")
        if value.dtype is not dtype:
            raise TypeError(f"{name} takes {param.dtype} ({dtype}), got {value.dtype}")
        if value.dim() != len(param.shape):
            raise ValueError(f"{name} takes rank {len(param.shape)}, got rank {value.dim()}")
        for axis, extent in enumerate(param.shape):
            if extent >= 0:
                _check_extent(name, axis, extent, value.shape[axis])
        if value.layout is not torch.strided or not value.is_contiguous():
            raise ValueError(f"{name} is not contiguous; pass tensor.contiguous()")
        if value.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} requires grad, and the kernel has no backward; call it under torch.no_grad()"
            )
        if device is not None and value.device != device:
            raise ValueError(f"{name} is on {value.device}, an earlier parameter on {device}")
        return value.device

    # Definition.

    def define(self, library: torch.library.Library, name: str) -> None:
        """Defines the schema and the fake kernel in a library that the caller owns and keeps. A name that
        is defined already raises torch's own error and replaces nothing. RuntimeError, before anything is
        defined, where this torch can register no fake kernel."""
        schema = self.schema(name)
        register = _fake_registration(library)
        library.define(schema)
        register(f"{library.ns}::{name}", self.fake)


def _fake_registration(
    library: torch.library.Library,
) -> Callable[[str, Callable[..., Any]], None]:
    """`register_fake`, or what PyTorch 2.2 and 2.3 have in its place; both tie it to the library's life."""
    for api in ("register_fake", "impl_abstract"):
        register = getattr(torch.library, api, None)
        if register is not None:
            return lambda name, function: register(name, function, lib=library)
    raise RuntimeError(
        f"torch {torch.__version__} has neither torch.library.register_fake nor impl_abstract; "
        "operators need one of them"
    )


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.match(name) or keyword.iskeyword(name):
        raise ValueError(
            f"{what}: {name!r} is no name that a schema can have (a letter or _, then letters, digits and _; "
            "no Python keyword)"
        )


def _check_parameter(param: ParamInfo) -> None:
    _check_name("parameter", param.name)
    if not isinstance(param.direction, ParamDirection):
        raise ValueError(
            f"Parameter '{param.name}': direction {param.direction!r} is not In, Out or InOut"
        )
    if param.is_tensor:
        if any(extent < -1 for extent in param.shape):
            raise ValueError(
                f"Parameter '{param.name}': shape {list(param.shape)} has an extent below -1"
            )
        return
    if param.is_written:
        raise ValueError(
            f"Parameter '{param.name}': a scalar is an input, not {param.direction.value}"
        )
    if param.dtype.name == "UINT64":
        raise TypeError(
            f"Parameter '{param.name}': the dispatcher's integers are signed and cannot hold every {param.dtype}; use int64"
        )
    if param.dtype.name not in DISPATCHER_KINDS:
        raise TypeError(f"Parameter '{param.name}': the dispatcher has no scalar for {param.dtype}")


def _check_scalar(param: ParamInfo, index: int, value: Any) -> None:
    """As for a real call, but a symbol stays one: its range becomes a condition, its value is not asked
    for."""
    if not isinstance(value, torch.SymInt):
        scalar_argument(param, index, value)
        return
    if DISPATCHER_KINDS[param.dtype.name] != "SymInt":
        raise TypeError(f"Parameter '{param.name}' takes {param.dtype}, got a symbolic integer")
    low, high = dtypes.RANGES[param.dtype.name]
    if (low, high) != dtypes.RANGES["INT64"]:  # which every symbol fits
        text = f"Parameter '{param.name}' does not fit {param.dtype} ({low} to {high})"
        torch._check(value >= low, lambda: text)
        torch._check(value <= high, lambda: text)


def _check_extent(name: str, axis: int, wanted: int, extent: Any) -> None:
    torch._check(extent == wanted, lambda: f"{name}: axis {axis} is {extent}, it must be {wanted}")
