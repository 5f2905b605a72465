"""The interpreter ends while threads of workers are busy: no abort, no hang, nothing lost that was promised.

Each program runs in a process of its own. The main thread keeps the GIL where the order matters, so that the other
thread asks for it at the moment the program is about."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from scenes import build

PLATFORM = "a2a3sim"
ENTRIES = {
    "held": "timing",
    "held_then_counted": "timing",
    "logging": "data",
    "throwing_kernel": "data",
}

PRELUDE = """
import atexit, gc, sys, threading, time, types, weakref
import numpy as np
from simpler.buffer import Buffer
from simpler.task_interface import ChipCallable, DataType, TaskArgs, TensorArgType
from simpler import RunError, Worker

def chip(entry):
    with open(f"{sys.argv[1]}/{entry}", "rb") as file:
        return ChipCallable.from_bytes(file.read())

def args(*arrays):
    result = TaskArgs()
    for array in arrays:
        result.add_tensor(Buffer.wrap(array).tensor(array.shape, DataType.INT32), TensorArgType.INOUT)
    return result

def started(level=2, **keys):
    w = Worker(level=level, platform="a2a3sim", runtime="tensormap_and_ringbuffer", **keys)
    w.init()
    return w

def keep_the_gil_until(done):
    sys.setswitchinterval(1000.0)
    while not done():
        pass

x, gate = np.zeros(4, np.int32), np.zeros(1, np.int32)

class AtEnd(types.ModuleType):
    "Opens the gate when modules are cleared: the interpreter is ending by then."
    def __init__(self):
        super().__init__("at_end")
        sys.modules["at_end"] = self
        self.gate, self.sleep = gate, time.sleep
    def __del__(self):
        self.gate[0] = 1
        self.sleep(0.3)  # without the GIL: the other thread comes back now
"""


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for entry, file in ENTRIES.items():
        (folder / entry).write_bytes(build.chip(PLATFORM, file, entry, ["INOUT"]).to_bytes())
    return folder


@pytest.fixture
def program(images):
    def run(body: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + body, str(images)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        shown = [
            line for line in done.stderr.splitlines() if "[simpler ERROR] error text" not in line
        ]
        return done.stdout, "\n".join(shown)  # without what the orchestration `logging` writes

    return run


def test_a_run_that_is_announced_while_the_program_ends(program):
    out, err = program("""
w = started()
run = w.submit(w.register(chip("logging")), args(x))
run.add_done_callback(lambda run: print("called back", run.done, flush=True))
keep_the_gil_until(lambda: run.done)
""")
    assert (out, err) == ("called back True\n", "")


def test_submitted_runs_end_before_the_interpreter(program):
    out, err = program("""
w = started()
held, more = w.register(chip("held")), w.register(chip("logging"))
runs = [w.submit(held, args(gate))] + [w.submit(more, args(x)) for _ in range(5)]
runs[-1].add_done_callback(lambda run: print("last", x, flush=True))
threading.Timer(0.2, lambda: gate.fill(1)).start()
del runs
""")
    assert (out, err) == ("last [5 5 5 5]\n", "")


def test_a_run_is_refused_when_nobody_would_see_its_end(program):
    out, err = program("""
w = started()
more = w.register(chip("logging"))
class Late:
    def __del__(self, w=w, more=more, args=args, x=x, print=print):
        w.run(more, args(x))
        try:
            w.submit(more, args(x))
        except RuntimeError as error:
            print(error, int(x[0]), flush=True)
late = Late()
""")
    assert (
        out == "Worker.submit: the interpreter is ending; nobody would see the end of the run 1\n"
    )
    assert err == ""


def test_a_daemon_thread_in_a_run_when_the_program_ends(program):
    assert program("""
w = started()
held = w.register(chip("held"))
entered = threading.Event()
def work():
    entered.set()
    w.run(held, args(gate))
threading.Thread(target=work, daemon=True).start()
entered.wait()
time.sleep(0.2)
AtEnd()
""") == ("", "")


def test_a_daemon_thread_that_waits_for_a_run_when_the_program_ends(program):
    assert program("""
w = started()
run = w.submit(w.register(chip("held")), args(gate))
threading.Thread(target=run.wait, daemon=True).start()
time.sleep(0.2)
atexit.register(gate.fill, 1)
sys.setswitchinterval(1000.0)
""") == ("", "")


def test_the_last_name_of_a_worker_goes_in_a_callback(program):
    out, err = program("""
w = started()
gone = threading.Event()
weakref.finalize(w, gone.set)
run = w.submit(w.register(chip("held")), args(gate))
run.add_done_callback(lambda run: print("called back", flush=True))
del w, run
gc.collect()
gate[0] = 1
print(gone.wait(60))
""")
    assert (out, err) == ("called back\nTrue\n", "")


def test_a_worker_is_dropped_while_its_run_is_announced(program):
    out, err = program("""
w = started()
state = w.submit(w.register(chip("logging")), args(x))._state
state.on_done(lambda: print("called back", flush=True))
keep_the_gil_until(lambda: state.done)
del w
gc.collect()
print("dropped")
""")
    assert sorted(out.splitlines()) == ["called back", "dropped"] and err == ""


def test_callbacks_use_their_worker(program):
    out, err = program("""
w = started()
more = w.register(chip("logging"))
first = w.submit(w.register(chip("held")), args(gate))
done = threading.Event()
def again(run):
    queued = w.submit(more, args(x))
    w.run(more, args(x))      # behind what is queued
    queued.wait()
    w.submit(more, args(x)).wait()
    w.submit(more, args(x))
    w.close()
    print(x, flush=True)
    done.set()
first.add_done_callback(again)
later = w.submit(more, args(x))
gate[0] = 1
print(done.wait(60), later.done)
""")
    assert (out, err) == ("[5 5 5 5]\nTrue True\n", "")


def test_close_waits_for_a_run_on_another_thread(program):
    out, err = program("""
w = started()
counted = w.register(chip("held_then_counted"))
cells = np.zeros(2, np.int32)
def work():
    w.run(counted, args(cells))
    print("ran", flush=True)
thread = threading.Thread(target=work)
thread.start()
while cells[1] == 0:  # until the run is in progress
    time.sleep(0.001)
threading.Timer(0.2, lambda: cells[:1].fill(1)).start()
w.close()
assert cells.tolist() == [1, 2], cells
thread.join()
""")
    assert (out, err) == ("ran\n", "")


def test_a_node_announces_while_the_program_ends(program):
    out, err = program("""
w = started(3, num_sub_workers=1)
def nothing(args):
    pass
def late(orch, args, config):
    orch.submit_sub(sub, TaskArgs())
sub = w.register(nothing)
run = w.submit(late)
run.add_done_callback(lambda run: print("called back", flush=True))
keep_the_gil_until(lambda: run.done)
""")
    assert (out, err) == ("called back\n", "")


def test_the_last_name_of_a_node_goes_in_a_callback(program):
    out, err = program("""
w = started(3, num_sub_workers=1)
def slow(args):
    time.sleep(0.3)
def program(orch, args, config):
    orch.submit_sub(sub, TaskArgs())
sub = w.register(slow)
gone = threading.Event()
weakref.finalize(w, gone.set)
run = w.submit(program)
run.add_done_callback(lambda run: print("called back", flush=True))
del w, run
gc.collect()
print(gone.wait(60))
""")
    assert (out, err) == ("called back\nTrue\n", "")
