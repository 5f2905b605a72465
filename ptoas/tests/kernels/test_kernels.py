"""Whole kernels at level2 and level3, run natively and compared with NumPy in float64.

The modules lie beside this file as text (`level2/`, `level3/`); `python test_kernels.py` writes them
from the builders.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "native")]

import cube_kernels  # noqa: E402, F401
import vector_kernels  # noqa: E402, F401
from cases import CASES  # noqa: E402

LEVELS = (2, 3)


def path_of(name: str, level: int) -> Path:
    return HERE / f"level{level}" / f"{name}.pto"


def test_there_are_forty():
    assert len(CASES) >= 40
    for level in LEVELS:
        assert {p.stem for p in (HERE / f"level{level}").glob("*.pto")} == set(CASES)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_kernel(name, level):
    from native import Kernel

    case = CASES[name]
    text = path_of(name, level).read_text()
    assert text == case.text(level), "run `python test_kernels.py` after changing a builder"
    kernel = Kernel(text, name=f"{name}.pto")
    for seed in (0, 1):
        inputs, outputs, scratch = case.arrays(seed)
        kernel(*inputs, *outputs, *scratch)
        case.check(inputs, outputs)


if __name__ == "__main__":
    for kernel in CASES.values():
        for level in LEVELS:
            path_of(kernel.name, level).parent.mkdir(exist_ok=True)
            path_of(kernel.name, level).write_text(kernel.text(level))
