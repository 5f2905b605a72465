"""The names of the language outside kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pypto.language as pl
import pypto.language.distributed as pld
import pytest

import pypto

ROOT = Path(__file__).resolve().parents[3]
TBLGEN = Path("/usr/lib/llvm-22/bin/llvm-tblgen")


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "tensor.dim",
        "tile.load",
        "system.syncall",
        "array.create",
        "range",
    ],
)
def test_operations_say_that_they_belong_to_kernels(name):
    operation = pl
    for part in name.split("."):
        operation = getattr(operation, part)
    with pytest.raises(pypto.Error, match="is compiled, not called from Python") as caught:
        operation()
    assert "@pl.jit" in caught.value.hint


def test_functions_of_two_numbers_too():
    with pytest.raises(pypto.Error, match="pl.min belongs to kernels"):
        pl.min(1, 2)


def test_help_shows_parameters():
    assert pl.matmul.__doc__.startswith("matmul(lhs, rhs, out_dtype=None")


def test_unknown_names_name_what_is_near():
    with pytest.raises(AttributeError, match="the language has no pl.matmull; near: pl.matmul"):
        pl.matmull  # noqa: B018
    with pytest.raises(AttributeError, match="the language has no pl.tile.lod"):
        pl.tile.lod  # noqa: B018


@pytest.mark.skipif(not TBLGEN.exists(), reason="needs LLVM's TableGen")
def test_generated_files_are_what_the_op_table_gives():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/gen_language.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_dir_lists_operations():
    assert {"add", "matmul", "FP32", "jit", "tensor", "range"} <= set(dir(pl))
    assert "load" in dir(pl.tile)


def test_distributed_names_say_not_yet():
    for call in (pld.window, pld.system.notify, pld.tensor.allreduce):
        with pytest.raises(pypto.UnsupportedFeatureError, match="not available yet"):
            call()
    with pytest.raises(AttributeError):
        pld.no_such_name  # noqa: B018


def test_level_aliases_are_their_levels():
    assert pl.Level.POD is pl.Level.CLUSTER_0
    assert pl.Level.NODE is pl.Level.HOST


@pytest.mark.parametrize(
    ("decorate", "text"),
    [
        (lambda: pl.jit(3), "@pl.jit decorates a function, not int"),
        (lambda: pl.function(type), "@pl.function decorates a function, not type"),
        (lambda: pl.program(lambda: 0), "@pl.program decorates a class, not function"),
        (lambda: pl.program(type("Empty", (), {})), "program Empty has no function"),
    ],
)
def test_wrong_use_of_decorators(decorate, text):
    with pytest.raises(pypto.Error, match=text):
        decorate()


@pytest.mark.parametrize("option", ["level", "strict_ssa"])
def test_decorators_refuse_unknown_options(option):
    with pytest.raises(TypeError, match=option):
        pl.jit(**{option: 1})


def test_parse_reports_syntax_with_its_place():
    with pytest.raises(pypto.ParserSyntaxError) as caught:
        pl.parse("import pypto.language as pl\nx = = 1\n", filename="bad.py")
    assert (caught.value.span.filename, caught.value.span.begin_line) == ("bad.py", 2)
    assert caught.value.source_lines == ["x = = 1\n"]


def test_parse_needs_a_program():
    with pytest.raises(pypto.ParserSyntaxError, match="defines neither a program nor a function"):
        pl.parse("x = 1")
