"""Programs from text: `pl.parse(code)` and `pl.loads(path)`.

The text is Python source that holds one `@pl.program` class or one `@pl.function`. Names that it does
not define are errors; nothing is declared by being used.
"""

from __future__ import annotations

import linecache
import os
import warnings
from typing import Any

from pypto.errors import ArgumentTypeError, ParserSyntaxError, Span


def parse(code: str, filename: str = "<string>", source_map: Any = None):
    """The program (or, if there is none, the function) that `code` defines."""
    if not isinstance(code, str):
        raise ArgumentTypeError(f"pl.parse takes text, not {type(code).__name__}")
    if filename == "<string>":  # texts must not stand for each other in tracebacks and errors
        import hashlib

        digest = hashlib.sha256(code.encode()).hexdigest()[:8]
        filename = f"<string {digest}>"
    # mtime None: linecache keeps these lines and does not look for a file.
    lines = code.splitlines(keepends=True)
    linecache.cache[filename] = (len(code), None, lines, filename)
    return _define(code, filename, lines)


def loads(filepath: str | os.PathLike):
    """The program (or the function) that the file at `filepath` defines."""
    filename = os.fspath(filepath)
    with open(filename, encoding="utf-8") as file:
        code = file.read()
    linecache.checkcache(filename)
    return _define(code, filename, code.splitlines(keepends=True))


def parse_program(code: str, filename: str = "<string>"):
    """Older name of `parse` that insists on a program."""
    warnings.warn("pl.parse_program is now pl.parse", DeprecationWarning, stacklevel=2)
    return _program(parse(code, filename), filename)


def loads_program(filepath: str | os.PathLike):
    """Older name of `loads` that insists on a program."""
    warnings.warn("pl.loads_program is now pl.loads", DeprecationWarning, stacklevel=2)
    return _program(loads(filepath), os.fspath(filepath))


def _program(made: Any, filename: str):
    from pypto.program import Program

    if not isinstance(made, Program):
        raise ParserSyntaxError(f"{filename} defines a function, not a program")
    return made


def _define(code: str, filename: str, lines: list[str]):
    from pypto import language
    from pypto.program import Function, Program

    namespace: dict[str, Any] = {"__name__": f"pypto.text.{filename}", "pl": language}
    try:
        compiled = compile(code, filename, "exec")
    except SyntaxError as error:
        number = error.lineno or 1
        line = lines[number - 1] if number <= len(lines) else ""
        span = Span(
            filename, number, error.offset or 1, error.end_lineno or 0, error.end_offset or 0
        )
        raise ParserSyntaxError(f"{error.msg}", span, source_lines=[line]) from None
    exec(compiled, namespace)
    values = [v for v in namespace.values() if isinstance(v, (Program, Function))]
    programs = [v for v in values if isinstance(v, Program)]
    found = programs or [v for v in values if v.record.form == "function"]
    if not found:
        raise ParserSyntaxError(
            f"{filename} defines neither a program nor a function",
            hint="the text holds one class with @pl.program or one function with @pl.function",
        )
    return found[-1]
