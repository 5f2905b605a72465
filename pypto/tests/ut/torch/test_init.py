"""`pypto.torch.init`: what is checked, in which order, and that a refusal changes nothing.

torch_npu and the extension are stand-ins, simpler is the real one. That interfaces are present, which is
what these tests show, is no evidence of correct results on a device.
"""

from __future__ import annotations

import sys
import types

import pypto.torch
import pytest
from pypto.runtime import _execution_mode, runtime_pin
from pypto.runtime.kernel import context, session, teardown
from pypto.runtime.kernel.context import KernelProcessManager, ProcessState
from pypto.torch.initialization import init


class Context:
    def bind(self):
        pass

    def unbind(self):
        pass


@pytest.fixture
def steps(monkeypatch):
    """Names of the checks in the order they are made."""
    made = []
    for name in ("check_runtime_identity", "check_runtime_capability", "load_extension"):
        monkeypatch.setattr(
            session, name, _noted(made, name, getattr(session, name) if "cap" in name else None)
        )
    monkeypatch.setattr(
        teardown, "check_framework", _noted(made, "check_framework", teardown.check_framework)
    )
    return made


def _noted(made, name, original):
    def check(*args):
        made.append(name)
        if original is not None:
            return original(*args)
        return types.SimpleNamespace(borrow_context=lambda device: Context())

    return check


@pytest.fixture
def torch_npu(monkeypatch, steps):
    module = types.ModuleType("torch_npu")
    module.__version__ = "2.10.0.post2+sim"
    module.capturing = False
    module.current = 0
    module._C = types.SimpleNamespace(
        _npu_shutdown_synchronize=lambda: True, _npu_shutdown=lambda success: None
    )

    def capturing():
        steps.append("capture")
        return module.capturing

    def current_device():
        steps.append("current_device")
        return module.current

    module.npu = types.SimpleNamespace(
        current_device=current_device,
        is_current_stream_capturing=capturing,
        synchronize=lambda device: None,
    )
    monkeypatch.setitem(sys.modules, "torch_npu", module)
    return module


@pytest.fixture(autouse=True)
def own_process(monkeypatch):
    """A gate and a manager of this test's own."""
    monkeypatch.setattr(_execution_mode, "_gate", _execution_mode._ModeGate())
    manager = KernelProcessManager()
    monkeypatch.setattr(context, "_manager", manager)
    yield manager
    if manager.used:
        manager.close()


def refused(error, text, **arguments):
    with pytest.raises(error, match=text) as caught:
        init(**arguments)
    assert _execution_mode.current_mode() is None, "a refused init claimed the mode"
    assert not context.manager().used
    return caught.value


# A start.


def test_a_start_checks_in_order_and_makes_the_process_ready(torch_npu, steps):
    assert pypto.torch.init() is None
    assert steps == [
        "current_device",
        "check_framework",
        "check_runtime_identity",
        "check_runtime_capability",
        "load_extension",
        "capture",
    ]
    manager = context.manager()
    assert (manager.state, manager.generation) == (ProcessState.READY, 1)
    assert _execution_mode.current_mode() == _execution_mode.KERNEL
    from simpler import Worker

    assert isinstance(manager._session.worker, Worker)


def test_again_with_the_same_configuration_is_fine_and_another_a_conflict(torch_npu):
    init(ring_heap=4096)
    init(ring_heap=[4096] * 4, device="npu:0")
    text = "configuration conflict: bound aicpu_thread_num=0, requested aicpu_thread_num=2"
    with pytest.raises(ValueError, match=text):
        init(ring_heap=4096, aicpu_thread_num=2)
    assert context.manager().state is ProcessState.READY


@pytest.mark.parametrize("runtime", ["tensormap_and_ringbuffer", "host_build_graph"])
def test_both_runtimes_of_a2a3_are_supported(torch_npu, runtime):
    init(platform="a2a3", runtime=runtime)
    assert context.manager().config.runtime == runtime


def test_the_configuration_is_kept_whole(torch_npu, tmp_path):
    torch_npu.current = 1
    init(
        device=1,
        aicpu_thread_num=4,
        enable_chip_swimlane=True,
        enable_dep_gen=True,
        output_dir=tmp_path,
        ring_task_window=16,
        ring_heap=[1024, 0, 2048, 0],
        ring_dep_pool=4,
        workspace_budget_bytes=1024,
    )
    config = context.manager().config
    assert config == session.KernelConfig(
        platform="a2a3",
        runtime="tensormap_and_ringbuffer",
        device_index=1,
        aicpu_thread_num=4,
        enable_chip_swimlane=4,
        enable_dep_gen=True,
        output_dir=str(tmp_path),
        ring_task_window=(16,) * 4,  # one value for all four scope depths
        ring_heap=(1024, 0, 2048, 0),
        ring_dep_pool=(4,) * 4,
        workspace_budget_bytes=1024,
    )
    assert list(tmp_path.iterdir()) == [], "diagnostics are only kept at this stage"
    native = config.call_config()
    assert list(native.runtime_env.ring_task_window) == [16] * 4
    assert native.output_prefix == str(tmp_path)


def test_no_public_way_to_close_compile_or_diagnose():
    for name in ("compile_kernel", "shutdown", "close", "begin_dfx", "end_dfx"):
        assert not hasattr(pypto.torch, name)
    assert pypto.torch.__all__ == ["init"]


# Refusals, first to last.


@pytest.mark.parametrize(
    "platform, runtime",
    [("a5", "tensormap_and_ringbuffer"), ("a2a3sim", "host_build_graph"), ("a2a3", "other")],
)
def test_other_targets_are_refused_before_torch_npu_is_loaded(monkeypatch, platform, runtime):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    refused(
        ValueError,
        f"does not support platform '{platform}' with runtime '{runtime}'; it supports a2a3 with",
        platform=platform,
        runtime=runtime,
    )


@pytest.mark.parametrize(
    "device, error, text",
    [
        (1.5, TypeError, "an int, a string or a torch.device, got float"),
        (True, TypeError, "got bool"),
        ([0], TypeError, "got list"),
        ("cpu", ValueError, "cpu is no NPU"),
        ("cuda:1", ValueError, "cuda:1 is no NPU"),
    ],
)
def test_device_arguments_are_checked_before_torch_npu_is_loaded(monkeypatch, device, error, text):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    refused(error, text, device=device)


def test_without_torch_npu(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    error = refused(
        RuntimeError, r"pypto.torch.init\(\) requires a compatible torch_npu installation"
    )
    assert isinstance(error.__cause__, ImportError)


@pytest.mark.parametrize("device", [1, "npu:1", types.SimpleNamespace(type="npu", index=1)])
def test_a_device_that_is_not_current_is_refused_not_switched(torch_npu, device):
    # The stand-in has no set_device: switching would be an AttributeError.
    refused(
        ValueError,
        r"the current device is npu:0; call torch.npu.set_device\(1\) first",
        device=device,
    )


def test_a_device_without_index_is_the_current_one(torch_npu):
    torch_npu.current = 1
    init(device="npu")
    assert context.manager().config.device_index == 1


BAD = {
    "aicpu 1": (dict(aicpu_thread_num=1), ValueError, "0 .the platform's own. or 2 to 5, got 1"),
    "aicpu 6": (dict(aicpu_thread_num=6), ValueError, "got 6"),
    "aicpu bool": (dict(aicpu_thread_num=True), TypeError, "aicpu_thread_num is an int, got bool"),
    "swimlane": (dict(enable_chip_swimlane=5, output_dir="x"), ValueError, "0 to 4 or a bool, got 5"),
    "dep_gen": (dict(enable_dep_gen=1, output_dir="x"), TypeError, "enable_dep_gen is True or False"),
    "swimlane without folder": (dict(enable_chip_swimlane=1), ValueError, "give output_dir"),
    "dep_gen without folder": (dict(enable_dep_gen=True), ValueError, "give output_dir"),
    "folder": (dict(output_dir=3), TypeError, "int"),
    "window 2": (dict(ring_task_window=2), ValueError, "ring_task_window 2"),
    "window 6": (dict(ring_task_window=[8, 8, 8, 6]), ValueError, "ring_task_window 6"),
    "heap": (dict(ring_heap=512), ValueError, "ring_heap 512"),
    "dep pool": (dict(ring_dep_pool=3), ValueError, "ring_dep_pool 3"),
    "three rings": (dict(ring_heap=[1024] * 3), ValueError, "one value or 4, one for each scope depth; got 3"),
    "negative ring": (dict(ring_heap=-1024), ValueError, "sizes are not negative"),
    "ring bool": (dict(ring_heap=True), TypeError, "ring_heap is an int, got bool"),
    "ring float": (dict(ring_heap=1024.0), TypeError, "ring_heap is an int, got float"),
    "budget": (dict(workspace_budget_bytes=1023), ValueError, "is 1023; at least 1024"),
    "budget float": (dict(workspace_budget_bytes=2048.0), TypeError, "workspace_budget_bytes is an int"),
}  # fmt: skip


@pytest.mark.parametrize("arguments, error, text", BAD.values(), ids=BAD)
def test_bad_configuration(torch_npu, steps, arguments, error, text):
    refused(error, text, **arguments)
    assert steps == ["current_device"], "a later check was made"


def test_ring_sizes_are_the_runtimes_rule(torch_npu, monkeypatch):
    """CallConfig.validate of simpler decides; its error comes as it is."""

    class Config:
        def __init__(self):
            self.runtime_env = types.SimpleNamespace()

        def validate(self):
            raise OverflowError("the runtime's own reason")

    monkeypatch.setattr("simpler.task_interface.CallConfig", Config)
    refused(OverflowError, "the runtime's own reason", ring_heap=4096)


def test_another_version_of_torch_npu_is_refused(torch_npu):
    torch_npu.__version__ = "2.10.0.post4"
    refused(RuntimeError, "torch_npu 2.10.0.post4 is not one of the validated versions")


@pytest.mark.parametrize("own", [runtime_pin.RuntimePinMismatch, OSError])
def test_a_runtime_of_other_sources_is_refused_with_its_own_error(torch_npu, monkeypatch, own):
    def check():
        raise own("another build")

    monkeypatch.setattr(session, "check_runtime_identity", check)
    refused(own, "another build")


def test_the_identity_check_is_that_of_the_runtime_pin(monkeypatch):
    asked = []
    monkeypatch.setattr(runtime_pin, "check_runtime_pin", lambda: asked.append(1))
    session.check_runtime_identity()
    assert asked == [1]


MISSING = {
    "Worker.init": ("simpler.worker.Worker.init", lambda self, prewarm_config=None: None),
    "Worker.submit": ("simpler.worker.Worker.submit", lambda self, callable, args=None: None),
    "RunHandle.done": ("simpler.worker.RunHandle.done", None),
    "Buffer.wrap": ("simpler.buffer.Buffer.wrap", None),
    "Worker.flush_diagnostics": ("simpler.worker.Worker.flush_diagnostics", None),
}


@pytest.mark.parametrize("name, change", MISSING.items(), ids=MISSING)
def test_capabilities_are_checked(torch_npu, monkeypatch, name, change):
    path, replacement = change
    monkeypatch.setattr(path, replacement)
    text = f"Kernel mode needs interfaces that this simpler does not have: {name}"
    refused(RuntimeError, text.replace(".", r"\."))


def test_all_required_interfaces_are_public():
    names = [name for name, _ in session._interfaces()]
    for wanted in ("borrowed_context_generation", "stream", "Buffer.wrap", "TaskArgs", "RunHandle"):
        assert any(wanted in name for name in names), wanted
    assert any("flush_diagnostics" in name for name in names)
    assert not any("._" in name or name.startswith("_") for name in names)
    session.check_runtime_capability()


def test_the_module_says_what_it_does_not_show():
    assert "no evidence of correct results on a device" in " ".join(__doc__.split())
    text = " ".join(session.check_runtime_capability.__doc__.split())
    assert "says nothing about results on a device" in text


def test_without_the_extension(torch_npu, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "torch_npu", torch_npu)
    monkeypatch.setitem(sys.modules, "pypto._torch_npu", None)
    with pytest.raises(RuntimeError, match="PYPTO_BUILD_TORCH_NPU=ON"):
        session.load_extension()


def test_capture_is_refused_before_the_mode_is_claimed(torch_npu):
    torch_npu.capturing = True
    refused(NotImplementedError, "initialise before the capture begins")


def test_a_process_that_runs_programs_is_refused(torch_npu):
    _execution_mode.claim_program()
    with pytest.raises(RuntimeError, match="this process already claimed PROGRAM mode"):
        init()
    assert not context.manager().used


def test_a_child_of_a_kernel_process_is_refused_first_of_all(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    monkeypatch.setattr(_execution_mode, "_gate", _execution_mode._ModeGate(inherited_kernel=True))
    with pytest.raises(RuntimeError, match="'spawn'"):
        init(platform="nonsense")


def test_a_worker_that_does_not_start_fails_the_process(torch_npu, monkeypatch):
    error = OSError("no memory for the arenas")

    def fail(self, prewarm_config=None, *, borrowed_context_generation=None):
        raise error

    monkeypatch.setattr("simpler.worker.Worker.init", fail)
    with pytest.raises(OSError, match="no memory"):
        init()
    manager = context.manager()
    assert manager.state is ProcessState.FAILED and manager.failure is error
    with pytest.raises(RuntimeError, match=r"FAILED \(OSError: no memory for the arenas\)"):
        init()


def test_init_installs_the_shutdown_hooks(torch_npu):
    init()
    assert torch_npu._C._npu_shutdown_synchronize() is True
    assert context.manager().state is ProcessState.CLOSED
    with pytest.raises(RuntimeError, match="is closed"):
        init()
