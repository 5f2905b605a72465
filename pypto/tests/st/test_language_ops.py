"""Every operation, element type and shape class against FP64; the same bits whatever the schedule."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import op_table
import pytest

CASES = op_table.cases()


def case_id(case) -> str:
    op, dtype, shape = case
    return f"{op.name}-{dtype}-{shape}"


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_op(case):
    op, dtype, shape = case
    entry = op_table.program(op, dtype, shape)
    for seed in (0, 1):
        args = op_table.inputs(op, dtype, shape, seed)
        entry(*args)
        op_table.check(op, dtype, args)


SOME = [case for case in CASES if case[2] in ("odd", "aligned") and case[1] in ("FP32", "INT32")]


@pytest.mark.parametrize("case", SOME[::3], ids=case_id)
@pytest.mark.parametrize("knob", ["PTO_REUSE", "PTO_FUSE"])
def test_memory_reuse_and_fusion_change_no_bit(case, knob, monkeypatch):
    op, dtype, shape = case
    results = []
    for value in ("0", "1"):
        monkeypatch.setenv(knob, value)
        args = op_table.inputs(op, dtype, shape)
        op_table.program(op, dtype, shape)(*args)
        results.append(op_table.bits(args[-1]))
    assert results[0] == results[1]


def test_thread_counts_change_no_bit(tmp_path):
    script = (
        "import hashlib, op_table\n"
        "for case in op_table.cases(('odd', 'aligned'))[::5]:\n"
        "    args = op_table.inputs(*case)\n"
        "    op_table.program(*case)(*args)\n"
        "    print(case[0], case[1], case[2], hashlib.sha256(op_table.bits(args[-1])).hexdigest())\n"
    )
    outputs = []
    for threads in ("1", "2"):
        environment = {**os.environ, "SIMPLER_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) > 20
