"""RunHandle: one submitted run of a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simpler.worker import Worker


class RunHandle:
    """One submitted run. `done` polls; `wait` retires it and raises its error; both may be repeated."""

    def __init__(
        self, worker: Worker, state: Any, retire: Callable[[], None] | None = None
    ) -> None:
        self._worker = worker  # a handle keeps its worker alive
        self._state = state
        self._retire = retire  # called once, when the end was waited for

    @property
    def done(self) -> bool:
        return self._state.done

    def wait(self, timeout: float | None = None) -> None:
        if timeout is not None or threading.current_thread() is not threading.main_thread():
            if not self._state.wait_raw(timeout):
                raise TimeoutError(f"the run has not ended within {timeout} s")
        else:
            self._await_end()
        retire, self._retire = self._retire, None
        if retire is not None:
            retire()
        self._state.raise_if_failed()

    result = wait

    def _await_end(self) -> None:
        """Lets Ctrl-C in: a node's run is stopped then, a device's run stops by itself."""
        try:
            while not self._state.wait_raw(0.1):
                pass
        except KeyboardInterrupt:
            if self._worker.level >= 3:
                self._state.cancel()
                while not self._state.wait_raw(0.1):
                    pass
            raise

    def cancel(self) -> bool:
        """True: it had not started and will not. A started run is asked to stop at the next task."""
        return self._state.cancel()

    def add_done_callback(self, function: Callable[[RunHandle], None]) -> None:
        """Calls function(self) when the run is done, from the thread that ended it."""
        self._state.on_done(lambda: function(self))

    def __await__(self):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(None)

        self.add_done_callback(lambda _: loop.call_soon_threadsafe(finish))
        yield from future.__await__()
        return self.wait()
