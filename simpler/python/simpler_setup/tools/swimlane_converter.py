"""chip_swimlane_records.json -> a Chrome/Perfetto trace, and a summary as text.

Four processes: 1 the orchestrator's phases, 2 the scheduler's phases, 3 tasks as the scheduler sees them (dispatch to
finish), 4 tasks as the cores run them. Names and the arrows between dependent tasks come from a deps.json, by default
the one beside the record.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from simpler_setup.tools.run_files import (
    SWIMLANE,
    CoreTask,
    Deps,
    FileError,
    Names,
    Swimlane,
    command,
    input_file,
    name_options,
    read_deps,
    read_names,
    read_swimlane,
    task_label,
)

ORCHESTRATOR, SCHEDULER, SCHEDULER_VIEW, WORKER_VIEW = 1, 2, 3, 4


def bar_name(lane: Swimlane, deps: Deps | None, names: Names, core: int, raw: int) -> str:
    kind = lane.core_types[core] if core < len(lane.core_types) else None
    return f"{names.task(deps, raw, kind)}({task_label(raw)})"


def to_trace(lane: Swimlane, deps: Deps | None, names: Names) -> dict[str, Any]:
    """The trace as Chrome's JSON object format; times in microseconds."""
    events: list[dict[str, Any]] = []

    def process(pid: int, name: str) -> None:
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}})
        events.append(
            {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}
        )

    def thread(pid: int, tid: int, name: str) -> None:
        events.append(
            {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
        )

    def bar(pid: int, tid: int, name: str, start: float, end: float, **args: Any) -> None:
        events.append(
            {
                "ph": "X",
                "pid": pid,
                "tid": tid,
                "name": name,
                "ts": round(start, 3),
                "dur": round(max(end - start, 0.0), 3),
                "args": args,
            }
        )

    process(ORCHESTRATOR, names.orchestrator)
    process(SCHEDULER, "AICPU scheduler")
    process(SCHEDULER_VIEW, "scheduler view")
    process(WORKER_VIEW, "worker view")
    for tid, phases in enumerate(lane.orchestrator):
        thread(ORCHESTRATOR, tid, f"orchestrator {tid}")
        for phase in phases:
            raw = int(phase.get("task_id", 0) or 0)
            bar(ORCHESTRATOR, tid, f"submit({task_label(raw)})", phase["start"], phase["end"])
    for tid, phases in enumerate(lane.scheduler):
        thread(SCHEDULER, tid, f"scheduler {tid}")
        for phase in phases:
            rest = {k: v for k, v in phase.items() if k not in ("kind", "start", "end")}
            bar(
                SCHEDULER,
                tid,
                str(phase.get("kind", "phase")),
                phase["start"],
                phase["end"],
                **rest,
            )
    for pid, cores in (
        (SCHEDULER_VIEW, {row[0] for row in lane.dispatches}),
        (WORKER_VIEW, {task.core for task in lane.tasks}),
    ):
        for core in sorted(cores):
            thread(pid, core, lane.core_name(core))
    for core, raw, dispatch, finish in lane.dispatches:
        bar(SCHEDULER_VIEW, core, bar_name(lane, deps, names, core, raw), dispatch, finish)
    for task in lane.tasks:
        bar(
            WORKER_VIEW,
            task.core,
            bar_name(lane, deps, names, task.core, task.task),
            task.start,
            task.end,
            task=task_label(task.task),
        )
    if deps is not None:
        events += _arrows(lane, deps)
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _arrows(lane: Swimlane, deps: Deps) -> list[dict[str, Any]]:
    """From the last block of a task to the first of its successor."""
    last: dict[int, CoreTask] = {}
    first: dict[int, CoreTask] = {}
    for task in lane.tasks:
        if task.task not in last or task.end > last[task.task].end:
            last[task.task] = task
        if task.task not in first or task.start < first[task.task].start:
            first[task.task] = task
    events = []
    pairs = sorted({(e.before, e.after) for e in deps.edges})
    for number, (before, after) in enumerate(pairs):
        if before not in last or after not in first:
            continue  # without a kernel: nothing to point at
        source, target = last[before], first[after]
        common = {"cat": "dependency", "name": "dependency", "id": number, "pid": WORKER_VIEW}
        events.append({**common, "ph": "s", "tid": source.core, "ts": round(source.end, 3)})
        events.append(
            {**common, "ph": "f", "bp": "e", "tid": target.core, "ts": round(target.start, 3)}
        )
    return events


def summary(lane: Swimlane, deps: Deps | None, names: Names) -> str:
    """A table of kernels, how busy the cores were, and the whole span."""
    if not lane.tasks:
        return "no tasks in the record"
    groups: dict[str, list[float]] = defaultdict(list)
    busy: dict[int, float] = defaultdict(float)
    for task in lane.tasks:
        kind = lane.core_types[task.core] if task.core < len(lane.core_types) else None
        groups[names.task(deps, task.task, kind)].append(task.duration)
        busy[task.core] += task.duration
    span = max(t.end for t in lane.tasks) - min(t.start for t in lane.tasks)
    width = max([len(g) for g in groups] + [6])
    lines = [
        f"{'kernel':{width}} {'count':>8} {'total us':>12} {'mean us':>10} {'min us':>10} {'max us':>10}"
    ]
    for name, times in sorted(groups.items(), key=lambda g: -sum(g[1])):
        lines.append(
            f"{name:{width}} {len(times):8d} {sum(times):12.2f} {sum(times) / len(times):10.2f} "
            f"{min(times):10.2f} {max(times):10.2f}"
        )
    total = sum(busy.values())
    lines.append(f"span {span:.2f} us, {len(lane.tasks)} blocks on {len(busy)} cores, "
                 f"{total / span:.2f} busy on average" if span > 0 else f"span {span:.2f} us")  # fmt: skip
    return "\n".join(lines)


def overhead(lane: Swimlane, deps: Deps | None) -> str:
    """How long tasks waited after their last predecessor had ended: what scheduling and busy cores cost."""
    if deps is None:
        raise FileError(
            "--overhead needs a deps.json: run with enable_dep_gen, or give --deps-json"
        )
    ends: dict[int, float] = {}
    starts: dict[int, float] = {}
    for task in lane.tasks:
        ends[task.task] = max(ends.get(task.task, task.end), task.end)
        starts[task.task] = min(starts.get(task.task, task.start), task.start)
    waits = []
    for task, start in starts.items():
        before = [ends[p] for p in deps.predecessors.get(task, ()) if p in ends]
        if before:
            waits.append((start - max(before), task))
    if not waits:
        return "no task has a predecessor in the record"
    waits.sort()
    worst = ", ".join(f"{task_label(t)} {w:.2f}" for w, t in reversed(waits[-3:]))
    middle = waits[len(waits) // 2][0]
    return (
        f"from the end of the last predecessor to the start, {len(waits)} tasks: "
        f"mean {sum(w for w, _ in waits) / len(waits):.2f} us, median {middle:.2f} us; longest: {worst}"
    )


def convert(
    source: Path,
    output: Path | None = None,
    *,
    func_names: str | None = None,
    kernel_config: str | None = None,
    deps_json: str | None = None,
) -> tuple[Path, Swimlane, Deps | None, Names]:
    """Writes the trace of `source`, by default as merged_swimlane.json beside it."""
    lane = read_swimlane(source)
    beside = source.parent / "deps.json"
    deps = (
        read_deps(Path(deps_json)) if deps_json else read_deps(beside) if beside.exists() else None
    )
    names = read_names(source.parent, func_names, kernel_config)
    output = output or source.parent / "merged_swimlane.json"
    text = json.dumps(to_trace(lane, deps, names))
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        temporary.write_text(text)
        os.replace(temporary, output)
    except OSError as error:
        raise FileError(f"{output}: {error.strerror}") from error
    return output, lane, deps, names


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="swimlane_converter", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("input", nargs="?", help=f"{SWIMLANE} or its folder; newest of outputs/")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: merged_swimlane.json beside"
    )
    name_options(parser)
    parser.add_argument("--deps-json", metavar="FILE", help="default: deps.json beside the input")
    parser.add_argument("--overhead", action="store_true", help="also tell how long tasks waited")
    parser.add_argument("-v", "--verbose", action="store_true", help="also tell what was read")
    options = parser.parse_args(arguments)
    source = input_file(options.input, SWIMLANE)
    output, lane, deps, names = convert(
        source,
        Path(options.output) if options.output else None,
        func_names=options.func_names,
        kernel_config=options.kernel_config,
        deps_json=options.deps_json,
    )
    if options.verbose:
        print(f"read {source}: level {lane.level}, {len(lane.tasks)} blocks")
        print(f"read {deps.path}: {len(deps.edges)} edges" if deps else "no deps.json: no arrows")
    print(summary(lane, deps, names))
    if options.overhead:
        print(overhead(lane, deps))
    print(f"wrote {output}; open it with https://ui.perfetto.dev")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
