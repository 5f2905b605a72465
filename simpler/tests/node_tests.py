"""A level-3 worker, arguments and Python tasks for the tests of nodes."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import numpy as np
import pytest
from scenes import build
from simpler.buffer import Buffer
from simpler.task_interface import ChipCallable, DataType, TaskArgs, TensorArgType

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


def wait_until(condition, seconds: float = 60.0) -> bool:
    """Whether it comes true; the time is only for what never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def segments(pid: int | None = None) -> set[str]:
    """What a process has in shared memory; this one if none is named."""
    return {f for f in os.listdir("/dev/shm") if f.startswith(f"simpler-{pid or os.getpid()}-")}


def shared_cells() -> np.ndarray:
    """Integers, all 0, that children made later share with this process."""
    return np.frombuffer(mmap.mmap(-1, 4096), np.int32)


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


def error_of(w: Worker, program) -> RunError:
    with pytest.raises(RunError) as caught:
        w.run(program)
    return caught.value
