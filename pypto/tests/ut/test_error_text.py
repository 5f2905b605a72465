"""How errors are shown: message, place, source line with carets, help, notes."""

from __future__ import annotations

import os

import pytest
from pypto.errors import Span

import pypto
from pypto import bridge, errors


def shown(**changes) -> str:
    values = dict(
        message="matmul: inner extents differ, lhs is 64x96, rhs is 128x32",
        span=Span("ffn.py", 41, 11, 41, 26),
        hint="pass b_trans=True if w holds the weight as [out, in]",
        source_lines=["    acc = pl.matmul(x, w)"],
    )
    values.update(changes)
    return errors.render(pypto.InvalidOperationError(**values))


def test_error_is_rendered_with_line_and_carets():
    assert shown() == (
        "Error: matmul: inner extents differ, lhs is 64x96, rhs is 128x32\n"
        "  --> ffn.py:41:11\n"
        "   41 |     acc = pl.matmul(x, w)\n"
        "      |           ^^^^^^^^^^^^^^^\n"
        "   = help: pass b_trans=True if w holds the weight as [out, in]"
    )


def test_carets_stand_under_tabs_as_the_line_has_them():
    line = "\tacc = pl.matmul(x, w)"
    lines = shown(span=Span("f.py", 7, 8, 7, 23), source_lines=[line]).splitlines()
    assert lines[3] == "      | \t      ^^^^^^^^^^^^^^^"


def test_a_span_over_several_lines_marks_the_first_to_its_end():
    lines = shown(span=Span("f.py", 1234, 5, 1236, 3), source_lines=["    x = f("]).splitlines()
    assert lines[2:4] == [" 1234 |     x = f(", "      |     ^^^^^^"]


def test_without_span_there_is_no_place():
    assert shown(span=None, source_lines=None, hint=None) == (
        "Error: matmul: inner extents differ, lhs is 64x96, rhs is 128x32"
    )


def test_files_below_the_current_folder_are_shown_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside = shown(span=Span(str(tmp_path / "m" / "k.py"), 3, 1))
    assert f"  --> {os.path.join('m', 'k.py')}:3:1" in inside
    assert "  --> /elsewhere/k.py:3:1" in shown(span=Span("/elsewhere/k.py", 3, 1))


def test_span_answers_as_mapping_and_by_attribute():
    span = Span("f.py", 3, 5)
    assert span["begin_line"] == span.begin_line == 3
    assert span.get("filename") == "f.py"


@pytest.mark.parametrize(
    ("kind", "name", "bases"),
    [
        ("Syntax", "ParserSyntaxError", (pypto.ParserError, pypto.Error)),
        ("Type", "ParserTypeError", (pypto.ParserError,)),
        ("Undefined", "UndefinedVariableError", (pypto.ParserError,)),
        ("SSAViolation", "SSAViolationError", (pypto.ParserError,)),
        ("Unsupported", "UnsupportedFeatureError", (pypto.ParserError,)),
        ("InvalidOperation", "InvalidOperationError", (pypto.ParserError,)),
        ("ScopeIsolation", "ScopeIsolationError", (pypto.ParserError,)),
        ("Value", "ArgumentValueError", (ValueError, pypto.Error)),
        ("Resource", "ResourceError", (RuntimeError, pypto.Error)),
    ],
)
def test_each_diagnostic_kind_has_its_class(kind, name, bases):
    error = errors.make(kind, "text")
    assert type(error).__name__ == name
    assert isinstance(error, bases)


def diagnostic(kind="InvalidOperation", message="m", span=("f.py", 2, 3, 2, 4), help="", notes=()):
    return (kind, message, span, help, list(notes))


def test_later_errors_follow_the_first():
    first = bridge._error(
        "p", [diagnostic(message="one"), diagnostic("Type", "two", ("f.py", 9, 1, 9, 2))], []
    )
    assert type(first) is pypto.InvalidOperationError
    assert str(first) == "one\n  --> f.py:2:3\nError: two\n  --> f.py:9:1"
    assert first.others[0].span.begin_line == 9


def test_notes_keep_their_place():
    error = bridge._error("p", [diagnostic(notes=[("declared here", ("f.py", 1, 1, 1, 5))])], [])
    assert str(error).splitlines()[-1] == "   = note: declared here (f.py:1:1)"
    assert error.note == "declared here"


def test_internal_errors_name_a_folder_with_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PTO_REPRODUCER_DIR", str(tmp_path / "found"))
    error = bridge._error("entry", [diagnostic("Internal", "pass failed")], [])
    assert type(error) is pypto.InternalError
    assert not isinstance(error, pypto.Error)
    assert "fault of pypto" in str(error)
    assert os.path.dirname(error.reproducer) == str(tmp_path / "found")
    assert "pass failed" in open(os.path.join(error.reproducer, "error.txt")).read()
    assert not os.path.exists(os.path.join(error.reproducer, "module.mlir"))


def test_internal_errors_keep_the_module_beside_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PTO_REPRODUCER_DIR", str(tmp_path / "found"))
    found = diagnostic("Internal", "no code")
    result = {"ok": False, "diagnostics": [found], "reproducer": "module {}\n"}
    with pytest.raises(pypto.InternalError) as caught:
        bridge._raise_or_warn("entry", result, [])
    folder = caught.value.reproducer
    assert sorted(os.listdir(folder)) == ["error.txt", "module.mlir", "program.py"]
    assert open(os.path.join(folder, "module.mlir")).read() == "module {}\n"


def test_a_full_disk_leaves_the_error(monkeypatch):
    """/dev/full as a folder of reproducers cannot hold any."""
    monkeypatch.setenv("PTO_REPRODUCER_DIR", "/dev/full")
    error = bridge._error("entry", [diagnostic("Internal", "no code")], [], "module {}")
    assert error.reproducer is None
    assert "no code" in str(error)
