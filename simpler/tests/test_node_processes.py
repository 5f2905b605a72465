"""Level 3: children come, go and leave nothing, whatever happens to their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from node_tests import (
    INOUT,
    alive,
    children_of,
    chip,
    error_of,
    ints,
    node,
    plus_one_later,
    segments,
    task,
    tell_pid,
    wait_until,
)
from simpler.task_interface import CallConfig, DataType


# -- processes --------------------------------------------------------------------------------------------------------
def test_a_worker_is_refused_in_its_children():
    with node(subs=1) as w:
        holder = []

        def use(args) -> None:
            holder[0].run(lambda orch, a, c: None)

        sub = w.register(use)
        holder.append(w)
        w.init()
        error = error_of(w, lambda orch, a, c: orch.submit_sub(sub))
        assert "RuntimeError: Worker.run: the worker was made before fork" in str(error)
        w.run(lambda orch, a, c: None)


def test_a_forked_program_does_not_end_the_children():
    with node(subs=1) as w:
        tell = w.register(tell_pid)
        w.init()
        child = os.fork()
        if child == 0:
            w.close()  # a copy: nothing of it is the copy's
            del w
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        x = ints(1)
        w.run(lambda orch, a, c: orch.submit_sub(tell, task((x, INOUT))))


def test_close_waits_for_submitted_runs_and_ends_the_children():
    w = node(devices=1, subs=1)
    grow = w.register(plus_one_later)
    w.init()
    pids = w._node.lane.pids
    assert len(pids) == 2 and all(alive(pid) for pid in pids)
    x = ints()
    runs = [w.submit(lambda o, a, c: o.submit_sub(grow, task((x, INOUT)))) for _ in range(5)]
    w.close()
    for run in runs:
        run.wait()
    np.testing.assert_array_equal(x, ints() + 5)
    assert not any(alive(pid) for pid in pids)
    w.close()


def test_create_and_close_does_not_grow():
    def state() -> tuple:
        return (
            len(os.listdir("/proc/self/task")),
            len(os.listdir("/proc/self/fd")),
            children_of(os.getpid()),
            segments(),
        )

    before = None
    for i in range(25):
        w = node(devices=1, subs=2)
        grow, increment = w.register(plus_one_later), w.register(chip())
        w.init()
        x = ints()
        buffer = w.create_buffer(16)

        def program(orch, args, config, x=x, grow=grow, increment=increment, buffer=buffer) -> None:
            orch.submit_sub(grow, task((x, INOUT)))
            orch.submit_sub(grow, task((buffer.tensor((4,), DataType.INT32), INOUT)))
            orch.submit_next_level(increment, task((x, INOUT)), worker=0)

        w.run(program)
        w.close()
        if i == 3:
            before = state()
    # The system lists a thread for a moment after it was joined.
    assert wait_until(lambda: state()[0] <= before[0])
    assert state()[1:] == before[1:]


# A job in the background of a shell starts with SIGINT ignored.
LONELY = """
import os, signal, sys, time
from simpler import Worker
signal.signal(signal.SIGINT, signal.default_int_handler)
w = Worker(level=3, platform="a2a3sim", runtime="tensormap_and_ringbuffer", device_ids=[0], num_sub_workers=2)
sub = w.register(lambda args: time.sleep(300))
w.init()
buffer = w.create_buffer(4096)
run = None
if sys.argv[1] == "busy":
    run = w.submit(lambda orch, args, config: orch.submit_sub(sub))
print(*w._node.lane.pids, flush=True)
if sys.argv[2] == "exit":
    os._exit(0)
if sys.argv[2] == "raise":
    raise ValueError
if sys.argv[2] == "wait":
    run.wait()
time.sleep(300)
"""


@pytest.mark.parametrize(
    ("work", "end"),
    [("idle", "SIGKILL"), ("busy", "SIGKILL"), ("busy", "exit"), ("idle", "raise")],
)
def test_children_do_not_outlive_their_parent(work, end):
    parent = subprocess.Popen(
        [sys.executable, "-c", LONELY, work, end],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    pids = [int(p) for p in parent.stdout.readline().split()]
    assert len(pids) == 3
    if end == "SIGKILL":
        parent.kill()
    parent.wait(60)
    assert wait_until(lambda: not any(alive(pid) for pid in pids)), pids
    # What the parent could not remove itself, Python's resource tracker does.
    assert wait_until(lambda: not segments(parent.pid)), segments(parent.pid)
    parent.stdout.close()


def test_ctrl_c_stops_a_run():
    parent = subprocess.Popen(
        [sys.executable, "-c", LONELY, "busy", "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    pids = [int(p) for p in parent.stdout.readline().split()]
    time.sleep(0.3)
    parent.send_signal(signal.SIGINT)
    _, text = parent.communicate(timeout=60)
    assert parent.returncode == -signal.SIGINT or parent.returncode == 130, text
    assert "KeyboardInterrupt" in text
    assert wait_until(lambda: not any(alive(pid) for pid in pids))


def test_output_of_sub_workers_appears_once():
    script = LONELY.split("sub = ")[0] + (
        "print('before', end=' ')\n"
        "sub = w.register(lambda args: print('in the child'))\n"
        "w.init()\n"
        "w.run(lambda orch, args, config: orch.submit_sub(sub))\n"
        "w.close()\nprint('after')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "before in the child\nafter\n", done.stdout + done.stderr


def test_each_run_on_a_device_leaves_files_of_its_own(tmp_path):
    with node(devices=2) as w:
        increment = w.register(chip())
        w.init()
        config = CallConfig()
        config.enable_dep_gen, config.output_prefix = True, str(tmp_path)
        x, y = ints(), ints()

        def program(orch, args, config) -> None:
            orch.submit_next_level(increment, task((x, INOUT)), config, worker=0)
            orch.submit_next_level(increment, task((y, INOUT)), config, worker=1)

        w.run(program, None, config)
        w.flush_diagnostics()
        assert sorted(f.parent.name for f in tmp_path.rglob("deps.json")) == [
            "task0_device0",
            "task1_device1",
        ]
