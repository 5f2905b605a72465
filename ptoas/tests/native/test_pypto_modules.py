"""Modules that the original pypto compiler wrote: all compile, and programs run with their data.

Read from the conformance cases beside the tree; skipped where those are not.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path
from unittest.mock import MagicMock

import native
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from pypto_launches import BF16, PROGRAMS, Program, once  # noqa: E402 - needs torch

CASES = Path(__file__).resolve().parents[4] / "shared/cases"
MODULES = CASES / "pto-from-pypto"
FILES = sorted(MODULES.glob("*/*.pto"))

pytestmark = pytest.mark.skipif(not FILES, reason="the conformance cases are not beside this tree")

DTYPES = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.int32: "i32",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int64: "i64",
}


def array(tensor) -> np.ndarray:
    """The tensor's memory; bfloat16 as bit patterns."""
    return (tensor.view(torch.uint16) if tensor.dtype == BF16 else tensor).numpy()


def load_case(path: Path):
    """The case's inputs and reference. What it says in the tile language is not looked at."""
    stubs = {name: MagicMock() for name in ("pypto", "pypto.language", "pypto.runtime", "pypto.ir")}
    before = {name: sys.modules.get(name) for name in stubs}
    sys.modules.update(stubs)
    try:
        spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


def parameters(path: Path, values: int) -> list[str]:
    """Names of the entry's parameters: of the function with as many of them as the call has values,
    an orchestration method before others. The case may keep the program's text in a string."""
    source = path.read_text()
    texts = [source, *re.findall(r"'''(.*?)'''", source, re.S)]
    found = []
    for text in texts:
        for function in ast.walk(ast.parse(text)):
            if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
                continue
            names = [arg.arg for arg in function.args.args if arg.arg != "self"]
            if len(names) == values:
                found.append((function.name in ("main", "entry"), names))
    return max(found, key=lambda candidate: candidate[0])[1]


class Launcher:
    """Binds a kernel's arguments by the names of their views."""

    def __init__(self, path: Path, renamed: dict, check: bool):
        self.text = path.read_text()
        self.kernel = native.Kernel(
            self.text, entry=",".join(entries(path)), name=path.name, check=check
        )
        self.names = {
            int(number): renamed.get(name, name)
            for name, number in re.findall(
                r"%(\w+?)__\w*view = pto\.make_tensor_view %arg(\d+),", self.text
            )
        }
        self.slots = {int(n) for n in re.findall(r"gm_slot_buffer = %arg(\d+)", self.text)}

    def bind(self, tensors: dict, scalars) -> list:
        scalars, args = list(scalars), []
        for index, (_, type_, element, _) in enumerate(self.kernel.arguments):
            if index in self.slots:
                args.append(np.zeros(1 << 18, np.float32))
            elif type_.startswith("!pto.ptr"):
                tensor = tensors[self.names[index]]
                assert DTYPES[tensor.dtype] == element, self.names[index]
                args.append(array(tensor))
            else:
                args.append(scalars.pop(0))
        assert not scalars
        return args


def test_every_module_compiles():
    refused = {}
    for path in FILES:
        try:
            native.Kernel(path.read_text(), entry=",".join(entries(path)), name=path.name)
        except native.CompileError as error:
            refused[f"{path.parent.name}/{path.name}"] = str(error)
    assert not refused
    assert len(FILES) == 156


def entries(path: Path) -> list[str]:
    """The functions that run together: a cube and a vector function are one cluster."""
    found = re.findall(r"func\.func @(\w+)\(.*kernel_kind<(\w+)>", path.read_text())
    names = [name for name, _ in found]
    return names if len({kind for _, kind in found}) == 2 else names[-1:]


def program_of(name: str, folder: Path) -> Program:
    return PROGRAMS[name] if name in PROGRAMS else once(*(p.stem for p in modules(folder)))


def modules(folder: Path, bridged: bool = False) -> list[Path]:
    """A program's modules, or those that are also kept as an older assembler reads them."""
    return [p for p in sorted(folder.glob("*.pto")) if (".bridged" in p.name) == bridged]


FOLDERS = sorted({path.parent for path in FILES})
VARIANTS = [
    pytest.param(folder, bridged, id=folder.name + (".bridged" if bridged else ""))
    for folder in FOLDERS
    for bridged in (False, True)
    if modules(folder, bridged)
]


@pytest.mark.parametrize(("folder", "bridged"), VARIANTS)
def test_program_computes_its_reference(folder, bridged):
    case_path = CASES / "pypto" / f"{folder.name}.py"
    case = load_case(case_path)
    program = program_of(folder.name, folder)
    reference = program.reference or case.reference
    kernels, unused = {}, {path.stem for path in modules(folder)}
    calls = getattr(case, "CALLS", [{}])
    for call in calls[:1] if program.first_call_only else calls:
        for seed in (0, 1):
            inputs = case.inputs(seed, **call)
            copies = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
            wanted = reference(*copies)
            arguments = dict(zip(parameters(case_path, len(inputs)), inputs))
            tensors = {n: x for n, x in arguments.items() if isinstance(x, torch.Tensor)}
            tensors |= {
                f"{n} transposed": x.t().contiguous() for n, x in tensors.items() if x.ndim == 2
            }
            for name, (shape, dtype) in program.created.items():
                tensors[name] = torch.zeros(shape, dtype=dtype)
            for kernel, scalars, blocks in program.launches(arguments):
                key = kernel, seed
                if key not in kernels:
                    path = folder / f"{kernel}.bridged.pto"
                    if not (bridged and path.exists()):
                        path = folder / f"{kernel}.pto"
                    # The second time with checks: none of these programs leaves a tensor.
                    kernels[key] = Launcher(path, program.renamed, check=seed == 1)
                args = kernels[key].bind(tensors, scalars)
                kernels[key].kernel(*args, blocks=blocks)
                unused.discard(kernel)
            for index, want in wanted.items():
                got = inputs[index].to(torch.float64)
                torch.testing.assert_close(
                    got, want.to(torch.float64).expand_as(got), equal_nan=True, **case.TOLERANCE
                )
    assert not unused, "modules that no launch names"
