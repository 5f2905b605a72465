"""Host trace lines of a log -> times by callable, by run, as a tree, or as a Perfetto trace.

A run with SIMPLER_HOST_STRACE=1 writes, on stderr, a line for each span of each run:

    [STRACE] v=1 pid=… tid=… inv=… hid=… depth=… name=chip.run.runner_run ts=… dur=…

`inv` counts runs of the process, `hid` is the start of the callable's hash, `ts` and `dur` are nanoseconds of the
monotonic clock. A [CLOCK_ANCHOR] line ties that clock to the time of day.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from simpler_setup.tools.run_files import FileError, command

_FIELD = re.compile(r"(\w+)=(\S+)")
_NEEDED = ("pid", "tid", "inv", "hid", "depth", "name", "ts", "dur")


@dataclass(frozen=True)
class Span:
    pid: int
    tid: int
    run: int
    callable: str
    depth: int
    name: str
    start: int  # ns
    duration: int  # ns

    @property
    def end(self) -> int:
        return self.start + self.duration


def parse(lines: Iterable[str], source: str = "input") -> list[Span]:
    """Spans of all [STRACE] lines; other lines are passed over. FileError for a damaged one."""
    spans = []
    for number, line in enumerate(lines, 1):
        at = line.find("[STRACE]")
        if at < 0:
            continue
        fields = dict(_FIELD.findall(line[at:]))
        if fields.get("v", "1") != "1":
            raise FileError(f"{source}:{number}: version {fields['v']} of [STRACE] is not known")
        missing = [f for f in _NEEDED if f not in fields]
        if missing:
            raise FileError(f"{source}:{number}: [STRACE] line without {', '.join(missing)}")
        try:
            numbers = [int(fields[f]) for f in ("pid", "tid", "inv", "depth", "ts", "dur")]
        except ValueError as error:
            raise FileError(f"{source}:{number}: {error}") from None
        pid, tid, run, depth, start, duration = numbers
        spans.append(Span(pid, tid, run, fields["hid"], depth, fields["name"], start, duration))
    return spans


def _micro(value: float) -> str:
    return f"{value / 1000:.2f}"


def table(spans: list[Span]) -> str:
    """For each callable and span: count, mean, median, extremes; microseconds."""
    groups: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        groups[span.callable, span.name].append(span)
    width = max(len(name) for _, name in groups) if groups else 4
    lines = []
    for hid in dict.fromkeys(s.callable for s in spans):
        lines.append(f"callable {hid}")
        lines.append(
            f"  {'span':{width}} {'count':>7} {'mean us':>10} {'median':>10} {'min':>10} {'max':>10}"
        )
        mine = [(g[0].depth, name, g) for (h, name), g in groups.items() if h == hid]
        for _, name, group in sorted(mine, key=lambda m: (m[1].split("."), m[0])):
            times = sorted(s.duration for s in group)
            lines.append(
                f"  {name:{width}} {len(times):7d} {_micro(sum(times) / len(times)):>10} "
                f"{_micro(times[len(times) // 2]):>10} {_micro(times[0]):>10} {_micro(times[-1]):>10}"
            )
    return "\n".join(lines)


def rounds_table(spans: list[Span]) -> str:
    """A row for each run, a column for each span; microseconds."""
    names = sorted({s.name for s in spans}, key=lambda n: n.split("."))
    runs: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    hids: dict[tuple[int, int], str] = {}
    for span in spans:
        cell = runs[span.pid, span.run]
        cell[span.name] = cell.get(span.name, 0) + span.duration
        hids[span.pid, span.run] = span.callable
    heads = [n.removeprefix("chip.run.") for n in names]
    widths = [max(len(h), 9) for h in heads]
    lines = [
        f"{'pid':>8} {'run':>6} {'callable':12} "
        + " ".join(f"{h:>{w}}" for h, w in zip(heads, widths))
    ]
    for (pid, run), cell in sorted(runs.items()):
        lines.append(
            f"{pid:8d} {run:6d} {hids[pid, run]:12} "
            + " ".join(
                f"{_micro(cell[n]) if n in cell else '-':>{w}}" for n, w in zip(names, widths)
            )
        )
    return "\n".join(lines)


def tree(spans: list[Span]) -> str:
    """Spans of each run below one another, with their share of the run."""
    lines = []
    runs: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in spans:
        runs[span.pid, span.run].append(span)
    for (pid, run), group in sorted(runs.items()):
        group.sort(key=lambda s: (s.start, s.depth))
        whole = max((s.duration for s in group if s.depth == 0), default=0)
        lines.append(f"pid {pid} run {run} callable {group[0].callable}")
        for span in group:
            share = f" {100 * span.duration / whole:5.1f}%" if whole else ""
            lines.append(
                f"  {'  ' * span.depth}{span.name.rsplit('.', 1)[-1]} {_micro(span.duration)} us{share}"
            )
    return "\n".join(lines)


def to_trace(spans: list[Span]) -> dict:
    return {
        "displayTimeUnit": "ns",
        "traceEvents": [
            {
                "ph": "X",
                "pid": s.pid,
                "tid": s.tid,
                "name": s.name,
                "ts": s.start / 1000,
                "dur": s.duration / 1000,
                "args": {"run": s.run, "callable": s.callable},
            }
            for s in spans
        ],
    }


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="strace_timing",
        description="Times from the [STRACE] lines that a run with SIMPLER_HOST_STRACE=1 writes on stderr.",
    )
    parser.add_argument("logs", nargs="*", help="log files; standard input when none is named")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("--rounds-table", action="store_true", help="a row for each run")
    view.add_argument("--tree", action="store_true", help="spans of each run below one another")
    view.add_argument("--perfetto", metavar="FILE", help="write a Chrome/Perfetto trace")
    options = parser.parse_args(arguments)
    spans: list[Span] = []
    if not options.logs:
        spans = parse(sys.stdin, "standard input")
    for name in options.logs:
        try:
            with open(name, errors="replace") as file:
                spans += parse(file, name)
        except OSError as error:
            raise FileError(f"{name}: {error.strerror}") from error
    if not spans:
        raise FileError("no [STRACE] lines; run with SIMPLER_HOST_STRACE=1 and keep stderr")
    if options.perfetto:
        try:
            Path(options.perfetto).write_text(json.dumps(to_trace(spans)))
        except OSError as error:
            raise FileError(f"{options.perfetto}: {error.strerror}") from error
        print(f"wrote {options.perfetto}: {len(spans)} spans")
    elif options.rounds_table:
        print(rounds_table(spans))
    elif options.tree:
        print(tree(spans))
    else:
        print(table(spans))


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
