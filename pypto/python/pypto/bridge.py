"""Between the package and its extension modules: compiles, caches, and turns diagnostics into errors."""

from __future__ import annotations

import functools
import hashlib
import json
import linecache
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pypto import cache, errors, knobs
from pypto.errors import Error, InternalError, ResourceError, Span
from pypto.source import Record, Snapshot, snapshot

_PACKAGE = Path(__file__).resolve().parent


@functools.cache
def core():
    """pypto._core, which calls compiled programs."""
    try:
        from pypto import _core
    except ImportError as error:
        raise ResourceError(
            f"the package is not built: {error}",
            hint="build it with `make build`, or install the wheel",
        ) from None
    if knobs.get("PTO_TRACE"):
        from pypto.runtime import trace

        trace.record_process(_core, os.path.abspath(knobs.get("PTO_TRACE")))
    return _core


def compiler():
    """pypto._compiler; loading it takes some tens of milliseconds."""
    core()  # the libraries that the compiler shares with it
    try:
        from pypto import _compiler
    except ImportError as error:
        raise ResourceError(
            f"the compiler is not built: {error}",
            hint="build it with `make build`, or install the wheel",
        ) from None
    return _compiler


def compiler_path() -> str:
    """The file of pypto._compiler, whether it is loaded or not."""
    return str(_PACKAGE / "_compiler.so")


@functools.cache
def build_id() -> str:
    """Tells builds of the compiler and of the libraries that code is linked with, and CPUs, apart.

    Made from the files themselves, so that it is known without loading the compiler.
    """
    paths = [compiler_path(), *core().library_paths()]
    parts = [core().host_id()]
    for path in sorted(set(paths)):
        try:
            status = os.stat(path)
            parts.append(f"{os.path.basename(path)}:{status.st_size}:{status.st_mtime_ns}")
        except OSError:
            parts.append(f"{path}:absent")
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def default_options() -> dict[str, Any]:
    """Compile options that the environment decides."""
    return {
        "fuse": knobs.get("PTO_FUSE"),
        "reuse": knobs.get("PTO_REUSE"),
        "check": knobs.get("PTO_CHECK"),
    }


def key_for(snap: Snapshot, specification: Any, options: dict[str, Any]) -> str:
    """Cache key of a program for a specialisation."""
    return cache.key_of(
        build_id(),
        knobs.get("PTO_ISA"),
        json.dumps(options, sort_keys=True),
        repr(specification),
        *snap.texts,
    )


def check(name: str, records: list[Record], *, is_class: bool) -> None:
    """Raises what the compiler finds wrong with a program, whatever its arguments will be."""
    snap = snapshot(records)
    key = key_for(snap, "check", {"class": is_class})
    known = cache.load(key)
    if known is None:
        result = _run_compiler(name, is_class, records, None, {"import_only": True})
        found = _raise_or_warn(name, result, snap.records)
        cache.store(key, {"warnings": found}, b"")
    else:
        _replay(known[0]["warnings"])


def compile_program(
    name: str,
    is_class: bool,
    records: list[Record],
    snap: Snapshot,
    args: Sequence[tuple] | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """The compiler's result for a program; raises its errors, shows its warnings."""
    result = _run_compiler(name, is_class, records, args, options)
    if result["bake"]:
        return result
    result["warnings"] = _raise_or_warn(name, result, snap.records)
    return result


def compile_lowered(text: str, where: str) -> bytes:
    """Machine code for a lowered program (the compiler's `lowered` of a unit). ArtifactError where the
    text is not one that this compiler made."""
    from pypto.ir.artifact_metadata import ArtifactError

    result = compiler().compile_lowered(text, default_options())
    if result["ok"]:
        return result["unit"]["code"]
    found = result["diagnostics"]
    why = found[0][1] if found else "no reason was given"
    raise ArtifactError(
        f"{where} is no lowered program of this compiler ({why}); compile the program again with"
        " ir.compile()"
    )


def _run_compiler(name, is_class, records, args, options) -> dict[str, Any]:
    recording = _recording()
    begin = time.monotonic_ns()
    result = compiler().compile(name, is_class, records, args, options)
    end = time.monotonic_ns()
    if recording:
        core().trace_add("compile", f"compile {name}", begin, end)
        at = begin
        for stage, milliseconds in result["unit"]["stage_ms"]:
            following = at + int(milliseconds * 1e6)
            core().trace_add("compile", stage, at, following)
            at = following
    return result


def _recording() -> bool:
    from pypto.runtime import trace

    return trace.active()


def _raise_or_warn(name: str, result: dict[str, Any], records: list[Record]) -> list[list]:
    """Raises the first error with the others attached; gives the warnings that it showed."""
    found = [d for d in result["diagnostics"] if d[0] != "Warning"]
    if found or not result["ok"]:
        raise _error(name, found, records, result.get("reproducer", ""))
    shown = []
    for _, message, span, hint, _ in result["diagnostics"]:
        text = f"{message} ({hint})" if hint else message
        shown.append([text, span[0] or "<pypto>", span[1] or 1])
    _replay(shown)
    return shown


def _replay(shown: list[list]) -> None:
    for text, filename, line in shown:
        warnings.warn_explicit(text, UserWarning, filename, line)


def _error(
    name: str, diagnostics: list[tuple], records: list[Record], module: str = ""
) -> Exception:
    if not diagnostics:
        diagnostics = [
            ("Internal", "the compiler failed without a reason", ("", 0, 0, 0, 0), "", [])
        ]
    internal = [d for d in diagnostics if d[0] == "Internal"]
    if internal and len(internal) == len(diagnostics):
        text = f"{name}: {internal[0][1]}"
        return InternalError(text, _reproducer(name, diagnostics, records, module))
    made = [_one_error(d, records) for d in diagnostics if d[0] != "Internal"]
    made[0].others = made[1:]
    return made[0]


def _one_error(diagnostic: tuple, records: list[Record]) -> Error:
    kind, message, span, hint, notes = diagnostic
    error = errors.make(kind, message, _span(span), hint or None)
    if error.span:
        line = _line(error.span.filename, error.span.begin_line, records)
        error.source_lines = [line] if line else []
    error.notes = [(text, _span(place)) for text, place in notes]
    error.note = notes[0][0] if notes else None
    return error


def _span(values: tuple) -> Span | None:
    filename, line, column, end_line, end_column = values
    return Span(filename, line, column, end_line, end_column) if line else None


def _line(filename: str, number: int, records: list[Record]) -> str:
    """A source line as it was when the function was decorated."""
    for record in records:
        if record.filename == filename:
            return record.line(number)
    return linecache.getline(filename, number).rstrip("\n")


def _reproducer(
    name: str, diagnostics: list[tuple], records: list[Record], module: str
) -> str | None:
    """Writes what shows an internal error again into a folder of its own and gives its path.

    `module` is the IR that the code generator failed on, if it came that far.
    """
    root = knobs.get("PTO_REPRODUCER_DIR") or os.path.join(
        knobs.get("PTO_CACHE_DIR"), "reproducers"
    )
    text = "\n\n".join(record.text for record in records)
    folder = os.path.join(root, f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
            file.write("import pypto.language as pl\n\n" + text)
        with open(os.path.join(folder, "error.txt"), "w", encoding="utf-8") as file:
            for kind, message, span, _, notes in diagnostics:
                file.write(f"{kind}: {message}\n  {span}\n")
                file.writelines(f"  {note}\n" for note, _ in notes)
        if module:
            with open(os.path.join(folder, "module.mlir"), "w", encoding="utf-8") as file:
                file.write(module)
    except OSError:
        return None
    return folder


_WARM_UP = """
import pypto.language as pl


@pl.program
class warm_up:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = pl.store(pl.add(pl.load(x, [0, 0], [16, 16]), 1.0), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        y = self.kernel(x, y)
        return y
"""


@functools.cache
def warm_up() -> None:
    """Loads the compiler and compiles a small program, so that what is made on first use exists."""
    from pypto.text import parse

    program = parse(_WARM_UP, "<pypto warm-up>")
    records = program.functions
    result = _run_compiler(program.name, True, records, None, default_options())
    _raise_or_warn(program.name, result, records)
