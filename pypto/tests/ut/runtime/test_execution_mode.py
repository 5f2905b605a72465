"""PROGRAM and KERNEL exclude each other in a process; what a forked child inherits."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading

import pytest
from kernel_fakes import Threads
from pypto.runtime import _execution_mode
from pypto.runtime._execution_mode import KERNEL, PROGRAM, _ModeGate


def test_the_first_claim_wins_and_lasts():
    for first, second in ((PROGRAM, KERNEL), (KERNEL, PROGRAM)):
        gate = _ModeGate()
        assert gate.mode is None
        gate.claim(first)
        gate.claim(first)
        text = f"Cannot initialize {second.upper()} mode: this process already claimed {first.upper()} mode"
        with pytest.raises(RuntimeError, match=text):
            gate.claim(second)
        assert gate.mode == first


def test_an_unknown_mode_is_an_error():
    with pytest.raises(ValueError, match="neither 'program' nor 'kernel'"):
        _ModeGate().claim("both")


def test_competing_claims_share_one_lock():
    for _ in range(50):
        gate, barrier = _ModeGate(), threading.Barrier(4)

        def claim(mode, gate=gate, barrier=barrier):
            barrier.wait()
            gate.claim(mode)
            return mode

        outcomes = Threads().start(*[lambda m=m: claim(m) for m in (PROGRAM, KERNEL) * 2]).join()
        assert {mode for mode, error in outcomes if error is None} == {gate.mode}
        assert sum(error is not None for _, error in outcomes) == 2


# Each of these runs a program in a process of its own, because a claim lasts as long as the process.

PRELUDE = """
import os, sys, threading
from pypto.runtime import _execution_mode as mode
from pypto.runtime.kernel import context

def in_child(function):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(function())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    text = b""
    while part := os.read(reader, 65536):
        text += part
    os.waitpid(child, 0)
    return text.decode()
"""


def run(body, timeout=120):
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + body],
        env={**os.environ, "PYPTO_SKIP_RUNTIME_PIN_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_importing_compiling_and_reading_claim_nothing(tmp_path):
    body = f"""
import torch
import pypto.language as pl
from pypto import ir

@pl.program
class Add:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 16], pl.FP32], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        t = pl.load(a, [0, 0], [16, 16])
        c = pl.store(pl.add(t, t), [0, 0], c)
        return c

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 16], pl.FP32], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        c = self.k(a, c)
        return c

import pypto.torch
import pypto.torch.interop
compiled = ir.compile(Add, {str(tmp_path / "out")!r})
again = ir.CompiledProgram.from_dir({str(tmp_path / "out")!r})
print(mode.current_mode())
a, c = torch.ones(16, 16), torch.zeros(16, 16)
compiled(a, c)
print(mode.current_mode(), c.sum().item())
"""
    assert run(body).split() == ["None", "program", "512.0"]


JIT = '''
import torch
import pypto.language as pl
import linecache
source = """
import pypto.language as pl

@pl.jit.incore
def double_tile(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    t = pl.load(a, [0, 0], [16, 16])
    c = pl.store(pl.add(t, t), [0, 0], c)
    return c

@pl.jit
def double(a: pl.Tensor[[16, 16], pl.FP32], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    c = double_tile(a, c)
    return c
"""
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "kernels.py")
open(path, "w").write(source)
names = {}
exec(compile(source, path, "exec"), names)
double = names["double"]

def call(config=None):
    a, c = torch.ones(16, 16), torch.zeros(16, 16)
    double(a, c, config=config) if config else double(a, c)
    return c.sum().item()
'''


def test_a_jit_call_takes_the_program_path_and_kernel_mode_refuses_it():
    body = (
        JIT
        + """
mode.claim(mode.KERNEL)
from pypto.runtime import RunConfig
for config in (None, RunConfig(trace=os.path.join(os.path.dirname(path), "t.json"))):
    try:
        call(config)
    except RuntimeError as error:
        print(error)
"""
    )
    lines = run(body).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "Cannot initialize PROGRAM mode: this process already claimed KERNEL mode" in line
        assert "pypto.torch.launch" in line


def test_diagnostic_runs_claim_before_they_do_anything(tmp_path):
    body = (
        JIT
        + f"""
mode.claim(mode.KERNEL)
from pypto.runtime import RunConfig
folder = {str(tmp_path / "out")!r}
os.mkdir(folder)
open(os.path.join(folder, "deps.json"), "w").write("of an earlier run")
config = RunConfig(enable_dep_gen=True, enable_chip_swimlane=True, save_kernels_dir=folder)
c = torch.zeros(16, 16)
try:
    double(torch.ones(16, 16), c, config=config)
except RuntimeError as error:
    print(error)
print(open(os.path.join(folder, "deps.json")).read(), c.sum().item())
"""
    )
    lines = run(body).splitlines()
    assert "Cannot initialize PROGRAM mode" in lines[0]
    assert lines[1] == "of an earlier run 0.0"


def test_a_worker_that_is_started_directly_claims_program_mode():
    body = """
from pypto.runtime import ChipWorker
made = ChipWorker()
print(mode.current_mode())
with made:
    print(mode.current_mode())
"""
    assert run(body).split() == ["None", "program"]
    refused = """
from pypto.runtime import ChipWorker
import simpler.worker
def init(self, *a, **k):
    print("a native Worker was initialised")
simpler.worker.Worker.init = init
mode.claim(mode.KERNEL)
try:
    ChipWorker().init()
except RuntimeError as error:
    print(error)
"""
    (line,) = run(refused).splitlines()
    assert "Cannot initialize PROGRAM mode: this process already claimed KERNEL mode" in line


def test_one_shot_distributed_execution_claims_before_it_touches_anything(tmp_path):
    body = f"""
import torch
from pypto import runtime
folder = {str(tmp_path)!r}
old = os.path.join(folder, "dispatch_0.json")
open(old, "w").write("of an earlier run")
tensor = torch.ones(4)
config = runtime.RunConfig(distributed_config=object(), save_kernels_dir=folder)

def attempt():
    try:
        runtime.run(None, tensor, config=config)
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}", tensor.is_shared(), os.path.exists(old), mode.current_mode()

print(in_child(attempt))  # nothing chosen: PROGRAM is chosen before the rest
mode.claim(mode.KERNEL)
print(attempt())
"""
    first, second = run(body).splitlines()
    assert first.endswith("False, True, 'program')")
    assert "Cannot initialize PROGRAM mode" in second and second.endswith("False, True, 'kernel')")


def test_a_program_call_claims_before_it_runs_and_keeps_kernel_mode_out():
    body = (
        JIT
        + """
print(mode.current_mode(), call(), mode.current_mode())
try:
    mode.claim(mode.KERNEL)
except RuntimeError as error:
    print(error)
"""
    )
    lines = run(body).splitlines()
    assert lines[0] == "None 512.0 program"
    assert "already claimed PROGRAM mode" in lines[1] and "pypto.torch.init()" in lines[1]


def test_arguments_that_do_not_fit_claim_nothing():
    body = (
        JIT
        + """
try:
    double(torch.ones(16, 16), torch.zeros(8, 8))
except Exception as error:
    print(type(error).__name__, mode.current_mode())
"""
    )
    assert run(body).split()[-1] == "None"


def test_a_child_of_a_program_process_chooses_anew():
    body = (
        JIT
        + """
def child():
    return mode.current_mode(), context.manager() is before
call()
before = context.manager()
print(in_child(child))
print(in_child(lambda: mode.claim(mode.KERNEL) or mode.current_mode()))
print(in_child(lambda: (mode.claim(mode.KERNEL), call())))
"""
    )
    lines = run(body).splitlines()
    assert lines[0] == "(None, False)"
    assert lines[1] == "kernel"
    assert "already claimed KERNEL mode" in lines[2]  # the native path asks again, too


def test_a_child_of_a_kernel_process_must_spawn():
    body = """
class Session:
    def start(self): pass
    def close(self): print("closed by", os.getpid() == parent, flush=True)
    def synchronize(self): pass
    def register(self, artifact): return 1, 2
    def is_lifecycle_thread(self): return False
    def refuse_in_capture(self, what): pass
parent = os.getpid()
manager = context.manager()
manager.ensure_worker("config", lambda generation: Session())
class Artifact: key = "K"
registration = manager.ensure_callable(Artifact())
for function in (
    lambda: mode.claim(mode.PROGRAM),
    lambda: mode.claim(mode.KERNEL),
    lambda: context.manager().ensure_worker("config", lambda g: None),
    lambda: context.manager().ensure_callable(Artifact()),
    lambda: context.manager().submit(registration, None, lambda t: None),
    lambda: context.manager().drain(),
    lambda: context.manager().close(),
    lambda: registration.require_live(manager, 1),
    lambda: __import__("pypto.torch").torch.init(),
    lambda: mode.current_mode(),
):
    print(in_child(function))
manager.close()
"""
    lines = run(body).splitlines()
    for line in lines[:9]:
        assert line.startswith("RuntimeError") and "'spawn'" in line, line
    assert lines[9:] == ["kernel", "closed by True"]


def test_inherited_locks_are_replaced_for_an_unused_manager():
    body = """
manager = context.manager()
held = threading.Event()
def hold():
    with manager._lock, manager._admission, mode._gate._lock:
        held.set()
        threading.Event().wait(30)
threading.Thread(target=hold, daemon=True).start()
held.wait()
def child():
    fresh = context.manager()
    assert fresh is not manager and fresh is context.manager()
    got = [lock.acquire(timeout=1) for lock in (fresh._lock, fresh._admission, mode._gate._lock)]
    return got
print(in_child(child))
"""
    assert run(body).strip() == "[True, True, True]"


def test_the_replacement_happens_once_before_any_first_access():
    body = """
def child():
    seen, barrier = set(), threading.Barrier(8)
    def first():
        barrier.wait()
        seen.add(id(context.manager()))
    threads = [threading.Thread(target=first) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return len(seen)
print(in_child(child))
"""
    assert run(body).strip() == "1"


def test_competing_claims_in_a_child_let_one_mode_start():
    body = """
class Session:
    def start(self): started.append(1)
    def is_lifecycle_thread(self): return False
started = []
def child():
    outcome, barrier = [], threading.Barrier(2)
    def program():
        barrier.wait()
        try:
            mode.claim_program(); outcome.append("program")
        except RuntimeError: outcome.append("no program")
    def kernel():
        barrier.wait()
        try:
            context.manager().ensure_worker("c", lambda g: Session()); outcome.append("kernel")
        except RuntimeError: outcome.append("no kernel")
    threads = [threading.Thread(target=f) for f in (program, kernel)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return sorted(outcome), len(started)
mode.claim_program()
for _ in range(20):
    print(in_child(child))
"""
    allowed = {
        "(['no program', 'kernel'], 1)",
        "(['kernel', 'no program'], 1)",
        "(['no kernel', 'program'], 0)",
    }
    lines = run(body).splitlines()
    assert len(lines) == 20 and set(lines) <= allowed, lines


def _claims_in_spawned_child(queue):
    queue.put(_execution_mode.current_mode())
    _execution_mode.claim(_execution_mode.KERNEL)
    queue.put(_execution_mode.current_mode())


def test_a_spawned_child_chooses_anew():
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    child = spawn.Process(target=_claims_in_spawned_child, args=(queue,))
    child.start()
    assert [queue.get(timeout=60), queue.get(timeout=60)] == [None, KERNEL]
    child.join(60)
    assert child.exitcode == 0
