"""Times and memory of `ptoas`: `.pto` text to C++, in process and as a program, from 100 to 50,000 ops."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import pto_files
from figure import Figure


def in_process(program: Path, file: Path, repeats: int) -> dict:
    done = subprocess.run(
        [str(program), str(file), str(repeats)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def process(ptoas: Path, file: Path, out: Path) -> float:
    """Median wall seconds of the program on one file."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([str(ptoas), str(file), "--enable-insert-sync", "-o", str(out)], check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def figures(host) -> list[Figure]:
    program, ptoas = host.build / "ptoas/bench/ptoas_bench", host.build / "bin/ptoas"
    for tool in (program, ptoas):
        if not os.access(tool, os.X_OK):
            raise SystemExit(f"bench: {tool} is not built; run `make build`")
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for ops in (100, 2000, 5000, 50000):
            files[ops] = Path(folder) / f"steps_{ops}.pto"
            files[ops].write_text(pto_files.program(ops))
        small = in_process(program, files[100], 30)
        middle = in_process(program, files[2000], 10)
        medium, large = in_process(program, files[5000], 3), in_process(program, files[50000], 1)
        wall = process(ptoas, files[100], Path(folder) / "k.cpp")
    # What 45,000 further ops cost, against what 5,000 cost: 9 where memory is linear.
    base = small["peak_kb"]  # the libraries
    memory_growth = (large["peak_kb"] - medium["peak_kb"]) / max(1, medium["peak_kb"] - base)
    return [
        Figure(
            "ptoas: parse, verify, plan, order, emit 2,000 ops in process",
            middle["total_ms"] * 2000 / middle["ops"],
            100.0,
            "goal",
            "ms",
            1.0,
        ),
        Figure("ptoas: kernel of 100 ops in process", small["total_ms"], 5.0, "goal", "ms", 1.0),
        Figure("ptoas: program on a file of 100 ops", wall * 1e3, 80.0, "goal", "ms", 1.0),
        Figure("ptoas: 50,000 ops in process", large["total_ms"], 2500.0, "goal", "ms", 1.0),
        Figure(
            "ptoas: memory of ops 5,000 to 50,000 over that of the first 5,000 (9 is linear)",
            memory_growth,
            13.5,
            "goal",
            "times",
            1.0,
        ),
    ]
