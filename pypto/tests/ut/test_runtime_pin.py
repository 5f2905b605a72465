"""The identity of the loaded runtime: compared with the sources, skipped where nothing can be said."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
from pypto.runtime import runtime_pin
from pypto.runtime.runtime_pin import (
    RuntimePinMismatch,
    RuntimePinWarning,
    check_runtime_pin,
    read_runtime_pin,
)
from simpler.source_digest import main as write_header
from simpler.source_digest import source_digest


@pytest.fixture(autouse=True)
def checks_are_on(monkeypatch):
    monkeypatch.delenv(runtime_pin.SKIP_VARIABLE, raising=False)
    monkeypatch.setattr(runtime_pin, "_checked", set())


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "simpler"
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "lib/Run.cpp").write_text("int run();\n")
    (folder / "include/run.h").write_text("struct Run { int a; };\n")
    return folder


def extension(commit, **more):
    return SimpleNamespace(__build_commit__=commit, __file__="/there/_task_interface.so", **more)


def test_the_extension_of_this_tree_is_built_from_its_sources():
    from simpler import _task_interface

    pin = read_runtime_pin()
    assert pin.matches is True, "build it: ninja -C build/dev simpler_python"
    assert pin.built == _task_interface.__build_commit__ and len(pin.built) == 40


def test_equal_digests_pass(sources):
    check_runtime_pin(extension(source_digest(sources)), folder=sources)


@pytest.mark.parametrize("change", ["edit", "add", "rename"])
def test_changed_sources_are_a_mismatch_that_names_both_sides(sources, change):
    old = source_digest(sources)
    if change == "edit":
        (sources / "include/run.h").write_text("struct Run { long a; };\n")
    elif change == "add":
        (sources / "include/more.h").write_text("")
    else:
        (sources / "lib/Run.cpp").rename(sources / "lib/Walk.cpp")
    with pytest.raises(RuntimePinMismatch) as caught:
        check_runtime_pin(extension(old), folder=sources)
    text = str(caught.value)
    assert old in text and source_digest(sources) in text and str(sources) in text
    assert "pypto-runtime-pin --fix" in text and isinstance(caught.value, ImportError)


def test_files_that_are_not_compiled_do_not_count(sources):
    old = source_digest(sources)
    (sources / "README.md").write_text("text")
    (sources / "lib/notes.txt").write_text("text")
    assert source_digest(sources) == old


def test_an_extension_without_the_attribute_is_another_one(sources):
    with pytest.raises(RuntimePinMismatch, match="older than this check"):
        check_runtime_pin(SimpleNamespace(__file__="/there/x.so"), folder=sources)


@pytest.mark.parametrize("case", ["no identity", "no sources", "empty folder", "variable"])
def test_what_cannot_be_said_is_skipped(sources, tmp_path, monkeypatch, case):
    loaded, folder = extension("0" * 40), sources
    if case == "no identity":
        loaded = extension("")
    elif case == "no sources":
        folder = tmp_path / "nowhere"
    elif case == "empty folder":
        folder = tmp_path / "empty"
        folder.mkdir()
    else:
        monkeypatch.setenv(runtime_pin.SKIP_VARIABLE, "1")
    check_runtime_pin(loaded, folder=folder)


def test_a_wheel_has_no_sources_to_compare_with(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime_pin, "_TREE", tmp_path)
    assert runtime_pin.runtime_source() is None
    assert read_runtime_pin(extension("0" * 40)).matches is None
    check_runtime_pin(extension("0" * 40))


def test_sources_that_left_the_commit_are_a_warning(sources):
    git = ["git", "-C", str(sources.parent), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_runtime_pin(extension(source_digest(sources)), folder=sources)
    (sources / "lib/Run.cpp").write_text("long run();\n")
    runtime_pin._checked.clear()
    with pytest.warns(RuntimePinWarning, match="differ from the commit"):
        check_runtime_pin(extension(source_digest(sources)), folder=sources)


def test_the_header_is_rewritten_only_when_the_sources_changed(sources, tmp_path):
    header = tmp_path / "SourceDigest.h"
    write_header([str(sources), str(header)])
    assert source_digest(sources) in header.read_text()
    before = header.stat().st_mtime_ns
    write_header([str(sources), str(header)])
    assert header.stat().st_mtime_ns == before
    (sources / "lib/Run.cpp").write_text("long run();\n")
    write_header([str(sources), str(header)])
    assert source_digest(sources) in header.read_text()


def test_the_command_tells_both_sides():
    done = subprocess.run(
        [sys.executable, "-m", "pypto.runtime.runtime_pin"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "match" in done.stdout and read_runtime_pin().built in done.stdout


def test_fix_rebuilds_what_is_loaded(monkeypatch, capsys):
    tree = runtime_pin._TREE
    inside = runtime_pin.fix_commands(str(tree / "simpler/python/simpler/_task_interface.so"))
    assert inside[-1][:2] == ["cmake", "--build"] and inside[-1][-1] == "simpler_python"
    outside = runtime_pin.fix_commands("/somewhere/site-packages/simpler/_task_interface.so")
    assert outside == [
        [sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", str(tree)]
    ]
    # Nothing to fix: the command only looks.
    assert runtime_pin.main(["--fix"]) == 0 and "match" in capsys.readouterr().out


def test_a_failing_fix_says_so(monkeypatch, capfd):
    monkeypatch.setattr(
        runtime_pin, "fix_commands", lambda file: [[sys.executable, "-c", "raise SystemExit(3)"]]
    )
    assert runtime_pin._fix("x") == 1
    assert "failed with status 3" in capfd.readouterr().err
