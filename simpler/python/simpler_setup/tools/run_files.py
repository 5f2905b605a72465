"""The files of one run (`CallConfig.output_prefix`), read with errors that say what is wrong where."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SWIMLANE = "chip_swimlane_records.json"
_DUMMY = -1


class FileError(Exception):
    """A file that is missing, damaged, or of another kind. The text names it."""


def command(run: Callable[[list[str] | None], None], arguments: list[str] | None = None) -> int:
    """The exit status of a tool: 1 with one line on stderr when a file is at fault."""
    try:
        run(arguments)
    except FileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    return 0


def newest(name: str, folder: Path = Path("outputs")) -> Path:
    """The file `name` that was written last below `folder`."""
    found = sorted(folder.glob(f"**/{name}"), key=lambda p: p.stat().st_mtime)
    if not found:
        raise FileError(f"no {name} below {folder}/; name the file")
    return found[-1]


def input_file(given: str | None, name: str) -> Path:
    """The file meant: `given`, the one inside that folder, or the newest below outputs/."""
    if given is None:
        return newest(name)
    path = Path(given)
    return path / name if path.is_dir() else path


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise FileError(
            f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}; was the run cut short?"
        ) from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file") from error


def _member(data: Any, key: str, kind: type, path: Path, what: str) -> Any:
    value = data.get(key) if isinstance(data, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise FileError(f"{path}: not {what}: no {kind.__name__} '{key}'")
    return value


def task_label(raw: int) -> str:
    """ "r0t5": ring and number of a task."""
    return f"r{raw >> 32 & 0xFF}t{raw & 0xFFFFFFFF}"


# -- swimlane ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class CoreTask:
    """One block of a task on one core; times in microseconds from the start of the record."""

    core: int
    task: int
    start: float
    end: float

    @property
    def duration(self) -> float:
        return self.end - self.start


@dataclass
class Swimlane:
    path: Path
    level: int
    core_types: list[str]
    tasks: list[CoreTask]
    dispatches: list[tuple[int, int, float, float]]  # core, task, dispatch, finish
    scheduler: list[list[dict[str, Any]]]  # by thread; times in microseconds
    orchestrator: list[list[dict[str, Any]]]

    def core_name(self, core: int) -> str:
        kind = self.core_types[core] if core < len(self.core_types) else "core"
        return f"{kind}_{core - self.core_types.index(kind) if kind in self.core_types else core}"


def _row(rows: list[Any], i: int, least: int, path: Path, key: str) -> list[int]:
    try:
        values = [int(v) for v in rows[i]]
    except (TypeError, ValueError):
        values = []
    if len(values) < least:
        raise FileError(f"{path}: {key}[{i}] is {rows[i]!r}, not a row of {least} numbers")
    return values


def _phases(data: Any, key: str, scale: float, path: Path) -> list[list[dict[str, Any]]]:
    threads = data.get(key) or []
    if threads and isinstance(threads[0], dict):
        threads = [threads]
    result = []
    for thread in threads:
        rows = []
        for phase in thread:
            try:
                rows.append(
                    {
                        **phase,
                        "start": phase["start_cycles"] * scale,
                        "end": phase["end_cycles"] * scale,
                    }
                )
            except (TypeError, KeyError):
                raise FileError(
                    f"{path}: {key}: {phase!r} has no start_cycles and end_cycles"
                ) from None
        result.append(rows)
    return result


def read_swimlane(path: Path) -> Swimlane:
    data = read_json(path)
    what = "a chip swimlane record"
    level = _member(data, "chip_swimlane_level", int, path, what)
    metadata = _member(data, "metadata", dict, path, what)
    rows = _member(data, "aicore_tasks", list, path, what)
    frequency = metadata.get("clock_freq_hz")
    if not isinstance(frequency, (int, float)) or frequency <= 0:
        raise FileError(f"{path}: metadata.clock_freq_hz is {frequency!r}, not a frequency")
    scale = 1e6 / frequency
    tasks, of = [], {}
    for i in range(len(rows)):
        core, task, reg, start, end, *_ = _row(rows, i, 5, path, "aicore_tasks")
        tasks.append(CoreTask(core, task, start * scale, end * scale))
        of[core, reg] = task
    dispatches = []
    rows = data.get("aicpu_tasks") or []
    for i in range(len(rows)):
        core, reg, dispatch, finish, *_ = _row(rows, i, 4, path, "aicpu_tasks")
        dispatches.append((core, of.get((core, reg), 0), dispatch * scale, finish * scale))
    return Swimlane(
        path,
        level,
        [str(t) for t in metadata.get("core_types", [])],
        tasks,
        dispatches,
        _phases(data, "aicpu_scheduler_phases", scale, path),
        _phases(data, "aicpu_orchestrator_phases", scale, path),
    )


# -- dependencies -----------------------------------------------------------------------------------------------------
@dataclass
class DepTask:
    task: int
    scope: str
    kernels: list[int]  # cube, vector 0, vector 1; -1: none
    blocks: int
    args: list[dict[str, Any]]


@dataclass(frozen=True)
class DepEdge:
    before: int
    after: int
    argument: int  # of the successor; -1: explicit
    source: str
    overlap: str
    tensor: int | None


@dataclass
class Deps:
    path: Path
    tasks: dict[int, DepTask]
    tensors: dict[int, dict[str, Any]]
    edges: list[DepEdge]
    predecessors: dict[int, set[int]] = field(default_factory=dict)
    successors: dict[int, set[int]] = field(default_factory=dict)

    def order(self) -> list[int]:
        """Tasks so that predecessors come first; FileError when the edges have a cycle."""
        open_edges = {t: len(self.predecessors[t]) for t in self.tasks}
        ready = [t for t, n in open_edges.items() if n == 0]
        result: list[int] = []
        while ready:
            task = ready.pop()
            result.append(task)
            for after in self.successors[task]:
                open_edges[after] -= 1
                if open_edges[after] == 0:
                    ready.append(after)
        if len(result) != len(self.tasks):
            stuck = min(t for t, n in open_edges.items() if n > 0)
            raise FileError(f"{self.path}: the edges have a cycle through {task_label(stuck)}")
        return result


def read_deps(path: Path) -> Deps:
    data = read_json(path)
    what = "a dependency record (deps.json)"
    tasks: dict[int, DepTask] = {}
    for i, row in enumerate(_member(data, "tasks", list, path, what)):
        try:
            task = DepTask(
                int(row["task_id"]),
                str(row.get("scope", "auto")),
                [int(k) for k in row.get("kernel_ids", [])],
                int(row.get("block_num", 1)),
                list(row.get("args", [])),
            )
        except (TypeError, KeyError, ValueError) as error:
            raise FileError(
                f"{path}: tasks[{i}] is not a task: {error!r} in {str(row)[:80]}"
            ) from None
        tasks[task.task] = task
    tensors = {int(t["tensor_id"]): t for t in data.get("tensors", []) if "tensor_id" in t}
    deps = Deps(path, tasks, tensors, [])
    deps.predecessors = {t: set() for t in tasks}
    deps.successors = {t: set() for t in tasks}
    for i, row in enumerate(_member(data, "edges", list, path, what)):
        try:
            edge = DepEdge(
                int(row["pred"]),
                int(row["succ"]),
                int(row.get("arg", -1)),
                str(row.get("source", "")),
                str(row.get("overlap", "")),
                int(row["tensor_id"]) if "tensor_id" in row else None,
            )
        except (TypeError, KeyError, ValueError) as error:
            raise FileError(
                f"{path}: edges[{i}] is not an edge: {error!r} in {str(row)[:80]}"
            ) from None
        for end in (edge.before, edge.after):
            if end not in tasks:
                raise FileError(f"{path}: edges[{i}] names task {end}, which is not in the file")
        deps.edges.append(edge)
        deps.predecessors[edge.after].add(edge.before)
        deps.successors[edge.before].add(edge.after)
    return deps


# -- names ------------------------------------------------------------------------------------------------------------
@dataclass
class Names:
    """Names of kernels by id; ids without a name are "func_<id>"."""

    kernels: dict[int, str] = field(default_factory=dict)
    orchestrator: str = "orchestrator"

    def kernel(self, func_id: int) -> str:
        return "dummy" if func_id == _DUMMY else self.kernels.get(func_id, f"func_{func_id}")

    def task(self, deps: Deps | None, raw: int, core_type: str | None = None) -> str:
        """The name of what the task runs on that kind of core."""
        row = deps.tasks.get(raw) if deps else None
        if row is None:
            return "task"
        ids = row.kernels[:1] if core_type == "aic" else row.kernels[1:]
        if core_type is None or not any(k >= 0 for k in ids):
            ids = row.kernels
        chosen = [k for k in ids if k >= 0]
        if not chosen:
            return self.kernel(_DUMMY)
        unique = list(dict.fromkeys(chosen))
        name = "+".join(self.kernel(k) for k in unique)
        return name + "_spmd" if row.blocks > 1 else name


def read_names(
    beside: Path, func_names: str | None = None, kernel_config: str | None = None
) -> Names:
    """From `func_names` (a name map), from `kernel_config` (Python, with a list KERNELS of dicts), or from a
    name_map*.json in the folder `beside`."""
    names = Names()
    if kernel_config is not None:
        names.kernels |= _names_of_config(Path(kernel_config))
    source = (
        Path(func_names) if func_names else next(iter(sorted(beside.glob("name_map*.json"))), None)
    )
    if source is not None:
        data = read_json(source)
        mapping = _member(data, "callable_id_to_name", dict, source, "a name map")
        try:
            names.kernels |= {int(k): str(v) for k, v in mapping.items()}
        except ValueError as error:
            raise FileError(
                f"{source}: callable_id_to_name has a key that is no number: {error}"
            ) from None
        names.orchestrator = str(data.get("orchestrator_name") or names.orchestrator)
    return names


def _names_of_config(path: Path) -> dict[int, str]:
    import runpy

    if not path.is_file():
        raise FileError(f"{path}: no such file")
    try:
        kernels = runpy.run_path(str(path))["KERNELS"]
        return {int(k["func_id"]): str(k.get("name") or Path(k["source"]).stem) for k in kernels}
    except Exception as error:
        raise FileError(
            f"{path}: no list KERNELS of dicts with func_id and name: {error!r}"
        ) from None


def name_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--func-names", metavar="FILE", help="name map (JSON) of the kernels")
    parser.add_argument(
        "-k", "--kernel-config", metavar="FILE", help="Python file with a list KERNELS"
    )
