"""What a decorator keeps of a function: its text, where it stands, and the names it can see.

Nothing is parsed here. The text is what cache keys are made from; the compiler asks for `Record.node`
when a program has to be compiled.
"""

from __future__ import annotations

import copy
import linecache
import re
import sys
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from pypto.dtypes import DataType
from pypto.errors import InvalidOperationError, ParserSyntaxError

# What can hold a newline or a bracket that does not count, and what counts.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|#[^\n]*|\\\n|[\[({]|[\])}]|\n",
    re.DOTALL,
)
_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HEADER = re.compile(r"\s*(?:def|class|async\s+def)\b")


def block(lines: list[str], first: int) -> str:
    """Text of the definition whose first line (a decorator, `def` or `class`) is lines[first]."""
    text = "".join(lines[first:])
    if not text.endswith("\n"):
        text += "\n"
    indent = len(lines[first]) - len(lines[first].lstrip())
    depth, begin, in_body = 0, 0, False
    end = len(text)
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in "[({":
            depth += 1
        elif mark in "])}":
            depth -= 1
        elif mark == "\n" and depth <= 0:
            line = text[begin : token.start()]
            bare = line.lstrip()
            if bare and not bare.startswith("#"):
                if in_body and len(line) - len(bare) <= indent:
                    end = begin
                    break
                in_body = in_body or bool(_HEADER.match(line))
            begin = token.end()
    return text[:end].rstrip() + "\n"


def file_lines(filename: str, module_globals: dict | None = None) -> list[str]:
    """Lines of a source file; of the interpreter's `-c` string for a program given there."""
    lines = linecache.getlines(filename, module_globals)
    if not lines and filename == "<string>":
        arguments = sys.orig_argv
        if "-c" in arguments[:-1]:
            return (arguments[arguments.index("-c") + 1] + "\n").splitlines(keepends=True)
    return lines


class Record:
    """One decorated function. The compiler reads these attributes:

    name, form ("jit", "host", "incore", "inline", "opaque", "extern", "function", "macro"), node (the
    ast.FunctionDef), filename, line_offset and col_offset (added to positions of `node`), globals,
    locals (closure and enclosing function), options (keywords of the decorator), method.
    """

    def __init__(self, function: FunctionType, form: str, options: dict[str, Any], frame=None):
        code = function.__code__
        self.function = function
        self.name = function.__name__
        self.form = form
        self.options = options
        self.filename = code.co_filename
        self.first_line = code.co_firstlineno
        self.globals = function.__globals__
        self.qualname = function.__qualname__
        prefix = self.qualname.rpartition(".")[0]
        self.method = bool(prefix) and not prefix.endswith("<locals>")
        # Line 1 of the text is line first_line of the file.
        self.line_offset = self.first_line - 1
        self._lines = file_lines(self.filename, self.globals)
        if self.first_line > len(self._lines):
            raise ParserSyntaxError(
                f"cannot retrieve the source of {self.name}",
                hint="define kernels in a file; text goes through pl.parse or pl.loads",
            )
        self._frame_locals = _visible_locals(frame)
        self._text: str | None = None
        self._node = None
        self._names: list[str] | None = None

    @property
    def text(self) -> str:
        """The definition with its decorators and its indent, as it stands in the file."""
        if self._text is None:
            self._text = block(self._lines, self.first_line - 1)
        return self._text

    def line(self, number: int) -> str:
        """Line `number` of the file, without its end."""
        return self._lines[number - 1].rstrip("\n") if 0 < number <= len(self._lines) else ""

    @property
    def _indent(self) -> int:
        first = self._lines[self.first_line - 1]
        return len(first) - len(first.lstrip())

    # The text keeps its indent, so columns of `node` are those of the file.
    col_offset = 0

    @property
    def node(self):
        """The ast.FunctionDef of the text; lines count from the text's first."""
        if self._node is None:
            import ast

            if self._indent:  # `if` gives an indented definition a place to stand
                self._node = ast.parse("if 1:\n" + self.text).body[0].body[0]
                ast.increment_lineno(self._node, -1)
            else:
                self._node = ast.parse(self.text).body[0]
        return self._node

    @property
    def locals(self) -> dict[str, Any]:
        """Closure variables, and names of the enclosing function for annotations."""
        values = dict(self._frame_locals)
        for name, cell in zip(
            self.function.__code__.co_freevars, self.function.__closure__ or (), strict=False
        ):
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not bound yet
                continue
        return values

    def adopt_locals(self, frame) -> None:
        """Names that a class program's methods see: those of the scope that holds the class."""
        self._frame_locals = {**_visible_locals(frame), **self._frame_locals}

    @property
    def names(self) -> list[str]:
        """Every name in the text, with what follows its dots: "x", "config.tile"."""
        if self._names is None:
            self._names = sorted(set(_IDENTIFIER.findall(self.text)))
        return self._names

    def annotations(self) -> dict[str, Any]:
        """Annotations of the parameters as objects; texts (PEP 563) are evaluated now."""
        result = {}
        for name, value in self.function.__annotations__.items():
            if isinstance(value, str):
                try:
                    value = eval(value, self.globals, self.locals)
                except Exception:  # the compiler reports it with its position
                    continue
            result[name] = value
        return result


def _visible_locals(frame) -> dict[str, Any]:
    """Names of an enclosing function. A module's are globals; a class body's are not visible."""
    if frame is None or frame.f_locals is frame.f_globals or "__module__" in frame.f_locals:
        return {}
    return {name: value for name, value in frame.f_locals.items() if not name.startswith("__")}


_SIMPLE = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, dict, tuple)
_DEPTH = 32  # of containers in compile-time values; the compiler's limit too


class Snapshot(NamedTuple):
    """What a program consists of when it is compiled.

    `texts` tell it from any other program; `guards` are the names that must still have their values
    for compiled code to be the program's: (holder, key, value, copy or None), where the holder is a
    dict, a cell or an object, and a copy is kept of values that can change in place.
    """

    records: list[Record]
    texts: list[str]
    guards: list[tuple[Any, str, Any, Any]]


def snapshot(roots: list[Record]) -> Snapshot:
    """The functions that the roots reach by name, and the values of all names in their text."""
    records: list[Record] = []
    index: dict[int, int] = {}
    guards: dict[tuple[int, str], tuple[Any, str, Any, Any]] = {}

    def number(record: Record) -> int:
        if id(record) not in index:
            index[id(record)] = len(records)
            records.append(record)
        return index[id(record)]

    for root in roots:
        number(root)
    texts: list[str] = []
    for record in records:  # grows while callees are found
        texts.append(f"{record.name}|{record.form}|{record.filename}|{record.first_line}")
        texts.append("|".join(f"{key}={encode(value)}" for key, value in record.options.items()))
        texts.append(record.text)
        local = record.locals
        for dotted in record.names:
            value, steps = _resolve(record, local, dotted)
            if value is _MISSING:
                continue
            callee = getattr(value, "__pypto_function__", None)
            if isinstance(callee, Record):
                texts.append(f"{dotted}=f{number(callee)}")
            else:
                code = encode(value)
                if code is None:
                    if not is_language(value):
                        texts.append(f"{dotted}=o{type(value).__qualname__}")
                    continue
                texts.append(f"{dotted}={code}")
            for holder, key, held in steps:
                if holder is not None:
                    copied = copy.deepcopy(held) if isinstance(held, (list, dict)) else None
                    guards[id(holder), key] = (holder, key, held, copied)
    return Snapshot(records, texts, list(guards.values()))


_MISSING = object()


def _resolve(
    record: Record, local: dict[str, Any], dotted: str
) -> tuple[Any, list[tuple[Any, str, Any]]]:
    """Value of a dotted name and the steps that gave it, each (holder, key, value) to watch.

    A holder is None for names that cannot change. Attributes are followed until a value is simple.
    (_MISSING, []) when the first name is not defined.
    """
    first, *rest = dotted.split(".")
    steps: list[tuple[Any, str, Any]] = []
    if first in local:
        value = local[first]
        steps.append((_cell(record, first), first, value))
    elif first in record.globals:
        value = record.globals[first]
        steps.append((record.globals, first, value))
    else:
        return _MISSING, []
    for name in rest:
        if isinstance(value, (*_SIMPLE, *_CONTAINERS)) or is_language(value):
            break
        if hasattr(value, "__pypto_function__") or encode(value) is not None:
            break
        try:
            following = getattr(value, name)
        except Exception:
            # Perhaps only a comment names it. Where the program uses it, the compiler meets the
            # error again and reports it with its position.
            break
        steps.append((vars(value) if isinstance(value, ModuleType) else value, name, following))
        value = following
    return value, steps


def _cell(record: Record, name: str):
    free = record.function.__code__.co_freevars
    return record.function.__closure__[free.index(name)] if name in free else None


def is_language(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.startswith("pypto")


def encode(value: Any, depth: int = 0) -> str | None:
    """Text that tells compile-time values apart, or None for an object that is none."""
    if isinstance(value, (bool, type(None))):
        return repr(value)
    if hasattr(type(value), "__members__") and not isinstance(value, type):
        return f"e{type(value).__name__}.{value.name}"
    if isinstance(value, int):
        return f"i{int(value)}"
    if isinstance(value, float):
        return f"f{value.hex()}"
    if isinstance(value, (str, bytes)):
        return repr(value)
    if isinstance(value, _CONTAINERS):
        if depth == _DEPTH:
            raise InvalidOperationError(
                f"a list, tuple or dict that the program names is nested more than {_DEPTH} deep",
                hint="a container must not hold itself",
            )
        if isinstance(value, dict):
            pairs = (f"{encode(k)}:{encode(v, depth + 1)}" for k, v in value.items())
            return "{" + ",".join(pairs) + "}"
        return f"({','.join(str(encode(item, depth + 1)) for item in value)})"
    if isinstance(value, DataType):
        return f"d{value.name}"
    if type(value).__name__ == "DynVar":
        return f"v{value.name}"
    if type(value).__module__ == "pypto.types":
        return f"t{value!r}"
    return None
