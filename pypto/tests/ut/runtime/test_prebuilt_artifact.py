"""Artifacts on disk: folders that are read back, machine code that is checked or made again, promotion."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from artifact_programs import GAIN, PREDICATE, TWO, add, parse
from pypto.ir.artifact import ArtifactError, ArtifactExecutionMode, CompiledArtifact
from pypto.ir.artifact_metadata import FILE
from pypto.ir.compile import _compile_artifact
from pypto.runtime import artifact_runtime
from pypto.runtime.artifact_runtime import BINARY_MANIFEST, ORCHESTRATION, ArtifactRuntime
from pypto.runtime.artifact_store import MANIFEST, ArtifactStage, ArtifactStore, Outcome

from pypto import bridge, ir

PROGRAM, KERNEL = ArtifactExecutionMode.PROGRAM, ArtifactExecutionMode.KERNEL


@pytest.fixture
def folder(tmp_path) -> Path:
    ir.compile(parse(GAIN), tmp_path / "gain")
    return tmp_path / "gain"


def doubles(run) -> bool:
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    run(x, 2.0, y)
    return torch.equal(y, x * 2)


def forbid_compiler(monkeypatch):
    monkeypatch.setattr(bridge, "compiler", lambda: pytest.fail("the compiler was asked"))


# Folders.


def test_the_folder_holds_what_is_said(folder):
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert {
        FILE,
        "kernel_config.py",
        "orchestration/main.mlir",
        "ptoas/apply.pto",
        "debug/run.py",
        BINARY_MANIFEST,
        ORCHESTRATION,
    } <= files


def test_the_manifest_for_tools_is_a_module(folder):
    names: dict = {"__file__": str(folder / "kernel_config.py")}
    exec((folder / "kernel_config.py").read_text(), names)
    assert names["RUNTIME_CONFIG"] == {"runtime": "tensormap_and_ringbuffer", "aicpu_thread_num": 0}
    assert names["ORCHESTRATION"]["function_name"] == "main"
    assert [d.name for d in names["ORCHESTRATION"]["signature"]] == ["IN", "OUT"]
    (kernel,) = names["KERNELS"]
    assert (kernel["func_id"], kernel["name"], kernel["core_type"]) == (0, "apply", "aiv")
    assert Path(kernel["source"]).is_file() and Path(names["ORCHESTRATION"]["source"]).is_file()


def test_the_runner_of_a_folder_runs(folder):
    done = subprocess.run(
        [sys.executable, str(folder / "debug" / "run.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("y tensor(")


def test_the_runner_can_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_EMIT_DEBUG_RUNNER", "no")
    ir.compile(parse(GAIN), tmp_path / "g")
    assert not (tmp_path / "g" / "debug").exists()


def test_markers_of_another_kind_of_build_go(tmp_path):
    ir.compile(parse(GAIN), tmp_path)
    (tmp_path / "distributed_meta.json").write_text("{}")
    (tmp_path / "orchestration" / "host_orch.py").write_text("")
    (tmp_path / "notes.txt").write_text("mine")
    ir.compile(parse(TWO), tmp_path)
    assert not (tmp_path / "distributed_meta.json").exists()
    assert not (tmp_path / "orchestration" / "host_orch.py").exists()
    assert not (tmp_path / "kernel_config.py").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_from_dir_reads_metadata_only(folder, monkeypatch):
    for name in (BINARY_MANIFEST, ORCHESTRATION, "orchestration/main.mlir"):
        (folder / name).unlink()
    (folder / "kernel_config.py").write_text("raise SystemExit('run')")
    monkeypatch.setattr(bridge, "core", lambda: pytest.fail("native code was loaded"))
    forbid_compiler(monkeypatch)
    artifact = CompiledArtifact.from_dir(folder)
    program = ir.CompiledProgram.from_dir(folder)
    assert artifact.metadata.param_names == ("x", "k", "y") and not artifact.is_loaded
    assert program.program is None and program.output_dir == str(folder)


def test_a_folder_is_restored_as_it_was_compiled(folder, monkeypatch):
    compiled = ir.compile(parse(GAIN))
    forbid_compiler(monkeypatch)
    restored = ir.CompiledProgram.from_dir(folder)
    assert restored.metadata == compiled.metadata
    x = torch.randn(16, 32)
    assert torch.equal(restored(x, 3.0), compiled(x, 3.0))
    assert doubles(restored)


def test_outputs_are_allocated_from_the_signature_before_lowering(folder):
    """Calls bind to `params`; `lowered_params` is for the assembly."""
    record = json.loads((folder / FILE).read_text())
    for param in record["lowered_params"]:
        param["name"] += "__ssa_v1"
    (folder / FILE).write_text(json.dumps(record))
    restored = ir.CompiledProgram.from_dir(folder)
    assert restored.param_names == ["x", "k", "y"]
    assert restored(torch.zeros(16, 32), 1.0).shape == (16, 32)
    record["lowered_params"][2]["shape"] = [32, 16]
    (folder / FILE).write_text(json.dumps(record))
    with pytest.raises(ArtifactError, match=r"lowering changed parameter 2 \('y'\): its shape"):
        ir.CompiledProgram.from_dir(folder)


@pytest.mark.parametrize("schema", [1, 2])
def test_old_folders_are_programs(folder, schema):
    record = json.loads((folder / FILE).read_text())
    old = {k: record[k] for k in ("params", "num_return_types", "platform", "backend_type")}
    old["schema"] = schema
    if schema == 1:
        for param in old["params"]:
            del param["layout"]
    (folder / FILE).write_text(json.dumps(old))
    artifact = CompiledArtifact.from_dir(folder)
    with pytest.raises(ArtifactError, match="compile it again with contract KERNEL"):
        artifact.require(KERNEL)
    program = ir.CompiledProgram.from_dir(folder)
    assert program.output_indices == [2] and program.has_return
    x = torch.randn(16, 32)
    assert torch.equal(program(x, 2.0), x * 2)
    shutil.rmtree(folder / "prebuilt")  # nothing says what its entry is called
    program = ir.CompiledProgram.from_dir(folder)
    with pytest.raises(ArtifactError, match="compile the program again"):
        program(torch.zeros(16, 32), 1.0)


def test_a_kernel_s_folder_is_no_program(tmp_path):
    _compile_artifact(parse(GAIN), output_dir=tmp_path)
    CompiledArtifact.from_dir(tmp_path).require(KERNEL)
    with pytest.raises(ArtifactError, match="compile it again with contract PROGRAM"):
        ir.CompiledProgram.from_dir(tmp_path)


def test_the_target_can_be_overridden(folder):
    restored = ir.CompiledProgram.from_dir(folder, platform="a2a3")
    assert restored.platform == restored.artifact.platform == restored.metadata.platform == "a2a3"
    assert restored.backend_type.name == "Ascend910B"
    assert doubles(restored)
    with pytest.raises(ArtifactError, match="compiled for a2a3sim; compile it again for a5sim"):
        ir.CompiledProgram.from_dir(folder, platform="a5sim")
    with pytest.raises(ArtifactError, match="compile it again for Ascend950"):
        ir.CompiledProgram.from_dir(
            folder, backend_type=ir.compile.__globals__["BackendType"].Ascend950
        )


# Machine code.


def test_code_is_made_from_the_lowered_program(folder):
    shutil.rmtree(folder / "prebuilt")
    assert doubles(ir.CompiledProgram.from_dir(folder))
    assert (folder / ORCHESTRATION).exists()  # kept for the next process


def test_code_of_another_toolchain_is_made_again(folder, monkeypatch):
    path = folder / BINARY_MANIFEST
    manifest = json.loads(path.read_text())
    mine = manifest["toolchain"]
    manifest["toolchain"] = "another"
    path.write_text(json.dumps(manifest))
    assert doubles(ir.CompiledProgram.from_dir(folder))
    assert json.loads(path.read_text())["toolchain"] == mine


def test_damaged_code_is_made_again_or_refused(folder):
    code = folder / ORCHESTRATION
    code.write_bytes(code.read_bytes()[:-1] + b"\0\0")
    assert doubles(ir.CompiledProgram.from_dir(folder))
    code.write_bytes(b"no code")
    (folder / "orchestration" / "main.mlir").unlink()
    with pytest.raises(ArtifactError, match="compile the program again"):
        ir.CompiledProgram.from_dir(folder).load()


@pytest.mark.parametrize(
    "text", ["", "not mlir", "module {", 'module { func.func @main() { "no.op"() : () -> () } }']
)
def test_a_lowered_program_that_is_none(folder, text):
    shutil.rmtree(folder / "prebuilt")
    (folder / "orchestration" / "main.mlir").write_text(text)
    with pytest.raises((ArtifactError, RuntimeError)) as caught:
        ir.CompiledProgram.from_dir(folder).load()
    assert "main" in str(caught.value)


def test_a_folder_that_cannot_be_written_is_loaded(folder, monkeypatch):
    shutil.rmtree(folder / "prebuilt")

    def denied(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(artifact_runtime.os, "open", denied)
    assert doubles(ir.CompiledProgram.from_dir(folder))
    assert not (folder / "prebuilt").exists()


def test_processes_that_load_one_folder_agree(folder):
    shutil.rmtree(folder / "prebuilt")
    text = (
        "import sys, torch\nfrom pypto import ir\n"
        "p = ir.CompiledProgram.from_dir(sys.argv[1])\n"
        "x = torch.ones(16, 32)\nprint(p(x, 2.0).sum().item())\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", text, str(folder)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [p.communicate(timeout=120)[0].strip() for p in running] == ["1024.0"] * 3


# Loading.


def test_loading_is_serialised_and_published_when_it_is_whole(folder, monkeypatch):
    made, real = [], artifact_runtime.read_prebuilt

    def slow(path):
        made.append(path)
        time.sleep(0.1)
        return real(path)

    monkeypatch.setattr(artifact_runtime, "read_prebuilt", slow)
    artifact = CompiledArtifact.from_dir(folder)
    loaded = []
    threads = [threading.Thread(target=lambda: loaded.append(artifact.load())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(set(map(id, loaded))) == 1


def test_a_failed_load_publishes_nothing_and_can_be_repeated(folder, monkeypatch):
    artifact = CompiledArtifact.from_dir(folder)
    real = bridge.core

    class Broken:
        def __getattr__(self, name):
            if name == "Executable":
                raise RuntimeError("no memory")
            return getattr(real(), name)

    monkeypatch.setattr(bridge, "core", Broken)
    with pytest.raises(RuntimeError, match="no memory"):
        artifact.load()
    assert not artifact.is_loaded
    monkeypatch.setattr(bridge, "core", real)
    assert doubles(artifact.load().executable)


def test_loading_touches_no_worker(folder, monkeypatch):
    from pypto.runtime.task_interface import Worker

    for name in ("__init__", "init", "register", "run", "submit"):
        monkeypatch.setattr(Worker, name, lambda *a, **k: pytest.fail("a worker was used"))
    artifact = CompiledArtifact.from_dir(folder)
    assert artifact.load().chip_callable.func_name == "main"
    assert [d.name for d in artifact.chip_callable.signature] == ["IN", "OUT"]


def test_one_implementation_loads_folders_and_stored_artifacts(folder, tmp_path, monkeypatch):
    seen = []
    real = ArtifactRuntime.load
    monkeypatch.setattr(
        ArtifactRuntime, "load", lambda self: (seen.append(self.source), real(self))[1]
    )
    ir.CompiledProgram.from_dir(folder).load()
    stored = _compile_artifact(parse(GAIN), store=ArtifactStore(tmp_path / "s"))
    stored.load()
    assert seen == [folder, Path(stored.directory)]


# The store.


@pytest.fixture
def store(tmp_path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "store")


def test_a_stored_kernel_is_promoted_once(store, monkeypatch):
    artifact = _compile_artifact(parse(GAIN), store=store)
    assert artifact.key is not None and artifact.directory.startswith(str(store.root))
    source = artifact.directory
    assert Path(source).name == "generated" and not (Path(source) / "prebuilt").exists()
    assert doubles(artifact.load().executable)
    ready = [p for p in store.root.rglob(MANIFEST) if p.parent.name == "ready"]
    assert len(ready) == 1 and (ready[0].parent / ORCHESTRATION).exists()
    forbid_compiler(monkeypatch)
    again = _compile_artifact(parse(GAIN), store=store)
    assert doubles(again.load().executable)
    assert artifact.directory == again.directory == source  # promotion does not change it
    assert again.identity == artifact.identity


def test_runs_write_outside_of_the_store(store):
    artifact = _compile_artifact(parse(GAIN), store=store)
    assert store.root not in artifact.run_directory.parents
    named = _compile_artifact(parse(GAIN), store=store, output_dir=store.root.parent / "runs")
    assert named.run_directory == store.root.parent / "runs"
    before = {p: p.stat().st_mtime_ns for p in store.root.rglob("*")}
    named.load()
    assert all(p.stat().st_mtime_ns == t for p, t in before.items() if p.is_file())


def test_stored_artifacts_are_found_by_contract_and_arguments(store):
    x, y = torch.empty(16, 16), torch.empty(16, 32)
    keys = [
        _compile_artifact(parse(GAIN), store=store).key,
        _compile_artifact(parse(GAIN), store=store, contract=PROGRAM).key,
        _compile_artifact(add, x, x, x, store=store).key,
        _compile_artifact(add, y, y, y, store=store).key,
    ]
    assert len({key.digest for key in keys}) == 4
    assert _compile_artifact(add, x, x, x, store=store).key == keys[2]


def test_damage_in_the_store_is_found_and_worked_around(store):
    artifact = _compile_artifact(parse(GAIN), store=store)
    artifact.load()
    for name in (ORCHESTRATION, "kernel_config.py"):
        for path in store.root.rglob(Path(name).name):
            path.write_bytes(path.read_bytes() + b"\n")
    again = _compile_artifact(parse(GAIN), store=store)
    assert not again.directory.startswith(str(store.root))  # a private one
    assert doubles(again.load().executable)


def test_a_stored_program_gets_its_wrapper(store):
    artifact = _compile_artifact(parse(GAIN), store=store, contract=PROGRAM)
    program = ir.CompiledProgram.from_dir(artifact.directory)
    x = torch.randn(16, 32)
    assert torch.equal(program(x, 2.0), x * 2)


def test_private_artifacts_are_told_apart_by_object(tmp_path):
    one = _compile_artifact(parse(GAIN), output_dir=tmp_path)
    two = _compile_artifact(parse(GAIN), output_dir=tmp_path)  # the folder is written again
    assert one.key is None and one.identity != two.identity and one.identity == one.identity
    assert hash(one.identity) != hash(two.identity)


def test_an_unidentified_toolchain_bypasses_the_store(store, monkeypatch):
    import importlib

    module = importlib.import_module("pypto.ir.compile")
    unknown = module.toolchain_identity().__class__(None, None, None, None, None, ("none",))
    monkeypatch.setattr(module, "toolchain_identity", lambda: unknown)
    artifact = module._compile_artifact(parse(GAIN), store=store)
    assert artifact.key is None and not store.root.exists()
    assert doubles(artifact.load().executable)


def test_a_process_killed_during_promotion_does_no_harm(store, tmp_path):
    """Killed between code and manifest of the READY stage."""
    text = """
import sys, time
sys.path.insert(0, sys.argv[2])
from artifact_programs import GAIN, parse
from pypto.ir.compile import _compile_artifact
from pypto.runtime import artifact_store
from pypto.runtime.artifact_store import ArtifactStore
artifact = _compile_artifact(parse(GAIN), store=ArtifactStore(sys.argv[1]))
real = artifact_store._write_synced
def write(path, data, mode):
    if path.name == "artifact_manifest.json":
        print("here", flush=True)
        time.sleep(600)
    real(path, data, mode)
artifact_store._write_synced = write
artifact.load()
"""
    here = str(Path(sys.modules["artifact_programs"].__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", text, str(store.root), here], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "here"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    artifact = _compile_artifact(parse(GAIN), store=store)
    assert doubles(artifact.load().executable)
    assert artifact._runtime._ready.outcome is Outcome.PUBLISHED
    assert artifact._runtime._ready.spec.stage is ArtifactStage.BINARY_READY


@pytest.mark.parametrize("text", [GAIN, TWO, PREDICATE], ids=["gain", "two", "predicate"])
def test_the_lowered_program_gives_the_same_code(tmp_path, text):
    ir.compile(parse(text), tmp_path)
    folders = [p.parent.parent for p in tmp_path.rglob("binary_manifest.json")]
    assert folders
    for each in folders:
        assert artifact_runtime.build(each).code == artifact_runtime.read_prebuilt(each).code


def test_a_child_loads_what_its_parent_was_loading(folder, monkeypatch):
    """A thread is loading when the process forks: its lock means nothing in the child."""
    real, inside, go = artifact_runtime.read_prebuilt, threading.Event(), threading.Event()

    def slow(path):
        inside.set()
        go.wait(60)
        return real(path)

    monkeypatch.setattr(artifact_runtime, "read_prebuilt", slow)
    artifact = CompiledArtifact.from_dir(folder)
    thread = threading.Thread(target=artifact.load)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        go.set()
        artifact_runtime.read_prebuilt = real
        signal.alarm(120)  # kills it where it waits for ever
        os._exit(0 if artifact.load().entry_address else 1)
    _, status = os.waitpid(child, 0)
    go.set()
    thread.join()
    assert status == 0 and artifact.is_loaded


def test_processes_share_one_stored_kernel(store):
    text = """
import sys, torch
sys.path.insert(0, sys.argv[2])
from artifact_programs import GAIN, parse
from pypto.ir.compile import _compile_artifact
from pypto.runtime.artifact_store import ArtifactStore
artifact = _compile_artifact(parse(GAIN), store=ArtifactStore(sys.argv[1]))
x, y = torch.ones(16, 32), torch.empty(16, 32)
artifact.load().executable(x, 2.0, y)
print(artifact.directory, y.sum().item())
"""
    here = str(Path(sys.modules["artifact_programs"].__file__).parent)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", text, str(store.root), here], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    results = {p.communicate(timeout=200)[0].strip() for p in running}
    assert len(results) == 1 and results.pop().endswith("generated 1024.0")
    assert len(list(store.root.rglob(MANIFEST))) == 2  # GENERATED and READY, once each
