"""The owner thread, and the session that binds a Worker's life to it."""

from __future__ import annotations

import threading
import types

import pytest
from kernel_fakes import Threads
from pypto.ir.artifact import ArtifactExecutionMode
from pypto.runtime.kernel.owner import THREAD_NAME, OwnerThread
from pypto.runtime.kernel.session import KernelConfig, _BorrowedWorkerSession

CONFIG = KernelConfig(
    "a2a3",
    "host_build_graph",
    1,
    aicpu_thread_num=3,
    ring_heap=(4096,) * 4,
    workspace_budget_bytes=2048,
)


# Owner.


def test_all_calls_run_on_one_daemon_thread():
    owner = OwnerThread()
    seen = [owner.call(threading.current_thread) for _ in range(3)]
    assert {t.ident for t in seen} == {owner.ident} and owner.alive
    assert seen[0].name == THREAD_NAME == "pypto-kernel-owner" and seen[0].daemon
    owner.stop()
    assert not owner.alive
    owner.stop()
    with pytest.raises(RuntimeError, match="the lifecycle owner has stopped"):
        owner.call(lambda: None)


def test_errors_come_to_the_caller_and_the_thread_goes_on():
    owner = OwnerThread()
    error = KeyError("x")

    def fail():
        raise error

    with pytest.raises(KeyError) as caught:
        owner.call(fail)
    assert caught.value is error and owner.call(lambda: 7) == 7
    owner.stop()


def test_a_call_from_the_thread_itself_is_refused():
    owner = OwnerThread()
    with pytest.raises(RuntimeError, match="called from inside another one"):
        owner.call(lambda: owner.call(lambda: None))
    owner.stop()


def test_calls_of_many_threads_do_not_interleave():
    owner, inside, most = OwnerThread(), [], []

    def step():
        inside.append(1)
        most.append(len(inside))
        inside.pop()

    Threads().start(*[lambda: [owner.call(step) for _ in range(50)]] * 4).join()
    owner.stop()
    assert len(most) == 200 and set(most) == {1}


def test_the_thread_keeps_nothing_of_a_call():
    import gc
    import weakref

    class Thing:
        pass

    owner = OwnerThread()
    thing = Thing()
    alive = weakref.ref(thing)
    owner.call(lambda thing=thing: None)
    del thing
    owner.call(lambda: None)
    gc.collect()
    assert alive() is None
    owner.stop()


# Session.


class Context:
    def __init__(self, log):
        self.log = log

    def bind(self):
        self.log.append(("bind", threading.get_ident()))

    def unbind(self):
        self.log.append(("unbind", threading.get_ident()))


class Worker:
    def __init__(self, log, **keys):
        self.log = log
        self.keys = keys
        self.fail = {}

    def _step(self, name, *values):
        self.log.append((name, threading.get_ident(), *values))
        if name in self.fail:
            raise self.fail[name]

    def init(self, *, prewarm_config, borrowed_context_generation):
        self._step("init", prewarm_config, borrowed_context_generation)

    def register(self, callable):
        self._step("register", callable)
        return "handle"

    def close(self):
        self._step("close")


class Artifact:
    """As `pypto.ir.artifact.CompiledArtifact` looks to a session."""

    def __init__(self, platform="a2a3", runtime="host_build_graph", modes=("kernel",)):
        self.platform = platform
        self.metadata = types.SimpleNamespace(entry="add", runtime=runtime)
        self.modes = modes
        self.loads = 0

    def require(self, mode):
        if mode.value not in self.modes:
            raise ValueError(f"add was not compiled for {mode.value}")

    def load(self):
        self.loads += 1
        return types.SimpleNamespace(chip_callable="chip callable")


@pytest.fixture
def log():
    return []


@pytest.fixture
def session(log):
    extension = types.SimpleNamespace(
        borrow_context=lambda device: log.append(("borrow", device)) or Context(log)
    )
    torch_npu = types.SimpleNamespace(
        npu=types.SimpleNamespace(synchronize=lambda d: log.append(("synchronize", d)))
    )
    made = _BorrowedWorkerSession(
        CONFIG, extension, 7, torch_npu, lambda **keys: Worker(log, **keys)
    )
    yield made
    made._owner.stop()


def test_the_context_is_bound_before_init_register_and_close_on_one_thread(session, log):
    assert log == [("borrow", 1)]
    session.start()
    handle, callable_ = session.register(Artifact())
    session.synchronize()
    session.close()
    assert (handle, callable_) == ("handle", "chip callable")
    assert [entry[0] for entry in log[1:]] == (
        ["bind", "init", "register", "synchronize", "close", "unbind"]
    )
    owners = {entry[1] for entry in log if entry[0] not in ("borrow", "synchronize")}
    assert len(owners) == 1 and threading.get_ident() not in owners
    assert not session._owner.alive


def test_the_worker_is_public_and_gets_configuration_and_token(session, log):
    session.start()
    assert session.worker.keys == dict(
        level=2,
        platform="a2a3",
        runtime="host_build_graph",
        device_id=1,
        workspace_budget_bytes=2048,
    )
    _, _, prewarm, generation = log[-1]
    assert generation == 7
    assert prewarm.aicpu_thread_num == 3
    assert list(prewarm.runtime_env.ring_heap) == [4096] * 4


def test_nothing_of_an_execution_engine_is_in_the_session(session):
    public = {name for name in dir(session) if not name.startswith("_")}
    assert public == {
        "close",
        "config",
        "generation",
        "is_lifecycle_thread",
        "refuse_in_capture",
        "register",
        "start",
        "synchronize",
        "worker",
    }


@pytest.mark.parametrize(
    "artifact, text",
    [
        (Artifact(modes=("program",)), "was not compiled for kernel"),
        (Artifact(platform="a5"), "compiled for platform 'a5', kernel mode runs 'a2a3'"),
        (Artifact(runtime="tensormap_and_ringbuffer"), "compiled for runtime 'tensormap"),
    ],
)
def test_artifacts_of_another_contract_or_target_are_refused(session, log, artifact, text):
    session.start()
    with pytest.raises(ValueError, match=text):
        session.register(artifact)
    assert artifact.loads == 0 and log[-1][0] == "init"
    assert ArtifactExecutionMode.KERNEL.value == "kernel"


def test_registry_errors_pass_through(session):
    session.start()
    error = RuntimeError("all 64 slots are in use")
    session.worker.fail["register"] = error
    with pytest.raises(RuntimeError) as caught:
        session.register(Artifact())
    assert caught.value is error


def test_a_worker_that_fails_to_start_or_close_is_kept(session, log):
    session._make_worker = lambda **keys: (
        setattr(w := Worker(log), "fail", {"init": OSError("x")}) or w
    )
    with pytest.raises(OSError):
        session.start()
    assert session.worker is not None
    session.worker.fail = {"close": OSError("y")}
    with pytest.raises(OSError, match="y"):
        session.close()
    assert session._owner.alive and session.worker is not None
    session.worker.fail = {}
    session.close()
    assert not session._owner.alive


def test_a_session_that_never_started_closes(session):
    session.close()
    assert not session._owner.alive


def test_a_real_worker_lives_in_a_borrowed_context(log):
    extension = types.SimpleNamespace(borrow_context=lambda device: Context(log))
    session = _BorrowedWorkerSession(
        KernelConfig("a2a3", "tensormap_and_ringbuffer", 0), extension, 1, None
    )
    session.start()
    from simpler import Worker as Public

    assert isinstance(session.worker, Public)
    with pytest.raises(RuntimeError, match="only the thread that borrowed the context"):
        session.worker.close()  # from this thread
    session.close()
