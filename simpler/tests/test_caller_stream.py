"""Worker.submit(stream=…): the run happens where the caller's queue calls it."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scenes import build
from simpler.buffer import Buffer
from simpler.task_interface import CallConfig, DataType, TaskArgs, TensorArgType

from simpler import RunError, Worker

PLATFORM = "a2a3sim"


class Queue:
    """Holds functions until it is told to run them."""

    def __init__(self):
        self.functions = []

    def launch(self, function):
        self.functions.append(function)

    def run(self):
        while self.functions:
            self.functions.pop(0)()


@pytest.fixture
def worker():
    w = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    w.init()
    yield w
    w.close()


def chip(file, entry, *directions):
    return build.chip(PLATFORM, file, entry, list(directions))


def args(array):
    result = TaskArgs()
    result.add_tensor(Buffer.wrap(array).tensor(array.shape, DataType.INT32), TensorArgType.INOUT)
    return result


def test_the_run_happens_at_its_place_in_the_callers_queue(worker):
    handle = worker.register(chip("hazards", "raw_chain", "INOUT"))
    queue, order = Queue(), []
    data = np.zeros(16, np.int32)
    expected = np.zeros(16, np.int32)
    worker.run(handle, args(expected))
    queue.launch(lambda: order.append(data.copy()))
    run = worker.submit(handle, args(data), stream=queue)
    run.add_done_callback(lambda _: order.append("done"))
    queue.launch(lambda: order.append(data.copy()))
    assert not run.done and not data.any()
    with pytest.raises(TimeoutError):
        run.wait(0.01)
    queue.run()
    assert run.done
    run.wait()
    assert not order[0].any() and order[1] == "done"
    np.testing.assert_array_equal(order[2], expected)


def test_a_failed_run_raises_at_wait_and_the_worker_goes_on(worker):
    queue = Queue()
    bad = worker.register(chip("data", "throwing_kernel", "INOUT"))
    run = worker.submit(bad, args(np.zeros(4, np.int32)), stream=queue)
    queue.run()
    assert run.done
    for _ in range(2):
        with pytest.raises(RunError):
            run.wait()
    good = worker.register(chip("data", "no_task", "INOUT"))
    again = worker.submit(good, args(np.zeros(4, np.int32)), stream=queue)
    queue.run()
    again.wait()


def test_a_queue_that_drops_the_run_fails_it(worker):
    handle = worker.register(chip("data", "no_task", "INOUT"))
    queue = Queue()
    run = worker.submit(handle, args(np.zeros(4, np.int32)), stream=queue)
    queue.functions.clear()
    gc.collect()
    with pytest.raises(RuntimeError, match="the caller's stream dropped it before it started"):
        run.wait(5)


def test_a_run_that_has_not_started_can_be_cancelled(worker):
    handle = worker.register(chip("hazards", "raw_chain", "INOUT"))
    queue, data = Queue(), np.zeros(16, np.int32)
    run = worker.submit(handle, args(data), stream=queue)
    assert run.cancel()
    queue.run()
    assert not data.any()
    with pytest.raises(RuntimeError, match="cancelled before it started"):
        run.wait(5)
    assert not run.cancel()


def test_arguments_are_checked_when_they_are_submitted(worker):
    handle = worker.register(chip("data", "no_task", "INOUT"))
    config = CallConfig()
    config.runtime_env.ring_task_window = 3
    queue = Queue()
    with pytest.raises(ValueError, match="ring_task_window 3"):
        worker.submit(handle, args(np.zeros(4, np.int32)), config, stream=queue)
    with pytest.raises(TypeError, match="expected a handle"):
        worker.submit("x", stream=queue)
    assert queue.functions == []
