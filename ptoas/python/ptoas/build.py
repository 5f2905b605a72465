"""Modules built from Python, op by op.

    from ptoas import Builder, ops as pto, types

    with Builder(arch="a3") as module:
        with module.function("twice", [types.ptr("f32"), types.ptr("f32")], entry=True) as (x, y):
            window = pto.partition_view(
                pto.make_tensor_view(x, [16, 64], [64, 1]), offsets=[0, 0], sizes=[16, 64])
            tile = pto.alloc_tile(types.tile_buf("vec", 16, 64, "f32"))
            pto.tload(window, tile)
            ...
    kernel = module.finish()          # an ordinary ptoas.Module

`ptoas.ops` has a function for each op of the dialect; here is what is not one op of it: functions, loops,
branches, constants, arithmetic of scalars (operators of `Value`), and any op of the accepted dialects by
name (`op`). Python numbers stand for constants. Each op carries the line of the program that built it,
so that what is wrong with it, at once or later, is said there.
"""

from __future__ import annotations

import itertools
import json
import operator
import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from . import Error, Module, _library
from .types import partition_tensor_view, tensor_view

__all__ = ["Builder", "Loop", "Value", "constant", "for_", "if_", "op", "region", "yield_"]

_current: ContextVar[Builder] = ContextVar("ptoas.Builder")
_PACKAGE = str(Path(__file__).parent)
_CONTEXTLIB = contextmanager.__code__.co_filename


def _place() -> list:
    """File, line and column of the program's code that is being run."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((_PACKAGE, _CONTEXTLIB)):
        frame = frame.f_back
    code = frame.f_code
    line, _, column, _ = next(
        itertools.islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4
    )
    return [code.co_filename, line or frame.f_lineno, (column or 0) + 1]


class Value:
    """A result of an op or an argument of a block. `+ - * // %` and the comparisons of scalars build
    `arith` ops; integers are signed, `//` and `%` floor as those of Python."""

    __slots__ = ("_builder", "constant", "number", "type")

    def __init__(self, builder: Builder, number: int, type: str) -> None:
        self._builder = builder
        self.number = number
        self.type = type
        self.constant: int | float | None = None  # of a constant

    def __repr__(self) -> str:
        return f"<value {self.number}: {self.type}>"

    @property
    def element(self) -> str:
        """Element type of a pointer, view or tile; the type itself of a scalar."""
        if not self.type.startswith("!"):
            return self.type
        found = re.search(r"<(?:\w+, )?(?:[\d?]+x)*([\w!.]+)", self.type)
        return found[1] if found else self.type

    def _is_float(self) -> bool:
        return self.type.startswith(("f", "bf"))

    def _binary(self, other: Value | float, integer: str, floating: str | None) -> Value:
        name = floating if self._is_float() else integer
        if name is None:
            raise TypeError(f"{self.type} has no such operator")
        return op(name, [self, _number(other, self.type)])[0]

    def _floored(self, other: Value | float) -> tuple[Value, Value]:
        """Quotient and divisor; the remainder follows from them."""
        divisor = _number(other, self.type)
        return self._binary(divisor, "arith.floordivsi", None), divisor

    def __add__(self, other):
        return self._binary(other, "arith.addi", "arith.addf")

    def __sub__(self, other):
        return self._binary(other, "arith.subi", "arith.subf")

    def __mul__(self, other):
        return self._binary(other, "arith.muli", "arith.mulf")

    def __truediv__(self, other):
        if not self._is_float():
            raise TypeError(f"'/' divides floats; '//' divides {self.type}")
        return self._binary(other, "", "arith.divf")

    def __floordiv__(self, other):
        return self._floored(other)[0]

    def __mod__(self, other):
        quotient, divisor = self._floored(other)
        return self - quotient * divisor

    def __radd__(self, other):
        return _number(other, self.type) + self

    def __rsub__(self, other):
        return _number(other, self.type) - self

    def __rmul__(self, other):
        return _number(other, self.type) * self

    def __rfloordiv__(self, other):
        return _number(other, self.type) // self

    def __rmod__(self, other):
        return _number(other, self.type) % self

    def _compare(self, other: Value | float, integer: int, floating: int) -> Value:
        name, predicate = ("arith.cmpf", floating) if self._is_float() else ("arith.cmpi", integer)
        operands = [self, _number(other, self.type)]
        return op(name, operands, {"predicate": f"{predicate} : i64"})[0]

    # Numbers of arith's predicates: signed integers, ordered floats.
    def __lt__(self, other):
        return self._compare(other, 2, 4)

    def __le__(self, other):
        return self._compare(other, 3, 5)

    def __gt__(self, other):
        return self._compare(other, 4, 2)

    def __ge__(self, other):
        return self._compare(other, 5, 3)

    def equals(self, other: Value | float) -> Value:
        """An i1 of this program; `==` compares the Python objects."""
        return self._compare(other, 0, 1)

    def differs(self, other: Value | float) -> Value:
        return self._compare(other, 1, 13)

    def __bool__(self) -> bool:
        raise TypeError("a value is known when the kernel runs; a branch on it is ptoas.build.if_")

    def __index__(self) -> int:
        raise TypeError("a value is known when the kernel runs; a loop over it is ptoas.build.for_")

    def cast(self, type: str) -> Value:
        """Between `index` and integers."""
        return op("arith.index_cast", [self], types=[type])[0]


class Builder:
    """A module under construction. Ops go to the innermost open function, loop, branch or section of the
    innermost `with` of a builder. Not to be used by several threads at once."""

    def __init__(self, arch: str = "a3") -> None:
        """`arch`: "a2", "a3" or "a5"."""
        if not isinstance(arch, str):
            raise TypeError(f"arch must be a string, got {arch!r}")
        self._module: Module | None = Module(_library.pto_module_new(arch.encode()))
        if problem := _library.pto_module_problem(self._module._handle):
            self._module = None
            raise Error(problem.decode().rstrip())
        self._with_regions: int | None = None  # number of the op of `op` whose regions are filled
        self._last = ""  # name of the op that was built last
        self._constants: list[dict[tuple[str, str], Value]] = [{}]
        self._tokens: list = []

    def __enter__(self) -> Builder:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *error) -> None:
        _current.reset(self._tokens.pop())

    @property
    def _handle(self) -> int:
        if self._module is None:
            raise ValueError("this module is finished: nothing more can be built into it")
        return self._module._handle

    def _ask(self, call: str, request: dict) -> dict:
        request["location"] = _place()
        text = getattr(_library, call)(self._handle, json.dumps(request).encode())
        answer = json.loads(text)
        if "error" in answer:
            raise Error(answer["error"].rstrip())
        return answer

    def _values(self, described: list[dict]) -> list[Value]:
        return [Value(self, d["number"], d["type"]) for d in described]

    def _build(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, str],
        types: Sequence[str] | None,
        regions: int,
    ) -> tuple[int, list[Value]]:
        for value in operands:
            if not isinstance(value, Value):
                raise TypeError(f"'{name}' takes values, got {value!r}")
            if value._builder is not self:
                raise ValueError(f"{value!r} belongs to another module")
        request: dict = {"name": name, "operands": [v.number for v in operands]}
        request |= {"attributes": dict(attributes), "regions": regions}
        if types is not None:
            request["types"] = list(types)
        answer = self._ask("pto_build_op", request)
        self._last = name
        return answer["op"], self._values(answer["results"])

    @contextmanager
    def _inside(self, number: int, index: int, types: Sequence[str]) -> Iterator[list[Value]]:
        answer = self._ask("pto_build_enter", {"op": number, "region": index, "types": list(types)})
        self._constants.append({})
        self._last = ""
        try:
            yield self._values(answer["arguments"])
        finally:
            self._constants.pop()
            _library.pto_build_leave(self._handle)

    def _end_body(self, terminator: str, has_values: bool = False, what: str = "") -> None:
        """Ends the open body unless the program has; it has to when there are values to hand on."""
        if self._last == terminator:
            return
        if has_values:
            raise ValueError(f"the body of {what} has to end with yield_ of its values")
        self._build(terminator, (), {}, (), 0)

    @contextmanager
    def function(
        self,
        name: str,
        arguments: Sequence[str] | Mapping[str, str],
        results: Sequence[str] = (),
        *,
        kernel_kind: str | None = None,
        entry: bool = False,
        attributes: Mapping[str, str] | None = None,
    ) -> Iterator[list[Value]]:
        """A function with arguments of these types (a mapping names them for launches). `kernel_kind`:
        "cube" or "vector". `attributes`: texts of further ones. Ends with a return if the body has
        none."""
        types = list(arguments.values() if isinstance(arguments, Mapping) else arguments)
        given = {
            "sym_name": json.dumps(name),
            "function_type": f"({', '.join(types)}) -> ({', '.join(results)})",
            **(attributes or {}),
        }
        if isinstance(arguments, Mapping):
            named = ", ".join(f"{{pypto.name = {json.dumps(n)}}}" for n in arguments)
            given["arg_attrs"] = f"[{named}]"
        if kernel_kind:
            given["pto.kernel_kind"] = f"#pto.kernel_kind<{kernel_kind}>"
        if entry:
            given["pto.entry"] = "unit"
        with self:
            number, _ = self._build("func.func", (), given, (), 1)
            with self._inside(number, 0, types) as values:
                yield values
                self._end_body("func.return")

    def finish(self) -> Module:
        """The module, after the rules of all its ops have been checked. Nothing is built after that."""
        if problem := _library.pto_build_finish(self._handle):
            raise Error(problem.decode(errors="replace").rstrip())
        module, self._module = self._module, None
        return module


def _builder() -> Builder:
    builder = _current.get(None)
    if builder is None:
        raise ValueError("no module is being built: open one with `with ptoas.Builder(arch):`")
    return builder


def op(
    name: str,
    operands: Sequence[Value] = (),
    attributes: Mapping[str, str] | None = None,
    types: Sequence[str] | None = None,
    regions: int = 0,
) -> list[Value]:
    """Any op of the accepted dialects (pto, func, scf, arith, memref, cf): its results. Attributes and types
    are MLIR texts; types that the op infers may be left out. Bodies are filled with `region`."""
    builder = _builder()
    number, results = builder._build(name, operands, attributes or {}, types, regions)
    if regions:
        builder._with_regions = number
    return results


@contextmanager
def region(index: int = 0, arguments: Sequence[str] = ()) -> Iterator[list[Value]]:
    """Region `index` of the op with regions that was built last; gives the arguments of its block."""
    builder = _builder()
    number = builder._with_regions
    if number is None:
        raise ValueError("no op with regions has been built")
    with builder._inside(number, index, arguments) as values:
        yield values
    builder._with_regions = number


# Of struct, in the byte order that refuses what does not fit; for bf16 the next wider.
_FORMATS = {"f16": "<e", "bf16": "<f", "f32": "<f"}


def _float_text(value: float, type: str) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(
            f"{value} is no constant of {type}: use op('arith.constant') with its bits"
        )
    try:
        struct.pack(_FORMATS.get(type, "d"), value)
    except OverflowError:
        raise ValueError(f"{value} does not fit {type}") from None
    return (
        f"{value!r} : {type}"
        if "." in repr(value) or "e" not in repr(value)
        else (f"{repr(value).replace('e', '.0e')} : {type}")
    )


def _integer(value: Any, type: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{value} is no {type}") from None


def constant(value: bool | int | float, type: str = "index") -> Value:
    """A scalar constant. Equal constants of one block are one op."""
    builder = _builder()
    if type.startswith(("f", "bf")):
        text = _float_text(float(value), type)
    elif type == "i1" and not isinstance(value, float):
        text = "true" if value else "false"
    else:
        text = f"{_integer(value, type)} : {type}"
    for known in builder._constants:
        if (found := known.get((text, type))) is not None:
            return found
    (made,) = op("arith.constant", (), {"value": text})
    made.constant = value
    builder._constants[-1][text, type] = made
    return made


def _number(value: Value | float, type: str) -> Value:
    return value if isinstance(value, Value) else constant(value, type)


class Loop:
    """An open `for_`."""

    def __init__(self, index: Value, values: list[Value]) -> None:
        self.index = index
        self.values = values  # carried ones, inside the loop
        self.results: list[Value] = []  # and behind it


@contextmanager
def for_(
    lower: Value | int, upper: Value | int, step: Value | int = 1, carried: Sequence[Value] = ()
) -> Iterator[Loop]:
    """`scf.for` of index bounds. With `carried` values the body ends with `yield_` of the next ones."""
    builder = _builder()
    bounds = [_number(bound, "index") for bound in (lower, upper, step)]
    types = [value.type for value in carried]
    number, results = builder._build("scf.for", [*bounds, *carried], {}, types, 1)
    with builder._inside(number, 0, ["index", *types]) as (index, *values):
        loop = Loop(index, values)
        yield loop
        builder._end_body("scf.yield", bool(carried), "for_")
    loop.results = results


class Branch:
    """An open `if_`."""

    def __init__(self, builder: Builder, number: int, results: list[Value]) -> None:
        self._builder = builder
        self._number = number
        self.results = results

    @contextmanager
    def else_(self) -> Iterator[None]:
        with self._builder._inside(self._number, 1, ()):
            yield
            self._builder._end_body("scf.yield", bool(self.results), "else_")


@contextmanager
def if_(condition: Value, results: Sequence[str] = ()) -> Iterator[Branch]:
    """`scf.if`. `with branch.else_():` behind it is the other side; with `results`, types of values that
    both sides `yield_`, it is needed."""
    builder = _builder()
    number, values = builder._build("scf.if", [condition], {}, results, 2)
    branch = Branch(builder, number, values)
    with builder._inside(number, 0, ()):
        yield branch
        builder._end_body("scf.yield", bool(results), "if_")


def yield_(*values: Value) -> None:
    """The values that a loop or branch hands on."""
    _builder()._build("scf.yield", values, {}, (), 0)


# What the functions of ops.py do.

Scalar = Value | int | float


def _result_type(name: str, groups: Sequence[list[Value]]) -> str | None:
    """The type of a result that its operands decide."""
    first = groups[0][0] if groups and groups[0] else None
    if name == "pto.addptr":
        return first.type
    if name in ("pto.load_scalar", "pto.local_array_get", "pto.tgetval"):
        return first.element
    if name == "pto.make_tensor_view":
        return tensor_view([None] * len(groups[1]), first.element)
    if name == "pto.partition_view":
        return partition_tensor_view([size.constant for size in groups[2]], first.element)
    if name == "pto.multi_tile_get":
        return re.sub(r", count=\d+", "", first.type.replace("multi_tile_buf", "tile_buf"))
    return None


def _build_op(
    name: str,
    groups: Sequence[Value | float | Sequence[Value | float] | None],
    kinds: str,
    attributes: Mapping[str, tuple[str, Any]],
    segments: bool,
    results: Sequence[str | None],
    regions: int = 0,
    element: Value | None = None,
) -> tuple[int, list[Value]]:
    """`kinds`: a letter per group, what a number becomes: i(ndex), a(ddress, i64), w(ord, i32), b(ool), f(32),
    s(calar of the element type of `element`); v(alue) takes none."""
    builder = _builder()
    given = [list(g) if isinstance(g, (list, tuple)) else [] if g is None else [g] for g in groups]
    numbers = {"i": "index", "a": "i64", "w": "i32", "b": "i1", "f": "f32"}
    if isinstance(element, Value):
        # Scalars have no sign in their type.
        numbers["s"] = re.sub(r"^ui", "i", element.element)

    def as_value(value: Value | float, kind: str) -> Value:
        if isinstance(value, Value):
            return value
        type = numbers.get(kind)
        if type is None or not isinstance(value, (int, float)):
            raise TypeError(f"'{name}' takes a ptoas.build.Value here, got {value!r}")
        return constant(value, type)

    operands = [[as_value(v, kind) for v in g] for g, kind in zip(given, kinds, strict=True)]
    texts = {key: _attribute(kind, v) for key, (kind, v) in attributes.items() if v is not None}
    texts = {key: text for key, text in texts.items() if text is not None}
    if segments:
        sizes = ", ".join(str(len(group)) for group in operands)
        texts["operandSegmentSizes"] = f"array<i32: {sizes}>"
    types: list[str] = []
    for result in results:
        found = result or _result_type(name, operands)
        if found is None:
            raise TypeError(f"'{name}' needs the type of its result")
        types.append(found)
    flat_operands = [value for group in operands for value in group]
    return builder._build(name, flat_operands, texts, types, regions)


def _attribute(kind: str, value: Any) -> str | None:
    """The MLIR text of an attribute of kind int, bool, unit, str, symbol, ints, any or an enum's name."""
    if kind == "int":
        return f"{_integer(value, 'integer')} : i64"
    if kind == "bool":
        return "true" if value else "false"
    if kind == "unit":
        return "unit" if value else None
    if kind == "str":
        return json.dumps(str(value))
    if kind == "symbol":
        return f"@{value}"
    if kind == "ints":
        return f"array<i64: {', '.join(str(_integer(v, 'integer')) for v in value)}>"
    if kind == "any":
        return str(value)
    name = getattr(value, "name", value)
    if not isinstance(name, str):
        raise TypeError(f"{value!r} is no '{kind}': give the name, or a member of the enum")
    return f"#pto.{kind}<{name}>"


@contextmanager
def _section(name: str, terminator: str | None = None, **built: Any) -> Iterator[list[Value]]:
    number, results = _build_op(name, regions=1, **built)
    with _builder()._inside(number, 0, ()):
        yield results
        if terminator:
            _builder()._end_body(terminator)
