"""Eight threads with four streams each: random operators, copies and frees; no wrong byte, no growth.

NPU_STRESS_SECONDS makes it longer (60 nightly).
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time

import torch


def worker(seed: int, until: float, wrong: list, rounds: list) -> None:
    pick = random.Random(seed)
    device = seed % 2
    streams = [torch.npu.Stream(device) for _ in range(4)]
    while rounds[seed] < 3 or time.monotonic() < until:
        n = pick.randint(1, 3000)
        value = float(pick.randint(1, 100))
        a, b = pick.choice(streams), pick.choice(streams)
        with torch.npu.stream(a):
            x = torch.full((n,), value, device=f"npu:{device}")
            if pick.random() < 0.3:
                x = torch.full((n,), value).pin_memory().to(f"npu:{device}", non_blocking=True)
            for _ in range(pick.randint(0, 4)):
                x = x * 2 - x
        b.wait_stream(a)
        with torch.npu.stream(b):
            x.record_stream(b)
            y = (x + 1).flip(0)
            if pick.random() < 0.2:
                y = y.to(f"npu:{1 - device}").to(f"npu:{device}")
            del x
            trash = [torch.zeros(n, device=f"npu:{device}") for _ in range(3)]
            del trash
            if not bool((y == value + 1).all()):
                wrong.append((seed, n, value))
        rounds[seed] += 1


def run(seconds: float) -> list:
    wrong: list = []
    rounds = [0] * 8
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=worker, args=(seed, until, wrong, rounds)) for seed in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert min(rounds) >= 3
    return wrong


def test_no_wrong_byte_and_no_growth():
    seconds = float(os.environ.get("NPU_STRESS_SECONDS", "3"))
    assert run(seconds) == []
    gc.collect()
    for index in range(2):
        torch.npu.synchronize(index)
    torch.npu.empty_cache()
    live = [torch.npu.memory_stats(i)["active.all.current"] for i in range(2)]
    assert run(seconds / 3) == []
    gc.collect()
    for index in range(2):
        torch.npu.synchronize(index)
    torch.npu.empty_cache()
    assert [torch.npu.memory_stats(i)["active.all.current"] for i in range(2)] == live
