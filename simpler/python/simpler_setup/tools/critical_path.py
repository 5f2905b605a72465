"""The longest chain of dependent tasks of one run.

Static: tasks cost their measured time, edges cost nothing; no machine could be faster on this graph. Observed: back from
the task that ended last, each time to the predecessor that ended last; it shows where the run really spent its time,
waiting included. Writes critical_path.md, CPM_static.json and CPM_observed.json beside the input.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from simpler_setup.tools.run_files import (
    SWIMLANE,
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


@dataclass(frozen=True)
class Step:
    task: int
    start: float
    end: float
    wait: float  # since the step before ended

    @property
    def duration(self) -> float:
        return self.end - self.start


def _spans(lane: Swimlane) -> dict[int, tuple[float, float]]:
    spans: dict[int, tuple[float, float]] = {}
    for task in lane.tasks:
        start, end = spans.get(task.task, (task.start, task.end))
        spans[task.task] = (min(start, task.start), max(end, task.end))
    return spans


def static_path(deps: Deps, lane: Swimlane) -> list[Step]:
    """The chain with the largest sum of task times, as if each task started when it could."""
    spans = _spans(lane)
    finish: dict[int, float] = {}
    via: dict[int, int | None] = {}
    for task in deps.order():
        before = max(deps.predecessors[task], key=lambda p: finish[p], default=None)
        start, end = spans.get(task, (0.0, 0.0))
        finish[task] = (finish[before] if before is not None else 0.0) + (end - start)
        via[task] = before
    at = max(finish, key=lambda t: finish[t], default=None)
    chain = []
    while at is not None:
        start, end = spans.get(at, (0.0, 0.0))
        chain.append(Step(at, finish[at] - (end - start), finish[at], 0.0))
        at = via[at]
    return chain[::-1]


def observed_path(deps: Deps, lane: Swimlane) -> list[Step]:
    spans = _spans(lane)
    at: int | None = max(spans, key=lambda t: spans[t][1], default=None)
    chain: list[Step] = []
    while at is not None:
        before = max(
            (p for p in deps.predecessors.get(at, ()) if p in spans),
            key=lambda p: spans[p][1],
            default=None,
        )
        start, end = spans[at]
        chain.append(Step(at, start, end, start - spans[before][1] if before is not None else 0.0))
        at = before
    return chain[::-1]


def _table(title: str, steps: list[Step], deps: Deps, names: Names) -> list[str]:
    lines = [f"## {title}", "", "| task | start us | time us | waited us |", "|---|---:|---:|---:|"]
    for step in steps:
        name = f"{names.task(deps, step.task)}({task_label(step.task)})"
        lines.append(f"| {name} | {step.start:.2f} | {step.duration:.2f} | {step.wait:.2f} |")
    work = sum(s.duration for s in steps)
    wait = sum(s.wait for s in steps)
    lines += ["", f"{len(steps)} tasks: {work:.2f} us of work, {wait:.2f} us of waiting", ""]
    return lines


def markdown(deps: Deps, lane: Swimlane, names: Names) -> str:
    static, observed = static_path(deps, lane), observed_path(deps, lane)
    spans = _spans(lane).values()
    span = max(e for _, e in spans) - min(s for s, _ in spans)
    work = sum(t.duration for t in lane.tasks)
    bound = sum(s.duration for s in static)
    lines = [
        "# Critical path",
        "",
        f"The run took {span:.2f} us; its tasks {work:.2f} us. The graph allows {bound:.2f} us at best, "
        f"with {work / bound:.1f} cores busy." if bound else f"The run took {span:.2f} us.",
        "",
        *_table("Static", static, deps, names),
        *_table("Observed", observed, deps, names),
    ]  # fmt: skip
    return "\n".join(lines)


def _json(steps: list[Step], deps: Deps, names: Names) -> str:
    rows = [
        {
            "task_id": str(s.task),
            "name": names.task(deps, s.task),
            "start_us": round(s.start, 3),
            "duration_us": round(s.duration, 3),
            "wait_us": round(s.wait, 3),
        }
        for s in steps
    ]
    return json.dumps(
        {"length_us": round(sum(s.duration + s.wait for s in steps), 3), "path": rows}
    )


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="critical_path", description=__doc__.split("\n\n")[0])
    parser.add_argument("input", nargs="?", help=f"{SWIMLANE} or its folder; newest of outputs/")
    parser.add_argument("--deps-json", metavar="FILE", help="default: deps.json beside the input")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="default: beside the input")
    name_options(parser)
    options = parser.parse_args(arguments)
    source = input_file(options.input, SWIMLANE)
    lane = read_swimlane(source)
    if not lane.tasks:
        raise FileError(f"{source}: the record has no tasks")
    deps = read_deps(Path(options.deps_json) if options.deps_json else source.parent / "deps.json")
    names = read_names(source.parent, options.func_names, options.kernel_config)
    folder = Path(options.output) if options.output else source.parent
    text = markdown(deps, lane, names)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "critical_path.md").write_text(text)
        (folder / "CPM_static.json").write_text(_json(static_path(deps, lane), deps, names))
        (folder / "CPM_observed.json").write_text(_json(observed_path(deps, lane), deps, names))
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}") from error
    print(text)
    print(f"wrote critical_path.md, CPM_static.json, CPM_observed.json to {folder}")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
