"""`make bench`: every figure in one run, as ratios to a named peer and shares of this host's measured peak.

Prints a table, writes build/bench.json (a list of rows) and build/bench.png. The status is 0 even when a target is not
met: the table says so. `--only PART` runs one part.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]
os.environ.setdefault("PTO_CACHE", "0")

PARTS = (
    "tile_products",
    "programs",
    "latencies",
    "assembler",
    "tile_kernels",
    "npu_device",
    "torch_ops",
)


def draw(figures: list, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [f"{f.name}\nvs {f.peer_name}" for f in figures]
    height = 0.45 * len(figures) + 1.2
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(13, height), sharey=True, width_ratios=(3, 1)
    )
    rows = range(len(figures))
    left.barh(
        rows, [f.ratio for f in figures], color=["#2a7f4f" if f.met else "#c0392b" for f in figures]
    )
    for y, f in enumerate(figures):
        left.plot([f.target, f.target], [y - 0.4, y + 0.4], color="black")
    left.set_yticks(list(rows), names, fontsize=7)
    left.invert_yaxis()
    left.set_xscale("log")
    left.set_xlabel("times better than the peer (black: target)")
    right.barh(rows, [100 * (f.peak or 0) for f in figures], color="#34608f")
    right.set_xlabel("% of the measured peak")
    figure.suptitle(figures[0].host, fontsize=9)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def show(figures: list) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=figures[0].host)
    for name in ("figure", "ours", "peer", "unit", "peer is", "ratio", "target", "% of peak", ""):
        table.add_column(
            name, justify="left" if name in ("figure", "unit", "peer is", "") else "right"
        )
    for f in figures:
        share = f"{100 * f.peak:.0f}" if f.peak is not None else ""
        verdict = "met" if f.met else "[red]missed"
        table.add_row(
            f.name,
            f"{f.ours:.4g}",
            f"{f.peer:.4g}",
            f.unit,
            f.peer_name,
            f"{f.ratio:.2f}",
            f"{f.target:.2f}",
            share,
            verdict,
        )
    Console(width=None if sys.stdout.isatty() else 170).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="run this part; may be repeated"
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    options = parser.parse_args()
    import host

    here = host.measure(options.build.resolve())
    print(here, flush=True)
    figures = []
    for part in options.only or PARTS:
        for figure in importlib.import_module(part).figures(here):
            figure.host = str(here)
            figures.append(figure)
    show(figures)
    out = ROOT / "build"
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(json.dumps([f.row() for f in figures], indent=2) + "\n")
    draw(figures, out / "bench.png")
    print(
        f"{sum(f.met for f in figures)} of {len(figures)} targets met; rows in build/bench.json, picture in build/bench.png"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
