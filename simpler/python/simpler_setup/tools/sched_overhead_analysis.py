"""What scheduling cost in one run: waiting of ready tasks, idle cores, and the scheduler's phases where recorded.

Needs chip_swimlane_records.json and deps.json of the same run; one run can write both.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from simpler_setup.tools.run_files import (
    SWIMLANE,
    Deps,
    FileError,
    Swimlane,
    command,
    input_file,
    read_deps,
    read_swimlane,
)
from simpler_setup.tools.swimlane_converter import overhead


def report(lane: Swimlane, deps: Deps) -> str:
    if not lane.tasks:
        raise FileError(f"{lane.path}: the record has no tasks")
    begin, end = min(t.start for t in lane.tasks), max(t.end for t in lane.tasks)
    busy: dict[int, float] = defaultdict(float)
    for task in lane.tasks:
        busy[task.core] += task.duration
    lines = [f"span {end - begin:.2f} us, {len(lane.tasks)} blocks", overhead(lane, deps)]
    for core in sorted(busy):
        share = 100 * busy[core] / (end - begin) if end > begin else 0.0
        lines.append(f"{lane.core_name(core)}: busy {busy[core]:.2f} us ({share:.0f}%)")
    delays = [s - d for (_, _, d, _), s in zip(lane.dispatches, (t.start for t in lane.tasks))]
    if delays:
        lines.append(f"dispatch to start: mean {sum(delays) / len(delays):.2f} us")
    phases: dict[str, list[float]] = defaultdict(list)
    for thread in lane.scheduler:
        for phase in thread:
            phases[str(phase.get("kind"))].append(phase["end"] - phase["start"])
    for kind, times in sorted(phases.items(), key=lambda p: -sum(p[1])):
        lines.append(f"scheduler {kind}: {len(times)} times, {sum(times):.2f} us")
    if not phases:
        lines.append(
            "no scheduler phases in the record: enable_chip_swimlane of 3 or 4 records them"
        )
    return "\n".join(lines)


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="sched_overhead_analysis", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("input", nargs="?", help=f"{SWIMLANE} or its folder; newest of outputs/")
    parser.add_argument("--deps-json", metavar="FILE", help="default: deps.json beside the input")
    options = parser.parse_args(arguments)
    source = input_file(options.input, SWIMLANE)
    deps = Path(options.deps_json) if options.deps_json else source.parent / "deps.json"
    print(report(read_swimlane(source), read_deps(deps)))


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
