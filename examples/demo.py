"""`make demo`: compiles, runs, checks and times every example, and prints one table.

Exit status 1 if any program is wrong. Compile times are cold: the disk cache is off. At the end one run is traced; the
file opens in https://ui.perfetto.dev or chrome://tracing.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

os.environ["PTO_CACHE"] = "0"
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch  # noqa: E402
from program import Program, Report, check  # noqa: E402
from pypto.runtime import RunConfig  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: E402
from rich.table import Table  # noqa: E402

import pypto  # noqa: E402


def all_programs() -> list[Program]:
    files = sorted(HERE.glob("[0-9][0-9]_*.py"))
    return [p for f in files for p in importlib.import_module(f.stem).PROGRAMS]


def table_of(reports: list[Report]) -> Table:
    table = Table(title=f"pypto on {torch.get_num_threads()} cores, torch {torch.__version__}")
    table.add_column("program")
    table.add_column("shapes", overflow="fold", max_width=34)
    for name in ("max error", "compile ms", "run ms", "torch ms", "torch / run"):
        table.add_column(name, justify="right")
    table.add_column("")
    for r in reports:
        table.add_row(
            r.name,
            r.shapes,
            f"{r.max_error:.1e}",
            f"{r.compile_ms:.1f}",
            f"{r.run_ms:.3f}",
            f"{r.torch_ms:.3f}",
            f"{r.ratio:.2f}",
            "ok" if r.ok else "[bold red]WRONG",
        )
    return table


def write_trace(path: Path) -> None:
    """One traced run of the task graph: compile stages, the call, the tasks of each core."""
    program = importlib.import_module("13_task_graph").PROGRAMS[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    program.entry(*program.inputs(), config=RunConfig(trace=str(path)))


def main() -> int:
    console = Console(width=None if sys.stdout.isatty() else 150)
    programs = all_programs()
    pypto.warm_up()
    reports: list[Report] = []
    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        job = progress.add_task("start", total=len(programs))
        for program in programs:
            progress.update(job, description=program.name)
            reports.append(check(program))
            progress.advance(job)
    console.print(table_of(reports))
    trace = HERE.parent / "build" / "demo_trace.json"
    write_trace(trace)
    console.print(f"trace: {os.path.relpath(trace)}  (open it in https://ui.perfetto.dev)")
    wrong = [r.name for r in reports if not r.ok]
    console.print(
        f"{len(reports) - len(wrong)} programs right, {len(wrong)} wrong{': ' + ', '.join(wrong) if wrong else ''}"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
