"""Who may use whom (docs/architecture.md 2), read from the includes, the imports and the CMake links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# system -> systems that it may use besides itself
ALLOWED = {
    "support": set(),
    "pto-isa": {"support"},
    "ptoas": {"pto-isa", "support"},
    "simpler": {"pto-isa", "support"},
    "pypto": {"ptoas", "simpler", "pto-isa", "support"},
    "torch-npu-sim": {"simpler", "support"},
}
# What joins pypto and torch may use torch_npu: these folders and what lies below.
TORCH = (
    "pypto/python/pypto/torch",
    "pypto/python/pypto/runtime/kernel",
    "pypto/python/bindings/torch",
    "pypto/python/bindings/torch_npu",
    "pypto/tests/st/runtime/kernel",
    "pypto/tests/st/torch",
    "pypto/tests/ut/runtime",
    "pypto/tests/ut/torch",
)
# first component of an include path or Python module -> the system that owns it
OWNER = {
    "support": "support",
    "ptoas": "ptoas",
    "simpler": "simpler",
    "pypto": "pypto",
    "pto": "pto-isa",
    "torch_npu": "torch-npu-sim",
    "simpler_setup": "simpler",
}


def sources(system: str, suffixes: tuple[str, ...]) -> list[Path]:
    folder = ROOT / system
    return (
        [f for f in folder.rglob("*") if f.suffix in suffixes and f.is_file()]
        if folder.is_dir()
        else []
    )


def uses(file: Path) -> set[str]:
    text = file.read_text(errors="replace")
    if file.suffix == ".py":
        names = re.findall(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", text, re.M)
    else:
        names = re.findall(r'^\s*#\s*include\s+["<]([\w-]+)/', text, re.M)
    return {OWNER[n] for n in names if n in OWNER}


def crossings(system: str, suffixes: tuple[str, ...]) -> list[str]:
    found = []
    for file in sources(system, suffixes):
        place = file.relative_to(ROOT)
        torch = (
            {"torch-npu-sim"}
            if place.as_posix().startswith(tuple(f + "/" for f in TORCH))
            else set()
        )
        for other in uses(file) - {system} - ALLOWED[system] - torch:
            found.append(f"{place} uses {other}")
    return found


@pytest.mark.parametrize("system", sorted(ALLOWED))
def test_includes_and_imports_stay_inside_the_borders(system):
    tests = f"{system}/tests"  # a system's own tests obey the same rule, except that Python tests may import torch
    assert crossings(system, (".h", ".hpp", ".cpp", ".py")) == [], tests


def test_a_crossing_would_be_seen(tmp_path, monkeypatch):
    bad = tmp_path / "simpler" / "lib"
    bad.mkdir(parents=True)
    (bad / "wrong.cpp").write_text('#include "pypto/Diagnostic.h"\n')
    monkeypatch.setattr("test_borders.ROOT", tmp_path)
    assert crossings("simpler", (".cpp",)) == ["simpler/lib/wrong.cpp uses pypto"]


@pytest.mark.parametrize("system", ["support", "simpler"])
def test_light_systems_do_not_link_the_compiler(system):
    for file in (ROOT / system).rglob("CMakeLists.txt"):
        text = file.read_text()
        assert not re.search(r"\bMLIR\b|\bLLVM\b|pto_require_mlir", text), file
