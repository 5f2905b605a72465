"""The vector instructions of the op table give the same bits on every instruction set that this machine runs."""

from __future__ import annotations

import native
import pytest
from matrix import Case, arrays_of, function, label, places, valid_parts
from native import HOST, ISAS, Code
from op_table import ROWS_OF_VECTORS
from op_table_moves import CONVERSIONS

ROWS = [*ROWS_OF_VECTORS, *CONVERSIONS]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i8"])
def test_equal_bits(dtype):
    # Rows are as long as two vectors and a part of one.
    runs = [
        (row, Case("a5", dtype, f"tail_{number}", 13, 61))
        for number, row in enumerate(ROWS)
        if dtype in row.dtypes("a5")
    ]
    functions = [function(row, case, label(dtype, case.kind), False) for row, case in runs]
    found = {}
    for isa in ISAS:
        code = Code(native.module("a5", functions), isa=isa)
        for row, case in runs:
            ins, outs = arrays_of(row, case)
            operands = places(row, case)
            tensors = [place.memory(a) for place, a in zip(operands, ins + outs)]
            code(label(dtype, case.kind), *(t for of_place in tensors for t in of_place))
            written = zip(operands[len(ins) :], tensors[len(ins) :])
            values = valid_parts(
                case, row.outputs, [place.values(of_place) for place, of_place in written]
            )
            project = row.project or (lambda case, values: values)
            found[row.name, isa] = [project(case, v).tobytes() for v in values]
    wrong = [
        (row.name, isa)
        for row, _ in runs
        for isa in ISAS
        if found[row.name, isa] != found[row.name, HOST]
    ]
    assert len(runs) > 20 and not wrong
