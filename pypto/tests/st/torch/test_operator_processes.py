"""Kernels in torch across threads and processes."""

from __future__ import annotations

import gc
import itertools
import os
import random
import threading
import time

import pypto.torch
import torch
from kernels import COLS, add, scale

REGISTER = """
import torch, torch_npu, pypto.torch
from kernels import COLS, add, blocks
op = pypto.torch.register("pypto_test", "add", add)
"""


def test_threads_streams_kernels_copies_and_frees():
    """8 threads on 4 streams: every result is right although memory changes hands all the time.

    NPU_STRESS_SECONDS makes it longer (60 nightly).
    """
    adding = pypto.torch.register("pypto_test", "stress_add", add)
    scaling = pypto.torch.register("pypto_test", "stress_scale", scale)
    streams = [torch.npu.Stream() for _ in range(4)]
    wrong: list[str] = []
    end = time.monotonic() + float(os.environ.get("NPU_STRESS_SECONDS", "5"))

    def work(seed):
        choice = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        try:
            for step in itertools.count():
                if step >= 3 and time.monotonic() >= end:
                    break
                with torch.npu.stream(streams[choice.randrange(4)]):
                    n = choice.choice([1, 16, 33, 200])
                    host = torch.randn(n, COLS, generator=generator)
                    x = host.npu(non_blocking=True)
                    y = adding(x, scaling(x, 2.0))
                    out = torch.empty_like(y)
                    pypto.torch.launch(scale, y, 0.5, out)
                    del x, y
                    got = out.cpu()
                if not torch.allclose(got, host * 1.5, atol=1e-5):
                    wrong.append(f"seed {seed}: {(got - host * 1.5).abs().max()}")
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            wrong.append(f"seed {seed}: {error!r}")

    gc.collect()
    before = torch.npu.memory_allocated()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.npu.synchronize()
    gc.collect()
    assert not wrong
    assert torch.npu.memory_allocated() == before


def test_kernels_in_a_profile():
    """A launch and an operator are rows of the device, under the kernel's name."""
    adding = pypto.torch.register("pypto_test", "stress_add", add)
    x = torch.randn(64, COLS, device="npu")
    out = torch.empty_like(x)
    adding(x, x)
    pypto.torch.launch(scale, x, 2.0, out)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]
    with torch.profiler.profile(activities=activities) as profile:
        adding(x, x)
        pypto.torch.launch(scale, x, 2.0, out)
    device = [e.name for e in profile.events() if e.device_type != torch.autograd.DeviceType.CPU]
    assert device == ["add", "scale"]
    assert "pypto_test::stress_add" in [e.name for e in profile.events()]


def test_exit_with_work_in_flight(run_python):
    code, output = run_python(
        REGISTER
        + """
x = torch.randn(4000, COLS, device="npu")
for _ in range(200):
    x = op(x, x)
""",
        PTO_NPU_ASYNC="1",
    )
    assert code == 0, output


def test_exit_with_an_error_that_nobody_waited_for(run_python):
    code, output = run_python(
        REGISTER
        + """
x = torch.randn(64, COLS, device="npu")
pypto.torch.launch(blocks, x, -1, torch.empty_like(x))
""",
        PTO_NPU_ASYNC="1",
    )
    assert code == 0, output


def test_forked_child(run_python):
    """It may not use the device; the parent goes on."""
    code, output = run_python(
        REGISTER
        + """
import os
x = torch.ones(64, COLS, device="npu")
op(x, x)
child = os.fork()
if not child:
    try:
        pypto.torch.launch(add, x, x, x)
    except RuntimeError as error:
        print("child:", error)
    os._exit(0)
os.waitpid(child, 0)
print("parent:", op(x, x).cpu().sum().item())
"""
    )
    assert code == 0, output
    assert "child: Cannot re-initialize NPU in forked subprocess" in output
    assert f"parent: {64 * COLS * 2:.1f}" in output


def test_kernel_mode_and_its_end(run_python):
    """Launches claim no mode, go on after init(), and stop when the process's context is closed."""
    code, output = run_python(
        REGISTER
        + """
x = torch.ones(64, COLS, device="npu")
out = torch.empty_like(x)
pypto.torch.launch(add, x, x, out)
pypto.torch.init()
pypto.torch.launch(add, x, x, out)
print("ready", out.sum().item(), op(x, x).sum().item(), op(x.cpu(), x.cpu()).sum().item())
try:
    add(x.cpu(), x.cpu(), out.cpu())
except RuntimeError as error:
    print("direct:", error)

from pypto.runtime.kernel import context

context.manager().close()
for call in (lambda: pypto.torch.launch(add, x, x, out), lambda: op(x, x)):
    try:
        call()
    except RuntimeError as error:
        print("closed:", error)
print("readable", x.sum().item())
""",
        PYPTO_SKIP_RUNTIME_PIN_CHECK="1",
    )
    assert code == 0, output
    assert "ready 8192.0 8192.0 8192.0" in output
    assert "direct: Cannot initialize PROGRAM mode" in output
    assert output.count("closed: kernel add is not launched: the process's kernel context") == 2
    assert "readable 4096.0" in output


def test_spawned_child(run_python, tmp_path):
    program = tmp_path / "spawned.py"
    program.write_text(
        """
import torch, torch_npu, pypto.torch
from kernels import COLS, add

def child(queue):
    op = pypto.torch.register("pypto_test", "add", add)
    x = torch.ones(64, COLS, device="npu")
    queue.put(op(x, x).sum().item())

if __name__ == "__main__":
    import multiprocessing
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print("got", queue.get(timeout=250))
    process.join()
"""
    )
    code, output = run_python(
        f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    )
    assert f"got {64 * COLS * 2:.1f}" in output, output


def test_without_torch_npu(run_python):
    """Operators on "cpu" do not ask for it; a launch says what is missing."""
    code, output = run_python(
        """
import sys
sys.modules["torch_npu"] = None
import torch, pypto.torch
from kernels import COLS, add
op = pypto.torch.register("pypto_test", "add", add)
x = torch.ones(3, COLS)
print("sum", op(x, x).sum().item())
try:
    pypto.torch.launch(add, x, x, x)
except TypeError as error:
    print("launch:", error)
""",
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert code == 0, output
    assert f"sum {3 * COLS * 2:.1f}" in output and "launch: Parameter 'x' takes an NPU" in output
