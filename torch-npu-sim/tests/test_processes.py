"""fork, spawn, data loaders, threads, interpreter exit."""

import threading

import pytest
import torch


def test_fork_after_use_is_refused_in_the_child(run_python):
    text = """
import os, torch, torch_npu
x = torch.ones(3, device="npu")
pid = os.fork()
if pid == 0:
    try:
        torch.ones(3, device="npu")
    except RuntimeError as e:
        print("child:", e, flush=True)
    del x  # must not hang on inherited locks
    print("bad fork:", torch.npu._is_in_bad_fork(), (torch.ones(3) + 1).sum().item(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent:", (x + 1).sum().item())
"""
    code, out = run_python(text)
    assert code == 0
    assert (
        "child: Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the"
        in out
    )
    assert "bad fork: True 6.0" in out and "parent: 6.0" in out


def test_fork_before_use_is_fine(run_python):
    text = """
import os, torch, torch_npu
pid = os.fork()
right = (torch.ones(3, device="npu") + 1).sum().item() == 6
if not pid:
    os._exit(0 if right else 1)
print(right, os.waitpid(pid, 0)[1])
"""
    code, out = run_python(text)
    assert (code, out.split()) == (0, ["True", "0"])


def test_spawn(run_python, tmp_path):
    (tmp_path / "spawned.py").write_text("""
import torch, torch_npu
def work(queue):
    queue.put((torch.ones(3, device="npu:1") * 2).sum().item())
if __name__ == "__main__":
    import torch.multiprocessing as mp
    torch.ones(1, device="npu")
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=work, args=(queue,))
    process.start(); print(queue.get()); process.join(); print(process.exitcode)
""")
    text = f"import runpy; runpy.run_path({str(tmp_path / 'spawned.py')!r}, run_name='__main__')"
    code, out = run_python(text)
    assert (code, out.split()) == (0, ["6.0", "0"])


def test_data_loader_workers():
    from torch.utils.data import DataLoader, TensorDataset

    torch.ones(1, device="npu")
    loader = DataLoader(
        TensorDataset(torch.arange(16.0)), batch_size=4, num_workers=2, pin_memory=True
    )
    total = sum(batch.npu(non_blocking=True).sum().item() for (batch,) in loader)
    assert total == 120


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "1 / 0"])
def test_exit_with_work_in_flight(run_python, ending):
    text = f"""
import os, time, torch, torch_npu
torch.ops.load_library(os.environ["PTO_NPU_TEST_EXT"])
import threading
ext = torch.ops.npu_ext
x = torch.ones(1000, device="npu")
ext.gate_queue(); y = ext.add(x, x); z = y * 2
with torch.npu.stream(torch.npu.Stream()):
    ext.gate_stream(); w = x + 1
threading.Timer(0.2, ext.open_gates).start()
print("end of program", flush=True)
{ending}
"""
    code, out = run_python(text)
    assert code == {"": 0, "raise SystemExit(3)": 3, "1 / 0": 1}[ending], out
    assert "end of program" in out and "Segmentation" not in out and "terminate" not in out


def test_a_daemon_thread_that_waits_for_the_device_when_the_program_ends(run_python):
    text = """
import os, sys, threading, time, types, torch, torch_npu
torch.ops.load_library(os.environ["PTO_NPU_TEST_EXT"])
x = torch.ones(4, device="npu")
torch.ops.npu_ext.gate_stream(); y = x + 1
torch_npu._C._npu_shutdown_synchronize = lambda: True  # would wait for the gate
torch_npu._C._npu_shutdown = lambda success: None
class AtEnd(types.ModuleType):
    # When modules are cleared no thread but the main one gets the GIL any more.
    opens, sleep = torch._C._jit_get_operation("npu_ext::open_gates")[0], time.sleep
    def __del__(self):
        type(self).opens()
        type(self).sleep(0.3)
sys.modules["at_end"] = AtEnd("at_end")
waits = threading.Event()
def wait():
    waits.set()
    torch_npu._C._npu_synchronize(0)
threading.Thread(target=wait, daemon=True).start()
waits.wait()
time.sleep(0.2)
print("end of program", flush=True)
"""
    assert run_python(text) == (0, "end of program\n")


def test_shutdown_hooks_are_replaceable(run_python):
    text = """
import torch, torch_npu
torch.ones(1, device="npu")
inner, last = torch_npu._C._npu_shutdown_synchronize, torch_npu._C._npu_shutdown
def first(): print("synchronize", flush=True); return inner()
def second(success): print("shutdown", success, flush=True); last(success)
torch_npu._C._npu_shutdown_synchronize, torch_npu._C._npu_shutdown = first, second
"""
    code, out = run_python(text)
    assert (code, out.split("\n")[:2]) == (0, ["synchronize", "shutdown True"])


def test_tensors_are_readable_after_shutdown(run_python):
    text = """
import torch, torch_npu
x = torch.arange(4, device="npu")
torch_npu._C._npu_shutdown(torch_npu._C._npu_shutdown_synchronize())
print((x + 1).tolist())
"""
    code, out = run_python(text)
    assert (code, out.strip()) == (0, "[1, 2, 3, 4]")


def test_threads_have_their_own_device_and_stream():
    seen = {}
    torch.npu.set_device(1)

    def work():
        seen["device"] = torch.npu.current_device()
        seen["stream"] = torch.npu.current_stream(0) == torch.npu.default_stream(0)

    with torch.npu.stream(torch.npu.Stream(0)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == {"device": 0, "stream": True}


def test_threads_compute_at_once():
    wrong = []

    def work(seed):
        stream = torch.npu.Stream(seed % 2)
        with torch.npu.stream(stream):
            for i in range(60):
                x = torch.full((257,), float(seed), device="npu")
                y = (x + i) @ torch.ones(257, device="npu")
                if y.item() != (seed + i) * 257:
                    wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
