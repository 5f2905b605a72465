"""Kernels of ptoas/tests/kernels: how long native code takes to make, and how much of the unified buffer plans use."""

from __future__ import annotations

import math
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import pto_files
from figure import Figure

KERNELS = Path(__file__).resolve().parent.parent / "ptoas/tests/kernels/level2"
BYTES = {"f32": 4, "i32": 4, "ui32": 4, "f16": 2, "bf16": 2, "i16": 2, "ui16": 2, "i8": 1, "ui8": 1}
ALLOC = re.compile(
    r"(%\w+) = pto\.alloc_tile addr = (%\w+).*: !pto\.tile_buf<vec, (\d+)x(\d+)x(\w+)"
)
CONSTANT = re.compile(r"(%\w+) = arith\.constant (-?\d+) : i64")
ALIAS = re.compile(r"(%\w+) = pto\.(?:subview|treshape|bitcast) (%\w+)")
RESERVE = re.compile(r"pto\.reserve_buffer \{(?=.*address_space<vec>)")


def rounded(size: int, step: int = 32) -> int:
    return -(-size // step) * step


def peak_and_bound(text: str) -> tuple[int, int]:
    """Bytes of the unified buffer that a planned function spans, and the most that are in use at one op.

    A tile is in use from its first to its last op; one made outside a loop that ends inside it, to the loop's end.
    """
    constants, root, bytes_of, span = {}, {}, {}, {}
    loops: list[tuple[int, int]] = []
    opened: list[int] = []
    uses: dict[str, list[int]] = {}
    peak = reserved = 0
    for number, line in enumerate(text.splitlines()):
        if line.rstrip().endswith("{") and "scf." in line:
            opened.append(number)
        elif line.strip().startswith("}") and opened:
            loops.append((opened.pop(), number))
        if found := CONSTANT.search(line):
            constants[found[1]] = int(found[2])
        if RESERVE.search(line):
            size, base = (int(re.search(rf"\b{key} = (\d+)", line)[1]) for key in ("size", "base"))
            reserved += rounded(size, 256)
            peak = max(peak, base + size)
        if found := ALLOC.search(line):
            name, address = found[1], constants[found[2]]
            bytes_of[name] = rounded(int(found[3]) * int(found[4]) * BYTES[found[5]])
            peak = max(peak, address + bytes_of[name])
            root[name] = name
            span[name] = number
            continue
        if found := ALIAS.search(line):
            root[found[1]] = root.get(found[2], found[2])
            continue
        for name in re.findall(r"%\w+", line):
            if root.get(name) in bytes_of:
                uses.setdefault(root[name], []).append(number)
    lives = []
    for name, places in uses.items():
        first, last = min(places), max(places)
        for start, end in sorted(loops):  # outer loops first
            if span[name] < start <= last <= end:
                last = end
                first = min(first, start) if first > start else first
                break
        lives.append((first, last, bytes_of[name]))
    bound = max(
        (sum(size for first, last, size in lives if first <= at <= last) for at, _, _ in lives),
        default=0,
    )
    return peak, bound + reserved


def planned(ptoas: Path, file: Path) -> list[str]:
    """The functions of a module after planning."""
    done = subprocess.run(
        [str(ptoas), "--emit-pto-ir", "--enable-insert-sync", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("func.func @")[1:]


def memory_ratios(ptoas: Path) -> list[tuple[float, str]]:
    ratios = []
    for file in sorted(KERNELS.glob("*.pto")):
        for function in planned(ptoas, file):
            peak, bound = peak_and_bound(function)
            if bound:
                ratios.append((peak / bound, file.stem))
    return ratios


def compile_milliseconds(run: Path) -> float:
    """Shortest time from the module of a kernel of 100 ops to loaded machine code: of processes, so that each is cold."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        file, arrays = Path(folder) / "k.pto", [Path(folder) / "x.npy", Path(folder) / "y.npy"]
        file.write_text(pto_files.program(100))
        for array in arrays:
            np.save(array, np.zeros((80, 64), np.float32))
        # Tensors of n = 4 times 16 rows, and the 16 behind them that the program writes; a factor.
        arguments = [word for array in arrays for word in ("--inout", str(array))]
        arguments += ["--arg", "4", "--arg", "0.5"]
        times = []
        for _ in range(9):
            done = subprocess.run(
                [str(run), str(file), *arguments, "--time=1"],
                capture_output=True,
                text=True,
                check=True,
            )
            times.append(float(re.search(r"compile ([\d.]+) ms", done.stdout)[1]))
    return min(times)


def figures(host) -> list[Figure]:
    ptoas, run = host.build / "bin/ptoas", host.build / "bin/pto-run"
    for tool in (ptoas, run):
        if not tool.exists():
            raise SystemExit(f"bench: {tool} is not built; run `make build`")
    ratios = memory_ratios(ptoas)
    worst, name = max(ratios)
    return [
        Figure(
            "ptoas: native compile of 100 ops", compile_milliseconds(run), 40.0, "goal", "ms", 1.0
        ),
        Figure(
            f"ptoas: unified buffer after planning over bytes in use, worst of {len(ratios)} functions ({name})",
            worst,
            1.05,
            "goal",
            "times",
            1.0,
        ),
        Figure(
            "ptoas: unified buffer after planning over bytes in use, geometric mean",
            math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios)),
            1.05,
            "goal",
            "times",
            1.0,
        ),
    ]
