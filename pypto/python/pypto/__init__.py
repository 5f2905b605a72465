"""PTO Stack's tile language and compiler.

    import pypto.language as pl      # the language: decorators, types, operations
    from pypto import ir, runtime    # compile class programs, run configurations

Importing this package does no work; the compiler is loaded when a program has to be compiled.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pypto.errors import (
    Error,
    InternalError,
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ResourceError,
    RunError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)

if TYPE_CHECKING:
    from pypto import backend, ir, knobs, language, runtime

__version__ = "0.1.0"

__all__ = [
    "Error",
    "InternalError",
    "InvalidOperationError",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "ResourceError",
    "RunError",
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
    "backend",
    "ir",
    "knobs",
    "language",
    "runtime",
    "warm_up",
]

_SUBMODULES = frozenset({"backend", "ir", "knobs", "language", "runtime"})


def __getattr__(name: str):
    if name in _SUBMODULES:
        return importlib.import_module(f"pypto.{name}")
    raise AttributeError(f"module 'pypto' has no attribute {name!r}")


def warm_up() -> None:
    """Loads the compiler now, so that the next compile takes the compiler's own time only."""
    from pypto import bridge

    bridge.warm_up()
