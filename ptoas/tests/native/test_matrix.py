"""Every op that computes or moves, over element types and classes of shape, against NumPy: op_table.py."""

from __future__ import annotations

import pytest
from matrix import ARCHS, NO_COLUMNS, Case, cases, refusal, run_case
from op_table import ROWS_OF_VECTORS
from op_table_moves import ROWS_OF_MOVES

TABLE = [*ROWS_OF_VECTORS, *ROWS_OF_MOVES]
ALL = [(row, case) for row in TABLE for arch in ARCHS for case in cases(row, arch)]
ALL += [
    (row, Case(case.arch, case.dtype, "no_columns", *NO_COLUMNS))
    for row, case in ALL
    if row.dynamic and case.kind == "empty"
]


def name(value) -> str:
    row, case = value
    return f"{row.name}-{case.arch}-{case.dtype}-{case.kind}"


@pytest.mark.parametrize("row,case", ALL, ids=map(name, ALL))
def test_case(row, case):
    run_case(row, case)


REFUSED = [(row, case) for row, case in ALL if row.refused_empty and case.kind == "empty"]


@pytest.mark.parametrize("row,case", REFUSED, ids=map(name, REFUSED))
def test_constant_empty_extents_are_refused(row, case):
    message = refusal(row, case)
    assert row.refused_empty in message and f"'pto.{row.op}'" in message
