"""The environment variables that the stack reads: type, default and one line of help.

Made by tools/gen_knobs.py from tools/knobs.toml; do not edit.

`get("PTO_CACHE_DIR")` reads the environment at each call and raises `ValueError` for a value that the
variable's type does not allow.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Knob(NamedTuple):
    env: str
    type: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()


KNOBS: tuple[Knob, ...] = (
    Knob(
        "PTO_CACHE",
        "flag",
        True,
        "keep compiled programs on disk between processes",
    ),
    Knob(
        "PTO_CACHE_DIR",
        "path",
        "~/.cache/pto-stack",
        "where compiled programs are kept",
    ),
    Knob(
        "PTO_CACHE_SIZE",
        "size",
        1073741824,
        "bytes the cache may hold; the least recently used entries go first",
    ),
    Knob(
        "PTO_PLATFORM",
        "choice",
        "a2a3sim",
        "platform of calls that pass no RunConfig",
        ("a2a3sim", "a2a3", "a5sim", "a5"),
    ),
    Knob(
        "PTO_DUMP",
        "path",
        "",
        "write the IR after each compile stage below this folder (compiles again, ignoring the cache)",
    ),
    Knob(
        "PTO_TRACE",
        "path",
        "",
        "write one Chrome/Perfetto trace of the process to this file when it ends",
    ),
    Knob(
        "PTO_FUSE",
        "flag",
        True,
        "fuse chains of tile operations into one loop nest",
    ),
    Knob(
        "PTO_REUSE",
        "flag",
        True,
        "let tiles whose lives do not overlap share memory",
    ),
    Knob(
        "PTO_ISA",
        "choice",
        "",
        "lower the vector instruction set that code is generated for (empty: what the CPU has)",
        ("avx2", "avx512", "amx"),
    ),
    Knob(
        "SIMPLER_THREADS",
        "int",
        0,
        "worker threads of a simulated device (0: one per core)",
    ),
    Knob(
        "PTO_BACKTRACE",
        "flag",
        False,
        "let errors in programs also show the Python frames inside the compiler",
    ),
    Knob(
        "PTO_REPRODUCER_DIR",
        "path",
        "",
        "folder for the programs that made the compiler fail (empty: reproducers/ in the cache folder)",
    ),
    Knob(
        "PYPTO_PROG_BUILD_DIR",
        "path",
        "build_output",
        "base of output folders of ir.compile and of saved kernels",
    ),
    Knob(
        "PYPTO_EMIT_DEBUG_RUNNER",
        "flag",
        True,
        "write debug/run.py into output folders",
    ),
    Knob(
        "NO_COLOR",
        "text",
        "",
        "any value turns colours off (https://no-color.org)",
    ),
    Knob(
        "PTO_NPU_SOC",
        "text",
        "Ascend910B1",
        "product that the simulated NPU of torch is",
    ),
    Knob(
        "PTO_NPU_COUNT",
        "int",
        2,
        "simulated NPUs that torch sees",
    ),
    Knob(
        "PTO_NPU_MEMORY",
        "size",
        0,
        "memory of a simulated NPU (0: what the product has)",
    ),
    Knob(
        "PTO_NPU_ASYNC",
        "flag",
        False,
        "queue every operator of the simulated NPU behind its call",
    ),
    Knob(
        "TASK_QUEUE_ENABLE",
        "choice",
        "1",
        "operators of the simulated NPU go through a queue: 0 no, 1 yes, 2 yes and graphs refuse it",
        ("0", "1", "2"),
    ),
    Knob(
        "PER_STREAM_QUEUE",
        "flag",
        False,
        "each stream of the simulated NPU has a task queue of its own",
    ),
    Knob(
        "ASCEND_LAUNCH_BLOCKING",
        "flag",
        False,
        "wait for the simulated NPU after each operator",
    ),
    Knob(
        "ASCEND_RT_VISIBLE_DEVICES",
        "text",
        "",
        "simulated NPUs that torch sees, as 0,2 (unset: all)",
    ),
    Knob(
        "SIMPLER_SCHEDULER_TIMEOUT_MS",
        "int",
        10000,
        "milliseconds without progress after which a run is stopped as deadlocked",
    ),
    Knob(
        "SIMPLER_CXX",
        "text",
        "",
        "C++20 compiler for kernels that simpler builds from source (empty: the first one found)",
    ),
    Knob(
        "PTO2_RING_TASK_WINDOW",
        "text",
        "",
        "tasks that may be in flight, one number for all rings or four (empty: the run's own)",
    ),
    Knob(
        "PTO2_RING_HEAP",
        "text",
        "",
        "bytes of intermediate tensors in flight, one number for all rings or four (empty: the run's own)",
    ),
    Knob(
        "PTO2_RING_DEP_POOL",
        "text",
        "",
        "dependencies that may be in flight, one number for all rings or four (empty: the run's own)",
    ),
    Knob(
        "PTO_CHECK",
        "flag",
        False,
        "checked execution: an access outside its tensor is an error that says where, not a crash",
    ),
    Knob(
        "SIMPLER_HOST_STRACE",
        "flag",
        False,
        "a line on stderr for each span of each run on a simulated device; simpler_setup.tools.strace_timing reads them",
    ),
    Knob(
        "PYPTO_SKIP_RUNTIME_PIN_CHECK",
        "flag",
        False,
        "runs with a simpler extension that was not built from the sources beside it",
    ),
)

_BY_ENV = {knob.env: knob for knob in KNOBS}
_TRUE = ("1", "on", "true", "yes")
_FALSE = ("0", "off", "false", "no")
_SUFFIX = {"K": 10, "M": 20, "G": 30}


def parse(knob: Knob, text: str) -> Any:
    """The value that `text` gives `knob`; ValueError names the variable and what it takes."""
    if knob.type == "flag":
        low = text.strip().lower()
        if low in _TRUE or low in _FALSE:
            return low in _TRUE
        raise ValueError(f"{knob.env}={text!r}: takes 1 or 0")
    if knob.type == "int":
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{knob.env}={text!r}: takes a whole number") from None
    if knob.type == "size":
        body, shift = text.strip().removesuffix("B").removesuffix("i"), 0
        if body[-1:].upper() in _SUFFIX:
            body, shift = body[:-1], _SUFFIX[body[-1:].upper()]
        if not body.isdigit():
            raise ValueError(f"{knob.env}={text!r}: takes bytes, as 1048576, 512M or 2GiB")
        return int(body) << shift
    if knob.type == "choice" and text not in knob.choices:
        raise ValueError(f"{knob.env}={text!r}: takes one of {', '.join(knob.choices)}")
    if knob.type == "path":
        return os.path.expanduser(text)
    return text


def get(env: str) -> Any:
    """Value of the variable `env` now; unset or empty gives the default."""
    knob = _BY_ENV[env]
    text = os.environ.get(env)
    if not text:
        return os.path.expanduser(knob.default) if knob.type == "path" else knob.default
    return parse(knob, text)
