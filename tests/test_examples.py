"""Every program of examples/ gives torch's values; times are the business of the demo and the bench."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime import run_pto

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROGRAMS = [
    pytest.param(program, id=f"{file.stem}-{program.name}".replace(" ", "_"))
    for file in sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
    for program in importlib.import_module(file.stem).PROGRAMS
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_example_matches_torch(program):
    torch.manual_seed(1)
    args = program.inputs()
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    wanted = program.reference(*before)
    program.entry(*args)
    for index, want in wanted.items():
        torch.testing.assert_close(
            args[index].double(), want.double(), rtol=program.rtol, atol=program.atol
        )
    for index, (arg, old) in enumerate(zip(args, before, strict=True)):
        if isinstance(arg, torch.Tensor) and index not in wanted:
            assert torch.equal(arg, old), f"input {index} was changed"


def test_numbered_files_are_complete():
    numbers = [int(f.name[:2]) for f in sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))]
    assert numbers == list(range(1, len(numbers) + 1))


def texts_of(program, folder: Path) -> dict[str, str]:
    """The kernels' `.pto` texts. The compiler assembles each for its C++ (level2) and says what fails."""
    _compile_artifact(
        program.entry, *program.inputs(), contract=ArtifactExecutionMode.PROGRAM, output_dir=folder
    )
    problems = folder / "report/codegen_errors.txt"
    assert not problems.exists(), problems.read_text()
    texts = sorted((folder / "ptoas").glob("*.pto"))
    assert texts
    for text in texts:
        assert "pto/pto-inst.hpp" in text.with_suffix(".cpp").read_text()
    return {text.stem: text.read_text() for text in texts}


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if hasattr(p.values[0].entry, "artifact_request")]
)
def test_example_texts_assemble(program, tmp_path):
    assert texts_of(program, tmp_path)


# Programs whose texts differ from what native code is made from: short columns in whole lanes,
# operands reused in place, operands of products moved in front of each.
# A kernel takes the tensors in the order in which its scope names them: blocks, that order.
TEXTS = {
    "row softmax": (32, (0, 1)),
    "RMSNorm": (32, (1, 0, 2)),
    "LayerNorm": (32, (1, 2, 0, 3)),
    "flash attention fp32": (128, (0, 1, 2, 3)),
    "flash attention fp32, causal": (64, (0, 1, 2, 3)),
}


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.values[0].name in TEXTS])
def test_example_texts_compute_the_same(program, tmp_path):
    (text,) = texts_of(program, tmp_path).values()
    torch.manual_seed(1)
    args = program.inputs()
    blocks, order = TEXTS[program.name]
    run_pto(text, *[args[i] for i in order], blocks=blocks)
    for index, want in program.reference(*args).items():
        torch.testing.assert_close(
            args[index].double(), want.double(), rtol=program.rtol, atol=program.atol
        )
