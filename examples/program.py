"""What every example gives to the demo, the tests and the bench: a program, its inputs, what torch says.

`python examples/01_hello_world.py` checks and times one example, `make demo` all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Program:
    """One program with everything that is needed to check and time it.

    `inputs` makes the arguments in call order, outputs included. `reference` gives the expected tensors by argument
    index, in FP32 or FP64, from the same arguments. `torch` does the same work in eager torch; it is what is timed.
    """

    name: str
    entry: Callable
    inputs: Callable[[], tuple]
    reference: Callable[..., dict[int, torch.Tensor]]
    torch: Callable
    rtol: float = 1e-5
    atol: float = 1e-5


@dataclass(frozen=True)
class Report:
    name: str
    shapes: str
    max_error: float  # largest |got - reference|
    ok: bool  # every element within atol + rtol * |reference|
    compile_ms: (
        float  # cold: from a decorated function to loaded code, the compiler being in memory
    )
    run_ms: float
    torch_ms: float

    @property
    def ratio(self) -> float:
        """How many times faster than torch."""
        return self.torch_ms / self.run_ms


def shapes_of(args: Sequence) -> str:
    names = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int32: "i32"}
    words = []
    for a in args:
        if isinstance(a, torch.Tensor):
            words.append("x".join(map(str, a.shape)) + " " + names.get(a.dtype, str(a.dtype)))
    seen = dict.fromkeys(words)
    return ", ".join(seen)


def milliseconds(call: Callable[[], object], seconds: float = 0.3) -> float:
    """Median time of one call, over at least 5 calls and about `seconds`."""
    call()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if len(times) >= 2000:
            break
    return statistics.median(times) * 1e3


def check(program: Program) -> Report:
    """Compiles, runs and times one program; the values are compared after the first run."""
    torch.manual_seed(0)
    args = program.inputs()
    wanted = program.reference(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])
    start = time.perf_counter()
    program.entry(*args)
    first = time.perf_counter() - start
    error, ok = 0.0, True
    for index, want in wanted.items():
        got, want = args[index].double(), want.double()
        difference = (got - want).abs()
        if got.numel():
            error = max(error, difference.max().item())
        ok &= bool((difference <= program.atol + program.rtol * want.abs()).all())
    run_ms = milliseconds(lambda: program.entry(*args))
    torch_ms = milliseconds(lambda: program.torch(*args))
    return Report(
        program.name, shapes_of(args), error, ok, max(first * 1e3 - run_ms, 0.0), run_ms, torch_ms
    )


def main(programs: Sequence[Program]) -> None:
    """Entry of `python examples/NN_name.py`."""
    from pypto import (
        warm_up,
    )  # loads the compiler, so that the first compile time is the compiler's own

    warm_up()
    for program in programs:
        r = check(program)
        verdict = "ok" if r.ok else "WRONG"
        print(
            f"{r.name}: {verdict}, max error {r.max_error:.2e}, compile {r.compile_ms:.1f} ms, "
            f"run {r.run_ms:.3f} ms, torch {r.torch_ms:.3f} ms ({r.ratio:.2f}x)  [{r.shapes}]"
        )
        if not r.ok:
            raise SystemExit(1)
