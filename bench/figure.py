"""One figure of the bench: ours against a named peer, measured in turns in the same process."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass
class Figure:
    """`ratio` is how many times better than the peer: above 1 is ahead, whatever the unit. `target` is a ratio as well.

    `peak` is the share of the measured peak of this host that ours reaches, where a peak makes sense; None elsewhere.
    """

    name: str
    ours: float
    peer: float
    peer_name: str
    unit: str
    target: float
    higher_is_better: bool = False
    peak: float | None = None
    host: str = ""

    @property
    def ratio(self) -> float:
        better, worse = (self.ours, self.peer) if self.higher_is_better else (self.peer, self.ours)
        if worse == 0:  # a count of none: there is no better, and nothing to divide by
            return self.target
        return better / worse

    @property
    def met(self) -> bool:
        return self.ratio >= self.target

    def row(self) -> dict:
        row = asdict(self)
        return {**row, "ratio": self.ratio, "met": self.met}


def in_turns(
    ours: Callable[[], object], peer: Callable[[], object], rounds: int = 15, each: float = 0.02
) -> tuple[float, float]:
    """Median seconds of one call of each, taken in turns so that both see the same state of the machine."""
    calls = []
    for work in (ours, peer):
        work()
        start = time.perf_counter()
        work()
        calls.append(max(1, int(each / max(time.perf_counter() - start, 1e-7))))
    times: tuple[list, list] = ([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for slot, (work, count) in enumerate(zip((ours, peer), calls, strict=True)):
                start = time.perf_counter()
                for _ in range(count):
                    work()
                times[slot].append((time.perf_counter() - start) / count)
    finally:
        gc.enable()
    return statistics.median(times[0]), statistics.median(times[1])
