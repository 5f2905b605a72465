"""What can go wrong, by whose fault, and how it is shown.

`Error` and its subclasses are the user's: what is wrong, where, what would be right. `ResourceError`
is the machine's. `InternalError` is ours; it names the folder that holds what we need to see it again.
"""

from __future__ import annotations

import os


class Span(dict):
    """A place in a source file: keys and attributes filename, begin_line, begin_column, end_line,
    end_column; lines and columns count from 1, end_column is one past the last character."""

    def __init__(
        self,
        filename: str,
        begin_line: int,
        begin_column: int,
        end_line: int = 0,
        end_column: int = 0,
    ):
        super().__init__(
            filename=filename,
            begin_line=begin_line,
            begin_column=begin_column,
            end_line=end_line or begin_line,
            end_column=end_column,
        )

    def __getattr__(self, name: str):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Error(Exception):
    """Base of everything that this package reports about a program or its use.

    `message` says what is wrong. `span` (or None) says where; `hint` what would be right; `note` adds
    to it; `source_lines` are the lines that `str()` shows. `others` are the errors found after it.
    """

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        hint: str | None = None,
        note: str | None = None,
        source_lines: list[str] | None = None,
    ):
        self.message = message
        self.span = span
        self.hint = hint
        self.note = note
        self.notes: list[tuple[str, Span | None]] = [(note, None)] if note else []
        self.source_lines = source_lines or []
        self.others: list[Error] = []
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join([_block(self)] + [f"Error: {_block(other)}" for other in self.others])


class ParserError(Error):
    """A program that the language does not accept."""


class ParserSyntaxError(ParserError):
    """A form that the language does not have."""


class ParserTypeError(ParserError):
    """A value of the wrong type, or a missing or wrong annotation."""


class UndefinedVariableError(ParserError):
    """A name that nothing defines."""


class SSAViolationError(ParserError):
    """A name assigned twice where strict_ssa forbids it."""


class UnsupportedFeatureError(ParserError):
    """Python that the language leaves out."""


class InvalidOperationError(ParserError):
    """An operation whose operands do not fit it."""


class ScopeIsolationError(ParserError):
    """A value used outside the scope that holds it."""


class ArgumentValueError(Error, ValueError):
    """An argument or option with a value that is not allowed."""


class ArgumentTypeError(Error, TypeError):
    """An argument of a call that does not fit its parameter."""


class ResourceError(Error, RuntimeError):
    """Something that the machine does not have: what was asked, what there is, which knob."""


class RunError(Error, RuntimeError):
    """A program that stopped while it ran. `code` is the runtime's error code."""

    def __init__(self, message: str, code: int = 0):
        super().__init__(message)
        self.code = code


class InternalError(RuntimeError):
    """A fault of this library. `reproducer` is the folder that holds what shows it again."""

    def __init__(self, message: str, reproducer: str | None = None):
        self.message = message
        self.reproducer = reproducer
        text = f"{message}\nThis is a fault of pypto, not of the program."
        if reproducer:
            text += f" What shows it again is in {reproducer}"
        super().__init__(text)


_CLASSES = {
    "Syntax": ParserSyntaxError,
    "Type": ParserTypeError,
    "Undefined": UndefinedVariableError,
    "SSAViolation": SSAViolationError,
    "Unsupported": UnsupportedFeatureError,
    "InvalidOperation": InvalidOperationError,
    "ScopeIsolation": ScopeIsolationError,
    "Value": ArgumentValueError,
    "Resource": ResourceError,
}

for _class in (Error, ParserError, RunError, InternalError, *_CLASSES.values()):
    _class.__module__ = "pypto"


def make(kind: str, *args, **kwargs) -> Error:
    """The error of a diagnostic kind of the compiler ("Syntax", "Type", …)."""
    return _CLASSES[kind](*args, **kwargs)


def render(error: BaseException) -> str:
    """The text of an error as the command line shows it."""
    return f"Error: {error}"


def _shown(filename: str) -> str:
    """The path as short as it can be said from here."""
    try:
        relative = os.path.relpath(filename)
    except (ValueError, OSError):  # another drive, or no current folder
        return filename
    return relative if not relative.startswith("..") else filename


def _location(span: Span) -> str:
    text = f"{_shown(span.filename)}:{span.begin_line}"
    return f"{text}:{span.begin_column}" if span.begin_column else text


def _quote(span: Span, line: str, width: int) -> list[str]:
    """The source line and a row of carets below the span's part of it."""
    begin = max(span.begin_column, 1)
    end = span.end_column if span.end_line == span.begin_line else len(line) + 1
    length = max(1, min(end, len(line.rstrip()) + 1) - begin)
    # Tabs stay tabs below, so that the carets stand under what they mean.
    lead = "".join(c if c == "\t" else " " for c in line[: begin - 1])
    return [
        f" {span.begin_line:>{width}} | {line.rstrip()}",
        f" {'':>{width}} | {lead}{'^' * length}",
    ]


def _block(error: Error) -> str:
    lines = [error.message]
    width = 4
    if error.span:
        lines.append(f"  --> {_location(error.span)}")
        if error.source_lines:
            width = max(width, len(str(error.span.begin_line)))
            lines += _quote(error.span, error.source_lines[0], width)
    if error.hint:
        lines.append(f"{'':>{width - 1}}= help: {error.hint}")
    for text, span in error.notes:
        place = f" ({_location(span)})" if span else ""
        lines.append(f"{'':>{width - 1}}= note: {text}{place}")
    return "\n".join(lines)
