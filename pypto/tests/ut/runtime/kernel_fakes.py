"""A session, artifacts and runs that do what a test tells them."""

from __future__ import annotations

import threading


class FakeSession:
    """Counts the operations of a Worker's life. `fail[step]` is raised by that step; `gates[step]`, an
    Event, holds it up."""

    def __init__(self, generation: int = 1):
        self.generation = generation
        self.steps: list[str] = []
        self.fail: dict[str, BaseException] = {}
        self.gates: dict[str, threading.Event] = {}
        self.entered: dict[str, threading.Event] = {}
        self.lifecycle_thread: int | None = None
        self.capturing = False

    def hold(self, step: str) -> threading.Event:
        self.entered[step] = threading.Event()
        return self.gates.setdefault(step, threading.Event())

    def _step(self, step: str) -> None:
        self.steps.append(step)
        if step in self.entered:
            self.entered[step].set()
        if step in self.gates and not self.gates[step].wait(20):
            raise AssertionError(f"{step} was held up for 20 s")
        if step in self.fail:
            raise self.fail[step]

    def start(self):
        self._step("start")

    def register(self, artifact):
        self._step("register")
        return f"handle {self.steps.count('register')}", f"callable of {artifact.name}"

    def synchronize(self):
        self._step("synchronize")

    def refuse_in_capture(self, what):
        if self.capturing:
            raise RuntimeError(f"no {what} in a capture")

    def close(self):
        self._step("close")

    def is_lifecycle_thread(self):
        return threading.get_ident() == self.lifecycle_thread


class FakeArtifact:
    def __init__(self, name: str, key=None):
        self.name = name
        self.key = key

    def __eq__(self, other):  # identity must not depend on it
        return True

    __hash__ = None


class FakeRun:
    def __init__(self, log: list[str], name: str = "run", done: bool = False):
        self.log = log
        self.name = name
        self.done = done
        self.error: BaseException | None = None

    def wait(self):
        self.log.append(f"wait {self.name}")
        if self.error is not None:
            raise self.error


class Threads:
    """Runs functions on threads and collects (result, error) of each."""

    def __init__(self):
        self.outcomes: list[tuple[object, BaseException | None]] = []
        self._threads: list[threading.Thread] = []

    def start(self, *functions):
        for function in functions:
            thread = threading.Thread(target=self._run, args=(function,))
            self._threads.append(thread)
            thread.start()
        return self

    def _run(self, function):
        try:
            self.outcomes.append((function(), None))
        except BaseException as error:
            self.outcomes.append((None, error))

    def join(self):
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a thread hangs"
        return self.outcomes
