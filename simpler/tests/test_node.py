"""Level 3: a node's children, what they see of the program's memory, how they fail, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import faulthandler
import mmap
import os
import re
import signal
import subprocess
import sys
import time
from multiprocessing import shared_memory
from pathlib import Path

import numpy as np
import pytest
from scenes import build
from simpler.buffer import AccessMode, BackendKind, Buffer
from simpler.task_interface import CallConfig, ChipCallable, DataType, TaskArgs, TensorArgType

from simpler import RunError, Worker

PLATFORM = "a2a3sim"
IN, OUT, INOUT = TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING, TensorArgType.INOUT
LATE_FACTOR = 3


def chip(entry: str = "logging", *directions: str) -> ChipCallable:
    return build.chip(PLATFORM, "data", entry, list(directions or ("INOUT",)))


def node(devices: int = 0, subs: int = 0, **keys) -> Worker:
    keys = {"platform": PLATFORM, "runtime": "tensormap_and_ringbuffer", **keys}
    return Worker(level=3, device_ids=list(range(devices)), num_sub_workers=subs, **keys)


def view(array: np.ndarray):
    """A strided view in place, through the array that owns the bytes."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    strides = [s // array.itemsize for s in array.strides]
    offset = array.ctypes.data - base.ctypes.data
    return Buffer.wrap(base).tensor(array.shape, DataType.INT32, strides, offset)


def task(*parts, scalars=()) -> TaskArgs:
    args = TaskArgs()
    for array, tag in parts:
        args.add_tensor(view(array) if isinstance(array, np.ndarray) else array, tag)
    for value in scalars:
        args.add_scalar(value)
    return args


def ints(n: int = 4) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def children_of(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except (OSError, ProcessLookupError):
        return False


def wait_until(condition, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def segments() -> set[str]:
    return {f for f in os.listdir("/dev/shm") if f.startswith("simpler-")}


# -- functions of sub-workers -----------------------------------------------------------------------------------------
def add_up(args) -> None:
    args[2].buffer.cast("i")[0] = (
        sum(args[0].buffer.cast("i")) + sum(args[1].buffer.cast("i")) + args.scalar(0)
    )


def tell_pid(args) -> None:
    time.sleep(0.05)
    args[0].buffer.cast("i")[0] = os.getpid()


def plus_one_later(args) -> None:
    time.sleep(0.02)
    cells = args[0].buffer.cast("i")
    for i in range(len(cells)):
        cells[i] += 1


def late(args) -> None:
    args[0].buffer.cast("i")[0] *= LATE_FACTOR


def fail(args) -> None:
    raise ValueError("no good")


# -- order ------------------------------------------------------------------------------------------------------------
def test_devices_and_python_in_one_graph():
    with node(devices=2, subs=1) as w:
        increment, sub = w.register(chip()), w.register(add_up)
        w.init()
        x, y, total = ints(), ints(), np.zeros(1, np.int32)

        def program(orch, args, config) -> None:
            for device, array in enumerate((x, y)):
                orch.submit_next_level(increment, task((array, INOUT)), config, worker=device)
            orch.submit_sub(sub, task((x, IN), (y, IN), (total, OUT), scalars=[1000]))
            orch.submit_next_level(increment, task((x, INOUT)), config, worker=1)

        for round in range(1, 4):
            w.run(program)
            assert total[0] == (x - 1).sum() + y.sum() + 1000
            np.testing.assert_array_equal(x, ints() + 2 * round)
            np.testing.assert_array_equal(y, ints() + round)


def test_tasks_on_common_bytes_keep_their_order_and_others_do_not_wait():
    with node(subs=2) as w:
        grow, tell = w.register(plus_one_later), w.register(tell_pid)
        w.init()
        x, pids = ints(), np.zeros((2, 1), np.int32)

        def program(orch, args, config) -> None:
            for _ in range(5):
                orch.submit_sub(grow, task((x, INOUT)))

        w.run(program)
        np.testing.assert_array_equal(x, ints() + 5)

        def two(orch, args, config) -> None:
            for i in range(2):
                orch.submit_sub(tell, task((pids[i], OUT)))

        w.run(two)
        assert len(set(pids.ravel())) == 2 and os.getpid() not in pids


def test_runs_overlap_and_keep_their_order():
    with node(subs=1) as w:
        grow = w.register(plus_one_later)
        w.init()
        x = ints()
        runs = [w.submit(lambda o, a, c: o.submit_sub(grow, task((x, INOUT)))) for _ in range(4)]
        assert not runs[-1].done
        with pytest.raises(TimeoutError):
            runs[-1].wait(timeout=0)
        runs[-1].wait()
        assert all(run.done for run in runs)
        np.testing.assert_array_equal(x, ints() + 4)

        async def main() -> None:
            await w.submit(lambda o, a, c: o.submit_sub(grow, task((x, INOUT))))

        asyncio.run(main())
        np.testing.assert_array_equal(x, ints() + 5)


def test_members_of_a_group_are_there_together():
    flags = np.frombuffer(mmap.mmap(-1, 4096), np.int32)  # shared before init

    def meet(args) -> None:
        me, members = args.scalar(0), args.scalar(1)
        flags[me] = 1
        assert wait_until(lambda: flags[:members].sum() == members, 20), "the others never came"
        args[0].buffer.cast("i")[0] = me + 1

    with node(subs=3) as w:
        sub = w.register(meet)
        w.init()
        done = np.zeros((3, 1), np.int32)
        lists = [task((done[i], OUT), scalars=[i, 3]) for i in range(3)]
        w.run(lambda orch, a, c: orch.submit_sub_group(sub, lists))
        assert done.ravel().tolist() == [1, 2, 3]


def test_a_group_of_devices_follows_and_precedes_single_tasks():
    with node(devices=2) as w:
        increment = w.register(chip())
        w.init()
        x, y = ints(), ints()

        def program(orch, args, config) -> None:
            orch.submit_next_level(increment, task((x, INOUT)), worker=0)
            both = [task((x, INOUT)), task((y, INOUT))]
            orch.submit_next_level_group(increment, both, workers=[1, 0])
            orch.submit_next_level(increment, task((y, INOUT)), worker=1)

        for _ in range(20):
            w.run(program)
        np.testing.assert_array_equal(x, ints() + 40)
        np.testing.assert_array_equal(y, ints() + 40)


# -- memory -----------------------------------------------------------------------------------------------------------
def test_host_memory_is_neither_stale_nor_lost():
    with node(subs=2) as w:
        grow = w.register(plus_one_later)
        x = ints(6)
        w.init()
        x[:] = 10  # after the fork
        grid = np.zeros((8, 6), np.int32)

        def program(orch, args, config) -> None:
            orch.submit_sub(grow, task((x, INOUT)))
            for column in range(0, 6, 2):  # interleaved bytes, written by different processes
                orch.submit_sub(grow, task((grid[:, column : column + 2], INOUT)))

        w.run(program)
        np.testing.assert_array_equal(x, np.full(6, 11))
        np.testing.assert_array_equal(grid[:, 0::2], np.ones((8, 3)))


def test_a_copy_leaves_the_bytes_between_a_views_elements():
    def write_first(args) -> None:
        cells = args[0].buffer.cast("i")
        assert args[0].shapes == (4, 1) and args[0].strides == (3, 1)
        for i in range(4):
            cells[3 * i] = 7

    with node(subs=1) as w:
        sub = w.register(write_first)
        w.init()
        grid = ints(12).reshape(4, 3).copy()
        w.run(lambda orch, a, c: orch.submit_sub(sub, task((grid[:, 1:2], OUT))))
        want = ints(12).reshape(4, 3).copy()
        want[:, 1] = 7
        np.testing.assert_array_equal(grid, want)


def test_views_of_common_bytes_are_common_in_the_child():
    def through_the_other(args) -> None:
        args[0].buffer.cast("i")[2] = 99  # of x[0:4]
        assert args[1].buffer.cast("i")[0] == 99  # of x[2:6]

    with node(subs=1) as w:
        sub = w.register(through_the_other)
        w.init()
        x = ints(6)
        w.run(lambda orch, a, c: orch.submit_sub(sub, task((x[0:4], INOUT), (x[2:6], IN))))
        assert x.tolist() == [0, 1, 99, 3, 4, 5]


@pytest.mark.parametrize("when", ["before init", "after init"])
def test_shared_memory_of_the_program(when):
    with node(subs=1) as w:
        grow = w.register(plus_one_later)
        if when == "after init":
            w.init()
        segment = shared_memory.SharedMemory(create=True, size=64)
        try:
            x = np.frombuffer(segment.buf, np.int32)
            x[:] = 5
            if when == "before init":
                w.init()
            held = [task((x, INOUT))]
            for _ in range(2):
                w.run(lambda orch, a, c: orch.submit_sub(grow, held[0]))
            assert x.tolist() == [7] * 16
            held.clear()
            del x  # nothing else holds the memory: closing it would be refused
        finally:
            segment.close()
            segment.unlink()


def test_memory_that_took_the_place_of_shared_memory_is_noticed():
    old = mmap.mmap(-1, 1 << 16)
    base = np.frombuffer(old, np.int32).ctypes.data
    with node(subs=1) as w:
        grow = w.register(plus_one_later)
        w.init()
        old.close()
        # The system likes to give the same addresses again.
        fresh = [mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE) for _ in range(4)]
        arrays = [np.frombuffer(m, np.int32) for m in fresh]
        at = next((a for a in arrays if a.ctypes.data == base), arrays[0])
        w.run(lambda orch, a, c: orch.submit_sub(grow, task((at, INOUT))))
        assert (at == 1).all()


def test_buffers_made_after_init_and_released():
    before = segments()
    with node(devices=1, subs=1) as w:
        increment, grow = w.register(chip()), w.register(plus_one_later)
        w.init()
        for round in range(3):
            buffer = w.create_buffer(64)
            x = np.frombuffer(buffer.shm.buf, np.int32)
            x[:] = round

            def program(orch, args, config, buffer=buffer) -> None:
                tensor = buffer.tensor((16,), DataType.INT32)
                orch.submit_sub(grow, task((tensor, INOUT)))
                orch.submit_next_level(increment, task((tensor, INOUT)), worker=0)

            w.run(program)
            assert x.tolist() == [round + 2] * 16
            del x
            w.release_buffer(buffer)
        kept = w.create_buffer(64)
        assert kept.backend_kind == BackendKind.POSIX_SHM and len(segments() - before) == 1
    assert segments() == before


def test_run_memory_is_zeroed_passed_on_and_given_back():
    with node(devices=1, subs=2) as w:
        increment, grow = w.register(chip()), w.register(plus_one_later)
        w.init()
        out = np.zeros(1000, np.int32)
        free = w._node.lane.heap.used

        def program(orch, args, config) -> None:
            memory = orch.alloc((10, 100), DataType.INT32)
            tensor = memory.tensor((1000,), DataType.INT32)
            orch.submit_sub(grow, task((tensor, INOUT)))
            orch.submit_next_level(increment, task((tensor, INOUT)), worker=0)
            orch.copy_from(out, memory)  # waits for both
            orch.free(memory)
            orch.alloc((5,), DataType.INT8)

        for _ in range(3):
            w.run(program)
            assert (out == 2).all()
        assert w._node.lane.heap.used == free


def test_device_memory_of_a_child():
    with node(devices=2) as w:
        increment = w.register(chip())
        w.init()
        memory = w.alloc_child_tensor(1, (4,), DataType.INT32)
        assert memory.base and w.committed_device_memory(1) == 16
        source, target = w.create_buffer(16), w.create_buffer(16)
        np.frombuffer(source.shm.buf, np.int32)[:] = ints()
        w.copy_to(memory, source)
        tensor = memory.tensor((4,), DataType.INT32)
        w.run(lambda o, a, c: o.submit_next_level(increment, task((tensor, INOUT)), worker=1))
        w.copy_from(target, memory)
        assert np.frombuffer(target.shm.buf, np.int32).tolist() == [1, 2, 3, 4]
        w.free(memory)
        assert w.committed_device_memory(1) == 0


def test_more_arguments_than_a_mailbox_holds():
    def last(args) -> None:
        args[0].buffer.cast("i")[0] = args.tensor_count() + args[2499].buffer.cast("i")[0]

    with node(subs=1) as w:
        sub = w.register(last)
        w.init()
        x = ints(1)
        args = task((x, OUT), *[(np.full(1, 3, np.int32), IN)] * 2499)
        w.run(lambda orch, a, c: orch.submit_sub(sub, args))
        assert x[0] == 2503


# -- callables --------------------------------------------------------------------------------------------------------
def test_callables_registered_after_init():
    with node(devices=1, subs=1) as w:
        w.init()
        sub, increment = w.register(late), w.register(chip())
        x = ints() + 1

        def program(orch, args, config) -> None:
            orch.submit_sub(sub, task((x, INOUT)))
            orch.submit_next_level(increment, task((x, INOUT)), worker=0)

        w.run(program)
        assert x.tolist() == [4, 3, 4, 5]
        w.unregister(sub)
        with pytest.raises(ValueError, match="was unregistered"):
            w.run(program)
        again = w.register(late)
        w.run(lambda orch, a, c: orch.submit_sub(again, task((x, INOUT))))
        assert x[0] == 12


def test_a_function_that_cannot_be_sent_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with node(subs=1) as w:
        w.init()
        with pytest.raises(TypeError, match=r"'.*<lambda>' cannot be sent .* before init\(\)"):
            w.register(lambda args: None)


# -- errors -----------------------------------------------------------------------------------------------------------
def error_of(w: Worker, program) -> RunError:
    with pytest.raises(RunError) as caught:
        w.run(program)
    return caught.value


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
        assert "test_node.py" in text and "simpler/node.py" not in text
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
        time.sleep(120)

    with node(subs=2, py_control_timeout_s=0.3) as w:
        sub = w.register(member)
        w.init()
        start = time.monotonic()
        error = error_of(
            w, lambda o, a, c: o.submit_sub_group(sub, [task(scalars=[i]) for i in range(2)])
        )
        assert error.code == 204 and time.monotonic() - start < 20


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
            run.wait(timeout=20)
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
    assert state() == before


LONELY = """
import os, sys, time
from simpler import Worker
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
    before = segments()
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
    parent.wait(30)
    assert wait_until(lambda: not any(alive(pid) for pid in pids)), pids
    # What the parent could not remove itself, Python's resource tracker does.
    assert wait_until(lambda: segments() <= before), segments() - before
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
    _, text = parent.communicate(timeout=30)
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
