"""The tile language. Programs write `import pypto.language as pl` and nothing else.

Decorators (`pl.jit`, `pl.function`, `pl.program`, …) turn functions into programs; types
(`pl.Tensor`, `pl.Out`, …) and element types (`pl.FP32`, …) annotate their parameters; loops, scopes and
operations are what their bodies consist of. Operations come from the compiler's op table.
"""

from __future__ import annotations

from typing import Any

from pypto.decorators import function, inline, jit, program
from pypto.dtypes import ALL as _DTYPES
from pypto.dtypes import DataType
from pypto.enums import (
    AtomicType,
    CompactMode,
    ForKind,
    FunctionType,
    Level,
    MaskPattern,
    Mem,
    MemorySpace,
    PadValue,
    PipeType,
    Role,
    ScopeMode,
    SplitMode,
    TensorLayout,
    TileLayout,
)
from pypto.language import constructs as _constructs
from pypto.language.constructs import *  # noqa: F403
from pypto.language.optable import OPS as _OPS
from pypto.text import loads, loads_program, parse, parse_program
from pypto.types import (
    RUNTIME,
    Array,
    AsyncEvent,
    AsyncSession,
    DynVar,
    InOut,
    IntLike,
    MemRef,
    MemRefType,
    Out,
    PrefetchAsyncContext,
    Ptr,
    Scalar,
    Tensor,
    TensorView,
    Tile,
    TileView,
    Tuple,
    dynamic,
)

globals().update(_DTYPES)
ND, DN, NZ = TensorLayout.ND, TensorLayout.DN, TensorLayout.NZ
MX_A_ZZ, MX_B_NN = TensorLayout.MX_A_ZZ, TensorLayout.MX_B_NN
TaskId = Scalar[_DTYPES["TASK_ID"]]
AUTO = -1  # address of a reserved buffer: wherever there is room

# fmt: off
__all__ = [
    "AUTO", "Array", "AsyncEvent", "AsyncSession", "AtomicType", "CompactMode", "DN", "DataType",
    "DynVar", "ForKind", "FunctionType", "InOut", "IntLike", "Level", "MX_A_ZZ", "MX_B_NN",
    "MaskPattern", "Mem", "MemRef", "MemRefType", "MemorySpace", "ND", "NZ", "Out", "PadValue",
    "PipeType", "PrefetchAsyncContext", "Ptr", "RUNTIME", "Role", "Scalar", "ScopeMode", "SplitMode",
    "TaskId", "Tensor", "TensorLayout", "TensorView", "Tile", "TileLayout", "TileView", "Tuple",
    "dynamic", "function", "inline", "jit", "loads", "loads_program", "parse", "parse_program",
    "program",
]
# fmt: on
__all__ += _constructs.__all__
__all__ += list(_DTYPES)


class Operation:
    """One operation. `help()` shows its parameters; it works inside kernels only."""

    def __init__(self, name: str):
        lists, summary = _OPS[name]
        self.__name__ = name
        self.__doc__ = "\n".join([f"{name}({each})" for each in lists]) + f"\n\n{summary}"

    def __call__(self, *args: Any, **kwargs: Any):
        _constructs.outside(f"pl.{self.__name__}")

    def __repr__(self) -> str:
        return f"<operation pl.{self.__name__}>"


class Namespace:
    """Operations under one name: pl.tensor, pl.tile, pl.system, pl.array, …"""

    def __init__(self, name: str, members: dict[str, Any] | None = None):
        self.__name__ = name
        self.__doc__ = f"Operations pl.{name}.*"
        vars(self).update(members or {})

    def __getattr__(self, name: str) -> Operation:
        full = f"{self.__name__}.{name}"
        if full not in _OPS:
            raise AttributeError(_unknown(full))
        operation = vars(self)[name] = Operation(full)
        return operation

    def __dir__(self):
        prefix = f"{self.__name__}."
        named = (full[len(prefix) :] for full in _OPS if full.startswith(prefix))
        return sorted({*named, *vars(self)})

    def __repr__(self) -> str:
        return f"<namespace pl.{self.__name__}>"


class _Word:
    """A word that stands only in attribute lists of printed programs."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"pl.adir.{self.name}"


_DIRECTIONS = ("input", "output", "output_existing", "inout", "no_dep", "scalar")
_NAMESPACES = {
    "tensor": {"dump_tag": _constructs.dump_tag},
    "tile": {"MaskPattern": MaskPattern, "max": _constructs.max, "min": _constructs.min},
    "system": {},
    "array": {},
    "prefetch": {},
    "adir": {name: _Word(name) for name in _DIRECTIONS},
}


def _unknown(name: str) -> str:
    import difflib

    text = f"the language has no pl.{name}"
    near = difflib.get_close_matches(name, [*_OPS, *__all__], n=3, cutoff=0.75)
    return f"{text}; near: {', '.join('pl.' + n for n in near)}" if near else text


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        value: Any = Namespace(name, _NAMESPACES[name])
    elif name in _OPS:
        value = Operation(name)
    elif name == "distributed":
        import importlib

        return importlib.import_module("pypto.language.distributed")
    elif name.startswith("__"):
        raise AttributeError(name)
    else:
        raise AttributeError(_unknown(name))
    globals()[name] = value
    return value


def __dir__():
    return sorted({*__all__, *_NAMESPACES, *(name for name in _OPS if "." not in name)})
