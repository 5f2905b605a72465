"""Every program of examples/ gives torch's values; times are the business of the demo and the bench."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch

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
