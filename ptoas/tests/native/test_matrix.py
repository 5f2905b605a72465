"""Every op that computes or moves, over element types and classes of shape, against NumPy: op_table*.py."""

from __future__ import annotations

import pytest
from matrix import ARCHS, Case, cases, records, refusal, run_case
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


def elements(op: str, arch: str) -> set[str]:
    """Of all operands in all rows of an op."""
    rows = [row for row in TABLE if row.op == op]
    cases = [(row, Case(arch, dtype, "", 1, 1)) for row in rows for dtype in row.dtypes(arch)]
    return {t.element(case) for row, case in cases for t in (*row.inputs, *row.outputs)}


@pytest.mark.parametrize("op", records())
def test_every_op_of_the_records_has_rows(op):
    """For each architecture that it exists on, with each element type that one of its operands names."""
    operands = records()[op].values()
    for arch in set().union(*operands):
        tested = elements(op, arch)
        assert tested, f"no row on {arch}"
        assert sorted(set().union(*(types[arch] for types in operands)) - tested - {"any"}) == []


def test_rows_have_names_of_their_own():
    names = [row.name for row in TABLE]
    assert len(names) == len(set(names))
