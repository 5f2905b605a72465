"""The lifecycle owner: the one thread that makes, feeds and closes the Worker.

A borrowed device context is bound to a thread. This thread binds it once, so that init, registration
and close of the Worker always find it, whichever threads ask for them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

THREAD_NAME = "pypto-kernel-owner"


class OwnerThread:
    """Runs functions one after the other on its own daemon thread, which starts with the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[tuple[Future, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stopped = False

    @property
    def ident(self) -> int | None:
        """Identity of the running thread, None before the first call."""
        return self._thread.ident if self._thread is not None else None

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def call(self, function: Callable[[], Any]) -> Any:
        """Runs `function` on the thread and gives its result or raises its error. RuntimeError on the
        thread itself (it would wait for itself) and after `stop`."""
        if threading.get_ident() == self.ident:
            raise RuntimeError(
                "Kernel mode: a lifecycle operation was called from inside another one"
            )
        done: Future = Future()
        with self._lock:
            if self._stopped:
                raise RuntimeError("Kernel mode: the lifecycle owner has stopped")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=THREAD_NAME, daemon=True)
                self._thread.start()
            self._work.put((done, function))
        return done.result()

    def stop(self) -> None:
        """Ends the thread after what was called before. Idempotent."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            thread = self._thread
            self._work.put(None)
        if thread is not None and threading.get_ident() != thread.ident:
            thread.join()

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            done, function = item
            try:
                done.set_result(function())
            except BaseException as error:  # the caller's, whatever it is
                done.set_exception(error)
            del item, done, function  # nothing outlives its call here
