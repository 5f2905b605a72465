"""Level 3: order of tasks, what children see of the program's memory, callables."""

from __future__ import annotations

import asyncio
import mmap
import os
import sys
from multiprocessing import shared_memory

import numpy as np
import pytest
from node_tests import (
    IN,
    INOUT,
    OUT,
    add_up,
    chip,
    ints,
    late,
    node,
    plus_one_later,
    segments,
    shared_cells,
    task,
    tell_pid,
    wait_until,
)
from simpler.buffer import BackendKind
from simpler.task_interface import DataType


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
    came = shared_cells()

    def meet(args) -> None:
        came[args.scalar(0)] = 1
        assert wait_until(lambda: came[:2].all()), "the other never came"
        tell_pid(args)

    with node(subs=2) as w:
        grow, meeting = w.register(plus_one_later), w.register(meet)
        w.init()
        x, pids = ints(), np.zeros((2, 1), np.int32)

        def program(orch, args, config) -> None:
            for _ in range(5):
                orch.submit_sub(grow, task((x, INOUT)))

        w.run(program)
        np.testing.assert_array_equal(x, ints() + 5)

        def two(orch, args, config) -> None:
            for i in range(2):
                orch.submit_sub(meeting, task((pids[i], OUT), scalars=[i]))

        w.run(two)
        assert len(set(pids.ravel())) == 2 and os.getpid() not in pids


def test_runs_overlap_and_keep_their_order():
    gate = shared_cells()

    def grow_behind_a_gate(args) -> None:
        assert wait_until(lambda: gate[0])
        plus_one_later(args)

    with node(subs=1) as w:
        grow = w.register(grow_behind_a_gate)
        w.init()
        x = ints()
        runs = [w.submit(lambda o, a, c: o.submit_sub(grow, task((x, INOUT)))) for _ in range(4)]
        assert not any(run.done for run in runs)
        with pytest.raises(TimeoutError):
            runs[-1].wait(timeout=0)
        gate[0] = 1
        runs[-1].wait()
        assert all(run.done for run in runs)
        np.testing.assert_array_equal(x, ints() + 4)

        async def main() -> None:
            await w.submit(lambda o, a, c: o.submit_sub(grow, task((x, INOUT))))

        asyncio.run(main())
        np.testing.assert_array_equal(x, ints() + 5)


def test_members_of_a_group_are_there_together():
    flags = shared_cells()

    def meet(args) -> None:
        me, members = args.scalar(0), args.scalar(1)
        flags[me] = 1
        assert wait_until(lambda: flags[:members].sum() == members), "the others never came"
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


def test_shared_tensors_of_a_program():
    with node(subs=2) as w:
        grow = w.register(plus_one_later)
        w.init()
        free = w._node.lane.heap.used
        out = np.zeros(6, np.int32)

        def program(orch, args, config) -> None:
            tensor = w.alloc_shared_tensor((2, 3), DataType.INT32)
            for _ in range(2):
                orch.submit_sub(grow, task((tensor, INOUT)))
            orch.copy_from(out, tensor.buffer)

        w.run(program)
        assert out.tolist() == [2] * 6 and w._node.lane.heap.used == free
        with pytest.raises(RuntimeError, match="only inside a program"):
            w.alloc_shared_tensor((1,), DataType.INT32)


def test_a_buffer_that_a_run_names_is_not_released():
    gate = shared_cells()
    with node(subs=1) as w:
        held = w.register(lambda args: wait_until(lambda: gate[0]))
        w.init()
        buffer = w.create_buffer(16)
        tensor = buffer.tensor((4,), DataType.INT32)
        run = w.submit(lambda o, a, c: o.submit_sub(held, task((tensor, INOUT))))
        with pytest.raises(RuntimeError, match="has not ended uses the buffer"):
            w.release_buffer(buffer)
        gate[0] = 1
        run.wait()
        w.release_buffer(buffer)
        with pytest.raises(ValueError, match="freed already"):
            w.release_buffer(buffer)


@pytest.mark.parametrize(
    "call",
    [
        lambda w, b: w.free(b),
        lambda w, b: w.flush_diagnostics(),
        lambda w, b: w.copy_to(b, bytes(4)),
        lambda w, b: w.run(lambda orch, a, c: None),
        lambda w, b: w.close(),
    ],
    ids=["free", "flush_diagnostics", "copy_to", "run", "close"],
)
def test_a_program_cannot_wait_for_itself(call):
    with node(subs=1) as w:
        w.init()
        buffer = w.create_buffer(16)
        with pytest.raises(RuntimeError, match="a program cannot|use its orchestrator"):
            w.run(lambda orch, a, c: call(w, buffer))
        w.run(lambda orch, a, c: None)


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
