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


# What people write: each kind has the kernels that its names begin with.
KINDS = {
    "elementwise": "abs affine axpy bits blend clamp distance polynomial leaky_relu gelu silu tanh",
    "rows and columns": "argmax column_extremes prefix_rows concat transpose row_range positions",
    "softmax": "softmax softmax_tail softmax_blocks log_softmax entropy",
    "norms": "layer_norm rms_norm l2_norm batch_norm",
    "top-k": "top_8 top_of_32",
    "conversions": "quantise_rows round_trip_bf16",
    "products": "matmul matmul_bias matmul_f16 matmul_f32 matmul_long_k matmul_transposed gemv",
    "quantised products": "matmul_int8 quantised_linear",
    "attention": "attention scaled_product",
}
# Mixed kernels: cube and vector function exchange tiles through FIFOs.
MIXED = (
    "dense_relu dense_softmax dense_pipeline dense_halves_of_rows dense_halves_of_columns attention"
)


def test_all_kinds_of_kernels():
    assert len(CASES) >= 50
    for names in KINDS.values():
        for name in names.split():
            assert any(case == name or case.startswith(f"{name}_") for case in CASES), name
    for name in MIXED.split():
        assert "pto.tpush_to_" in path_of(name, 2).read_text(), name
    for level in LEVELS:
        assert {p.stem for p in (HERE / f"level{level}").glob("*.pto")} == set(CASES)


@pytest.mark.parametrize("check", [False, True], ids=["", "checked"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_kernel(name, level, check):
    from native import Kernel

    case = CASES[name]
    text = path_of(name, level).read_text()
    assert text == case.text(level), "run `python test_kernels.py` after changing a builder"
    kernel = Kernel(text, name=f"{name}.pto", check=check)
    for seed in (0, 1):
        inputs, outputs, scratch = case.arrays(seed)
        kernel(*inputs, *outputs, *scratch)
        case.check(inputs, outputs)


if __name__ == "__main__":
    for kernel in CASES.values():
        for level in LEVELS:
            path_of(kernel.name, level).parent.mkdir(exist_ok=True)
            path_of(kernel.name, level).write_text(kernel.text(level))
