"""Every op that computes or moves, over element types and classes of shape, against NumPy: op_table*.py."""

from __future__ import annotations

import pytest
from matrix import ARCHS, Case, cases, refusal, run_case
from op_table import ROWS_OF_VECTORS
from op_table_exits import ROWS_OF_EXITS
from op_table_lists import ROWS_OF_LISTS
from op_table_matrix import ROWS_OF_PRODUCTS
from op_table_moves import ROWS_OF_MOVES

TABLE = [
    *ROWS_OF_VECTORS,
    *ROWS_OF_MOVES,
    *ROWS_OF_PRODUCTS,
    *ROWS_OF_EXITS,
    *ROWS_OF_LISTS,
]
RUNS = [(row, arch, dtype) for row in TABLE for arch in ARCHS for dtype in row.dtypes(arch)]


def name(run) -> str:
    row, arch, dtype = run
    return f"{row.name}-{arch}-{dtype}"


def classes(row, arch, dtype) -> list[Case]:
    found = [case for case in cases(row, arch) if case.dtype == dtype]
    if row.dynamic and "empty" in row.classes:
        found += [Case(arch, dtype, kind, *extents) for kind, extents in row.nothing.items()]
    return found


@pytest.mark.parametrize("row,arch,dtype", RUNS, ids=map(name, RUNS))
def test_op(row, arch, dtype):
    """All classes of shape; the message names those that fail."""
    wrong = []
    for case in classes(row, arch, dtype):
        try:
            run_case(row, case)
        except AssertionError as error:
            wrong.append(f"{case.kind}: {error}")
    assert not wrong, "\n".join(wrong)


REFUSED = [run for run in RUNS if run[0].refused_empty]


@pytest.mark.parametrize("row,arch,dtype", REFUSED, ids=map(name, REFUSED))
def test_constant_empty_extents_are_refused(row, arch, dtype):
    (case,) = [case for case in classes(row, arch, dtype) if case.kind == "empty"]
    message = refusal(row, case)
    assert row.refused_empty in message and f"'pto.{row.refused_by or row.op}'" in message


def test_rows_have_names_of_their_own():
    names = [row.name for row in TABLE]
    assert len(names) == len(set(names))
