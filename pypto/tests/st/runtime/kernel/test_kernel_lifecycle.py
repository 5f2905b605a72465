"""pypto.torch.init on the NPU that is there: start, fork, spawn, data loaders, captures, failures, exit.

Each test is a process of its own. The last line that a program prints is "end"; what comes after it is
printed by shutdown.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch_npu")

PRELUDE = """
import os, sys, threading, time
import torch, torch_npu
import pypto.torch
from pypto.runtime.kernel import context
from pypto.runtime import _execution_mode

def error_of(function):
    try:
        return function()
    except BaseException as error:
        return f"{type(error).__name__}: {error}".replace("\\n", " ")

def gates():
    torch.ops.load_library(os.environ["PTO_GATES"])
    return torch.ops.npu_ext

def in_child(function):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(error_of(function)).encode())
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 65536).decode()
    os.waitpid(child, 0)
    return text

def watch_close():
    # Says when the Worker is closed and what the framework did by then.
    from simpler.worker import Worker
    close = Worker.close
    def closing(self):
        print("worker closed on", threading.current_thread().name,
              "alive" if pypto._torch_npu.framework_alive() else "dead", flush=True)
        close(self)
    Worker.close = closing
    shutdown = torch_npu._C._npu_shutdown_synchronize
    def synchronize():
        print("framework synchronizes", flush=True)
        return shutdown()
    torch_npu._C._npu_shutdown_synchronize = synchronize
"""


@pytest.fixture
def program(python):
    def run(body, **environment):
        code, out, err = python(PRELUDE + body + "\nprint('end', flush=True)\n", **environment)
        assert code == 0, out + err
        before, _, after = out.rpartition("end\n")
        return before.splitlines(), after.splitlines(), err

    return run


QUEUES = pytest.mark.parametrize("queue", ["0", "1", "2"])


@QUEUES
def test_start_and_orderly_exit(program, queue):
    body = """
watch_close()
x = torch.ones(1000, device="npu")
pypto.torch.init()
manager = context.manager()
print(manager.state.name, manager.generation, manager.config.device_index)
print((x + 1).sum().item())
"""
    lines, after, err = program(body, TASK_QUEUE_ENABLE=queue)
    assert lines == ["READY 1 0", "2000.0"]
    assert after == ["worker closed on pypto-kernel-owner alive", "framework synchronizes"]
    assert err == ""


def test_importing_starts_no_thread_and_no_device(program):
    body = """
print([t.name for t in threading.enumerate()], torch_npu.npu.is_initialized())
"""
    lines, _, _ = program(body)
    assert lines == ["['MainThread'] False"]


def test_tensors_of_the_framework_stay_readable_after_kernel_mode_closed(program):
    body = """
pypto.torch.init()
x = torch.arange(6, device="npu")
context.manager().close()
print(context.manager().state.name, (x * 2).tolist())
"""
    lines, after, err = program(body)
    assert lines == ["CLOSED [0, 2, 4, 6, 8, 10]"] and (after, err) == ([], "")


def test_an_explicit_device_must_be_current(program):
    body = """
print(error_of(lambda: pypto.torch.init(device=1)))
print(context.manager().state.name, _execution_mode.current_mode(), torch.npu.current_device())
torch.npu.set_device(1)
pypto.torch.init(device="npu:1")
print(context.manager().config.device_index)
print(error_of(lambda: pypto.torch.init(device=torch.device("cpu"))))
torch.npu.set_device(0)
print(error_of(pypto.torch.init))
"""
    lines, _, _ = program(body)
    assert "the current device is npu:0; call torch.npu.set_device(1) first" in lines[0]
    assert lines[1:3] == ["UNINITIALIZED None 0", "1"]
    assert "cpu is no NPU" in lines[3]
    assert "configuration conflict: bound device_index=1, requested device_index=0" in lines[4]


def test_init_in_a_capture_is_refused_and_leaves_the_process_free(program):
    body = """
x = torch.ones(4, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = x + 1
    print(error_of(pypto.torch.init))
    print(_execution_mode.current_mode(), context.manager().state.name)
graph.replay()
print(y.tolist())
pypto.torch.init()
print(context.manager().state.name)
"""
    lines, _, _ = program(body)
    assert lines[0].startswith("NotImplementedError: pypto.torch.init() during graph capture")
    assert lines[1:] == ["None UNINITIALIZED", "[2.0, 2.0, 2.0, 2.0]", "READY"]


def test_waiting_in_a_capture_is_refused_and_the_capture_goes_on(program):
    body = """
pypto.torch.init()
manager = context.manager()
x = torch.ones(4, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = x + 1
    print(error_of(manager.drain))
    print(error_of(manager.close))
    print(error_of(pypto.torch.init))
print(manager.state.name)
graph.replay()
print(y.tolist())
manager.drain()
"""
    lines, after, err = program(body)
    assert lines[0].startswith("RuntimeError: Kernel mode cannot drain during graph capture")
    assert lines[1].startswith("RuntimeError: Kernel mode cannot close during graph capture")
    assert lines[2].startswith("NotImplementedError")
    assert lines[3:] == ["READY", "[2.0, 2.0, 2.0, 2.0]"] and (after, err) == ([], "")


def test_threads_that_start_at_once_share_one_worker(program):
    body = """
from simpler.worker import Worker
init, count = Worker.init, []
def counted(self, *args, **kwargs):
    count.append(threading.current_thread().name)
    time.sleep(0.1)
    return init(self, *args, **kwargs)
counted.__signature__ = __import__("inspect").signature(init)
Worker.init = counted
results = []
threads = [threading.Thread(target=lambda: results.append(error_of(pypto.torch.init))) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(results, count)
"""
    lines, _, _ = program(body)
    assert lines == [f"{[None] * 8} ['pypto-kernel-owner']"]


def test_an_interrupted_start_says_so_and_the_process_ends_in_order(program):
    body = """
watch_close()
import inspect, signal
from simpler.worker import Worker
init, raised, interrupted = Worker.init, threading.Event(), threading.Event()
def once(*_):
    if not raised.is_set():
        raised.set()
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, once)
def slow(self, *args, **kwargs):
    while not raised.wait(0.05):  # the main thread may not be waiting yet
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    interrupted.wait(60)
    return init(self, *args, **kwargs)
slow.__signature__ = inspect.signature(init)
Worker.init = slow
print(error_of(pypto.torch.init))
interrupted.set()
print(context.manager().state.name)
print(error_of(pypto.torch.init))
"""
    lines, after, err = program(body)
    assert lines[0].startswith("KeyboardInterrupt") and lines[1] == "FAILED"
    assert lines[2].startswith("RuntimeError: Kernel mode is FAILED (KeyboardInterrupt)")
    assert after == ["worker closed on pypto-kernel-owner alive", "framework synchronizes"]
    assert err == ""


# Processes.


def test_a_forked_child_is_told_to_spawn_and_leaves_the_parent_alone(program):
    body = """
watch_close()
pypto.torch.init()
manager = context.manager()
for function in (
    pypto.torch.init,
    manager.require_ready,
    manager.close,
    lambda: _execution_mode.claim_program(),
):
    print(in_child(function))

# A child that ends as programs do, through the exit handlers, closes nothing of the parent's.
sys.stdout.flush()
child = os.fork()
if child == 0:
    print("child leaves", flush=True)
    sys.exit(0)
_, status = os.waitpid(child, 0)
print("child ended with", status)
print(manager.state.name, (torch.ones(3, device="npu") + 1).tolist())
"""
    lines, after, err = program(body)
    for line in lines[:4]:
        assert line.startswith("RuntimeError") and "'spawn'" in line
    assert lines[4] == "child leaves"
    assert not any("worker closed" in line for line in lines)
    assert lines[-2:] == ["child ended with 0", "READY [2.0, 2.0, 2.0]"]
    assert after[0].startswith("worker closed on pypto-kernel-owner") and err == ""


def test_a_child_forked_while_calls_are_in_flight_ends(program):
    body = """
pypto.torch.init()
manager = context.manager()
class Artifact: key = "K"
registration = object.__new__(context.KernelRegistration)
manager.require_registration = lambda r: None
tickets = [manager.submit(registration, torch.ones(4, device="npu"), lambda t: None) for _ in range(5)]
sys.stdout.flush()
with manager._admission:  # as if another thread were enqueueing
    child = os.fork()
    if child == 0:
        sys.exit(0)
print(os.waitpid(child, 0)[1], manager.pending)
class Run:
    done = True
    def wait(self): pass
[t.publish(Run()) for t in tickets]
"""
    lines, after, err = program(body)
    assert lines == ["0 5"] and (after, err) == ([], "")


def test_a_spawned_child_starts_kernel_mode_of_its_own(python, tmp_path):
    text = """
import multiprocessing, sys

def child(queue):
    import torch, torch_npu, pypto.torch
    from pypto.runtime.kernel import context
    pypto.torch.init()
    queue.put((context.manager().state.name, (torch.ones(2, device="npu") + 1).tolist()))

if __name__ == "__main__":
    import torch, torch_npu, pypto.torch
    pypto.torch.init()
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    process = spawn.Process(target=child, args=(queue,))
    process.start()
    print(queue.get(timeout=250))
    process.join(250)
    print(process.exitcode)
"""
    code, out, err = python(text)
    assert (code, out.splitlines(), err) == (0, ["('READY', [2.0, 2.0])", "0"], "")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_workers(python, method):
    text = f"""
import sys
import torch
from torch.utils.data import DataLoader, Dataset

class Plain(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.full((4,), float(i))

class Starts(Plain):
    def __getitem__(self, i):
        import pypto.torch
        pypto.torch.init()
        from pypto.runtime.kernel import context
        assert context.manager().state.name == "READY"
        return super().__getitem__(i)

def load(dataset):
    loader = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context={method!r})
    return [batch.npu().sum().item() for batch in loader]

if __name__ == "__main__":
    import torch_npu, pypto.torch
    pypto.torch.init()
    print(load(Plain()))
    try:
        print(load(Starts()))
    except RuntimeError as error:
        print("RuntimeError", "'spawn'" in str(error))
    from pypto.runtime.kernel import context
    print(context.manager().state.name)
"""
    code, out, err = python(text)
    assert code == 0, out + err
    lines = out.splitlines()
    assert lines[0] == "[24.0, 88.0]" and lines[2] == "READY"
    assert lines[1] == ("RuntimeError True" if method == "fork" else "[24.0, 88.0]")


# Work in flight at exit, and failures.

TICKETS = """
pypto.torch.init()
manager = context.manager()
registration = object.__new__(context.KernelRegistration)
manager.require_registration = lambda r: None

class Run:
    # What a callback publishes: done when the stream has passed the call.
    def __init__(self, event): self.event = event
    @property
    def done(self): return self.event.query()
    def wait(self):
        self.event.synchronize()
        print("run retired", flush=True)

def call(tensor):
    event = torch.npu.Event()
    def enqueue(ticket):
        event.record()
        ticket.publish(Run(event))
    return manager.submit(registration, tensor, enqueue, release=lambda: print("released", flush=True))
"""


@pytest.mark.parametrize("gate", ["gate_stream", "gate_queue"])
def test_exit_with_work_in_flight_retires_it_first(program, gate):
    body = f"""
watch_close()
{TICKETS}
x = torch.zeros(4, device="npu")
torch.npu.synchronize()
ext = gates()
ext.{gate}()
x += 1
ticket = call(x)
manager.poll()
print(ticket.finished, manager.pending)
threading.Timer(0.3, ext.open_gates).start()
"""
    lines, after, err = program(body)
    assert lines == ["False 1"]
    assert after == [
        "run retired",
        "released",
        "worker closed on pypto-kernel-owner alive",
        "framework synchronizes",
    ]
    assert err == ""


def test_a_callback_that_never_ran_keeps_everything_until_the_process_is_gone(program):
    body = f"""
watch_close()
{TICKETS}
class Resource:
    def __del__(self): print("resource destroyed", flush=True)
manager.submit(registration, Resource(), lambda ticket: None)
"""
    lines, after, err = program(body)
    assert (lines, after) == ([], ["framework synchronizes"])
    assert "RuntimeWarning" in err and "retained until process exit" in err
    assert "its callback has not run although the framework's queue was drained" in err


def test_the_same_with_warnings_as_errors(program):
    body = f"""
import warnings
warnings.simplefilter("error")
{TICKETS}
manager.submit(registration, object(), lambda ticket: None)
"""
    _, _, err = program(body)
    assert "retained until process exit" in err and "Traceback" not in err


def test_an_exception_in_a_callback_fails_the_process_with_its_reason(program):
    body = f"""
{TICKETS}
def enqueue(ticket):
    def callback():
        try:
            raise ValueError("kernel add: bad tiling")
        except ValueError as error:
            ticket.publish_failure(error)
    threading.Thread(target=callback).start()
ticket = manager.submit(registration, "source", enqueue)
while not ticket.finished:
    time.sleep(0.01)
print(error_of(lambda: call(None)))
print(manager.state.name, ticket.resources)
print(error_of(lambda: call(None)))
print(error_of(pypto.torch.init))
print((torch.ones(2, device="npu") + 1).tolist())
"""
    lines, _, err = program(body)
    assert lines[0] == "ValueError: kernel add: bad tiling"
    assert lines[1] == "FAILED source"
    for line in lines[2:4]:
        assert line.startswith(
            "RuntimeError: Kernel mode is FAILED (ValueError: kernel add: bad tiling)"
        )
    assert lines[4] == "[2.0, 2.0]"  # the framework goes on
    assert "retained until process exit" in err


def test_a_device_error_at_drain_keeps_the_ticket_and_says_which_operator(program):
    body = f"""
{TICKETS}
ext = gates()
ticket = call(torch.ones(2, device="npu"))
ext.gate_queue()
ext.fail_with("aclnnBroken", 507, False)
ext.open_gates()
print(error_of(manager.drain))
print(manager.state.name, manager.pending, ticket.retired)
"""
    lines, _, _ = program(body)
    assert "aclnnBroken" in lines[0] and "RuntimeError" in lines[0]
    assert lines[1] == "FAILED 1 False"


def test_use_after_the_framework_has_shut_down(program):
    body = """
pypto.torch.init()
torch_npu._C._npu_shutdown(torch_npu._C._npu_shutdown_synchronize())
print(context.manager().state.name)
for function in (context.manager().require_ready, context.manager().drain):
    print(error_of(function))
import pypto._torch_npu as native
print(native.framework_alive())
print(error_of(lambda: native.borrow_context(0)))
"""
    lines, after, err = program(body)
    assert lines[0] == "CLOSED"
    for line in lines[1:3]:
        assert "is closed: it admits no calls, and cannot be started again in this process" in line
    assert lines[3] == "False" and "torch_npu has not initialised it, or has shut down" in lines[4]
    assert (after, err) == ([], "")


# Modes.

JIT = '''
source = """
import pypto.language as pl

@pl.jit.incore
def double_tile(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    t = pl.load(a, [0, 0], [16, 16])
    c = pl.store(pl.add(t, t), [0, 0], c)
    return c

@pl.jit
def double(a: pl.Tensor[[16, 16], pl.FP32], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    c = double_tile(a, c)
    return c
"""
path = os.path.join(os.path.dirname(sys.argv[0]), "kernels.py")
open(path, "w").write(source)
names = {}
exec(compile(source, path, "exec"), names)
double = names["double"]
'''


def test_a_direct_jit_call_after_init_is_refused(program):
    body = f"""
{JIT}
pypto.torch.init()
print(error_of(lambda: double(torch.ones(16, 16), torch.zeros(16, 16))))
print(context.manager().state.name)
"""
    lines, _, _ = program(body)
    assert "Cannot initialize PROGRAM mode: this process already claimed KERNEL mode" in lines[0]
    assert lines[1] == "READY"


def test_init_after_a_program_call_is_refused(program):
    body = f"""
{JIT}
double(torch.ones(16, 16), torch.zeros(16, 16))
print(error_of(pypto.torch.init))
c = torch.zeros(16, 16)
double(torch.ones(16, 16), c)
print(c.sum().item(), context.manager().state.name)
"""
    lines, _, _ = program(body)
    assert "Cannot initialize KERNEL mode: this process already claimed PROGRAM mode" in lines[0]
    assert lines[1] == "512.0 UNINITIALIZED"
