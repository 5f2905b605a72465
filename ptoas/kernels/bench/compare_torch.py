"""Products of libpto_kernels against torch on one thread, measured alternately in one process.

    python compare_torch.py <build>/ptoas/kernels [seconds per figure]

Ours are timed in C (native code calls them), torch.mm(out=), for int8 torch._int_mm, from Python
as its users call it.
"""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path

import torch

folder = Path(sys.argv[1])
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.2
loops = ctypes.CDLL(str(folder / "libpto_kernels_bench_loops.so"))
for name, arguments in {
    "bench_product": [ctypes.c_int] + [ctypes.c_int64] * 3 + [ctypes.c_int, ctypes.c_double],
    "bench_blocked": [ctypes.c_int] + [ctypes.c_int64] * 6 + [ctypes.c_int, ctypes.c_double],
    "peak_fp32": [ctypes.c_double],
    "peak_bf16": [ctypes.c_double],
}.items():
    function = getattr(loops, name)
    function.restype, function.argtypes = ctypes.c_double, arguments

torch.set_num_threads(1)
DTYPES = {0: torch.float32, 1: torch.bfloat16, 2: torch.float16, 3: torch.int8}
NAMES = {0: "f32", 1: "bf16", 2: "f16", 3: "i8"}


def torch_rate(dtype: int, m: int, n: int, k: int, transposed: bool) -> float:
    integer = DTYPES[dtype] is torch.int8
    product = torch._int_mm if integer else torch.mm
    a, b = (
        (torch.randn(m, k) * 8, torch.randn(k, n) * 8)
        if integer
        else (torch.randn(m, k), torch.randn(k, n))
    )
    a, b = a.to(DTYPES[dtype]), b.to(DTYPES[dtype])
    if transposed:
        b = b.t().contiguous().t()
    out = torch.empty(m, n, dtype=torch.int32 if integer else DTYPES[dtype])
    repeats = max(1, int(2e-4 * 1e11 / (2 * m * n * k)))
    best, end = 0.0, time.perf_counter() + seconds
    product(a, b, out=out)
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeats):
            product(a, b, out=out)
        best = max(best, 2e-9 * m * n * k * repeats / (time.perf_counter() - start))
    return best


def line(dtype: int, what: str, ours: float, theirs: float, peak: float) -> None:
    print(
        f"{NAMES[dtype]:5}{what:38}{ours:9.1f}{theirs:9.1f}{ours / theirs:8.2f}x{100 * ours / peak:7.1f} %",
        flush=True,
    )


def main() -> None:
    peaks = {0: loops.peak_fp32(0.3)}
    peaks[1] = loops.peak_bf16(0.3) or peaks[0]
    peaks[2] = peaks[0]
    peaks[3] = 2 * peaks[1]
    print(f"peaks of one core, GFLOP/s: FP32 {peaks[0]:.1f}, bfloat16 {peaks[1]:.1f}")
    print(f"{'':5}{'m x n x k':38}{'ours':>9}{'torch':>9}{'ratio':>9}{'of peak':>9}")
    for dtype in DTYPES:
        for m, n, k in [
            (32, 32, 32),
            (64, 64, 64),
            (128, 128, 128),
            (128, 128, 64),
            (128, 64, 128),
            (104, 104, 104),
            (256, 256, 256),
        ]:
            for transposed in (False, True):
                what = f"{m}x{n}x{k}" + (" b transposed" if transposed else "")
                theirs = torch_rate(dtype, m, n, k, transposed)
                ours = loops.bench_product(dtype, m, n, k, transposed, seconds)
                line(dtype, what, ours, theirs, peaks[dtype])
        for transposed in (False, True):
            theirs = torch_rate(dtype, 1024, 1024, 1024, transposed)
            for bm, bn, bk in [
                (128, 128, 128),
                (128, 128, 256),
                (256, 128, 256),
                (128, 256, 256),
                (256, 256, 256),
            ]:
                ours = loops.bench_blocked(dtype, 1024, 1024, 1024, bm, bn, bk, transposed, seconds)
                what = f"1024^3 by {bm}x{bn}x{bk}" + (" b transposed" if transposed else "")
                line(dtype, what, ours, theirs, peaks[dtype])


main()
