"""The op table of test_matrix.py: products of the cube core (pto-isa 6.9)."""

from __future__ import annotations

import numpy as np
from elements import numbers_of
from matrix import Operand, Row
from spaces import product_of

# Valid rows, columns and inner extents.
CLASSES = {
    "one": (1, 1, 1),
    "odd": (7, 33, 19),
    "aligned": (32, 64, 64),
    "tail": (29, 61, 45),
    "empty": (0, 29, 64),
}
M, K, N = 32, 64, 64


def sums(case):
    return product_of(case.dtype)


LEFT = Operand(space="left", rows=M, cols=K, vcol="k")
RIGHT = Operand(space="right", rows=K, cols=N, vrow="k")
ACC = Operand(sums, space="acc", rows=M, cols=N)
NOT_EMPTY = "must be between 1 and 4095"
# Sums of 64 products between -16 and 16, in any order.
ROUNDED = dict.fromkeys(("f32", "f16", "bf16"), 2e-5)


def product(case, a, b):
    return numbers_of(case.dtype, a) @ numbers_of(case.dtype, b)


ROWS_OF_PRODUCTS = [
    Row(
        "tmatmul", product, (LEFT, RIGHT), (ACC,), types=("f16",), classes=CLASSES,
        refused_empty=NOT_EMPTY, tolerance=ROUNDED,
    ),
]  # fmt: skip
assert np
