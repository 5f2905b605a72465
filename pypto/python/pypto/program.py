"""Functions and class programs: what `@pl.function`, `@pl.inline` and `@pl.program` make."""

from __future__ import annotations

from typing import Any

from pypto.errors import Error
from pypto.source import Record


class Function:
    """A function of the language. It is not called from Python: programs call it."""

    def __init__(self, record: Record):
        self.record = record
        self.__pypto_function__ = record
        self.__name__ = self.name = record.name
        self.__doc__ = record.function.__doc__
        self.__module__ = record.function.__module__
        self.__wrapped__ = record.function

    def check(self) -> None:
        """Raises what is wrong with the function by itself."""
        from pypto import bridge

        bridge.check(self.name, [self.record], is_class=False)

    @property
    def func_type(self):
        return self.record.options.get("type")

    def __repr__(self) -> str:
        return f"<pypto function {self.name}>"

    # Not `__call__`: run configurations and tests ask `callable()` to tell programs from entries.
    def as_program(self) -> Program:
        """The program that consists of this function."""
        return Program(self.name, [self])


class Program:
    """A class program. `pypto.ir.compile(program)` makes it callable."""

    def __init__(self, name: str, functions: list[Function], doc: str | None = None):
        self.name = name
        self.__name__ = name
        self.__doc__ = doc
        self._functions = {each.name: each for each in functions}
        self.__pypto_program__ = self

    @property
    def functions(self) -> list[Record]:
        """The functions as the compiler reads them, in source order."""
        return [each.record for each in self._functions.values()]

    def get_function(self, name: str) -> Function:
        if name not in self._functions:
            raise Error(
                f"program {self.name} has no function {name!r}",
                hint=f"it has {', '.join(self._functions)}",
            )
        return self._functions[name]

    def check(self) -> None:
        """Raises what is wrong with the program."""
        from pypto import bridge

        bridge.check(self.name, self.functions, is_class=True)

    def as_program(self) -> Program:
        return self

    def __repr__(self) -> str:
        return f"<pypto program {self.name}: {', '.join(self._functions)}>"


def program_of(value: Any) -> Program:
    """The program that a value stands for; an error that says what would be one otherwise."""
    if isinstance(value, (Program, Function)):
        return value.as_program()
    raise Error(
        f"{type(value).__name__} is not a program",
        hint="give a @pl.program class, a @pl.function or what pl.parse / pl.loads returned",
    )
