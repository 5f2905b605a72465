"""Random control flow over scalars: what a kernel computes equals what Python computes from the same text.

The programs read and write one small tensor and mix loops, branches, `break`, `continue`, names that are
bound only on some paths of a loop, floor division and remainders of negative numbers.
"""

from __future__ import annotations

import random
import types

import pytest
import torch

from pypto import ir
from pypto import language as pl

PROGRAM = """import pypto.language as pl


@pl.program
class Walk:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, v: pl.Tensor[[8], pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]):
{body}
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, v: pl.Tensor[[8], pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]):
        y = self.kernel(v, y)
        return y
"""


class Writer:
    """Writes a random body of statements over the names a, b, c, d and loop variables."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names = ["a", "b", "c", "d"]
        self.lines: list[str] = []
        self.counter = 0

    def write(self) -> str:
        for index, name in enumerate(self.names):
            self.line(0, f"{name} = pl.cast(pl.read(v, [{index}]), pl.INDEX)")
        self.block(0, 6, loops=0, can_leave=False)
        for index, name in enumerate("abcd"):
            self.line(0, f"pl.write(y, [{index}], pl.cast({name}, pl.INT32))")
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("        " + "    " * depth + text)

    def atom(self) -> str:
        return self.random.choice([*self.names, str(self.random.randint(-5, 9))])

    def value(self) -> str:
        kind = self.random.randint(0, 6)
        x, y = self.atom(), self.atom()
        if kind == 0:
            return f"{x} // {self.random.choice([2, 3, 7])}"
        if kind == 1:
            return f"{x} % {self.random.choice([2, 3, 7])}"
        if kind == 2:
            return f"pl.{self.random.choice(['min', 'max'])}({x}, {y})"
        if kind == 3:
            return f"({x} * {y}) % 97"
        if kind == 4:
            return f"{x} if {self.test()} else {y}"
        return f"{x} {self.random.choice('+-')} {y}"

    def test(self) -> str:
        compare = f"{self.atom()} {self.random.choice(['<', '<=', '==', '!=', '>', '>='])} {self.random.choice(self.names)}"
        kind = self.random.randint(0, 5)
        if kind == 0:
            return f"not {compare}"
        if kind == 1:
            return f"{compare} and {self.random.choice(self.names)} > 0"
        if kind == 2:
            return f"-3 < {self.random.choice(self.names)} < 6"
        return compare

    def block(self, depth: int, size: int, loops: int, can_leave: bool) -> None:
        for _ in range(self.random.randint(1, size)):
            self.statement(depth, loops, can_leave)

    def statement(self, depth: int, loops: int, can_leave: bool) -> None:
        kind = self.random.randint(0, 11)
        if kind <= 4 or depth >= 4:
            self.line(depth, f"{self.random.choice('abcd')} = {self.value()}")
        elif kind == 5:
            self.line(
                depth,
                f"{self.random.choice('abcd')} {self.random.choice(['+=', '-='])} {self.atom()}",
            )
        elif kind <= 7:
            self.line(depth, f"if {self.test()}:")
            self.block(depth + 1, 3, loops, can_leave)
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, 3, loops, can_leave)
        elif kind <= 9 and loops < 2:
            self.loop(depth, loops)
        elif can_leave:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.random.choice(["break", "continue"]))
        else:
            self.line(
                depth,
                f"pl.write(y, [{self.random.randint(4, 7)}], pl.cast({self.atom()} % 50, pl.INT32))",
            )

    def loop(self, depth: int, loops: int) -> None:
        self.counter += 1
        index = f"i{self.counter}"
        kind = self.random.randint(0, 3)
        if kind == 0:
            limit = f"n{self.counter}"
            self.line(depth, f"{limit} = {self.atom()} % 5")
            self.line(depth, f"while {limit} > 0:")
            self.line(depth + 1, f"{limit} = {limit} - 1")
        else:
            bounds = self.random.choice(
                [f"{self.atom()} % 6", "5", "0, 7, 2", "4, -1, -1", f"{self.atom()} % 3, 5"]
            )
            self.line(depth, f"for {index} in pl.range({bounds}):")
            self.line(depth + 1, f"born{self.counter} = {index} + {self.atom()}")
            if self.random.random() < 0.5:
                self.line(depth + 1, f"{self.random.choice('abcd')} = born{self.counter} % 31")
        self.block(depth + 1, 4, loops + 1, True)


def by_python(body: str, v: list[int]) -> list[int]:
    """Runs the text as Python."""
    y = [0] * 8

    def write(target, index, value):
        target[index[0]] = (value + 2**31) % 2**32 - 2**31

    shim = types.SimpleNamespace(
        read=lambda tensor, index: tensor[index[0]], write=write, cast=lambda x, _: x,
        range=range, min=min, max=max, INDEX=None, INT32=None,
    )  # fmt: skip
    lines = "\n".join(line[8:] for line in body.split("\n"))
    exec(compile(lines, "body", "exec"), {"pl": shim, "v": v, "y": y})
    return y


@pytest.mark.parametrize("seed", range(60))
def test_kernel_computes_what_python_computes(seed):
    body = Writer(seed).write()
    program = ir.compile(pl.parse(PROGRAM.format(body=body)), dump_passes=False)
    for values in ([3, -7, 11, 0], [-1, 5, 2, 8], [100, -100, 1, -2]):
        v = torch.tensor([*values, 0, 0, 0, 0], dtype=torch.int32)
        y = torch.zeros(8, dtype=torch.int32)
        program(v, y)
        assert y.tolist() == by_python(body, v.tolist()), body
