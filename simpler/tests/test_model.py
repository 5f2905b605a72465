"""The Spin model of the completion protocol: every interleaving is free of lost tasks and of deadlocks, and each step
of the protocol that is left out is found by the same check."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parent / "model" / "completion.pml"


def errors(text: str, folder: Path) -> int:
    """Checks the model `text` exhaustively; the number of violations (the search stops at the first)."""
    assert shutil.which("spin"), "spin is not installed: make setup"
    compiler = shutil.which("clang-22") or shutil.which("cc")
    (folder / "model.pml").write_text(text)
    for command in (
        ["spin", "-a", "model.pml"],
        [compiler, "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    done = subprocess.run(
        ["./pan", "-m100000"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert "Search not completed" not in done.stdout or "errors: 1" in done.stdout, done.stdout
    found = re.search(r"errors: (\d+)", done.stdout)
    assert found, done.stdout + done.stderr
    return int(found[1])


def test_no_interleaving_loses_a_task_or_a_wake_up(tmp_path):
    assert errors(MODEL.read_text(), tmp_path) == 0


@pytest.mark.parametrize(
    ("step", "without"),
    [
        # A task may start before all its edges are in.
        ("#define BIAS 64", "#define BIAS 1"),
        # The owner goes to sleep without a last look at the stack.
        (":: returned > 0 -> skip", ":: false -> skip"),
        # The giver does not look whether the owner sleeps.
        ("if :: asleep -> permit = 1 :: else fi", "skip"),
        # Edges are added to a list that is closed already.
        ("if :: !closed[t - 1] ->", "if :: true ->"),
    ],
)
def test_each_step_is_needed(tmp_path, step, without):
    text = MODEL.read_text()
    assert step in text
    assert errors(text.replace(step, without), tmp_path) > 0
