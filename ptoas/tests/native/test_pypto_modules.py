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
F32, BF16, I8, I32 = torch.float32, torch.bfloat16, torch.int8, torch.int32

# How a program launches its kernels, where that is more than its only kernel once: tensors between
# kernels, and launches (kernel, scalar arguments, number of blocks).
LAUNCHES = {
    "appendix_a05_column_halves": ({}, [("r1", (), 1), ("r2", (), 1), ("r16", (), 1)]),
    "appendix_a19_long_vector_tail": ({}, [("vadd", (), 2)]),
    "control_parallel_tasks": ({}, [("rows", (r,), 1) for r in range(0, 80, 16)]),
    "function_returned_tensor": ({}, None),
    "matmul_chain_two_scopes": ({}, None),
    "model_attention_single_block": (
        {"s": ((16, 64), F32), "p": ((16, 64), BF16)},
        [("qk", (), 1), ("soft", (), 1), ("pv", (), 1)],
    ),
    "model_layer_norm": ({}, [("layernorm", (i,), 1) for i in (0, 16)]),
    "model_quantised_linear": (
        {"q": ((16, 128), I8), "sx": ((16, 1), F32), "acc": ((16, 64), I32)},
        [("quant", (), 1), ("product", (), 1), ("dequant", (), 1)],
    ),
    "spmd_more_blocks_than_cores": ({}, [("tiny", (), 200)]),
    "spmd_sync_start": ({}, [("together", (), 2)]),
    "spmd_with_block_index": ({"t": ((64, 64), F32)}, [("stage_a", (), 4), ("stage_b", (), 2)]),
}
# What the original compiler is known to get wrong in these modules, and calls that need Python.
SKIPPED = {
    "control_yield_carry": "the module computes something else than the program",
    "expand_sub_column_first": "the module computes something else than the program",
    "appendix_a25_strided_argument": "the case copies its arguments in Python",
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


def parameters(path: Path) -> list[str]:
    """Names of the entry function's parameters."""
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ENTRY":
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef) and function.name == getattr(
                    node.value, "id", None
                ):
                    return [arg.arg for arg in function.args.args]
    return []


class Launcher:
    """Binds a kernel's arguments by the names of their views."""

    def __init__(self, path: Path):
        self.text = path.read_text()
        self.kernel = native.Kernel(self.text, entry=",".join(entries(path)), name=path.name)
        self.names = {
            int(number): name
            for name, number in re.findall(
                r"%(\w+?)__\w*view = pto\.make_tensor_view %arg(\d+),", self.text
            )
        }
        self.slots = {int(n) for n in re.findall(r"gm_slot_buffer = %arg(\d+)", self.text)}

    def bind(self, tensors: dict, scalars):
        """The arguments, or None when some name is not among the tensors."""
        scalars, args = list(scalars), []
        for index, (_, type_, element, _) in enumerate(self.kernel.arguments):
            if index in self.slots:
                args.append(np.zeros(1 << 18, np.float32))
            elif type_.startswith("!pto.ptr"):
                tensor = tensors.get(self.names.get(index))
                if tensor is None or DTYPES.get(tensor.dtype) != element:
                    return None
                args.append(array(tensor))
            elif scalars:
                args.append(scalars.pop(0))
            else:
                return None
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


def runnable() -> list[str]:
    return sorted({path.parent.name for path in FILES} - set(SKIPPED))


ran: list[str] = []


@pytest.mark.parametrize("program", runnable())
def test_program_computes_its_reference(program):
    case_path = CASES / "pypto" / f"{program}.py"
    case = load_case(case_path)
    names = parameters(case_path)
    intermediates, launches = LAUNCHES.get(program, ({}, None))
    files = [p for p in sorted((MODULES / program).glob("*.pto")) if ".bridged" not in p.name]
    if launches is None:
        if len(files) != 1 or "__pypto_spmd_block" in files[0].read_text():
            pytest.skip("launched by an orchestration that is not written down here")
        launches = [(files[0].stem, (), 1)]
    if not names:
        pytest.skip("the entry is no plain function")
    kernels = {}
    for seed in (0, 1):
        inputs = case.inputs(seed, **getattr(case, "CALLS", [{}])[0])
        copies = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
        wanted = case.reference(*copies)
        tensors = {n: x for n, x in zip(names, inputs) if isinstance(x, torch.Tensor)}
        for name, (shape, dtype) in intermediates.items():
            tensors[name] = torch.zeros(shape, dtype=dtype)
        for kernel, scalars, blocks in launches:
            if kernel not in kernels:
                kernels[kernel] = Launcher(MODULES / program / f"{kernel}.pto")
            args = kernels[kernel].bind(tensors, scalars)
            if args is None:
                pytest.skip("arguments that the case does not name")
            kernels[kernel].kernel(*args, blocks=blocks)
        for index, want in wanted.items():
            got = inputs[index].to(torch.float64)
            torch.testing.assert_close(
                got, want.to(torch.float64).expand_as(got), equal_nan=True, **case.TOLERANCE
            )
    ran.append(program)


def test_enough_programs_ran(request):
    """The programs above are not all skipped by a mistake in this file."""
    if len(request.session.items) < len(runnable()):
        pytest.skip("only a part of the tests was asked for")
    assert len(ran) >= 70, sorted(set(runnable()) - set(ran))
