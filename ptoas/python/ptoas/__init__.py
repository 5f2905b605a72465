"""Modules of the `pto` dialect from Python.

    module = ptoas.Module.parse(text)             # or .read("k.pto"), .read("k.ptobc")
    for op in module.walk():
        print(op.name, op.location, op.attributes, [v.type for v in op.operands])
    module.check(level=2, insert_sync=True)       # verifies, places tiles, inserts flags
    module.text(); module.bytecode(); module.cpp()

Modules are built from Python with `ptoas.Builder`, see ptoas/build.py.

The enums of the dialect are classes of this package under their C++ names (`ptoas.PIPE.PIPE_V`,
`ptoas.AddressSpace.vec`). What is wrong raises `ptoas.Error` with the assembler's messages.
"""

from __future__ import annotations

import ctypes
import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Builder", "Error", "Module", "Operation", "Value"]

_library = ctypes.CDLL(str(Path(__file__).with_name("_ptoas.so")))
for _name, _result, _arguments in (
    (
        "pto_module_parse",
        ctypes.c_void_p,
        (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p),
    ),
    ("pto_module_problem", ctypes.c_char_p, (ctypes.c_void_p,)),
    ("pto_module_free", None, (ctypes.c_void_p,)),
    ("pto_module_text", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_int)),
    ("pto_module_bytecode", ctypes.c_void_p, (ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t))),
    ("pto_module_ops", ctypes.c_char_p, (ctypes.c_void_p,)),
    (
        "pto_module_check",
        ctypes.c_char_p,
        (ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_int),
    ),
    ("pto_module_cpp", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)),
    ("pto_enums", ctypes.c_char_p, ()),
    ("pto_module_new", ctypes.c_void_p, (ctypes.c_char_p,)),
    ("pto_build_op", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_char_p)),
    ("pto_build_enter", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_char_p)),
    ("pto_build_leave", None, (ctypes.c_void_p,)),
    ("pto_build_finish", ctypes.c_char_p, (ctypes.c_void_p,)),
):
    getattr(_library, _name).restype = _result
    getattr(_library, _name).argtypes = _arguments

for _name, _words in json.loads(_library.pto_enums()).items():
    globals()[_name] = enum.IntEnum(_name, _words, module=__name__)
    __all__.append(_name)


class Error(ValueError):
    """What the assembler says about a module: `file:line:col: error: text`, a line each."""


@dataclass(frozen=True)
class Value:
    number: int
    type: str


@dataclass(frozen=True)
class Block:
    arguments: tuple[Value, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Operation:
    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: dict[str, str]
    regions: tuple[tuple[Block, ...], ...]
    location: tuple[str, int, int] | None

    def walk(self) -> Iterator[Operation]:
        """This op and all inside, in the order of the text."""
        yield self
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()


class Module:
    """A verified module. Not to be used by several threads at once."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._drain = False  # flags were inserted

    @staticmethod
    def parse(source: str | bytes, name: str = "<module>", arch: str = "") -> Module:
        """Text, or the bytes of a `.ptobc` file. `arch` overrides the module's architecture."""
        if not isinstance(source, str | bytes | bytearray | memoryview):
            raise TypeError(f"expected text or bytes of a module, got {type(source).__name__}")
        for what, word in (("name", name), ("arch", arch)):
            if not isinstance(word, str):
                raise TypeError(f"{what} must be a string, got {word!r}")
        data = source.encode() if isinstance(source, str) else bytes(source)
        module = Module(_library.pto_module_parse(data, len(data), name.encode(), arch.encode()))
        problem = _library.pto_module_problem(module._handle)
        if problem:
            raise Error(problem.decode(errors="replace").rstrip())
        return module

    @staticmethod
    def read(path: str | Path, arch: str = "") -> Module:
        """A `.pto` or `.ptobc` file."""
        return Module.parse(Path(path).read_bytes(), str(path), arch)

    def __del__(self) -> None:
        if handle := getattr(self, "_handle", None):
            _library.pto_module_free(handle)

    def text(self, locations: bool = False) -> str:
        return _library.pto_module_text(self._handle, bool(locations)).decode()

    def bytecode(self) -> bytes:
        size = ctypes.c_size_t()
        data = _library.pto_module_bytecode(self._handle, ctypes.byref(size))
        return ctypes.string_at(data, size.value)

    def check(self, level: int = 2, insert_sync: bool = False, verify_sync: bool = False) -> None:
        """Checks levels, layouts, FIFOs and memory; with `insert_sync` it inserts flags as well, and
        below level 3 addresses; with `verify_sync` it reports instructions without an order. The module
        changes accordingly."""
        if not isinstance(level, int) or level not in (1, 2, 3):
            raise ValueError(f"level must be 1, 2 or 3, got {level!r}")
        problem = _library.pto_module_check(
            self._handle, level, bool(insert_sync), bool(verify_sync)
        )
        if problem:
            raise Error(problem.decode(errors="replace").rstrip())
        self._drain = bool(insert_sync)

    def cpp(self, locations: bool = False) -> str:
        """C++ on the tile instruction headers, as `ptoas` writes it, of a module that has been checked;
        with `locations` a comment says where each op stands."""
        text = _library.pto_module_cpp(self._handle, self._drain, bool(locations))
        if text is None:
            problem = _library.pto_module_problem(self._handle)
            raise Error(problem.decode(errors="replace").rstrip())
        return text.decode()

    @property
    def operation(self) -> Operation:
        """The module op with everything inside, as it is now."""
        facts = json.loads(_library.pto_module_ops(self._handle))
        values = [Value(i, text) for i, text in enumerate(facts["types"])]

        def pick(numbers: list[int]) -> tuple[Value, ...]:
            return tuple(values[n] for n in numbers)

        def make(op: dict) -> Operation:
            regions = tuple(
                tuple(
                    Block(pick(block["arguments"]), tuple(make(o) for o in block["ops"]))
                    for block in region
                )
                for region in op["regions"]
            )
            place = op.get("location")
            return Operation(
                op["name"],
                pick(op["operands"]),
                pick(op["results"]),
                op["attributes"],
                regions,
                tuple(place) if place else None,
            )

        return make(facts["module"])

    def walk(self) -> Iterator[Operation]:
        return self.operation.walk()


from .build import Builder  # noqa: E402 - it needs what stands above
