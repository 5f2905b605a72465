"""Tickets of calls in flight: what they keep alive, and what their callback reported.

A ticket exists before its call is enqueued. The callback runs later, on a thread of the framework, and
publishes the run's handle (or why there is none) without any lock of the process manager. A run that is
done is still waited for, because waiting retires it; only then is what the call borrowed released.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any


class PendingTicket:
    """One call in flight. Holds its registration and `resources` until `retire` has succeeded.

    `release` is called once, after the run has been retired, and gives back what was borrowed.
    """

    __slots__ = ("registration", "order", "_resources", "_release", "_run", "_failure", "_retired")

    def __init__(
        self,
        registration: Any,
        resources: Any,
        *,
        release: Callable[[], None] | None = None,
        order: Hashable = None,
    ) -> None:
        self.registration = registration
        self.order = order
        self._resources = resources
        self._release = release
        self._run: Any = None
        self._failure: BaseException | None = None
        self._retired = False

    def publish(self, run: Any) -> None:
        """For the callback: `run` is a RunHandle (property `done`, method `wait`)."""
        self._unpublished()
        self._run = run

    def publish_failure(self, error: BaseException) -> None:
        """For the callback: there is no run, because of `error`."""
        self._unpublished()
        self._failure = error

    def _unpublished(self) -> None:
        if self._run is not None or self._failure is not None:
            raise RuntimeError("Kernel call: its callback has reported a result already")

    @property
    def resources(self) -> Any:
        """What the call keeps alive; None once it has been released."""
        return self._resources

    @property
    def retired(self) -> bool:
        return self._retired

    @property
    def finished(self) -> bool:
        """Whether `retire` would not block. A callback that has not run yet counts as unfinished."""
        return self._failure is not None or (self._run is not None and bool(self._run.done))

    def retire(self) -> None:
        """Waits for the run, which retires it, then releases what was borrowed. Raises the callback's,
        the run's or the release's error; everything is kept then."""
        if self._retired:
            return
        if self._failure is not None:
            raise self._failure
        if self._run is None:
            raise RuntimeError(
                "Kernel call: its callback has not run although the framework's queue was drained"
            )
        self._run.wait()
        if self._release is not None:
            self._release()
        self._retired = True
        self._resources = self._release = None


class PendingTickets:
    """The tickets of a process by the order (the stream) they complete in: a poll looks at the oldest
    of each order only. Not thread-safe; the manager's admission lock guards it."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, deque[PendingTicket]] = {}

    def append(self, ticket: PendingTicket) -> None:
        self._queues.setdefault(ticket.order, deque()).append(ticket)

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __iter__(self) -> Iterator[PendingTicket]:
        for queue in self._queues.values():
            yield from queue

    def reap(self) -> None:
        """Retires the tickets that have finished. Never waits. An error leaves its ticket in place."""
        for order in list(self._queues):
            queue = self._queues[order]
            while queue and queue[0].finished:
                queue[0].retire()
                queue.popleft()
            if not queue:
                del self._queues[order]

    def retire_all(self) -> None:
        """Waits for every ticket. What fails stays; the first error is raised after the others ended."""
        first: BaseException | None = None
        for order in list(self._queues):
            kept: deque[PendingTicket] = deque()
            for ticket in self._queues[order]:
                try:
                    ticket.retire()
                except Exception as error:
                    first = first or error
                    kept.append(ticket)
            if kept:
                self._queues[order] = kept
            else:
                del self._queues[order]
        if first is not None:
            raise first
