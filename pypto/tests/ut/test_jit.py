"""`@pl.jit` from the call to the result: specialisation, what is compiled again, what is not."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys

import pypto.language as pl
import pytest
import torch
from pypto.runtime import RunConfig

import pypto
from pypto import bridge, cache

ROWS = pl.dynamic("ROWS")
TILE = 16
FACTOR = 2.0


@pl.jit
def scaled(x: pl.Tensor[[TILE, 32], pl.FP32], y: pl.Out[pl.Tensor[[TILE, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scaled"):
        y[0:TILE, 0:32] = pl.mul(x[0:TILE, 0:32], FACTOR)
    return y


@pl.jit
def any_shape(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    m, n = x.shape
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="any_shape"):
        y[0:m, 0:n] = pl.add(x[0:m, 0:n], 1.0)
    return y


@pl.jit
def rows(x: pl.Tensor[[ROWS, 32], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 32], pl.FP32]]):
    x.bind_dynamic(0, ROWS)
    y.bind_dynamic(0, ROWS)
    n = pl.tensor.dim(x, 0)
    for b in pl.spmd((n + TILE - 1) // TILE, name_hint="rows"):
        live = pl.min(TILE, n - b * TILE)
        t = pl.slice(x, [TILE, 32], [b * TILE, 0], valid_shape=[live, 32])
        y = pl.assemble(y, pl.neg(t), [b * TILE, 0])
    return y


@pl.jit
def shifted(
    x: pl.Tensor[[16, 32], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="shifted"):
        y[0:16, 0:32] = pl.add(x[0:16, 0:32], k)
    return y


@pytest.fixture(autouse=True)
def nothing_in_memory():
    for function in (scaled, any_shape, rows, shifted):
        function.clear()


@pytest.fixture
def compilations(monkeypatch):
    """Names of the programs that the compiler is asked for."""
    seen = []
    inner = bridge._run_compiler

    def counted(name, *rest):
        seen.append(name)
        return inner(name, *rest)

    monkeypatch.setattr(bridge, "_run_compiler", counted)
    return seen


def pair(m=16, n=32, dtype=torch.float32):
    return torch.randn(m, n).to(dtype), torch.empty(m, n, dtype=dtype)


def test_result_is_the_output_argument():
    x, y = pair()
    assert scaled(x, y) is y
    assert torch.equal(y, x * 2)


def test_numpy_arrays_run_too():
    x, y = (t.numpy() for t in pair())
    assert scaled(x, y) is y
    assert (y == x * 2).all()


def test_one_compilation_serves_equal_calls(compilations):
    for _ in range(3):
        scaled(*pair())
    assert compilations == ["scaled"]
    scaled.clear()
    scaled(*pair())  # from disk
    assert compilations == ["scaled"]


def test_shapes_types_and_strides_are_compiled_for(compilations):
    for m, n in ((8, 32), (24, 64)):
        x, y = pair(m, n)
        any_shape(x, y)
        assert torch.equal(y, x + 1)
    x, y = pair(8, 32, torch.float16)
    any_shape(x, y)
    assert torch.equal(y, x + 1)
    wide = torch.randn(8, 64)
    x, y = wide[:, 16:48], torch.empty(8, 32)
    any_shape(x, y)
    assert torch.equal(y, x + 1)
    assert len(compilations) == 4


def test_dynamic_extents_share_a_program(compilations):
    for n in (1, 16, 35):
        x, y = pair(n)
        rows(x, y)
        assert torch.equal(y, -x)
    assert compilations == ["rows"]
    rows.clear()
    x, y = pair(50)
    rows(x, y)
    assert torch.equal(y, -x)
    assert compilations == ["rows"]


def test_dynamic_extents_must_agree():
    rows(*pair(16))
    with pytest.raises(ValueError, match="dimension ROWS is 16 in x .axis 0. and 17 in y"):
        rows(pair(16)[0], pair(17)[1])


def test_scalars_are_run_time_values(compilations):
    for k in (0.5, -3.0, 7):
        x, y = pair()
        shifted(x, k, y)
        assert torch.equal(y, x + k)
    assert compilations == ["shifted"]


def test_a_changed_constant_is_another_program(compilations, monkeypatch):
    x, y = pair()
    scaled(x, y)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    scaled(x, y)
    assert torch.equal(y, x * 4)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    scaled(x, y)
    assert torch.equal(y, x * 2)
    assert len(compilations) == 2


def test_keywords_and_config():
    x, y = pair()
    scaled(y=y, x=x, config=RunConfig())
    assert torch.equal(y, x * 2)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "scaled: missing arguments x, y"),
        ((1,), {}, "scaled: missing argument y"),
        ((1, 2, 3), {}, "scaled takes 2 arguments, got 3"),
        ((1,), {"z": 2}, "scaled has no parameter 'z'"),
        ((1,), {"x": 2}, "scaled: x is given twice"),
        (("a", 2), {}, "x: takes a tensor"),
        ((1, 2), {}, "x: takes a tensor, got 1"),
    ],
)
def test_wrong_arguments_name_the_parameter(args, kwargs, text):
    with pytest.raises(TypeError, match=text):
        scaled(*args, **kwargs)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (torch.zeros(16, 31), "x: takes \\[16, 32\\] FP32, got \\[16, 31\\] FP32: axis 1 has 31"),
        (torch.zeros(16), "x: takes \\[16, 32\\] FP32, got \\[16\\] FP32: rank 1 is not 2"),
        (torch.zeros(16, 32).half(), "x: .* element type FP16 is not FP32"),
        (torch.zeros(16, 32).double(), "x: element type torch.float64 is not one"),
    ],
    ids=["extent", "rank", "type", "no such type"],
)
@pytest.mark.parametrize("warm", [False, True])
def test_arguments_are_compared_with_annotations(x, text, warm):
    if warm:
        scaled(*pair())
    with pytest.raises(TypeError, match=text):
        scaled(x, pair()[1])


@pl.jit
def module_level(x: pl.Tensor[[4, 4], pl.FP32], y: pl.Out[pl.Tensor[[4, 4], pl.FP32]]):
    y[0:4, 0:4] = x[0:4, 0:4]
    return y


def test_copies_and_pickles_are_the_function():
    """As of Python's functions, so that what holds a kernel can be copied."""
    assert copy.deepcopy([module_level])[0] is module_level
    assert copy.copy(module_level) is module_level
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert module_level.__module__ == __name__


def test_inline_functions_are_not_called_from_python():
    @pl.jit.inline
    def helper(x: pl.Tensor):
        return x

    with pytest.raises(pypto.Error, match="helper is a @pl.jit.inline function"):
        helper(torch.zeros(1))


def test_compile_gives_a_program_that_is_called_later(compilations):
    x, y = pair()
    program = scaled.compile(x, y)
    assert program.param_names == ["x", "y"]
    assert program.output_indices == [1]
    assert program.stage_ms
    program(x, y)
    assert torch.equal(y, x * 2)
    assert torch.equal(program(x), x * 2)  # return style
    with pytest.raises(TypeError, match="takes 2 arguments, or 1 without its outputs; got 3"):
        program(x, y, y)


def test_signature_mode_takes_the_annotations():
    x, y = pair()
    scaled.compile()(x, y)
    assert torch.equal(y, x * 2)


def test_lower_gives_text():
    lowered = scaled.lower(*pair())
    assert len(lowered.stages) > 1
    assert "func" in str(lowered)


def test_files_are_written_where_asked(tmp_path):
    config = RunConfig(
        save_kernels_dir=str(tmp_path / "out"), dump_passes=True, compile_profiling=True
    )
    x, y = pair()
    scaled(x, y, config=config)
    assert torch.equal(y, x * 2)
    names = {
        str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()
    }
    assert any(name.endswith(".pto") for name in names)
    assert any(name.startswith("passes_dump") for name in names)
    report = json.loads((tmp_path / "out/report/pipeline_profile.json").read_text())
    assert report["total_seconds"] > 0


def test_trace_holds_compilation_and_call(tmp_path):
    path = tmp_path / "trace.json"
    scaled(*pair(), config=RunConfig(trace=str(path)))
    events = json.loads(path.read_text())["traceEvents"]
    names = {event.get("name") for event in events}
    assert "compile scaled" in names
    assert {"compile", "call"} <= {event.get("cat") for event in events}
    assert any("scaled" in str(name) and "compile" not in str(name) for name in names)


SCRIPT = """
import sys
import pypto.language as pl
import numpy as np
@pl.jit
def entry(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        y[0:16, 0:32] = pl.add(x[0:16, 0:32], 1.0)
    return y
x = np.arange(512, dtype=np.float32).reshape(16, 32)
y = np.zeros_like(x)
entry(x, y)
print((y == x + 1).all(), "pypto._compiler" in sys.modules, "ast" in sys.modules)
"""


def run_script(path, env=None):
    return subprocess.Popen(
        [sys.executable, str(path)],
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.split(), err


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_a_warm_process_loads_no_compiler(script):
    assert outcome(run_script(script))[0][:2] == ["True", "True"]
    assert outcome(run_script(script))[0][:2] == ["True", "False"]


def test_two_processes_compile_at_once(script):
    both = [run_script(script), run_script(script)]
    assert [outcome(process)[0][0] for process in both] == ["True", "True"]
    assert cache.size()[0] == 1


def test_a_broken_entry_is_built_again(script):
    outcome(run_script(script))
    (entry,) = cache.folder().iterdir()
    entry.write_bytes(entry.read_bytes()[:-100])
    assert outcome(run_script(script))[0][:2] == ["True", "True"]
    assert outcome(run_script(script))[0][:2] == ["True", "False"]


def test_an_unusable_cache_folder_costs_one_warning(script, tmp_path):
    blocker = tmp_path / "blocker"
    blocker.write_text("")
    out, err = outcome(run_script(script, {"PTO_CACHE_DIR": str(blocker / "x")}))
    assert out[:2] == ["True", "True"]
    assert err.count("compiled programs are not kept") == 1


def test_switched_off_the_cache_keeps_nothing(script):
    for _ in range(2):
        assert outcome(run_script(script, {"PTO_CACHE": "0"}))[0][:2] == ["True", "True"]
    assert not cache.folder().exists()


def test_pto_trace_records_the_process(script, tmp_path):
    path = tmp_path / "process.json"
    outcome(run_script(script, {"PTO_TRACE": str(path)}))
    events = json.loads(path.read_text())["traceEvents"]
    assert {"compile", "call"} <= {event.get("cat") for event in events}
    # Stages lie inside the compilation, on one clock with the call that follows it.
    whole = next(event for event in events if event.get("name") == "compile entry")
    call = next(event for event in events if event.get("cat") == "call")
    assert whole["ts"] + whole["dur"] <= call["ts"]


def test_pto_dump_writes_every_stage(script, tmp_path):
    outcome(run_script(script, {"PTO_DUMP": str(tmp_path / "dump")}))
    stages = sorted(path.name for path in (tmp_path / "dump/entry/passes_dump").iterdir())
    assert len(stages) > 2
    assert stages[0].startswith("00_after_")
