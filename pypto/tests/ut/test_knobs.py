"""Environment variables are typed, listed, and the same in both languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pypto import knobs

ROOT = Path(__file__).resolve().parents[3]


def test_generated_files_are_what_the_list_gives():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/gen_knobs.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("env", "text", "value"),
    [
        ("PTO_CACHE", "off", False),
        ("PTO_CACHE", "YES", True),
        ("PTO_CACHE_SIZE", "2G", 2 << 30),
        ("PTO_CACHE_SIZE", "4096", 4096),
        ("PTO_NPU_MEMORY", "512MiB", 512 << 20),
        ("SIMPLER_THREADS", "3", 3),
        ("PTO_ISA", "avx2", "avx2"),
    ],
)
def test_values(monkeypatch, env, text, value):
    monkeypatch.setenv(env, text)
    assert knobs.get(env) == value


@pytest.mark.parametrize(
    ("env", "text", "what"),
    [
        ("PTO_CACHE", "maybe", "takes 1 or 0"),
        ("PTO_CACHE_SIZE", "many", "takes bytes"),
        ("SIMPLER_THREADS", "x", "takes a whole number"),
        ("PTO_ISA", "sse", "takes one of avx2, avx512, amx"),
    ],
)
def test_wrong_values_name_the_variable(monkeypatch, env, text, what):
    monkeypatch.setenv(env, text)
    with pytest.raises(ValueError, match=f"{env}='{text}': {what}"):
        knobs.get(env)


def test_empty_is_unset(monkeypatch):
    monkeypatch.setenv("PTO_CACHE_SIZE", "")
    assert knobs.get("PTO_CACHE_SIZE") == 1 << 30


READ = re.compile(
    r"(?:getenv|environ\.get|variable|flag|bytes|budgetsFromEnvironment)\(\s*\"([A-Z][A-Z0-9_]+)\"|environ\[\"([A-Z][A-Z0-9_]+)\"\]"
)
OF_OTHERS = {"TORCH_DEVICE_BACKEND_AUTOLOAD"}  # PyTorch's own, kept as it was


def test_the_list_holds_every_variable_that_sources_read():
    read = set()
    for system in ("support", "ptoas", "simpler", "pypto", "torch-npu-sim"):
        for file in (ROOT / system).rglob("*"):
            if file.suffix in (".cpp", ".h", ".py") and "tests" not in file.parts:
                found = READ.findall(file.read_text(errors="replace"))
                read |= {name for pair in found for name in pair if name}
    assert {"PTO_ISA", "PTO_NPU_SOC", "SIMPLER_CXX", "PTO2_RING_HEAP"} <= read  # the search works
    assert read - OF_OTHERS <= {knob.env for knob in knobs.KNOBS}
