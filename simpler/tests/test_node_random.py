"""Level 3 against sequential runs: random graphs over memory of every kind, with and without a child that dies."""

from __future__ import annotations

import mmap
import os
import random
import signal

import numpy as np
import pytest
from node_tests import IN, INOUT, chip, node, task, view, wait_until
from simpler.task_interface import DataType

from simpler import RunError

SHAPE = (6, 4)


def array_of(tensor) -> np.ndarray:
    flat = np.frombuffer(tensor.buffer, np.int32)
    return np.lib.stride_tricks.as_strided(flat, tensor.shapes, [4 * s for s in tensor.strides])


def mix(args) -> None:
    """first = first * factor + the others, element by element: not the same in another order."""
    first = array_of(args[0])
    total = first * np.int32(args.scalar(0))
    for i in range(1, args.tensor_count()):
        total = total + array_of(args[i])
    first[:] = total


def sequential(arrays, steps) -> None:
    for target, sources, factor, device in steps:
        if device is not None:
            arrays[target][:] += 1
            continue
        total = arrays[target] * np.int32(factor)
        for source in sources:
            total = total + arrays[source]
        arrays[target][:] = total


@pytest.mark.parametrize("seed", range(4))
def test_a_random_graph_does_what_its_steps_do_one_by_one(seed):
    rng = random.Random(seed)
    shared = np.frombuffer(mmap.mmap(-1, 4096), np.int32)[:24].reshape(SHAPE)
    plain = np.arange(24, dtype=np.int32).reshape(SHAPE)
    grid = np.arange(96, dtype=np.int32).reshape(6, 16)  # its columns are four arrays
    with node(devices=2, subs=3) as w:
        sub, increment = w.register(mix), w.register(chip())
        w.init()
        buffer = w.create_buffer(96)
        made = np.frombuffer(buffer.shm.buf, np.int32).reshape(SHAPE)
        shared[:], made[:] = 3, 5
        arrays = [shared, plain, made, *(grid[:, 4 * i : 4 * i + 4] for i in range(4))]
        tensors = [view(a) for a in arrays[:2]]
        tensors += [buffer.tensor(SHAPE, DataType.INT32), *(view(a) for a in arrays[3:])]
        steps = []
        for _ in range(60):
            target = rng.randrange(7)
            others = rng.sample([i for i in range(7) if i != target], rng.randrange(3))
            device = rng.randrange(2) if target < 3 and rng.random() < 0.3 else None
            steps.append((target, others, rng.randrange(1, 5), device))
        want = [a.copy() for a in arrays]
        sequential(want, steps)

        def program(orch, args, config) -> None:
            for target, sources, factor, device in steps:
                if device is None:
                    parts = [(tensors[target], INOUT), *((tensors[s], IN) for s in sources)]
                    orch.submit_sub(sub, task(*parts, scalars=[factor]))
                else:
                    orch.submit_next_level(increment, task((tensors[target], INOUT)), worker=device)

        w.run(program)
        for i in range(7):
            np.testing.assert_array_equal(arrays[i], want[i], err_msg=f"array {i}")


@pytest.mark.parametrize("seed", range(3))
def test_a_child_that_dies_at_any_time_ends_the_run_with_an_error_or_not_at_all(seed):
    rng = random.Random(seed)
    with node(devices=1, subs=3, py_control_timeout_s=1) as w:
        sub, increment = w.register(mix), w.register(chip())
        w.init()
        pids = w._node.lane.pids
        killed: list[int] = []
        arrays = [np.ones(SHAPE, np.int32) for _ in range(5)]

        def program(orch, args, config) -> None:
            for step in range(80):
                one, two = rng.sample(range(5), 2)
                if step == 40:
                    killed.append(rng.choice(pids[1:]))
                    os.kill(killed[-1], signal.SIGKILL)
                if step % 10 == 0:
                    orch.submit_next_level(increment, task((arrays[one], INOUT)), worker=0)
                else:
                    parts = [(arrays[one], INOUT), (arrays[two], IN)]
                    orch.submit_sub(sub, task(*parts, scalars=[1]))

        for alive in (3, 2, 1):
            try:
                w.run(program)
            except RunError as error:
                assert error.name == "WORKER_LOST"
            assert wait_until(lambda: not set(killed) & set(w._node.lane.pids))
            pids = [pids[0], *(p for p in w._node.lane.pids[1:] if p > 0)]
            assert len(pids) >= alive - 1
            if len(pids) == 1:
                break
            x = np.ones(SHAPE, np.int32)
            w.run(lambda orch, a, c, x=x: orch.submit_sub(sub, task((x, INOUT), scalars=[2])))
            assert (x == 2).all()
