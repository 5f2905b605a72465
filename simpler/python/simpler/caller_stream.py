"""Runs that happen in a queue of the caller (`Worker.submit(…, stream=…)`)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable


class CallerStreamRun:
    """State of a run that happens in a queue of the caller; what RunHandle asks of it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._outcome: BaseException | bool | None = None  # True: ended; an exception: failed
        self._started = False
        self._callbacks: list[Callable[[], None]] = []

    def work(self, run: Callable[[], None]) -> Callable[[], None]:
        """The function for the queue. Called a second time it does nothing; never called, it fails the
        run when it is freed."""

        def work() -> None:
            with self._changed:
                if self._started or self._outcome is not None:
                    return
                self._started = True
            try:
                run()
            except BaseException as error:
                self._end(error)
            else:
                self._end(True)

        weakref.finalize(work, self._dropped)
        return work

    def _dropped(self) -> None:
        if not self._started:
            self._end(RuntimeError("run: the caller's stream dropped it before it started"))

    def _end(self, outcome: BaseException | bool) -> None:
        with self._changed:
            if self._outcome is not None:
                return
            self._outcome = outcome
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback()

    @property
    def done(self) -> bool:
        return self._outcome is not None

    def wait_raw(self, timeout: float | None = None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._outcome is not None, timeout)

    def raise_if_failed(self) -> None:
        if isinstance(self._outcome, BaseException):
            raise self._outcome

    def cancel(self) -> bool:
        with self._changed:
            if self._started or self._outcome is not None:
                return False
        self._end(RuntimeError("run: it was cancelled before it started"))
        return True

    def on_done(self, callback: Callable[[], None]) -> None:
        with self._changed:
            if self._outcome is None:
                self._callbacks.append(callback)
                return
        callback()
