"""The tools that read what runs leave: on files of real runs, and on files that are missing, damaged or of another kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scenes import build
from simpler.buffer import Buffer
from simpler.task_interface import CallConfig, DataType, TaskArgs, TensorArgType
from simpler_setup import build_runtimes
from simpler_setup.tools import (
    critical_path,
    deps_viewer,
    dump_viewer,
    scene_test_compile,
    sched_overhead_analysis,
    scope_stats_plot,
    strace_timing,
    swimlane_converter,
)
from simpler_setup.tools.run_files import FileError, read_deps, read_swimlane, task_label

from simpler import Worker

PLATFORM = "a2a3sim"


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    """The folder of one run of a diamond (two tasks, then one that needs both) and of one with scopes."""
    folder = tmp_path_factory.mktemp("record")
    with Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer") as worker:
        worker.init()
        for file, entry, name in (("hazards", "diamond", "run"), ("timing", "two_slots", "scopes")):
            directions = ["IN", "OUT"] if entry == "diamond" else ["INOUT"]
            handle = worker.register(build.chip(PLATFORM, file, entry, directions))
            config = CallConfig()
            config.enable_chip_swimlane, config.enable_dump_args, config.enable_pmu = 4, 2, 2
            config.enable_dep_gen = config.enable_scope_stats = True
            config.output_prefix = str(folder / name)
            args = TaskArgs()
            for _ in directions:
                array = np.arange(8, dtype=np.int32)
                args.add_tensor(
                    Buffer.wrap(array).tensor((8,), DataType.INT32), TensorArgType.INOUT
                )
            worker.run(handle, args, config)
    names = {"callable_id_to_name": {"0": "add", "1": "affine", "2": "copy"}, "level": 2}
    (folder / "run/name_map_add.json").write_text(json.dumps(names))
    return folder


@pytest.fixture
def run(record, tmp_path) -> Path:
    """A copy that a test may damage."""
    for file in (record / "run").rglob("*"):
        if file.is_file():
            target = tmp_path / file.relative_to(record / "run")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return tmp_path


# -- swimlane ---------------------------------------------------------------------------------------------------------
def test_a_swimlane_becomes_a_trace_with_names_and_arrows(run, capsys):
    assert swimlane_converter.main([str(run), "-v", "--overhead"]) == 0
    text = capsys.readouterr().out
    assert "3 blocks" in text and "2 edges" in text
    assert "from the end of the last predecessor to the start, 1 tasks" in text
    events = json.loads((run / "merged_swimlane.json").read_text())["traceEvents"]
    bars = [e for e in events if e["ph"] == "X" and e["pid"] == swimlane_converter.WORKER_VIEW]
    assert sorted(b["name"] for b in bars) == ["add(r0t0)", "add(r0t2)", "copy(r0t1)"]
    assert all(b["dur"] > 0 for b in bars)
    arrows = {e["id"]: e for e in events if e["ph"] == "s"}
    tips = {e["id"]: e for e in events if e["ph"] == "f"}
    assert len(arrows) == 2 and arrows.keys() == tips.keys()
    assert all(arrows[i]["ts"] <= tips[i]["ts"] for i in arrows)
    named = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert named == {"orchestrator", "AICPU scheduler", "scheduler view", "worker view"}
    submits = [e for e in events if e["ph"] == "X" and e["pid"] == swimlane_converter.ORCHESTRATOR]
    assert [s["name"] for s in submits if s["name"].startswith("submit(")] == [
        f"submit(r0t{i})" for i in range(3)
    ]
    phases = [e for e in events if e["ph"] == "X" and e["pid"] == swimlane_converter.SCHEDULER]
    assert {p["name"] for p in phases} >= {"complete"}
    # Times: cycles at the platform's frequency.
    lane = read_swimlane(run / "chip_swimlane_records.json")
    rows = json.loads((run / "chip_swimlane_records.json").read_text())["aicore_tasks"]
    assert lane.tasks[0].start == pytest.approx(rows[0][3] / 50, abs=0.01)


def test_the_summary_adds_up(record):
    lane = read_swimlane(record / "run/chip_swimlane_records.json")
    deps = read_deps(record / "run/deps.json")
    names = swimlane_converter.read_names(record / "run")
    rows = {
        line.split()[0]: line.split()[1:]
        for line in swimlane_converter.summary(lane, deps, names).splitlines()
    }
    assert rows["add"][0] == "2" and rows["copy"][0] == "1"
    total = float(rows["add"][1]) + float(rows["copy"][1])
    assert total == pytest.approx(sum(t.duration for t in lane.tasks), abs=0.05)


def test_names_come_from_a_kernel_config_too(run):
    (run / "name_map_add.json").unlink()
    (run / "kernel_config.py").write_text(
        "KERNELS = [{'func_id': 0, 'name': 'plus'}, {'func_id': 2, 'source': 'k/move.cpp'}]\n"
    )
    out = run / "t.json"
    arguments = [str(run), "-o", str(out), "-k", str(run / "kernel_config.py")]
    assert swimlane_converter.main(arguments) == 0
    assert '"plus(r0t0)"' in out.read_text() and '"move(r0t1)"' in out.read_text()


def test_without_dependencies_there_are_no_arrows_and_no_names(run, capsys):
    (run / "deps.json").unlink()
    assert swimlane_converter.main([str(run / "chip_swimlane_records.json"), "-v"]) == 0
    assert "no deps.json: no arrows" in capsys.readouterr().out
    events = json.loads((run / "merged_swimlane.json").read_text())["traceEvents"]
    assert not [e for e in events if e["ph"] in "sf"]
    assert swimlane_converter.main([str(run), "--overhead"]) == 1
    assert "--overhead needs a deps.json" in capsys.readouterr().err


# -- dependencies -----------------------------------------------------------------------------------------------------
def test_dependencies_as_text_say_why(run, capsys):
    assert deps_viewer.main([str(run), "--show-tensor-info"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("3 tasks, 2 edges")
    assert "add(r0t2)  [auto]" in text and "0: input INT32[8] strides [1]" in text
    assert "after copy(r0t1): argument 1 (input INT32[8]): made by the predecessor" in text


def test_dependencies_as_graphviz(run, capsys):
    assert deps_viewer.main([str(run), "--format", "dot", "-o", "-", "--direction", "LR"]) == 0
    text = capsys.readouterr().out
    tasks = list(read_deps(run / "deps.json").tasks)
    assert text.startswith("digraph deps {") and "rankdir=LR;" in text
    for before in tasks[:2]:
        assert f"  t{before} -> t{tasks[2]} [" in text


def test_dependencies_as_one_page(run, capsys):
    assert deps_viewer.main([str(run), "--format", "html"]) == 0
    page = (run / "deps.html").read_text()

    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.count: dict[str, int] = {}
            self.outside: list[str] = []

        def handle_starttag(self, tag, attrs) -> None:
            self.count[tag] = self.count.get(tag, 0) + 1
            self.outside += [v for k, v in attrs if k in ("src", "href")]

    tags = Tags()
    tags.feed(page)
    assert tags.count["rect"] == 3 and tags.count["line"] == 2 and tags.outside == []
    assert "made by the predecessor" in page and "add(r0t2)" in page


def test_a_cycle_is_named(run, capsys):
    deps = json.loads((run / "deps.json").read_text())
    edge = deps["edges"][0]
    deps["edges"].append({**edge, "pred": edge["succ"], "succ": edge["pred"]})
    (run / "deps.json").write_text(json.dumps(deps))
    assert deps_viewer.main([str(run)]) == 1
    assert "deps.json: the edges have a cycle through r0t" in capsys.readouterr().err


# -- critical path and overhead ---------------------------------------------------------------------------------------
def test_critical_paths_end_with_the_task_that_joins(run, capsys):
    assert critical_path.main([str(run)]) == 0
    static = json.loads((run / "CPM_static.json").read_text())
    observed = json.loads((run / "CPM_observed.json").read_text())
    ids = [str(t) for t in read_deps(run / "deps.json").tasks]
    for path in (static, observed):
        assert len(path["path"]) == 2 and path["path"][-1]["task_id"] == ids[2]
    lane = {t.task: t for t in read_swimlane(run / "chip_swimlane_records.json").tasks}
    first = max(ids[:2], key=lambda t: lane[int(t)].duration)
    assert static["path"][0]["task_id"] == first
    last = max(ids[:2], key=lambda t: lane[int(t)].end)
    assert observed["path"][0]["task_id"] == last
    assert "# Critical path" in (run / "critical_path.md").read_text()
    assert sched_overhead_analysis.main([str(run)]) == 0
    text = capsys.readouterr().out
    assert "busy" in text and "scheduler complete: " in text


# -- dumps and scopes -------------------------------------------------------------------------------------------------
def test_dumped_arguments_are_shown(run, capsys):
    assert dump_viewer.main([str(run), "--task", "r0t2", "--values", "--arg", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "r0t2 func [-1, 0, -1] arg 0 input before_dispatch INT32[8] 32 bytes"
    )
    assert lines[1].strip() == ", ".join(str(2 * i) for i in range(8))
    assert dump_viewer.main([str(run), "--task", "r9t9"]) == 1
    assert "none of 9 dumped arguments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dtype", "data", "want"),
    [
        ("BFLOAT16", b"\x80\x3f\x00\xc0", [1.0, -2.0]),
        ("FLOAT16", b"\x00\x3c", [1.0]),
        ("INT8", b"\xff\x01", [-1, 1]),
        ("FP8E4M3FN", b"\x38", [0x38]),
    ],
)
def test_dumped_bytes_become_numbers(dtype, data, want):
    assert dump_viewer.values(data, dtype) == want


def test_scopes_are_plotted(record, tmp_path, capsys):
    page = tmp_path / "scopes.html"
    assert scope_stats_plot.main([str(record / "scopes"), "-o", str(page)]) == 0
    assert "12 records" in capsys.readouterr().out  # six scopes, begin and end
    assert page.read_text().count("<circle") == 3 * 12 and "timing.cpp" in page.read_text()


# -- host trace -------------------------------------------------------------------------------------------------------
TRACED = """
import sys, numpy as np
sys.path[:0] = {path!r}
from scenes import build
from simpler import Worker
from simpler.buffer import Buffer
from simpler.task_interface import *
w = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
w.init()
h = w.register(build.chip("a2a3sim", "timing", "two_slots", ["INOUT"]))
print(h.hashid)
x = np.zeros(4, np.int32)
for i in range(3):
    args = TaskArgs()
    args.add_tensor(Buffer.wrap(x).tensor((4,), DataType.INT32), TensorArgType.INOUT)
    w.run(h, args) if i else w.submit(h, args).wait()
w.close()
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> tuple[Path, str]:
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", TRACED.format(path=[here, *sys.path])],
        env={**os.environ, "SIMPLER_HOST_STRACE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    file = tmp_path_factory.mktemp("log") / "run.log"
    file.write_text("other text\n" + done.stderr)
    return file, done.stdout.strip()


def test_the_host_trace_of_real_runs(log):
    file, digest = log
    text = file.read_text()
    assert text.count("[CLOCK_ANCHOR] v=1 pid=") == 1
    spans = strace_timing.parse(text.splitlines(), file.name)
    runs = {s.run for s in spans}
    assert len(runs) == 3 and {s.callable for s in spans} == {digest.removeprefix("sha256:")[:12]}
    for run in runs:
        of = {s.name.rsplit(".", 1)[-1]: s for s in spans if s.run == run}
        assert of.keys() == {"run", "wait", "runner_run", "device_wall", "orch", "sched", "slot2", "slot15"}  # fmt: skip
        wall = of["device_wall"]
        assert wall.start <= of["slot2"].start and of["slot15"].end <= wall.end
        assert of["slot2"].end <= of["slot15"].start  # tasks of one chain
        assert of["orch"].duration + of["sched"].duration == pytest.approx(wall.duration, abs=2)
        assert of["run"].start <= wall.start and wall.end <= of["run"].end


def test_views_of_the_host_trace(log, tmp_path, capsys):
    file = str(log[0])
    assert strace_timing.main([file]) == 0
    text = capsys.readouterr().out
    assert "chip.run.runner_run.device_wall.slot2" in text and "      3 " in text
    assert strace_timing.main([file, "--rounds-table"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert strace_timing.main([file, "--tree"]) == 0
    tree = capsys.readouterr().out
    assert "  run " in tree and "100.0%" in tree and "        slot2 " in tree
    out = tmp_path / "t.json"
    assert strace_timing.main([file, "--perfetto", str(out)]) == 0
    assert len(json.loads(out.read_text())["traceEvents"]) == 24


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "[STRACE] v=1 pid=1 tid=1",
            "x.log:1: [STRACE] line without inv, hid, depth, name, ts, dur",
        ),
        ("[STRACE] v=2 pid=1", "x.log:1: version 2 of [STRACE] is not known"),
        (
            "[STRACE] v=1 pid=one tid=1 inv=0 hid=a depth=0 name=n ts=1 dur=1",
            "x.log:1: invalid literal",
        ),
        ("nothing of it", "no [STRACE] lines; run with SIMPLER_HOST_STRACE=1"),
    ],
)
def test_damaged_traces(tmp_path, monkeypatch, capsys, line, text):
    monkeypatch.chdir(tmp_path)
    Path("x.log").write_text(line + "\n")
    assert strace_timing.main(["x.log"]) == 1
    assert text in capsys.readouterr().err


# -- bad files --------------------------------------------------------------------------------------------------------
def _cut(file: Path) -> None:
    file.write_text(file.read_text()[:200])


def _other(file: Path) -> None:
    file.write_text('{"a": 1}')


def _rows(file: Path) -> None:
    data = json.loads(file.read_text())
    data["aicore_tasks"][1] = [1, "x"]
    file.write_text(json.dumps(data))


def _edge(file: Path) -> None:
    data = json.loads(file.read_text())
    data["edges"][1]["succ"] = "77"
    file.write_text(json.dumps(data))


def _task(file: Path) -> None:
    data = json.loads(file.read_text())
    del data["tasks"][2]["task_id"]
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("tool", "file", "damage", "text"),
    [
        (swimlane_converter, "chip_swimlane_records.json", Path.unlink, "No such file"),
        (swimlane_converter, "chip_swimlane_records.json", _cut, "not JSON"),
        (
            swimlane_converter,
            "chip_swimlane_records.json",
            _other,
            "not a chip swimlane record: no int 'chip_swimlane_level'",
        ),
        (
            swimlane_converter,
            "chip_swimlane_records.json",
            _rows,
            "aicore_tasks[1] is [1, 'x'], not a row of 5 numbers",
        ),
        (deps_viewer, "deps.json", _other, "not a dependency record (deps.json): no list 'tasks'"),
        (deps_viewer, "deps.json", _edge, "edges[1] names task 77, which is not in the file"),
        (deps_viewer, "deps.json", _task, "tasks[2] is not a task: KeyError('task_id')"),
        (critical_path, "deps.json", Path.unlink, "deps.json: No such file"),
        (dump_viewer, "args_dump/args.bin", Path.unlink, "args.bin: No such file"),
        (dump_viewer, "args_dump/args.bin", lambda f: f.write_bytes(b"1234"), "args.bin has 4"),
        (scope_stats_plot, "scope_stats/scope_stats.jsonl", _other, "not scope statistics"),
    ],
)
def test_files_that_are_no_use(run, capsys, tool, file, damage, text):
    damage(run / file)
    assert tool.main([str(run)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and text in error and Path(file).name in error


def test_no_file_is_named_and_none_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert swimlane_converter.main([]) == 1
    assert "no chip_swimlane_records.json below outputs/" in capsys.readouterr().err


def test_the_newest_record_is_the_default(run, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "outputs/scene"
    folder.mkdir(parents=True)
    for name in ("deps.json", "chip_swimlane_records.json"):
        (folder / name).write_bytes((run / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert swimlane_converter.main([]) == 0
    assert (folder / "merged_swimlane.json").exists()


# -- building ---------------------------------------------------------------------------------------------------------
def test_scenes_are_compiled_before_they_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    scene = tmp_path / "scene_one.py"
    sources = Path(__file__).parent / "scenes"
    scene.write_text(f"""
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, scene_test

@scene_test(level=2)
class TestOne(SceneTestCase):
    CALLABLE = {{"orchestration": {{"source": {str(sources / "orchestrations/timing.cpp")!r},
                                  "function_name": "two_slots", "signature": [D.INOUT]}}, "incores": []}}
    CASES = [{{"name": "a", "platforms": ["a2a3sim", "a5sim"]}}]
""")
    assert scene_test_compile.main([str(scene), "-p", "a2a3sim"]) == 0
    assert "TestOne a2a3sim: " in capsys.readouterr().out
    assert len(list((tmp_path / "kernels").glob("*.so"))) == 1
    assert scene_test_compile.main([str(tmp_path / "none.py")]) == 1
    assert "none.py: no such file" in capsys.readouterr().err


def test_runtimes_are_listed(capsys):
    assert build_runtimes.main(["--list", "--platforms", "a5sim"]) == 0
    assert capsys.readouterr().out.split() == [
        "a5sim/tensormap_and_ringbuffer",
        "a5sim/host_build_graph",
    ]
    assert build_runtimes.main(["--platforms", "a9"]) == 1
    assert "platform 'a9' is none of" in capsys.readouterr().err


def test_tools_are_commands(run):
    done = subprocess.run(
        [sys.executable, "-m", "simpler_setup.tools.deps_viewer", str(run)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0 and done.stdout.startswith("3 tasks, 2 edges")


def test_labels_and_errors():
    assert task_label((7 << 40) | (2 << 32) | 5) == "r2t5"
    with pytest.raises(FileError, match="nowhere.json: No such file"):
        read_deps(Path("nowhere.json"))
