"""The process manager: states, one Worker, shared starts and prepares, admission, close."""

from __future__ import annotations

import threading
import time

import pytest
from kernel_fakes import FakeArtifact, FakeRun, FakeSession, Threads
from pypto.runtime import _execution_mode
from pypto.runtime.kernel import context
from pypto.runtime.kernel.context import KernelProcessManager, ProcessState

S = ProcessState


@pytest.fixture(autouse=True)
def own_gate(monkeypatch):
    """The process of the tests itself never claims a mode."""
    monkeypatch.setattr(_execution_mode, "_gate", _execution_mode._ModeGate())


@pytest.fixture
def session():
    return FakeSession()


@pytest.fixture
def manager():
    return KernelProcessManager()


@pytest.fixture
def ready(manager, session):
    manager.ensure_worker("config", lambda generation: session)
    return manager


def registered(manager, name="k", key=None):
    return manager.ensure_callable(FakeArtifact(name, key))


def publishing(run):
    return lambda ticket: ticket.publish(run)


class Watcher:
    def __init__(self, log=None, fail=None):
        self.states = []
        self.log = log if log is not None else []
        self.fail = fail

    def state_changed(self, state, generation):
        self.states.append((state, generation))

    def drain(self):
        self.log.append("drain participant")
        if self.fail:
            raise self.fail

    def abandon(self, reason):
        self.log.append(f"abandon: {reason}")


# Start.


def test_states_of_a_whole_life(manager, session):
    watcher = Watcher()
    manager.add_participant(watcher)
    assert (manager.state, manager.generation) == (S.UNINITIALIZED, 0)
    manager.ensure_worker("config", lambda generation: session)
    assert (manager.state, manager.generation) == (S.READY, 1)
    manager.close()
    assert watcher.states == [
        (S.UNINITIALIZED, 0),
        (S.INITIALIZING, 1),
        (S.READY, 1),
        (S.CLOSING, 1),
        (S.CLOSED, 1),
    ]


def test_the_states_are_those_of_the_contract():
    assert [s.name for s in S] == "UNINITIALIZED INITIALIZING READY FAILED CLOSING CLOSED".split()


def test_the_session_gets_a_token_that_is_not_zero(manager):
    seen = []
    manager.ensure_worker("config", lambda generation: seen.append(generation) or FakeSession())
    assert seen == [1] == [manager.generation]


def test_the_same_configuration_again_does_nothing(ready, session):
    ready.ensure_worker("config", lambda generation: pytest.fail("a second session"))
    assert session.steps == ["start"]


def test_another_configuration_is_a_conflict(ready):
    text = "Kernel Worker configuration conflict: bound config, requested other"
    with pytest.raises(ValueError, match=text):
        ready.ensure_worker("other", lambda generation: FakeSession())
    assert ready.state is S.READY


@pytest.mark.parametrize("error", [None, OSError("no device")])
def test_concurrent_starts_share_one_result(manager, session, error):
    if error:
        session.fail["start"] = error
    gate = session.hold("start")
    threads = Threads().start(
        *[lambda: manager.ensure_worker("config", lambda generation: session)] * 6
    )
    session.entered["start"].wait(20)
    conflict = Threads().start(lambda: manager.ensure_worker("other", lambda g: FakeSession()))
    assert isinstance(conflict.join()[0][1], ValueError)
    gate.set()
    assert [outcome[1] for outcome in threads.join()] == [error] * 6
    assert session.steps == ["start"]
    assert manager.state is (S.FAILED if error else S.READY)


def test_a_start_from_inside_a_start_is_refused(manager):
    seen = []

    class Recursive(FakeSession):
        def start(self):
            with pytest.raises(RuntimeError, match="from inside its own initialisation"):
                manager.ensure_worker("config", lambda generation: FakeSession())
            seen.append(manager.state)

    manager.ensure_worker("config", lambda generation: Recursive())
    assert seen == [S.INITIALIZING] and manager.state is S.READY


def test_a_start_from_the_owner_thread_of_a_start_is_refused(manager, session):
    gate = session.hold("start")
    threads = Threads().start(lambda: manager.ensure_worker("config", lambda g: session))
    session.entered["start"].wait(20)

    def from_owner():
        session.lifecycle_thread = threading.get_ident()
        manager.ensure_worker("config", lambda g: FakeSession())

    (outcome,) = Threads().start(from_owner).join()
    assert "from inside its own initialisation" in str(outcome[1])
    gate.set()
    threads.join()


def test_a_failed_start_keeps_worker_and_mode_for_cleaning_up(manager, session):
    session.fail["start"] = OSError("no device")
    with pytest.raises(OSError, match="no device"):
        manager.ensure_worker("config", lambda generation: session)
    assert manager.state is S.FAILED and manager._session is session
    assert _execution_mode.current_mode() == _execution_mode.KERNEL
    with pytest.raises(
        RuntimeError, match=r"Kernel mode is FAILED \(OSError: no device\)"
    ) as caught:
        manager.ensure_worker("config", lambda generation: FakeSession())
    assert isinstance(caught.value.__cause__, OSError)
    manager.close()
    assert manager.state is S.CLOSED and session.steps[-1] == "close"


def test_a_program_process_starts_no_worker(manager, session):
    _execution_mode.claim_program()
    with pytest.raises(RuntimeError, match="already claimed PROGRAM mode"):
        manager.ensure_worker("config", lambda generation: session)
    assert manager.state is S.UNINITIALIZED and session.steps == []


def test_after_close_neither_mode_starts(ready):
    ready.close()
    with pytest.raises(RuntimeError, match="is closed: it admits no calls"):
        ready.ensure_worker("config", lambda generation: FakeSession())
    with pytest.raises(RuntimeError, match="already claimed KERNEL mode"):
        _execution_mode.claim_program()


# Registration.


def test_cached_artifacts_are_their_key_and_private_ones_themselves(ready, session):
    first = registered(ready, "a", key="K1")
    assert registered(ready, "copy of a", key="K1") is first
    assert registered(ready, "b", key="K2") is not first
    private, other = FakeArtifact("p"), FakeArtifact("p")
    made = ready.ensure_callable(private)
    assert ready.ensure_callable(private) is made
    assert ready.ensure_callable(other) is not made
    assert session.steps.count("register") == 4
    assert made.artifact is private and made.handle == "handle 3"


def test_a_registration_knows_its_context(ready):
    made = registered(ready)
    assert (made.generation, made.callable, made.owner) == (1, "callable of k", ready)
    ready.require_registration(made)
    other = KernelProcessManager()
    with pytest.raises(RuntimeError, match="by another manager"):
        other.require_registration(made)


@pytest.mark.parametrize("error", [None, RuntimeError("all 64 slots are in use")])
def test_concurrent_prepares_share_success_or_failure(ready, session, error):
    if error:
        session.fail["register"] = error
    gate = session.hold("register")
    artifact = FakeArtifact("k", key="K")
    threads = Threads().start(*[lambda: ready.ensure_callable(artifact)] * 5)
    session.entered["register"].wait(20)
    time.sleep(0.05)
    gate.set()
    outcomes = threads.join()
    if error:
        # Whoever came while it was being prepared has its failure; who came later tried again.
        assert all(outcome[1] is error for outcome in outcomes)
        del session.fail["register"]
        assert ready.ensure_callable(artifact).handle
    else:
        assert len({id(outcome[0]) for outcome in outcomes}) == 1
        assert session.steps.count("register") == 1
    assert ready.state is S.READY


@pytest.mark.parametrize("error", [RuntimeError("busy"), ValueError("capacity"), MemoryError()])
def test_errors_of_the_registry_pass_through_and_nothing_is_tried(ready, session, error):
    session.fail["register"] = error
    with pytest.raises(type(error)) as caught:
        registered(ready)
    assert caught.value is error
    assert session.steps == ["start", "register"], "a drain, a wait or a second attempt"


def test_a_prepare_inside_the_same_prepare_is_refused(ready, session):
    artifact = FakeArtifact("k")

    def register(_):
        return ready.ensure_callable(artifact)

    session.register = register
    with pytest.raises(RuntimeError, match="from inside the same prepare"):
        ready.ensure_callable(artifact)
    session.lifecycle_thread = threading.get_ident()
    with pytest.raises(RuntimeError, match="from inside a lifecycle operation"):
        ready.ensure_callable(artifact)


def test_capture_takes_only_what_was_prepared(ready):
    artifact = FakeArtifact("k")
    text = "Kernel capture requires warmup outside capture for this specialization"
    with pytest.raises(RuntimeError, match=text):
        ready.require_callable(artifact)
    made = ready.ensure_callable(artifact)
    assert ready.require_callable(artifact) is made


@pytest.mark.parametrize("call", ["ensure_callable", "require_callable"])
def test_before_init_the_error_says_what_to_do(manager, call):
    with pytest.raises(RuntimeError, match=r"call pypto.torch.init\(\) first"):
        getattr(manager, call)(FakeArtifact("k"))


# Calls and tickets.


def test_a_ticket_holds_everything_before_its_call_is_enqueued(ready):
    made, resources = registered(ready), object()

    def enqueue(ticket):
        assert ticket.registration is made and ticket.resources is resources
        assert ready.pending == 1 and not ticket.finished

    ticket = ready.submit(made, resources, enqueue)
    assert ticket.resources is resources and not ticket.retired


def test_callbacks_publish_without_the_managers_locks(ready):
    log, made = [], registered(ready)
    ticket = ready.submit(made, None, lambda ticket: None)
    with ready._lock, ready._admission:
        Threads().start(lambda: ticket.publish(FakeRun(log, done=True))).join()
    assert ticket.finished


def test_calls_poll_and_never_wait(ready, session):
    log, made = [], registered(ready)
    running = FakeRun(log, "running")
    ready.submit(made, "r1", publishing(running), order="s1")
    ready.submit(made, "r2", lambda ticket: None, order="s2")  # its callback has not run
    done = ready.submit(made, "r3", publishing(FakeRun(log, "done", done=True)), order="s3")
    assert log == [] and ready.pending == 3
    ready.submit(made, "r4", lambda ticket: None, order="s4")
    assert log == ["wait done"] and done.retired and done.resources is None
    assert ready.pending == 3
    running.done = True
    ready.poll()
    assert log == ["wait done", "wait running"]
    assert "synchronize" not in session.steps


def test_a_run_is_waited_for_before_its_sources_are_released(ready):
    log, made = [], registered(ready)
    ready.submit(
        made,
        "source",
        publishing(FakeRun(log, "run", done=True)),
        release=lambda: log.append("release"),
    )
    ready.poll()
    assert log == ["wait run", "release"] and ready.pending == 0


def test_drain_and_close_go_queue_run_release_worker(ready, session):
    log = session.steps
    ready.add_participant(Watcher(log))
    made = registered(ready)
    ready.submit(
        made,
        None,
        publishing(FakeRun(log, "run")),  # not done: drain waits
        release=lambda: log.append("release"),
    )
    log.clear()
    ready.drain()
    assert log == ["synchronize", "drain participant", "wait run", "release"]
    assert ready.state is S.READY
    ready.submit(
        made, None, publishing(FakeRun(log, "last")), release=lambda: log.append("release")
    )
    log.clear()
    ready.close()
    assert log == ["synchronize", "drain participant", "wait last", "release", "close"]
    assert ready.state is S.CLOSED
    ready.close()  # again is fine
    assert log[-1] == "close" and log.count("close") == 1


FAILURES = ["callback", "retirement", "release", "no callback"]


@pytest.mark.parametrize("where", FAILURES)
@pytest.mark.parametrize("ending", ["poll", "drain", "close"])
def test_what_fails_keeps_ticket_and_worker(ready, session, where, ending):
    error = OSError("device lost")
    log, made = [], registered(ready)
    run = FakeRun(log, done=True)
    release = None
    if where == "retirement":
        run.error = error
    if where == "release":

        def release():
            raise error

    def enqueue(ticket):
        if where == "callback":
            ticket.publish_failure(error)
        elif where != "no callback":
            ticket.publish(run)

    ticket = ready.submit(made, "source", enqueue, release=release)
    if where == "no callback" and ending == "poll":
        ready.poll()  # unfinished, which is no failure
        assert ready.state is S.READY
        return
    with pytest.raises(RuntimeError if where == "no callback" else OSError) as caught:
        getattr(ready, ending)()
    if where == "no callback":
        assert "has not run although the framework's queue was drained" in str(caught.value)
    else:
        assert caught.value is error
    assert ready.state is S.FAILED and ready.failure is caught.value
    assert ticket.resources == "source" and not ticket.retired and ready.pending == 1
    assert "close" not in session.steps
    with pytest.raises(RuntimeError, match="Kernel mode is FAILED .*device may still"):
        ready.submit(made, None, lambda ticket: None)


def test_one_failure_does_not_keep_the_others(ready):
    log, made = [], registered(ready)
    bad = FakeRun(log, "bad")
    bad.error = OSError("lost")
    ready.submit(made, None, publishing(bad))
    good = ready.submit(made, None, publishing(FakeRun(log, "good")))
    with pytest.raises(OSError):
        ready.drain()
    assert good.retired and ready.pending == 1


def test_a_failed_enqueue_fails_the_process_and_keeps_the_ticket(ready):
    made = registered(ready)

    def enqueue(ticket):
        raise OSError("queue error")

    with pytest.raises(OSError, match="queue error"):
        ready.submit(made, "source", enqueue)
    assert ready.state is S.FAILED and ready.pending == 1


def test_a_call_from_inside_enqueueing_is_refused(ready):
    made = registered(ready)
    with pytest.raises(RuntimeError, match="from inside another call's enqueueing"):
        ready.submit(made, None, lambda t: ready.submit(made, None, lambda t: None))


def test_a_close_from_inside_enqueueing_is_refused_and_changes_nothing(ready):
    made = registered(ready)
    refused = []

    def enqueue(ticket):
        with pytest.raises(RuntimeError, match="from inside a call's enqueueing"):
            ready.close()
        refused.append(ready.state)
        ticket.publish(FakeRun([], done=True))

    ready.submit(made, None, enqueue)
    assert refused == [S.READY] and ready.state is S.READY


def test_a_ticket_takes_one_result(ready):
    made = registered(ready)
    ticket = ready.submit(made, None, publishing(FakeRun([])))
    for publish in (lambda: ticket.publish(FakeRun([])), lambda: ticket.publish_failure(OSError())):
        with pytest.raises(RuntimeError, match="has reported a result already"):
            publish()


def test_many_threads_call_at_once(ready):
    made = registered(ready)
    log: list[str] = []

    def calls():
        for number in range(200):
            run = FakeRun(log, done=number % 3 == 0)
            ready.submit(made, number, publishing(run), order=threading.get_ident())
            run.done = True

    outcomes = Threads().start(*[calls] * 8).join()
    assert [error for _, error in outcomes if error] == []
    ready.close()
    assert log.count("wait run") == 1600 and ready.pending == 0


# Close.


def test_close_without_a_start_changes_nothing(manager):
    manager.close()
    assert manager.state is S.UNINITIALIZED and _execution_mode.current_mode() is None


def test_close_waits_for_a_start_and_for_prepares(manager, session):
    gate = session.hold("start")
    starting = Threads().start(lambda: manager.ensure_worker("config", lambda g: session))
    session.entered["start"].wait(20)
    closing = Threads().start(manager.close)
    time.sleep(0.05)
    assert manager.state is S.INITIALIZING
    gate.set()
    starting.join(), closing.join()
    assert manager.state is S.CLOSED and session.steps == ["start", "synchronize", "close"]


def test_close_waits_for_a_prepare_and_admits_none(ready, session):
    gate = session.hold("register")
    preparing = Threads().start(lambda: registered(ready))
    session.entered["register"].wait(20)
    closing = Threads().start(ready.close)
    while ready.state is not S.CLOSING:
        time.sleep(0.001)
    with pytest.raises(RuntimeError, match="is closing: it admits no calls"):
        registered(ready, "late")
    with pytest.raises(RuntimeError, match="another close"):
        ready.close()
    gate.set()
    assert preparing.join()[0][1] is None and closing.join()[0][1] is None
    assert session.steps.index("register") < session.steps.index("close")


@pytest.mark.parametrize("step", ["synchronize", "close"])
def test_a_close_that_fails_may_be_tried_again(ready, session, step):
    session.fail[step] = OSError("not now")
    with pytest.raises(OSError):
        ready.close()
    assert ready.state is S.FAILED and ready._session is session
    session.fail.clear()
    ready.close()
    assert ready.state is S.CLOSED


def test_calls_that_race_with_close_are_either_finished_or_refused(ready, session):
    """No call is admitted and then forgotten, whenever close comes."""
    log: list[str] = []
    made = registered(ready)
    admitted = []

    def calls():
        for _ in range(2000):
            try:
                ticket = ready.submit(
                    made, None, publishing(FakeRun(log, done=True)), order=threading.get_ident()
                )
            except RuntimeError as error:
                assert "it admits no calls" in str(error)
                return
            admitted.append(ticket)

    threads = Threads().start(*[calls] * 6)
    time.sleep(0.01)
    ready.close()
    assert [error for _, error in threads.join() if error] == []
    assert all(ticket.retired for ticket in admitted) and ready.pending == 0
    assert log.count("wait run") == len(admitted) and session.steps[-1] == "close"


def test_use_after_close_is_refused(ready):
    made = registered(ready)
    ready.close()
    for call in (
        lambda: ready.submit(made, None, lambda ticket: None),
        lambda: registered(ready, "late"),
        ready.drain,
    ):
        with pytest.raises(RuntimeError, match="is closed: it admits no calls"):
            call()


def test_a_capture_refuses_drain_and_close_and_changes_nothing(ready, session):
    session.capturing = True
    for what in ("drain", "close"):
        with pytest.raises(RuntimeError, match=f"no {what} in a capture"):
            getattr(ready, what)()
    assert ready.state is S.READY and "synchronize" not in session.steps
    session.capturing = False
    ready.close()


def test_participants_that_cannot_drain_keep_the_worker(ready, session):
    ready.add_participant(Watcher(fail=OSError("stuck")))
    with pytest.raises(OSError, match="stuck"):
        ready.close()
    assert ready.state is S.FAILED and "close" not in session.steps


def test_the_process_has_one_manager():
    assert context.manager() is context.manager()
