"""Decorators that make programs of functions: `jit` and its forms, `function`, `inline`, `program`.

They keep the source and the names around it. `@pl.jit` functions are compiled when they are called;
`@pl.function` and `@pl.program` are checked where they stand, so that an error shows at import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pypto.enums import FunctionType as Kind
from pypto.errors import ArgumentTypeError, ParserSyntaxError, Span
from pypto.source import Record


def _decorator(function: Any, make: Callable[[FunctionType], Any], name: str) -> Any:
    """Supports both `@name` and `@name(…)`."""
    if function is None:
        return lambda inner: _decorator(inner, make, name)
    if not isinstance(function, FunctionType):
        raise ArgumentTypeError(
            f"{name} decorates a function, not {type(function).__name__}",
            hint=f"write {name} above `def`"
            + (" or @pl.program above `class`" if isinstance(function, type) else ""),
        )
    return make(function)


class _Jit:
    """`@pl.jit`: the entry of a program; compiled for the arguments of each call."""

    def __call__(self, function=None, *, auto_scope: bool = True):
        return self._form("@pl.jit", "jit", function, sys._getframe(1), {"auto_scope": auto_scope})

    def host(self, function=None, *, auto_scope: bool = True):
        """The orchestrator of a program that spans devices."""
        return self._form(
            "@pl.jit.host", "host", function, sys._getframe(1), {"auto_scope": auto_scope}
        )

    def incore(self, function=None, *, level=None):
        """A kernel: runs on one core group."""
        options = {"level": level} if level is not None else {}
        return self._form("@pl.jit.incore", "incore", function, sys._getframe(1), options)

    def inline(self, function=None, *, auto_scope: bool = True):
        """A helper that becomes part of its callers; parameters are the callers' variables."""
        return self._form(
            "@pl.jit.inline", "inline", function, sys._getframe(1), {"auto_scope": auto_scope}
        )

    def opaque(self, function=None):
        """A helper with loops and scopes of its own."""
        return self._form("@pl.jit.opaque", "opaque", function, sys._getframe(1), {})

    def extern(
        self,
        function=None,
        *,
        core_type=None,
        source=None,
        aic_source=None,
        aiv_source=None,
        dual_aiv_dispatch: bool = False,
        include_dirs=None,
    ):
        """The signature of a kernel written in C++."""
        options = {
            "core_type": core_type,
            "source": source,
            "aic_source": aic_source,
            "aiv_source": aiv_source,
            "dual_aiv_dispatch": dual_aiv_dispatch,
            "include_dirs": include_dirs,
        }
        options = {key: value for key, value in options.items() if value is not None}
        return self._form("@pl.jit.extern", "extern", function, sys._getframe(1), options)

    @staticmethod
    def _form(name: str, form: str, function: Any, frame, options: dict[str, Any]):
        def make(inner: FunctionType):
            from pypto.jit import make_function

            return make_function(Record(inner, form, options, frame))

        return _decorator(function, make, name)

    def __repr__(self) -> str:
        return "pl.jit"


jit = _Jit()


def function(
    function=None,
    *,
    type: Kind = Kind.Opaque,
    level=None,
    role=None,
    attrs=None,
    auto_scope: bool = True,
    strict_ssa: bool = False,
    external_source=None,
):
    """One function of a class program, or a function of its own (checked at once)."""
    frame = sys._getframe(1)
    options: dict[str, Any] = {"type": type, "auto_scope": auto_scope, "strict_ssa": strict_ssa}
    given = {"level": level, "role": role, "attrs": attrs, "external_source": external_source}
    options.update({key: value for key, value in given.items() if value is not None})
    if attrs is not None:
        import warnings

        warnings.warn(
            "attrs= of @pl.function is deprecated: write pl.func_attr({…}) as the first statement",
            DeprecationWarning,
            stacklevel=2,
        )

    def make(inner: FunctionType):
        from pypto.program import Function

        made = Function(Record(inner, "function", options, frame))
        if not made.record.method:
            made.check()
        return made

    return _decorator(function, make, "@pl.function")


def inline(function=None):
    """A macro: its body is compiled at each place that names it, with the caller's values."""
    frame = sys._getframe(1)

    def make(inner: FunctionType):
        from pypto.program import Function

        return Function(Record(inner, "macro", {}, frame))

    return _decorator(function, make, "@pl.inline")


def program(cls=None, *, strict_ssa: bool = False):
    """Makes one program of the `@pl.function` methods of a class (checked at once)."""
    frame = sys._getframe(1)

    def make(inner: Any):
        from pypto.program import Function, Program

        if not isinstance(inner, type):
            raise ArgumentTypeError(
                f"@pl.program decorates a class, not {type(inner).__name__}",
                hint="put the functions into a class as @pl.function methods",
            )
        functions = [value for value in vars(inner).values() if isinstance(value, Function)]
        if not functions:
            raise ParserSyntaxError(
                f"program {inner.__name__} has no function",
                Span(frame.f_code.co_filename, frame.f_lineno, 1),
                hint="decorate at least one method with @pl.function",
            )
        for each in functions:
            each.record.adopt_locals(frame)
            if strict_ssa:
                each.record.options["strict_ssa"] = True
        made = Program(inner.__name__, functions, inner.__doc__)
        made.check()
        return made

    return make if cls is None else make(cls)
