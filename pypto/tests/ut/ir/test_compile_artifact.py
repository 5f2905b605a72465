"""From programs to artifacts: the contracts PROGRAM and KERNEL, and what both share."""

from __future__ import annotations

import importlib
import inspect
import os
import sys

import numpy
import pypto.language as pl
import pytest
import torch
from artifact_programs import ALIASES, FRESH, GAIN, HOST_READ, PREDICATE, TWO, add, parse, scaled
from pypto.enums import RuntimeKind
from pypto.ir import output_folder, signature
from pypto.ir.artifact import (
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    CompiledArtifact,
)
from pypto.ir.compile import _compile_artifact, _compile_to_files
from pypto.ir.param_info import ParamDirection, ParamInfo

import pypto
from pypto import bridge, ir

# `pypto.ir.compile` is the function; its module is found by name.
compile_module = importlib.import_module("pypto.ir.compile")
PROGRAM, KERNEL = ArtifactExecutionMode.PROGRAM, ArtifactExecutionMode.KERNEL


# Kernels.


def test_a_kernel_says_what_it_takes():
    artifact = _compile_artifact(parse(GAIN))
    assert isinstance(artifact, CompiledArtifact)
    metadata = artifact.metadata
    assert [(p.name, p.direction.name, p.shape, str(p.dtype)) for p in metadata.params] == [
        ("x", "In", (16, 32), "fp32"),
        ("k", "In", None, "fp32"),
        ("y", "Out", (16, 32), "fp32"),
    ]
    assert metadata.lowered_params == metadata.params
    assert metadata.return_aliases == (2,)
    assert metadata.capabilities.modes == {KERNEL}
    assert [kernel.name for kernel in metadata.kernels] == ["apply"]


def test_the_artifact_has_no_state_of_runs():
    artifact = _compile_artifact(parse(GAIN))
    artifact.load()
    held = " ".join([*vars(artifact), *vars(artifact.metadata)]).lower()
    assert not any(word in held for word in ("handle", "stream", "worker", "tensor"))


def test_code_is_loaded_when_it_is_asked_for():
    artifact = _compile_artifact(parse(GAIN))
    assert not artifact.is_loaded
    loaded = artifact.load()
    assert artifact.load() is loaded
    assert loaded.entry_address == loaded.executable.entry_address != 0
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    loaded.executable(x, 0.5, y)
    assert torch.equal(y, x * 0.5)


def test_results_may_repeat_and_count_scalars():
    artifact = _compile_artifact(parse(ALIASES.format(returned="b, a, b")))
    assert artifact.metadata.return_aliases == (3, 2, 3)
    assert artifact.metadata.return_count == 3
    assert _compile_artifact(parse(ALIASES.format(returned="b"))).metadata.return_aliases == (3,)


@pytest.mark.parametrize("contract", ArtifactExecutionMode)
def test_results_of_their_own_memory_are_refused_with_their_place(contract):
    with pytest.raises(pypto.Error, match="'main' returns memory of its own") as caught:
        _compile_artifact(parse(FRESH), contract=contract)
    assert caught.value.span.begin_line == 13
    assert "add a pl.Out parameter" in str(caught.value)


def test_the_lineage_is_that_of_the_original_program():
    """Results are named before any pass, in the IR that the importer makes."""
    program = parse(ALIASES.format(returned="b, a"))
    result = bridge.compile_program(
        program.name,
        True,
        program.functions,
        compile_module.snapshot(program.functions),
        None,
        {"platform": "a2a3sim", "import_only": True},
    )
    assert result["unit"]["returns"] == [3, 2]
    assert result["unit"]["lowered_params"] == []


def test_a_kernel_has_one_entry():
    with pytest.raises(pypto.Error, match="a kernel has one entry; 'twice' and 'four_times'"):
        _compile_artifact(parse(TWO))
    with pytest.raises(ValueError, match="an artifact has one entry"):
        _compile_artifact(parse(TWO), contract=PROGRAM)


def test_a_graph_built_on_the_host_reads_no_data():
    program = parse(HOST_READ, "host.py")
    with pytest.raises(pypto.Error, match="pl.read touches the data of a tensor") as caught:
        _compile_artifact(program, runtime=RuntimeKind.HOST_BUILD_GRAPH)
    assert (caught.value.span.filename, caught.value.span.begin_line) == ("host.py", 15)
    # Programs may, and so may kernels whose graph the device builds.
    _compile_artifact(program, contract=PROGRAM, runtime=RuntimeKind.HOST_BUILD_GRAPH)
    _compile_artifact(program)


def test_conditions_of_tasks_are_the_device_s():
    artifact = _compile_artifact(parse(PREDICATE), runtime=RuntimeKind.HOST_BUILD_GRAPH)
    assert artifact.runtime_name == "host_build_graph"
    run = artifact.load().executable
    x = torch.randn(16, 16)
    for n in (1, 0):
        y = torch.zeros(16, 16)
        run(x, torch.tensor([n], dtype=torch.int32), y)
        assert torch.equal(y, x * n)


def test_memory_that_tasks_get_inside_is_not_looked_at():
    assert _compile_artifact(parse(PREDICATE)).metadata.param_names == ("x", "n", "y")


def test_both_contracts_share_passes_and_code(monkeypatch):
    calls = []
    real = compile_module._compile_to_files

    def spy(request, *args, **kwargs):
        calls.append(request.contract)
        return real(request, *args, **kwargs)

    monkeypatch.setattr(compile_module, "_compile_to_files", spy)
    ir.compile(parse(GAIN))
    _compile_artifact(parse(GAIN))
    assert calls == [PROGRAM, KERNEL]


def test_the_shared_step_makes_nothing_that_runs():
    request = compile_module._request_for(program_of(GAIN), "a2a3sim", None, KERNEL)
    files = _compile_to_files(request, code=False)
    assert "func.func" in files.lowered and files.result["unit"]["code"] == b""
    assert not any(callable(value) for value in vars(files).values())


def program_of(text):
    return parse(text)


def test_public_compile_asks_for_a_program():
    compiled = ir.compile(parse(GAIN))
    assert compiled.metadata.capabilities.modes == {PROGRAM}
    with pytest.raises(ArtifactError, match="compile it again with contract KERNEL"):
        compiled.artifact.require(KERNEL)
    assert "contract" not in inspect.signature(ir.compile).parameters


def test_no_kernel_entry_is_public():
    for module in (pypto, ir, pl, pypto.runtime):
        assert not {"compile_kernel", "shutdown"} & set(dir(module)), module.__name__


@pytest.mark.parametrize("platform", ["a2a3sim", "a2a3"])
def test_the_contract_does_not_decide_the_platform(platform):
    artifact = _compile_artifact(parse(GAIN), platform=platform)
    assert artifact.platform == platform
    assert artifact.execution_mode.value == ("sim" if platform.endswith("sim") else "onboard")


# Functions of @pl.jit.


def test_samples_may_be_tensors_of_any_kind():
    want = _compile_artifact(add, *[torch.empty(32, 48)] * 3).metadata
    assert want.params[0].shape == (32, 48)
    info = ParamInfo("any", ParamDirection.In, (32, 48), pl.FP32)
    for sample in (torch.empty(32, 48, device="meta"), numpy.empty((32, 48), "float32"), info):
        assert _compile_artifact(add, sample, sample, sample).metadata == want


def test_scalar_samples_stay_open():
    x = torch.empty(16, 16)
    one = _compile_artifact(scaled, x, 2.0, x)
    assert one.metadata.params[1].is_scalar
    y = torch.randn(16, 16)
    out = torch.empty(16, 16)
    one.load().executable(y, 3.0, out)
    assert torch.equal(out, y * 3)
    info = ParamInfo("k", ParamDirection.In, None, pl.FP32)
    assert _compile_artifact(scaled, x, info, x).metadata == one.metadata


def test_wrong_samples():
    x = torch.empty(16, 16)
    with pytest.raises(TypeError, match="takes 3 arguments, got 2 samples"):
        _compile_artifact(add, x, x)
    with pytest.raises(TypeError, match="samples are for @pl.jit functions"):
        _compile_artifact(parse(GAIN), x)
    with pytest.raises(TypeError, match="contract: takes an ArtifactExecutionMode"):
        _compile_artifact(parse(GAIN), contract="kernel")
    open_ = ParamInfo("x", ParamDirection.In, (-1, 16), pl.FP32)
    with pytest.raises(ValueError, match="a sample has constant extents"):
        _compile_artifact(add, open_, x, x)


@pl.jit
def repeated(x: pl.Tensor, n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = x[:]
        for _ in pl.unroll(n):
            y = y + x
        out[:] = y
    return out


def test_constants_of_a_kernel_come_from_its_samples():
    x = torch.randn(16, 16)
    for _ in range(2):  # compiled, then from disk
        artifact = _compile_artifact(repeated, x, 3, x)
        assert artifact.metadata.param_names == ("x", "out")
        out = torch.empty(16, 16)
        artifact.load().executable(x, out)
        torch.testing.assert_close(out, x * 4)


def test_a_second_compilation_comes_from_disk(monkeypatch):
    first = _compile_artifact(parse(GAIN))
    monkeypatch.setattr(bridge, "compiler", lambda: pytest.fail("compiled again"))
    second = _compile_artifact(parse(GAIN))
    assert second.metadata == first.metadata
    with pytest.raises(pytest.fail.Exception):  # the other contract is another artifact
        _compile_artifact(parse(GAIN), contract=PROGRAM)


# Programs around artifacts.


def test_a_program_keeps_no_copy_of_the_signature():
    compiled = ir.compile(parse(GAIN))
    assert compiled.param_names == ["x", "k", "y"]
    assert compiled.output_indices == [2] and compiled.has_return
    held = [value for value in vars(compiled).values() if isinstance(value, (list, tuple))]
    assert not any(held)
    assert compiled.metadata is compiled.artifact.metadata


def test_the_sidecar_is_written_once(monkeypatch, tmp_path):
    written = []
    real = output_folder.put

    def spy(folder, name, content):
        written.append(name)
        real(folder, name, content)

    monkeypatch.setattr(output_folder, "put", spy)
    compiled = ir.compile(parse(GAIN), tmp_path)
    compiled(torch.zeros(16, 32), 1.0)
    assert compiled.output_dir == str(tmp_path)
    assert written.count("compiled_meta.json") == 1


def test_a_program_at_hand_makes_its_sidecar(tmp_path):
    program = parse(GAIN)
    made = ir.CompiledProgram(program, tmp_path)
    metadata = ArtifactMetadata.read(tmp_path)
    assert metadata.param_names == ("x", "k", "y") and metadata.lowered_params is None
    assert made.program is program and made.metadata == metadata
    before = os.stat(tmp_path / "compiled_meta.json").st_mtime_ns
    again = ir.CompiledProgram(program, tmp_path, platform="a2a3")
    assert again.platform == "a2a3"
    assert os.stat(tmp_path / "compiled_meta.json").st_mtime_ns == before


def test_a_signature_without_canonical_form_is_a_program_only(monkeypatch):
    real = bridge.compile_program

    def changed(*args):
        result = real(*args)
        result["unit"]["lowered_params"][0]["dtype"] = "FP16"
        return result

    monkeypatch.setattr(bridge, "compile_program", changed)
    compiled = ir.compile(parse(GAIN))
    assert compiled.metadata.lowered_params is None
    x = torch.randn(16, 32)
    assert torch.equal(compiled(x, 2.0), x * 2)
    with pytest.raises(ArtifactError, match=r"lowering changed parameter 0 \('x'\): its dtype"):
        _compile_artifact(parse(GAIN))


def test_without_a_lowered_signature_there_is_no_kernel(monkeypatch):
    monkeypatch.setattr(signature, "lowered_params_of", lambda unit, params: None)
    assert ir.compile(parse(GAIN)).metadata.lowered_params is None
    with pytest.raises(ArtifactError, match="a kernel needs lowered_params"):
        _compile_artifact(parse(GAIN))


def test_entries_share_the_artifact(tmp_path):
    program = parse(TWO)
    compiled = ir.compile(program, tmp_path)
    x = torch.randn(16, 16)
    for each in (compiled, ir.CompiledProgram.from_dir(tmp_path)):
        assert each.orchestration_names == ["twice", "four_times"]
        assert each["four_times"].artifact is each.artifact
        assert each.four_times is each["four_times"]
        assert each["twice"] is each
        assert torch.equal(each(x), x * 2)
        assert torch.equal(each.four_times(x), x * 4)
        with pytest.raises(KeyError, match="the program has twice, four_times"):
            each["other"]
        with pytest.raises(AttributeError, match="no attribute 'other'"):
            each.other  # noqa: B018
    assert compiled.four_times.output_dir == str(tmp_path / "next_levels" / "four_times")
    files = set(os.listdir(tmp_path))
    assert "kernel_config.py" not in files and {"compiled_meta.json", "next_levels"} <= files


def test_each_entry_s_folder_is_complete(tmp_path):
    ir.compile(parse(TWO), tmp_path)
    part = ir.CompiledProgram.from_dir(tmp_path / "next_levels" / "four_times")
    x = torch.randn(16, 16)
    assert torch.equal(part(x), x * 4)


def test_several_devices_keep_their_own_way():
    with pytest.raises(pypto.UnsupportedFeatureError, match="several devices"):
        ir.compile(parse(GAIN), distributed_config=object())


def test_compiling_and_reading_choose_no_mode(python, tmp_path):
    lines = python(
        "import sys\n"
        f"sys.path.insert(0, {os.path.dirname(sys.modules['artifact_programs'].__file__)!r})\n"
        "from artifact_programs import GAIN, parse\n"
        "from pypto import ir\n"
        "from pypto.ir.compile import _compile_artifact\n"
        "from pypto.runtime import _execution_mode\n"
        "_compile_artifact(parse(GAIN)).load()\n"
        f"ir.compile(parse(GAIN), {str(tmp_path / 'out')!r})\n"
        f"made = ir.CompiledProgram.from_dir({str(tmp_path / 'out')!r})\n"
        "made.load()\n"
        "print(_execution_mode.current_mode(), 'simpler' in sys.modules)\n"
    )
    assert lines == ["None False"]


def test_the_public_surface_of_compiling():
    public = {name for name in ir.__all__ if name[0].islower()}
    assert public == {"compile"}
    assert not {"begin_dfx", "end_dfx", "register"} & set(dir(ir))


def test_a_program_with_too_many_arguments_for_a_chip_is_refused():
    count = 129
    names = [f"s{i}" for i in range(count)]
    text = (
        "import pypto.language as pl\n@pl.program\nclass Many:\n"
        "    @pl.function(type=pl.FunctionType.Orchestration)\n"
        "    def main(self, x: pl.Tensor[[16, 16], pl.FP32], "
        + ", ".join(f"{name}: pl.Scalar[pl.INT32]" for name in names)
        + "):\n        return x\n"
    )
    for compile_it in (ir.compile, _compile_artifact):
        with pytest.raises(ValueError, match="takes 129 scalars; one run on a chip takes 128"):
            compile_it(parse(text))
