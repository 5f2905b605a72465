"""Programs that are refused: what is said, and where it points. Interrupted compilations."""

from __future__ import annotations

import linecache
import os
import signal
import threading
import time

import pytest
import torch

import pypto
from pypto import bridge

SIGNATURE = "x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"


def entry_of(body: str, filename: str):
    """A jit function whose body starts at line 4 of `filename`."""
    lines = ["import pypto.language as pl", "@pl.jit", f"def entry({SIGNATURE}):"]
    text = "\n".join([*lines, *("    " + line for line in body.splitlines()), "    return y", ""])
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["entry"]


def tensors():
    return torch.randn(16, 32), torch.zeros(16, 32)


SCOPE = "with pl.at(level=pl.Level.CORE_GROUP):\n    "


@pytest.mark.parametrize(
    ("body", "error", "line", "column", "message", "hint"),
    [
        (
            SCOPE + "y = pl.add(x, 1.0)",
            pypto.InvalidOperationError,
            5,
            9,
            "'y' is an output parameter, but this only binds the name to a new value",
            "y[:] = ",
        ),
        (
            SCOPE + "y[0:16, 0:32] = pl.add(x[0:16, 0:32], x[0:8, 0:32])",
            pypto.InvalidOperationError,
            5,
            25,
            "pl.add: shapes differ, lhs is [16, 32], rhs is [8, 32]",
            "extents must be equal",
        ),
        (
            SCOPE + "y[0:16, 0:32] = pl.matmul(x, x)",
            pypto.InvalidOperationError,
            5,
            25,
            "inner extents",
            "",
        ),
        (
            SCOPE + "y[0:16, 0:32] = pl.add(x, 1.0, quick=True)",
            pypto.InvalidOperationError,
            5,
            40,
            "pl.add: unknown keyword 'quick'",
            "lhs, rhs",
        ),
        (
            SCOPE + "y[0:16, 0:32] = pl.ad(x, 1.0)",
            pypto.InvalidOperationError,
            5,
            25,
            "there is no function pl.ad",
            "did you mean pl.add?",
        ),
        (
            SCOPE + "y[0:16, 0:32] = pl.add(x, missing)",
            pypto.UndefinedVariableError,
            5,
            35,
            "missing",
            "",
        ),
        ("try:\n    pass\nfinally:\n    pass", pypto.UnsupportedFeatureError, 4, 5, "try", ""),
        ("import os", pypto.UnsupportedFeatureError, 4, 5, "import", ""),
        ("z = [i for i in x]", pypto.ParserError, 4, 9, "", ""),
    ],
    ids=["rebound output", "shapes", "matmul", "keyword", "operation", "name", "try", "import", "comprehension"],
)  # fmt: skip
def test_refused_programs(body, error, line, column, message, hint):
    with pytest.raises(error) as caught:
        entry_of(body, "program.py")(*tensors())
    span = caught.value.span
    assert (span.filename, span.begin_line, span.begin_column) == ("program.py", line, column)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert body.splitlines()[line - 4].strip() in str(caught.value)


def test_tiles_that_do_not_fit_are_listed():
    body = (
        "with pl.at(level=pl.Level.CORE_GROUP):\n"
        "    t = pl.full([256, 128], dtype=pl.FP32, value=1.0)\n"
        "    u = pl.full([256, 128], dtype=pl.FP32, value=2.0)\n"
        "    y[0:16, 0:32] = pl.slice(pl.add(t, u), [16, 32], [0, 0])"
    )
    with pytest.raises(ValueError, match="bytes of vec memory") as caught:
        entry_of(body, "large.py")(*tensors())
    text = str(caught.value)
    assert "196608" in text
    assert "256x128 f32  131072 bytes" in text
    assert "large.py:5" in text and "large.py:6" in text


def test_a_refused_program_leaves_nothing_behind():
    function = entry_of(SCOPE + "y[0:16, 0:32] = pl.ad(x, 1.0)", "again.py")
    for _ in range(2):
        with pytest.raises(pypto.InvalidOperationError):
            function(*tensors())
    assert function.specialisations == 0


def test_errors_of_wrappers_pass_through():
    function = entry_of(SCOPE + "y[0:16, 0:32] = pl.add(x, 1.0)", "wrapped.py")
    x, y = tensors()

    def wrapper(fail: bool):
        function(x, y)
        if fail:
            raise LookupError("of the caller")

    with pytest.raises(LookupError, match="of the caller"):
        wrapper(True)
    wrapper(False)
    assert torch.equal(y, x + 1)


def test_interrupt_during_compilation(monkeypatch):
    body = "with pl.at(level=pl.Level.CORE_GROUP):\n    t = x[0:16, 0:32]\n"
    body += "    for i in pl.unroll(400):\n        t = pl.mul(pl.add(t, 1.0), 0.5)\n"
    function = entry_of(body + "    y[0:16, 0:32] = t", "long.py")
    real = bridge.compiler()
    started = threading.Event()

    class Compiler:
        @staticmethod
        def compile(*args):
            started.set()
            return real.compile(*args)

    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(bridge, "compiler", lambda: Compiler)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            function(*tensors())
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    x, y = tensors()
    function(x, y)
    torch.testing.assert_close(y, torch.ones_like(y))


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [
        # a task reads memory that no task wrote before
        (
            "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n"
            "with pl.at(level=pl.Level.CORE_GROUP):\n"
            "    y[0:16, 0:32] = pl.add(t[0:16, 0:32], 1.0)",
            5,
            5,
        ),
        # the write comes after the read
        (
            "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n"
            "with pl.at(level=pl.Level.CORE_GROUP):\n"
            "    y[0:16, 0:32] = pl.add(t[0:16, 0:32], 1.0)\n"
            "with pl.at(level=pl.Level.CORE_GROUP):\n"
            "    t[0:16, 0:32] = pl.add(x[0:16, 0:32], 1.0)",
            5,
            5,
        ),
        # inside one kernel
        (
            "with pl.at(level=pl.Level.CORE_GROUP):\n"
            "    t = pl.create_tensor([16, 32], dtype=pl.FP32)\n"
            "    y[0:16, 0:32] = pl.add(t, 1.0)",
            6,
            25,
        ),
    ],
    ids=["never", "later", "in a kernel"],
)
def test_reads_of_unwritten_memory_are_refused(body, line, column):
    with pytest.raises(pypto.InvalidOperationError, match="nothing has written") as caught:
        entry_of(body, "unwritten.py")(*tensors())
    span = caught.value.span
    assert (span.filename, span.begin_line) == ("unwritten.py", line)
    assert span.begin_column == column


def test_a_write_of_an_earlier_turn_may_come_first():
    body = (
        "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n"
        "for i in pl.range(2):\n"
        "    if i == 1:\n"
        "        with pl.at(level=pl.Level.CORE_GROUP):\n"
        "            y[0:16, 0:32] = pl.add(t[0:16, 0:32], 1.0)\n"
        "    with pl.at(level=pl.Level.CORE_GROUP):\n"
        "        t[0:16, 0:32] = pl.add(x[0:16, 0:32], 1.0)"
    )
    x, y = tensors()
    entry_of(body, "turns.py")(x, y)
    torch.testing.assert_close(y, x + 2.0)


class Unready:
    @property
    def tile(self):
        raise RuntimeError("no tile size yet")


HOLDS_ITSELF: list = [1]
HOLDS_ITSELF.append(HOLDS_ITSELF)
WIDE: list = [1.0]
for _ in range(30):
    WIDE = [WIDE, WIDE]


def refused(factor: str, **values) -> pypto.Error:
    """The error for a product with a factor that is computed at compile time."""
    function = entry_of(SCOPE + f"y[0:16, 0:32] = pl.mul(x, {factor})", "values.py")
    function.__pypto_function__.globals.update(values)
    begin = time.thread_time()  # whatever else the machine does
    with pytest.raises(pypto.Error) as caught:
        function(*tensors())
    assert time.thread_time() - begin < 5
    return caught.value


@pytest.mark.parametrize(
    "factor",
    [
        "sum(range(10**9))",
        "len(list(LONG))",
        "max(range(2**70))",
        "len([0] * 10**9)",
        "len(10**9 * (0, 1))",
        "sum(SUMMED)",
    ],
)
def test_long_sequences_at_compile_time(factor):
    error = refused(factor, LONG=range(10**10), SUMMED=[0] * 100_000)
    assert "at most 65536 items" in str(error)
    assert error.span.begin_line == 5


def test_powers_of_powers_at_compile_time():
    assert "wider than 64 bits" in str(refused("((9**1024)**1024)**1024 % 7"))


def test_sequences_within_the_limits_have_a_value():
    body = SCOPE + "y[0:16, 0:32] = pl.mul(x, sum(range(65536)) // 2147450880 + len([0] * 2) - 1)"
    x, y = tensors()
    entry_of(body, "short.py")(x, y)
    torch.testing.assert_close(y, x * 2)


def test_containers_that_hold_themselves():
    assert "nested more than 32 deep" in str(refused("L[0]", L=HOLDS_ITSELF))


def test_errors_of_properties_are_reported_where_they_are_used():
    error = refused("CONFIG.tile", CONFIG=Unready())
    assert "no tile size yet" in str(error)
    assert (error.span.filename, error.span.begin_line) == ("values.py", 5)
