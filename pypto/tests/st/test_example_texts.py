"""The `.pto` texts of every kernel of examples/: at both levels the assembler takes them and has C++ for
them, and a program whose kernels are these texts computes what the example does."""

import importlib
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from pypto.enums import MemoryPlanner
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact

from pypto import ir

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PLANNERS = {"level2": MemoryPlanner.PTOAS, "level3": MemoryPlanner.PYPTO}


@dataclass(frozen=True)
class Case:
    source: Any  # what is compiled
    samples: tuple  # its arguments, for a function
    args: tuple
    wanted: dict[int, torch.Tensor]
    rtol: float
    atol: float


def of_program(module, program) -> Case:
    args = program.inputs()
    wanted = program.reference(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])
    # The entry of the class form is a function around the class.
    is_function = hasattr(program.entry, "artifact_request")
    source = program.entry if is_function else module.Affine
    return Case(source, args if is_function else (), args, wanted, program.rtol, program.atol)


def of_kernel(_, entry) -> Case:
    """A kernel inside of torch programs: what it says itself, on numbers."""
    args = tuple(torch.randn(a.shape) for a in entry.annotations.values())
    results = [a.clone() for a in args]
    entry(*results)
    return Case(entry, args, args, dict(enumerate(results)), 1e-4, 1e-4)


def cases():
    sys.path.insert(0, str(EXAMPLES))
    try:
        modules = [importlib.import_module(f.stem) for f in EXAMPLES.glob("[0-9][0-9]_*.py")]
    finally:
        sys.path.remove(str(EXAMPLES))
    for module in sorted(modules, key=lambda module: module.__name__):
        used = set()
        for program in module.PROGRAMS:
            if hasattr(program.entry, "artifact_request") or hasattr(module, "Affine"):
                used.add(program.entry)
                name = f"{module.__name__}-{program.name}".replace(" ", "_")
                yield pytest.param(of_program, module, program, id=name)
        for name, entry in vars(module).items():
            is_kernel = hasattr(entry, "artifact_request") and entry.record.form == "jit"
            if is_kernel and entry not in used:
                yield pytest.param(of_kernel, module, entry, id=f"{module.__name__}-{name}")


CASES = list(cases())


def compile_to(folder: Path, case: Case, planner, platform="a2a3sim"):
    _compile_artifact(
        case.source,
        *case.samples,
        contract=ArtifactExecutionMode.PROGRAM,
        platform=platform,
        output_dir=folder,
        memory_planner=planner,
    )


def check_texts(folder: Path, planner) -> dict[str, str]:
    """The texts by kernel; all of them have C++, and addresses where they should."""
    problems = folder / "report/codegen_errors.txt"
    assert not problems.exists(), problems.read_text()
    texts = {path.stem: path.read_text() for path in (folder / "ptoas").glob("*.pto")}
    assert texts
    for name, text in texts.items():
        assert "pto/pto-inst.hpp" in (folder / f"ptoas/{name}.cpp").read_text()
        tiles = re.findall(r"pto\.alloc_tile (addr = )?", text)
        assert all(bool(addr) == (planner is MemoryPlanner.PYPTO) for addr in tiles)
    return texts


def function(module: str, name: str) -> tuple[int, int, list[str]]:
    """Where a function's body begins and ends in the text of a module, and its arguments' names."""
    head = re.search(rf"^  func\.func [^\n]*@{name}\(([^\n]*)\n", module, re.M)
    end = module.index("\n  }", head.end() - 1) + 1
    arguments = head[1].partition(") attributes")[0]
    return head.end(), end, re.findall(r"(?:^|, )%(\w+): ", arguments)


def with_texts(folder: Path, texts: dict[str, str]):
    """Makes the texts the kernels of the lowered program in the folder, from which code is made again."""
    (path,) = (folder / "orchestration").glob("*.mlir")
    lowered = path.read_text()
    for name, text in texts.items():
        begin, end, names = function(text, name)
        body = re.sub(r" loc\([^\n]*\)$", "", text[begin:end], flags=re.M)
        start, stop, wanted = function(lowered, name)
        assert len(names) == len(wanted)
        for old, new in zip(names, wanted, strict=True):
            body = re.sub(rf"%{old}\b", f"%<{new}>", body)
        lowered = lowered[:start] + re.sub(r"%<(\w+)>", r"%\1", body) + lowered[stop:]
    path.write_text(lowered)
    shutil.rmtree(folder / "prebuilt")


@pytest.mark.parametrize("planner", PLANNERS.values(), ids=PLANNERS)
@pytest.mark.parametrize(("make", "module", "program"), CASES)
def test_texts_are_the_program(make, module, program, planner, tmp_path):
    torch.manual_seed(1)
    case = make(module, program)
    compile_to(tmp_path, case, planner)
    with_texts(tmp_path, check_texts(tmp_path, planner))
    ir.CompiledProgram.from_dir(tmp_path)(*case.args)
    for index, want in case.wanted.items():
        torch.testing.assert_close(
            case.args[index].double(), want.double(), rtol=case.rtol, atol=case.atol
        )


@pytest.mark.parametrize(("make", "module", "program"), CASES)
def test_texts_for_a5(make, module, program, tmp_path):
    compile_to(tmp_path, make(module, program), MemoryPlanner.PYPTO, "a5sim")
    check_texts(tmp_path, MemoryPlanner.PYPTO)
