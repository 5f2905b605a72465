"""Times of the toolchain itself: cold compile, warm start of a process, a call, a task."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pypto.language as pl
import torch
from figure import Figure

import pypto

ROOT = Path(__file__).resolve().parent.parent

START = """
import time
import torch
begin = time.perf_counter()
import importlib, sys
sys.path.insert(0, {examples!r})
hello = importlib.import_module("01_hello_world").PROGRAMS[0]
args = hello.inputs()
hello.entry(*args)
print((time.perf_counter() - begin) * 1e3)
assert "pypto._compiler" not in sys.modules or not {warm}
"""


def cold_compile() -> Figure:
    """A new function each time, so that nothing of it is known; the compiler itself is loaded."""
    source = (ROOT / "examples/01_hello_world.py").read_text()
    times = []
    pypto.warm_up()
    with tempfile.TemporaryDirectory() as folder:
        for n in range(9):
            file = Path(folder) / f"hello_{n}.py"
            file.write_text(source)
            space = {"__name__": f"hello_{n}", "__file__": str(file)}
            exec(compile(source, str(file), "exec"), space)  # noqa: S102 - our own example, as a fresh function
            args = space["PROGRAMS"][0].inputs()
            start = time.perf_counter()
            space["hello_world"](*args)
            times.append(time.perf_counter() - start)
    return Figure(
        "cold compile of hello_world, first call included",
        statistics.median(times) * 1e3,
        30.0,
        "goal",
        "ms",
        1.0,
    )


def warm_start() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PTO_CACHE_DIR": folder, "PTO_CACHE": "1"}
        times = []
        for n in range(6):
            code = START.format(examples=str(ROOT / "examples"), warm=n > 0)
            done = subprocess.run(
                [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
            )
            if n:  # the first process fills the cache
                times.append(float(done.stdout.split()[-1]))
    return Figure(
        "new process, warm disk cache, first result after import torch",
        statistics.median(times),
        50.0,
        "goal",
        "ms",
        1.0,
    )


@pl.jit
def nothing(
    a: pl.Tensor[[16, 16], pl.FP32],
    b: pl.Tensor[[16, 16], pl.FP32],
    c: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    """Submits no task: the round trip of a call is then all overhead, its first instruction lies in the middle."""
    return c


def call() -> Figure:
    a, b, c = torch.zeros(16, 16), torch.zeros(16, 16), torch.zeros(16, 16)
    nothing(a, b, c)
    best = []
    for _ in range(30):
        start = time.perf_counter()
        for _ in range(2000):
            nothing(a, b, c)
        best.append((time.perf_counter() - start) / 2000)
    return Figure(
        "call of a compiled kernel, there and back",
        statistics.median(best) * 1e6,
        1.5,
        "goal",
        "us",
        1.0,
    )


def tasks(build: Path) -> list[Figure]:
    """Rows of the runtime's own bench (C++), which measures its peers in the same run."""
    program = build / "simpler/simpler_bench"
    if not program.exists():
        raise SystemExit(f"bench: {program} is not built; run `make build`")
    done = subprocess.run([str(program), "--json"], capture_output=True, text=True, check=True)
    found = []
    for row in json.loads(done.stdout):
        higher = row.get("higher_is_better", False)
        found.append(
            Figure(
                row["name"],
                row["ours"],
                row["peer"],
                row["peer_name"],
                row["unit"],
                row["target"],
                higher,
            )
        )
    return found


def figures(host) -> list[Figure]:
    return [cold_compile(), warm_start(), call(), *tasks(host.build)]
