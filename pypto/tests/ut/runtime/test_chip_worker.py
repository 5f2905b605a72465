"""Programs and artifacts on a Worker of simpler, through its public interface."""

from __future__ import annotations

import pypto.language as pl
import pytest
import torch
from artifact_programs import GAIN, TWO, parse, scaled
from pypto.enums import RuntimeKind
from pypto.ir.compile import _compile_artifact
from pypto.runtime import ChipWorker, DeviceTensor, RunConfig
from pypto.runtime.task_args import build_task_args

import pypto
from pypto import ir


@pytest.fixture
def worker():
    with ChipWorker() as worker:
        yield worker


def test_a_program_runs_as_when_it_is_called(worker):
    compiled = ir.compile(parse(GAIN))
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    assert worker.run(compiled, x, 2.0, y) is None
    assert torch.equal(y, x * 2)
    assert torch.equal(worker.run(compiled, x, 3.0), compiled(x, 3.0))


def test_registering_twice_gives_one_handle(worker):
    compiled = ir.compile(parse(GAIN))
    handle = worker.register(compiled)
    assert worker.register(compiled) is handle
    x = torch.randn(16, 32)
    assert torch.equal(handle(x, 4.0), x * 4)
    handle.unregister()
    with pytest.raises(pypto.Error, match="not registered"):
        handle(x, 4.0)


def test_entries_are_registered_by_themselves(worker):
    compiled = ir.compile(parse(TWO))
    x = torch.randn(16, 16)
    assert torch.equal(worker.run(compiled, x), x * 2)
    assert torch.equal(worker.run(compiled["four_times"], x), x * 4)


def test_tensors_on_the_device(worker):
    compiled = ir.compile(parse(GAIN))
    x = torch.randn(16, 32)
    given = worker.alloc_tensor([16, 32], pl.FP32)
    made = worker.alloc_tensor([16, 32], pl.FP32)
    worker.copy_to(given, x)
    worker.run(compiled, given, 0.5, made)
    y = torch.empty(16, 32)
    worker.copy_from(y, made)
    assert torch.equal(y, x * 0.5)
    worker.free_tensor(given)
    wrong = worker.alloc_tensor([16, 16], pl.FP32)
    with pytest.raises(TypeError, match=r"x: takes \[16, 32\] FP32, got \[16, 16\] fp32"):
        worker.run(compiled, wrong, 0.5, made)


def test_what_is_no_device_tensor():
    with pytest.raises(ValueError, match="takes extents from 1"):
        DeviceTensor(0, [0, 3], pl.FP32)
    with pytest.raises(TypeError, match="dtype: takes"):
        DeviceTensor(0, [3], "float32")


def test_a_worker_of_another_chip_refuses():
    with ChipWorker(RunConfig(platform="a5sim")) as worker:
        with pytest.raises(ValueError, match="compiled for a2a3sim, the worker is a5sim"):
            worker.register(ir.compile(parse(GAIN), platform="a2a3sim"))


def test_current_is_the_innermost():
    with pytest.raises(pypto.Error, match="no ChipWorker is open"):
        ChipWorker.current()
    with ChipWorker() as outer:
        assert ChipWorker.current() is outer
        with ChipWorker() as inner:
            assert ChipWorker.current() is inner
        assert ChipWorker.current() is outer
    with pytest.raises(pypto.Error, match="not started"):
        outer.malloc(64)


def test_wrong_options():
    with pytest.raises(ValueError, match="a ChipWorker is one chip"):
        ChipWorker(level=3)
    with pytest.raises(ValueError, match="runtime 'fast' does not exist"):
        ChipWorker(runtime="fast")


def test_both_runtimes():
    compiled = ir.compile(parse(GAIN), runtime=RuntimeKind.HOST_BUILD_GRAPH)
    assert compiled.runtime_name == "host_build_graph"
    with ChipWorker(runtime=compiled.runtime_name) as worker:
        x = torch.randn(16, 32)
        assert torch.equal(worker.run(compiled, x, 2.0), x * 2)


# Kernels, through simpler's own Worker.


@pytest.fixture
def device():
    from pypto.runtime.task_interface import Worker

    worker = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
    worker.init()
    yield worker
    worker.close()


def test_a_kernel_is_registered_and_submitted(device):
    artifact = _compile_artifact(parse(GAIN))
    handle = device.register(artifact.load().chip_callable)
    x, y = torch.randn(16, 32), torch.empty(16, 32)
    run = device.submit(handle, build_task_args(artifact.metadata, [x, 2.0, y]))
    run.wait()
    assert run.done and torch.equal(y, x * 2)


def test_borrowed_device_memory_is_described_by_buffers(device):
    from pypto.runtime.task_interface import Buffer, DataType, TaskArgs, TensorArgType

    artifact = _compile_artifact(scaled, *[torch.empty(16, 16)] * 1, 1.0, torch.empty(16, 16))
    handle = device.register(artifact.load().chip_callable)
    storage = torch.randn(4, 16, 16)
    lent = Buffer.wrap(storage.data_ptr(), nbytes=storage.nbytes, device=True)
    args = TaskArgs()
    args.add_tensor(lent.tensor([16, 16], DataType.FLOAT32, None, 1024), TensorArgType.INPUT)
    args.add_tensor(
        lent.tensor([16, 16], DataType.FLOAT32, None, 3072), TensorArgType.OUTPUT_EXISTING
    )
    args.add_scalar(3.0, DataType.FLOAT32)
    device.submit(handle, args).wait()
    assert torch.equal(storage[3], storage[1] * 3)


def test_arguments_that_do_not_fit_the_code_are_errors_of_the_run(device):
    from pypto.runtime.task_interface import Buffer, DataType, TaskArgs

    from simpler import RunError

    artifact = _compile_artifact(parse(GAIN))
    handle = device.register(artifact.load().chip_callable)
    x = torch.zeros(16, 32)

    def args(*shapes, dtype=DataType.FLOAT32, scalars=1):
        made = TaskArgs()
        for shape in shapes:
            made.add_tensor(Buffer.wrap(x).tensor(shape, dtype))
        for _ in range(scalars):
            made.add_scalar(1.0, DataType.FLOAT32)
        return made

    for wrong, text in (
        (args([16, 32]), "expects 2 tensors and 1 scalars, the call gives 1 and 1"),
        (args([16, 32], [16, 32], scalars=0), "gives 2 and 0"),
        (args([16, 32], [8, 32]), "tensor 1 has 8 elements along axis 0, expected are 16"),
        (args([16, 32], [512]), "tensor 1 has rank 1, expected is 2"),
        (args([16, 32], [16, 32], dtype=DataType.INT32), "tensor 0 is int32|tensor 0 is INT32"),
    ):
        with pytest.raises(RunError, match=text):
            device.run(handle, wrong)
    device.run(handle, args([16, 32], [16, 32]))  # it goes on
