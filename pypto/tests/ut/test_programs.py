"""Class programs, functions checked where they stand, errors with their place."""

from __future__ import annotations

import os

import pypto.language as pl
import pytest
import torch
from artifact_programs import GAIN
from pypto.runtime import RunConfig

import pypto
from pypto import ir, runtime


@pytest.fixture
def gain():
    return pl.parse(GAIN, filename="gain.py")


def test_compiled_in_place_and_return_style(gain):
    program = ir.compile(gain)
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    assert program(x, 0.5, y) is None
    assert torch.equal(y, x * 0.5)
    assert torch.equal(program(x, -3.0), x * -3)
    assert program.param_names == ["x", "k", "y"]
    assert program.has_return
    with pytest.raises(TypeError, match="takes 3 arguments, or 2 without its outputs; got 1"):
        program(x)


def test_second_compilation_comes_from_disk(gain, monkeypatch):
    from pypto import bridge

    ir.compile(gain)
    monkeypatch.setattr(bridge, "compiler", lambda: pytest.fail("compiled again"))
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    ir.compile(gain)(x, 2.0, y)
    assert torch.equal(y, x * 2)


def test_output_dir_is_written_when_asked_for(gain, tmp_path):
    program = ir.compile(gain)
    assert not os.path.exists(os.environ["PYPTO_PROG_BUILD_DIR"])
    folder = str(program)
    assert os.path.isdir(folder)
    assert os.path.basename(folder).startswith("Gain_")
    assert {"compiled_meta.json", "ptoas", "passes_dump"} <= set(os.listdir(folder))
    other = ir.compile(gain, str(tmp_path / "here"), dump_passes=False)
    assert other == str(tmp_path / "here")
    assert "passes_dump" not in os.listdir(tmp_path / "here")


def test_runtime_run_compiles_and_calls(gain):
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    runtime.run(gain, x, 2.0, y, config=RunConfig())
    assert torch.equal(y, x * 2)
    y.zero_()
    runtime.run(gain, x, 2.0, y, config=RunConfig(codegen_only=True))
    assert y.abs().max() == 0


def test_a_config_for_another_platform_is_refused(gain):
    program = ir.compile(gain, platform="a2a3sim")
    with pytest.raises(ValueError, match="compiled for a2a3sim, the config asks for a5sim"):
        program(torch.zeros(16, 32), 1.0, torch.zeros(16, 32), config=RunConfig(platform="a5sim"))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(platform="a3"), ValueError, "platform 'a3' does not exist"),
        (dict(strategy="fast"), TypeError, "strategy: takes an OptimizationStrategy"),
        (dict(distributed_config=1), pypto.UnsupportedFeatureError, "not available yet"),
    ],
)
def test_wrong_options(gain, options, error, text):
    with pytest.raises(error, match=text):
        ir.compile(gain, **options)


def test_what_is_no_program_is_refused():
    with pytest.raises(pypto.Error, match="int is not a program"):
        ir.compile(3)


FUNCTION = """
import pypto.language as pl
SIZE = 16
@pl.function
def kernel(x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INT32]) -> pl.Tensor[[16, 32], pl.FP32]:
    {statement}
    return x
"""


@pytest.mark.parametrize(
    ("statement", "error", "column"),
    [
        ("y = pl.add(x, z)", "UndefinedVariableError", 19),
        ("y = pl.reshape(x, [16, 33])", "InvalidOperationError", 9),
        ("y = x[0:16:2, 0:32]", "UnsupportedFeatureError", None),
        ("y = pl.ad(x, 1.0)", "InvalidOperationError", 9),
        ("y = pl.add(x)", "InvalidOperationError", 9),
        ("y = pl.add(x, 1.0, fast=True)", "InvalidOperationError", None),
        ("if n: y = x", "ParserTypeError", 8),
        ("del x", "UnsupportedFeatureError", 5),
    ],
)
def test_errors_name_their_place(statement, error, column):
    with pytest.raises(pypto.ParserError) as caught:
        pl.parse(FUNCTION.format(statement=statement), filename="kernel.py")
    assert type(caught.value).__name__ == error
    assert caught.value.span.filename == "kernel.py"
    assert caught.value.span.begin_line == 6
    if column:
        assert caught.value.span.begin_column == column
    assert f"    {statement}" in str(caught.value).splitlines()[2]


def test_a_function_that_was_found_right_is_not_checked_again(monkeypatch):
    from pypto import bridge

    pl.parse(FUNCTION.format(statement="y = pl.add(x, 1.0)"), filename="kernel.py")
    monkeypatch.setattr(bridge, "compiler", lambda: pytest.fail("checked again"))
    pl.parse(FUNCTION.format(statement="y = pl.add(x, 1.0)"), filename="kernel.py")
