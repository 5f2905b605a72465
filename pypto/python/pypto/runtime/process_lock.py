"""Locks of one process: a forked child does not inherit that a thread of its parent holds them."""

from __future__ import annotations

import os
import threading
import weakref


class ProcessLock:
    """A mutex for `with`. What a thread of the parent was doing when it forked never ends in the child,
    so there the lock is a new one."""

    __slots__ = ("_lock", "__weakref__")

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_all: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def process_lock() -> ProcessLock:
    made = ProcessLock()
    _all.add(made)
    return made


def _renew() -> None:
    for lock in list(_all):
        lock._lock = threading.Lock()


os.register_at_fork(after_in_child=_renew)
