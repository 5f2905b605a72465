"""The process manager of kernel mode: who may call, and when; what is registered; what is in flight.

    UNINITIALIZED ─▶ INITIALIZING ─▶ READY ─▶ CLOSING ─▶ CLOSED
                          └────────▶ FAILED ──▲ │
                                       ▲────────┘ what cannot be closed is kept

A process has one manager, one Worker, one context. The session does the work of the Worker's life,
simpler that of registration and execution; this module decides about admission and keeps the caches.

Locks: `_lock` guards the state and the maps, is never held during foreign code (but for participants'
`state_changed`), and is not needed by callbacks. `_admission` lets one call at a time enqueue.
"""

from __future__ import annotations

import dataclasses
import enum
import os
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Protocol

from pypto.runtime import _execution_mode
from pypto.runtime.kernel.callable import ArtifactIdentity, KernelRegistration
from pypto.runtime.kernel.pending import PendingTicket, PendingTickets

CAPTURE_NEEDS_WARMUP = (
    "Kernel capture requires warmup outside capture for this specialization: call the kernel, or "
    "pypto.torch.prepare, with the same arguments before the capture begins"
)


class ProcessState(enum.Enum):
    UNINITIALIZED = "uninitialized"
    INITIALIZING = "initializing"
    READY = "ready"
    FAILED = "failed"
    CLOSING = "closing"
    CLOSED = "closed"


class Session(Protocol):
    """What a manager needs of a Worker in a borrowed context."""

    def start(self) -> None: ...
    def register(self, artifact: Any) -> tuple[Any, Any]:
        """(opaque handle, the callable it was made of)"""

    def synchronize(self) -> None:
        """Waits for what the framework has queued on the device."""

    def refuse_in_capture(self, what: str) -> None:
        """RuntimeError while the current stream is being captured: waiting would break the capture."""

    def close(self) -> None: ...
    def is_lifecycle_thread(self) -> bool: ...


class Participant(Protocol):
    """Another module that launches in this context without a ticket for each call."""

    def state_changed(self, state: ProcessState, generation: int) -> None:
        """Under the manager's lock: only takes note."""

    def drain(self) -> None:
        """Waits for its launches; raises if it cannot."""

    def abandon(self, reason: str) -> None:
        """The context cannot be closed, or was a parent's: keep everything until the process exits, and
        refuse what is asked for, because of `reason`."""


class KernelProcessManager:
    """See the module. Threads: all methods may be called from any thread; not from a callback."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._admission = threading.Lock()
        self._admitted: int | None = None  # thread that holds `_admission`
        self._state = ProcessState.UNINITIALIZED
        self._failure: BaseException | None = None
        self._generation = 0
        self._config: Any = None
        self._session: Session | None = None
        self._starting: Future | None = None
        self._starter: int | None = None
        self._registrations: dict[ArtifactIdentity, KernelRegistration] = {}
        self._preparing: dict[ArtifactIdentity, tuple[Future, int]] = {}
        self._idle = threading.Condition(self._lock)  # told when an init or a prepare has ended
        self._tickets = PendingTickets()
        self._participants: list[Participant] = []

    # What it is now.

    @property
    def state(self) -> ProcessState:
        return self._state

    @property
    def generation(self) -> int:
        """Token of the context, counted from 1; 0 before the first init."""
        return self._generation

    @property
    def config(self) -> Any:
        return self._config

    @property
    def failure(self) -> BaseException | None:
        """Why the state is FAILED."""
        return self._failure

    @property
    def pending(self) -> int:
        """Calls whose resources are still held."""
        return len(self._tickets)

    @property
    def used(self) -> bool:
        return self._state is not ProcessState.UNINITIALIZED

    def require_ready(self) -> None:
        """RuntimeError that says what to do unless calls are admitted."""
        self._check_process()
        if self._state is ProcessState.READY:
            return
        if self._state is ProcessState.UNINITIALIZED:
            raise RuntimeError("Kernel mode is not initialised: call pypto.torch.init() first")
        if self._state is ProcessState.FAILED:
            raise RuntimeError(self._failed_text()) from self._failure
        raise RuntimeError(
            f"Kernel mode is {self._state.value}: it admits no calls, and cannot be started again in this process"
        )

    def _failed_text(self) -> str:
        text = str(self._failure)
        reason = type(self._failure).__name__ + (f": {text}" if text else "")
        return (
            f"Kernel mode is FAILED ({reason}). What was in flight is kept, because the device may still "
            "use it; this process admits no more calls. Start a new process"
        )

    def _check_process(self) -> None:
        # Before any lock: in a forked child another thread of the parent may have held it.
        if os.getpid() != self._pid:
            raise RuntimeError(f"Kernel mode: {_execution_mode.SPAWN_HINT}")

    def _move(self, state: ProcessState, failure: BaseException | None = None) -> None:
        """Changes the state; the lock is held."""
        self._state = state
        self._failure = failure
        for participant in self._participants:
            participant.state_changed(state, self._generation)
        self._idle.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            if self._state is ProcessState.READY:
                self._move(ProcessState.FAILED, error)

    def add_participant(self, participant: Participant) -> None:
        """`state_changed` is called at once with the present state, and after each change."""
        self._check_process()
        with self._lock:
            self._participants.append(participant)
            participant.state_changed(self._state, self._generation)

    # Start.

    def ensure_worker(self, config: Any, make_session: Callable[[int], Session]) -> None:
        """Starts the Worker; again with an equal configuration is fine, concurrent calls share one
        result. `make_session(generation)` is called once. ValueError for another configuration,
        RuntimeError from inside a start, after a failure and after a close.
        """
        self._check_process()
        with self._lock:
            if self._state in (ProcessState.INITIALIZING, ProcessState.READY):
                if self._state is ProcessState.INITIALIZING and self._inside_start():
                    raise RuntimeError(
                        "Kernel mode: init was called from inside its own initialisation"
                    )
                if config != self._config:
                    raise ValueError(_conflict(self._config, config))
                if self._state is ProcessState.READY:
                    return
                started, mine = self._starting, False
            elif self._state is ProcessState.UNINITIALIZED:
                _execution_mode.claim(_execution_mode.KERNEL)
                self._config = config
                self._generation += 1
                self._starter = threading.get_ident()
                self._starting = started = Future()
                mine = True
                self._move(ProcessState.INITIALIZING)
            else:
                started = None
        if started is None:
            self.require_ready()  # raises
        elif mine:
            self._start(make_session, started)
        else:
            started.result()

    def _inside_start(self) -> bool:
        session = self._session
        return self._starter == threading.get_ident() or (
            session is not None and session.is_lifecycle_thread()
        )

    def _start(self, make_session: Callable[[int], Session], started: Future) -> None:
        error: BaseException | None = None
        try:
            self._session = make_session(self._generation)
            self._session.start()
        except BaseException as raised:
            error = raised
        with self._lock:
            self._starter = None
            self._move(ProcessState.FAILED if error else ProcessState.READY, error)
        if error is None:
            started.set_result(None)
            return
        started.set_exception(error)
        raise error

    # Registration.

    def ensure_callable(self, artifact: Any) -> KernelRegistration:
        """The registration of an artifact, made on first use. Concurrent calls share its success or
        failure; a later call tries again. Errors of the loader and of the registry pass through.
        """
        identity = ArtifactIdentity(artifact)
        self.require_ready()
        if self._session.is_lifecycle_thread():
            raise RuntimeError("Kernel mode: prepare was called from inside a lifecycle operation")
        own = threading.get_ident()
        with self._lock:
            if self._state is not ProcessState.READY:
                made = mine = None
            elif (found := self._registrations.get(identity)) is not None:
                return found
            elif (pending := self._preparing.get(identity)) is not None:
                made, mine = pending[0], False
                if pending[1] == own:
                    raise RuntimeError(
                        "Kernel mode: prepare was called from inside the same prepare"
                    )
            else:
                made, mine = Future(), True
                self._preparing[identity] = (made, own)
        if made is None:
            return self._closed_meanwhile()
        if not mine:
            return made.result()
        try:
            handle, callable_ = self._session.register(artifact)
        except BaseException as error:
            self._prepared(identity, made, None, error)
            raise
        registration = KernelRegistration(
            identity=identity,
            generation=self._generation,
            handle=handle,
            callable=callable_,
            artifact=artifact,
            owner=self,
        )
        self._prepared(identity, made, registration, None)
        return registration

    def _closed_meanwhile(self) -> Any:
        self.require_ready()
        raise RuntimeError("Kernel mode: it was closed while prepare began")

    def _prepared(
        self,
        identity: ArtifactIdentity,
        made: Future,
        registration: KernelRegistration | None,
        error: BaseException | None,
    ) -> None:
        with self._lock:
            del self._preparing[identity]
            if registration is not None:
                self._registrations[identity] = registration
            self._idle.notify_all()
        if error is not None:
            made.set_exception(error)
        else:
            made.set_result(registration)

    def require_callable(self, artifact: Any) -> KernelRegistration:
        """The registration of an artifact that has one; for calls under capture, which may not make it."""
        self.require_ready()
        found = self._registrations.get(ArtifactIdentity(artifact))
        if found is None:
            raise RuntimeError(CAPTURE_NEEDS_WARMUP)
        return found

    def require_registration(self, registration: KernelRegistration) -> None:
        registration.require_live(self, self._generation)
        if self._registrations.get(registration.identity) is not registration:
            raise RuntimeError("Kernel registration: this process's manager does not know it")

    # Calls.

    def submit(
        self,
        registration: KernelRegistration,
        resources: Any,
        enqueue: Callable[[PendingTicket], None],
        *,
        release: Callable[[], None] | None = None,
        order: Hashable = None,
    ) -> PendingTicket:
        """Enqueues one call. Its ticket holds `registration` and `resources` before `enqueue(ticket)`
        runs; the callback that enqueue arranges publishes to the ticket. Tickets that have finished are
        retired here; nothing waits. An error of enqueueing or retiring makes the state FAILED.
        """
        self._admit("a call")
        try:
            self.require_ready()
            self.require_registration(registration)
            try:
                self._tickets.reap()
            except Exception as error:
                self._fail(error)
                raise
            ticket = PendingTicket(registration, resources, release=release, order=order)
            self._tickets.append(ticket)
            try:
                enqueue(ticket)
            except BaseException as error:
                self._fail(error)
                raise
            return ticket
        finally:
            self._leave()

    def _admit(self, what: str) -> None:
        self._check_process()
        if self._admitted == threading.get_ident():
            raise RuntimeError(
                f"Kernel mode: {what} was made from inside another call's enqueueing"
            )
        self._admission.acquire()
        self._admitted = threading.get_ident()

    def _leave(self) -> None:
        self._admitted = None
        self._admission.release()

    def poll(self) -> None:
        """Retires what has finished, without waiting."""
        self._admit("a poll")
        try:
            self._tickets.reap()
        except Exception as error:
            self._fail(error)
            raise
        finally:
            self._leave()

    # End.

    def drain(self) -> None:
        """Waits for everything in flight: the framework's queue, then each run, then its resources."""
        self.require_ready()
        self._session.refuse_in_capture("drain")
        self._admit("drain")
        try:
            self._drain()
        except Exception as error:
            self._fail(error)
            raise
        finally:
            self._leave()

    def _drain(self) -> None:
        self._session.synchronize()
        for participant in self._participants:
            participant.drain()
        self._tickets.retire_all()

    def close(self) -> None:
        """Stops admission, waits for starts and prepares, then: retire runs, release sources, close the
        Worker. After an error everything is kept and the state is FAILED; closing again is allowed.
        """
        self._check_process()
        with self._lock:
            if self._state in (ProcessState.UNINITIALIZED, ProcessState.CLOSED):
                return
            if self._inside_start() or self._state is ProcessState.CLOSING:
                raise RuntimeError(
                    "Kernel mode: close was called from inside init or another close"
                )
            if self._admitted == threading.get_ident():
                raise RuntimeError("Kernel mode: close was called from inside a call's enqueueing")
            if self._state is not ProcessState.INITIALIZING and self._session is not None:
                self._session.refuse_in_capture("close")
            while self._state is ProcessState.INITIALIZING:
                self._idle.wait()
            before = self._failure
            self._move(ProcessState.CLOSING)
            while self._preparing:
                self._idle.wait()
        try:
            self._admit("close")
            try:
                if self._session is not None:
                    self._drain()
                    self._session.close()
            finally:
                self._leave()
        except BaseException as error:
            with self._lock:
                self._move(ProcessState.FAILED, before or error)
            raise
        with self._lock:
            self._registrations.clear()
            self._move(ProcessState.CLOSED)

    def abandon(self, reason: str) -> None:
        """Tells the participants that nothing of this context will be closed. Takes no lock: for a
        forked child, and for an exit that is not safe."""
        for participant in self._participants:
            participant.abandon(reason)


def _conflict(bound: Any, requested: Any) -> str:
    """Names what differs; all of it for what is no dataclass."""
    if dataclasses.is_dataclass(bound) and type(bound) is type(requested):
        names = [f.name for f in dataclasses.fields(bound)]
        names = [name for name in names if getattr(bound, name) != getattr(requested, name)]
        bound, requested = (
            ", ".join(f"{name}={getattr(each, name)!r}" for name in names)
            for each in (bound, requested)
        )
    return (
        f"Kernel Worker configuration conflict: bound {bound}, requested {requested}. "
        "One process has one kernel Worker"
    )


_manager = KernelProcessManager()


def manager() -> KernelProcessManager:
    """The process's manager."""
    return _manager


_inherited: list[KernelProcessManager] = []


def _replace_in_child() -> None:
    """In a forked child, before it has a second thread. A manager that was never used is replaced with
    its locks; one that was used stays as it is, refuses every call, and lives until the process exits."""
    global _manager
    if not _manager.used:
        _manager = KernelProcessManager()
        return
    from pypto.runtime.kernel import teardown

    _inherited.append(_manager)
    teardown.keep_until_exit(_manager)
    _manager.abandon(_execution_mode.SPAWN_HINT)


_execution_mode.on_fork_in_child(_replace_in_child)
