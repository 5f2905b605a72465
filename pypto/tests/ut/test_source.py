"""What a decorator keeps: the text of the definition and the values of the names in it."""

from __future__ import annotations

import ast

import pypto.language as pl
import pytest
from pypto.source import block, snapshot

BODY = '''\
before = 1
@decorated(
    with_brackets=(1, 2),
)
def first(a,
    b):
    """Text with def and
unindented lines
"""
    x = [1,
2, 3]
    # comment

# comment at the margin
    y = "unclosed ( in a string" \\
        '"""'
    if x:
        pass

    return y
def second(): return 1
class Third:
    def method(self):
        pass

    other = 1
after = 2
'''


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("@decorated(", "    return y"),
        ("def second", "def second(): return 1"),
        ("class Third", "    other = 1"),
    ],
)
def test_block_ends_where_python_says(first, last):
    lines = BODY.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    text = block(lines, start)
    assert text.splitlines()[-1] == last
    node = ast.parse(text).body
    assert len(node) == 1
    whole = ast.parse(BODY)
    assert ast.dump(node[0]) in {ast.dump(each) for each in whole.body}


def test_indented_definitions_keep_their_columns():
    def outer():
        @pl.jit
        def inner(x: pl.Tensor):
            return x

        return inner

    record = outer().__pypto_function__
    statement = record.node.body[0]
    line = record.line(statement.lineno + record.line_offset)
    assert line == "            return x"
    assert line[statement.col_offset :] == "return x"


SIZE = 8
TABLE = [1, 2]


class Config:
    tile = 16


CONFIG = Config()


@pl.jit.inline
def helper(x: pl.Tensor):
    return pl.mul(x, SIZE)


@pl.jit
def entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    t = helper(x)
    y[0 : CONFIG.tile] = t[TABLE[0]]
    return y


def texts() -> list[str]:
    return snapshot([entry.__pypto_function__]).texts


def test_snapshot_reaches_functions_and_values():
    found = snapshot([entry.__pypto_function__])
    assert [record.name for record in found.records] == ["entry", "helper"]
    assert "SIZE=i8" in found.texts
    assert "CONFIG.tile=i16" in found.texts
    assert "TABLE=(i1,i2)" in found.texts


@pytest.mark.parametrize("value", [9, 8.0, True, "8", None])
def test_another_value_is_another_program(monkeypatch, value):
    before = texts()
    monkeypatch.setitem(globals(), "SIZE", value)
    assert texts() != before


def test_attributes_and_contents_count(monkeypatch):
    before = texts()
    monkeypatch.setattr(CONFIG, "tile", 32, raising=False)
    changed = texts()
    assert changed != before
    monkeypatch.setitem(globals(), "TABLE", [1, 3])
    assert texts() not in (before, changed)


def test_closure_values_are_seen_as_they_are_now():
    width = 4

    @pl.jit
    def inner(x: pl.Tensor):
        return pl.mul(x, width)

    def names():
        return snapshot([inner.__pypto_function__]).texts

    assert "width=i4" in names()
    width = 5
    assert "width=i5" in names()


def test_source_that_cannot_be_found_is_an_error():
    namespace = {"pl": pl}
    with pytest.raises(
        pl.parse.__globals__["ParserSyntaxError"], match="cannot retrieve the source"
    ):
        exec("@pl.jit\ndef f(x: pl.Tensor):\n    return x\n", namespace)
