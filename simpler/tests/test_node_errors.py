"""Level 3: how tasks, programs and children fail, and what the others notice of it."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys
import time

import numpy as np
import pytest
from node_tests import (
    IN,
    INOUT,
    OUT,
    PLATFORM,
    alive,
    children_of,
    chip,
    error_of,
    fail,
    ints,
    node,
    plus_one_later,
    task,
    tell_pid,
    wait_until,
)
from simpler.buffer import AccessMode, BackendKind, Buffer
from simpler.task_interface import DataType

from simpler import RunError, Worker


# -- errors -----------------------------------------------------------------------------------------------------------
def test_an_exception_comes_with_its_name_and_traceback():
    with node(subs=1) as w:
        bad, tell = w.register(fail), w.register(tell_pid)
        w.init()
        x = np.zeros(1, np.int32)
        ran = np.zeros(1, np.int32)

        def program(orch, args, config) -> None:
            orch.submit_sub(bad, task((x, INOUT)))
            orch.submit_sub(tell, task((x, IN), (ran, OUT)))

        error = error_of(w, program)
        assert (error.code, error.name) == (200, "KERNEL_FAILED")
        text = str(error)
        assert "run failed with code -200: sub-worker 0 (pid " in text
        assert "task t1 'fail': ValueError: no good\n" in text
        assert "Traceback" in text and 'raise ValueError("no good")' in text
        assert "node_tests.py" in text and "simpler/node.py" not in text
        assert ran[0] == 0  # what follows a failed task does not run
        w.run(lambda orch, a, c: orch.submit_sub(tell, task((x, INOUT))))
        assert x[0] in w._node.lane.pids


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"was killed by signal 9 \(SIGKILL\)"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), r"was killed by signal 11 \(SIGSEGV\)"),
        (lambda: os._exit(3), "exited with status 3"),
    ],
    ids=["SIGKILL", "SIGSEGV", "exit"],
)
def test_a_child_that_dies_fails_its_run_and_the_rest_goes_on(how, text):
    def die(args) -> None:
        faulthandler.disable()  # the test's own, which would write to the log
        how()

    with node(devices=1, subs=2) as w:
        sub, tell, increment = w.register(die), w.register(tell_pid), w.register(chip())
        w.init()
        pids = w._node.lane.pids
        x = ints()
        error = error_of(w, lambda orch, a, c: orch.submit_sub(sub, task((x, INOUT))))
        assert (error.code, error.name) == (204, "WORKER_LOST")
        assert f"task t1 '{die.__qualname__}': the process" in str(error)
        assert re.search(text, str(error)), error
        np.testing.assert_array_equal(x, ints())
        # The others work; when the last is gone, asking for one is an error, not a wait.
        w.run(lambda orch, a, c: orch.submit_sub(tell, task((x, INOUT))))
        w.run(lambda orch, a, c: orch.submit_next_level(increment, task((x, INOUT)), worker=0))
        error_of(w, lambda orch, a, c: orch.submit_sub(sub))
        error = error_of(w, lambda orch, a, c: orch.submit_sub(tell, task((x, INOUT))))
        assert error.code == 204 and "all of them are gone" in str(error)
    assert not any(alive(pid) for pid in pids)


def test_sys_exit_is_an_error_and_the_child_stays():
    with node(subs=1) as w:
        sub = w.register(lambda args: sys.exit(5))
        w.init()
        for _ in range(2):
            error = error_of(w, lambda orch, a, c: orch.submit_sub(sub))
            assert error.code == 200 and "SystemExit: 5" in str(error)


def test_a_device_program_that_fails_names_device_and_task():
    with node(devices=2) as w:
        bad = w.register(chip("throwing_kernel"))
        good = w.register(chip())
        w.init()
        x = ints()
        error = error_of(w, lambda o, a, c: o.submit_next_level(bad, task((x, INOUT)), worker=1))
        assert (error.code, error.name) == (200, "KERNEL_FAILED")
        assert "device 1 (pid " in str(error) and "'throwing_kernel': " in str(error)
        w.run(lambda o, a, c: o.submit_next_level(good, task((x, INOUT)), worker=1))
        np.testing.assert_array_equal(x, ints() + 1)


def test_a_device_that_died_is_an_error_for_who_asks_for_it():
    with node(devices=2) as w:
        increment = w.register(chip())
        w.init()
        pid = w._node.lane.pids[1]
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: w._node.lane.pids[1] == -1)
        x = ints()
        error = error_of(
            w, lambda o, a, c: o.submit_next_level(increment, task((x, INOUT)), worker=1)
        )
        assert "is for device 1, which was killed by signal 9" in str(error)
        w.run(lambda o, a, c: o.submit_next_level(increment, task((x, INOUT)), worker=0))


def test_an_exception_of_the_program_is_raised_as_it_is():
    with node(subs=1) as w:
        grow = w.register(plus_one_later)
        w.init()
        x = ints()

        def program(orch, args, config) -> None:
            for _ in range(100):
                orch.submit_sub(grow, task((x, INOUT)))
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            w.run(program)
        w.run(lambda orch, a, c: orch.submit_sub(grow, task((x, INOUT))))


def test_a_peer_that_waits_for_a_dead_one_is_ended():
    def member(args) -> None:
        if args.scalar(0) == 0:
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        time.sleep(600)  # the test has ended long before, or something is wrong

    with node(subs=2, py_control_timeout_s=0.3) as w:
        sub = w.register(member)
        w.init()
        pids = w._node.lane.pids
        error = error_of(
            w, lambda o, a, c: o.submit_sub_group(sub, [task(scalars=[i]) for i in range(2)])
        )
        assert error.code == 204
        assert wait_until(lambda: not any(alive(pid) for pid in pids))


def test_a_run_can_be_stopped():
    with node(devices=1, subs=1) as w:
        sub, grow = w.register(lambda args: time.sleep(120)), w.register(plus_one_later)
        w.init()
        x = ints()

        def program(orch, args, config) -> None:
            orch.submit_sub(sub, task((x, INOUT)))
            orch.submit_sub(grow, task((x, INOUT)))

        run = w.submit(program)
        assert not run.cancel()  # it had started
        with pytest.raises(RunError, match="the run was cancelled") as caught:
            run.wait(timeout=100)
        assert caught.value.name == "INTERRUPTED"
        np.testing.assert_array_equal(x, ints())
        w.run(lambda orch, a, c: orch.submit_sub(grow, task((x, INOUT))))
        np.testing.assert_array_equal(x, ints() + 1)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda o, h, x: o.submit_sub(h["chip"]), TypeError, "device callable; use submit_next"),
        (
            lambda o, h, x: o.submit_next_level(h["sub"], task(), worker=0),
            TypeError,
            "Python function; use submit_sub",
        ),
        (
            lambda o, h, x: o.submit_next_level(h["chip"], task(), worker=True),
            TypeError,
            "expected an int, got bool",
        ),
        (
            lambda o, h, x: o.submit_next_level(h["chip"], task(), worker=1),
            ValueError,
            r"worker: 1 is not in 0\.\.0",
        ),
        (
            lambda o, h, x: o.submit_next_level_group(h["chip"], [task()], workers=[0, 0]),
            ValueError,
            "1 argument lists for workers",
        ),
        (
            lambda o, h, x: o.submit_sub(h["sub"], task((x, OUT), (x[1:3], OUT))),
            ValueError,
            "argument 0 and argument 1 both write some of the same bytes",
        ),
        (
            lambda o, h, x: o.submit_sub_group(h["sub"], [task((x, OUT)), task((x, OUT))]),
            ValueError,
            "argument 0 of member 0 and argument 0 of member 1",
        ),
        (
            lambda o, h, x: o.submit_sub(
                h["sub"],
                task(
                    (
                        Buffer(
                            x.ctypes.data, 16, backend_kind=BackendKind.FORK_COW, access=AccessMode.READ
                        ).tensor((4,), DataType.INT32),
                        OUT,
                    )
                ),
            ),
            ValueError,
            "argument 0 is written, its buffer is READ only",
        ),
        (lambda o, h, x: o.submit_sub(h["sub"], [x]), TypeError, "expected TaskArgs, got list"),
        (lambda o, h, x: o.alloc((1 << 45,), DataType.INT8), MemoryError, "heap_ring_size"),
        (lambda o, h, x: o.scope_end(), RuntimeError, "no scope is open"),
    ],
)  # fmt: skip
def test_misuse_of_the_orchestrator(call, kind, text):
    with node(devices=1, subs=1) as w:
        handles = {"chip": w.register(chip()), "sub": w.register(tell_pid)}
        w.init()
        x = ints()
        with pytest.raises(kind, match=text):
            w.run(lambda orch, a, c: call(orch, handles, x))
        w.run(lambda orch, a, c: orch.submit_sub(handles["sub"], task((x, INOUT))))


def test_an_orchestrator_is_good_for_its_run_only():
    with node(subs=1) as w:
        sub = w.register(tell_pid)
        w.init()
        kept = []
        w.run(lambda orch, a, c: kept.append(orch))
        with pytest.raises(ValueError, match="which is over"):
            kept[0].submit_sub(sub, task((ints(), INOUT)))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"device_ids": [0, 0]}, "names a device twice"),
        ({"device_ids": "01"}, "a list of ids"),
        ({"num_sub_workers": -1}, "0 or more"),
        ({"heap_ring_size": 0}, "must be positive"),
    ],
)
def test_bad_numbers_of_children(keys, text):
    base = {"platform": PLATFORM, "runtime": "tensormap_and_ringbuffer"}
    with pytest.raises(ValueError, match=text):
        Worker(level=3, **base, **keys)


def test_a_start_that_fails_leaves_nothing():
    before = children_of(os.getpid())
    w = node(subs=2, heap_ring_size=1)
    with pytest.raises(RuntimeError, match="too small for the mailboxes of 2 children"):
        w.init()
    w.close()
    assert children_of(os.getpid()) == before
