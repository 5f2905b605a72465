"""A KERNEL artifact from compilation to its result on NPU tensors through public pieces only: registration on the
owner thread, a frame, TaskArgs over borrowed storage, Worker.submit on the caller's stream, a ticket."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_npu")

PRELUDE = '''
import os, sys, threading, weakref, gc
import torch, torch_npu
import pypto.torch
from pypto.ir.artifact import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime.kernel import context
from pypto.torch.interop import CallSignature

source = """
import pypto.language as pl

@pl.jit.incore
def scale_tile(x: pl.Tensor, s: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor]):
    t = pl.load(x, [0, 0], [16, 16])
    y = pl.store(pl.mul(t, s), [0, 0], y)
    return y

@pl.jit
def scale(x: pl.Tensor[[16, 16], pl.FP32], s: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    y = scale_tile(x, s, y)
    return y
"""
path = os.path.join(os.path.dirname(sys.argv[0]), "kernels.py")
open(path, "w").write(source)
names = {}
exec(compile(source, path, "exec"), names)

class Stream:
    """Runs what is launched when the NPU stream has passed the launch, in order, on a thread of its own."""
    def __init__(self, stream):
        import queue
        self.stream, self.queue = stream, queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()
    def launch(self, function):
        event = torch.npu.Event()
        event.record(self.stream)
        self.queue.put((event, function))
    def _serve(self):
        while True:
            event, function = self.queue.get()
            event.synchronize()
            del event  # torch asks for the GIL again here: not when the run has ended, and with it perhaps the program
            function()
            del function

def task_args(frame):
    from simpler.buffer import Buffer
    from simpler.task_interface import DataType, TaskArgs, TensorArgType
    tags = {"In": TensorArgType.INPUT, "Out": TensorArgType.OUTPUT_EXISTING, "InOut": TensorArgType.INOUT}
    args = TaskArgs()
    for each in frame.tensors:
        meta = each.metadata
        buffer = Buffer.wrap(each.tensor)
        args.add_tensor(buffer.tensor(list(meta.shape), DataType.FLOAT32, None, meta.data_ptr - meta.storage_ptr),
                        tags[meta.direction.value])
    for each in frame.scalars:
        args.add_scalar(each.value, DataType.FLOAT32)
    return args

def launch(manager, artifact, registration, stream, *values):
    signature = CallSignature(artifact.metadata.params, return_aliases=artifact.metadata.return_aliases)
    frame = signature.describe_call(values)
    def enqueue(ticket):
        ticket.publish(manager._session.worker.submit(registration.handle, task_args(frame), stream=stream))
    return frame, manager.submit(registration, frame, enqueue, order=frame.stream)
'''


@pytest.fixture
def program(python):
    def run(body):
        code, out, err = python(PRELUDE + body + "\nprint('end', flush=True)\n")
        assert code == 0, out + err
        before, _, after = out.rpartition("end\n")
        notice = "pypto: no NPU is driven; a2a3 runs on the simulated device\n"
        return before.splitlines(), after.splitlines(), err.replace(notice, "")

    return run


@pytest.mark.parametrize("runtime", ["tensormap_and_ringbuffer", "host_build_graph"])
def test_a_kernel_runs_on_borrowed_tensors(program, runtime):
    body = f"""
from pypto.enums import RuntimeKind
artifact = _compile_artifact(names["scale"], platform="a2a3", runtime=RuntimeKind.{runtime.upper()})
print(artifact.metadata.runtime, [p.name for p in artifact.metadata.params])
from pypto.runtime import _execution_mode
print(_execution_mode.current_mode())
pypto.torch.init(runtime={runtime!r})
manager = context.manager()
registration = manager.ensure_callable(artifact)
assert manager.ensure_callable(artifact) is registration and manager.require_callable(artifact) is registration
stream = Stream(torch.npu.current_stream())
x = torch.arange(512, dtype=torch.float32, device="npu").view(32, 16)
y = torch.zeros(16, 16, device="npu")
frame, ticket = launch(manager, artifact, registration, stream, x[16:], 3.0, y)
result = frame.alias_result()
assert result is y
manager.drain()
print(ticket.retired, manager.pending, torch.equal(y, x[16:] * 3))
"""
    lines, after, err = program(body)
    assert lines == [
        f"{runtime} ['x', 's', 'y']",
        "None",
        "True 0 True",
    ]
    assert (after, err) == ([], "")


def test_many_calls_keep_their_tensors_until_they_are_done_and_no_longer(program):
    body = """
artifact = _compile_artifact(names["scale"], platform="a2a3")
pypto.torch.init()
manager = context.manager()
registration = manager.ensure_callable(artifact)
stream = Stream(torch.npu.current_stream())
alive, outputs = [], []
for number in range(50):
    x = torch.full((16, 16), float(number), device="npu")
    y = torch.zeros(16, 16, device="npu")
    launch(manager, artifact, registration, stream, x, 2.0, y)
    alive.append(weakref.ref(x))
    outputs.append(y)
    del x, y
manager.drain()
print(all(torch.equal(y, torch.full_like(y, 2.0 * n)) for n, y in enumerate(outputs)))
gc.collect()
print(manager.pending, sum(ref() is not None for ref in alive))
"""
    lines, after, err = program(body)
    assert lines == ["True", "0 0"] and (after, err) == ([], "")


def test_artifacts_of_another_target_are_refused_and_errors_of_the_registry_pass(program):
    body = """
from pypto.enums import RuntimeKind
other = _compile_artifact(names["scale"], platform="a2a3", runtime=RuntimeKind.HOST_BUILD_GRAPH)
program = _compile_artifact(names["scale"], platform="a2a3", contract=ArtifactExecutionMode.PROGRAM)
pypto.torch.init()
manager = context.manager()
for artifact in (other, program):
    try:
        manager.ensure_callable(artifact)
    except ValueError as error:
        print(error)
print(manager.state.name)
"""
    lines, _, _ = program(body)
    assert "compiled for runtime 'host_build_graph', kernel mode runs 'tensormap" in lines[0]
    assert "kernel" in lines[1].lower() and "compile" in lines[1].lower()
    assert lines[-1] == "READY"


def test_artifacts_of_one_key_share_a_registration_and_private_ones_do_not(program):
    body = """
from pypto.runtime.artifact_store import ArtifactStore
store = ArtifactStore(os.path.join(os.path.dirname(path), "store"))
stored = [_compile_artifact(names["scale"], platform="a2a3", store=store) for _ in range(2)]
private = [_compile_artifact(names["scale"], platform="a2a3") for _ in range(2)]
pypto.torch.init()
manager = context.manager()
one, two = map(manager.ensure_callable, stored)
three, four = map(manager.ensure_callable, private)
print(stored[0] is stored[1], one is two, one.handle.hashid[:7])
print(three is four, three.handle is four.handle, three is manager.ensure_callable(private[0]))
"""
    lines, _, err = program(body)
    assert lines == ["False True sha256:", "False False True"] and err == ""


def test_a_full_registry_is_the_runtimes_error(program):
    body = """
artifacts = []
for number in range(65):
    text = source.replace("scale", f"scale{number}")
    file = path.replace(".py", f"{number}.py")
    open(file, "w").write(text)
    exec(compile(text, file, "exec"), other := {})
    artifacts.append(_compile_artifact(other[f"scale{number}"], platform="a2a3"))
pypto.torch.init()
manager = context.manager()
for artifact in artifacts[:64]:
    manager.ensure_callable(artifact)
for _ in range(2):
    try:
        manager.ensure_callable(artifacts[64])
    except RuntimeError as error:
        print(error)
print(manager.state.name, manager.ensure_callable(artifacts[0]).artifact is artifacts[0])
"""
    lines, _, _ = program(body)
    assert "all 64 slots are in use" in lines[0] and lines[0] == lines[1]
    assert lines[2] == "READY True"


def test_a_small_budget_does_not_count_borrowed_tensors(program):
    body = """
artifact = _compile_artifact(names["scale"], platform="a2a3")
pypto.torch.init(workspace_budget_bytes=1024)
manager = context.manager()
registration = manager.ensure_callable(artifact)
stream = Stream(torch.npu.current_stream())
x, y = torch.ones(1 << 20, device="npu")[:256].view(16, 16), torch.zeros(16, 16, device="npu")
launch(manager, artifact, registration, stream, x, 4.0, y)
manager.drain()
print(y.sum().item())
try:
    manager._session.worker.malloc(2048)
except MemoryError as error:
    print(error)
"""
    lines, _, err = program(body)
    assert lines[0] == "1024.0" and "exceed the budget of 1024" in lines[1] and err == ""


def test_exit_with_a_kernel_in_flight(program):
    body = """
artifact = _compile_artifact(names["scale"], platform="a2a3")
pypto.torch.init()
manager = context.manager()
registration = manager.ensure_callable(artifact)
torch.ops.load_library(os.environ["PTO_GATES"])
stream = Stream(torch.npu.current_stream())
x, y = torch.ones(16, 16, device="npu"), torch.zeros(16, 16, device="npu")
torch.npu.synchronize()
torch.ops.npu_ext.gate_stream()
_, ticket = launch(manager, artifact, registration, stream, x, 5.0, y)
print(ticket.finished)
threading.Timer(0.3, torch.ops.npu_ext.open_gates).start()
import atexit
atexit.register(lambda: print("at exit", manager.state.name, flush=True))
import pypto.runtime.kernel.teardown as teardown
original = torch_npu._C._npu_shutdown
torch_npu._C._npu_shutdown = lambda success: (print(manager.state.name, y.sum().item(), flush=True), original(success))
"""
    lines, after, err = program(body)
    assert lines == ["False"]
    assert after == ["at exit READY", "CLOSED 1280.0"] and err == ""


# The public launch in a process that has called init.


def test_launches_follow_the_process(program):
    body = """
scale = names["scale"]
x, y = torch.ones(16, 16, device="npu"), torch.zeros(16, 16, device="npu")
pypto.torch.prepare(scale, x, 2.0, y)
pypto.torch.init()
pypto.torch.launch(scale, x, 3.0, y)
print(y.sum().item())

reader, writer = os.pipe()
sys.stdout.flush()
child = os.fork()
if child == 0:
    try:
        pypto.torch.launch(scale, x, 9.0, y)
    except RuntimeError as error:
        os.write(writer, str(error).encode())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(reader, 10000).decode())

torch.ops.load_library(os.environ["PTO_GATES"])
torch.npu.synchronize()
torch.ops.npu_ext.gate_stream()
pypto.torch.launch(scale, x, 5.0, y)
threading.Timer(0.3, torch.ops.npu_ext.open_gates).start()
context.manager().close()
print(context.manager().state.name, y.sum().item())
try:
    pypto.torch.launch(scale, x, 7.0, y)
except RuntimeError as error:
    print(error)
print(y.sum().item())
"""
    lines, after, err = program(body)
    assert lines[0] == "768.0"
    assert "'spawn'" in lines[1]
    assert lines[2] == "CLOSED 1280.0"
    assert "CLOSED" in lines[3] and lines[4] == "1280.0"
    assert (after, err) == ([], "")


def test_exit_with_launches_in_flight(program):
    body = """
scale = names["scale"]
x, y = torch.ones(16, 16, device="npu"), torch.zeros(16, 16, device="npu")
pypto.torch.prepare(scale, x, 2.0, y)
pypto.torch.init()
torch.ops.load_library(os.environ["PTO_GATES"])
torch.npu.synchronize()
torch.ops.npu_ext.gate_stream()
for _ in range(100):
    pypto.torch.launch(scale, x, 5.0, y)
    pypto.torch.launch(scale, y, 2.0, x)
    x = x * 0.1
threading.Timer(0.3, torch.ops.npu_ext.open_gates).start()
original = torch_npu._C._npu_shutdown
torch_npu._C._npu_shutdown = lambda success: (
    print(context.manager().state.name, round(x.sum().item(), 2), flush=True), original(success))
"""
    lines, after, err = program(body)
    assert (lines, after, err) == ([], ["CLOSED 256.0"], "")
