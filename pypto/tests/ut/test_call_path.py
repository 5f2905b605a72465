"""From Python arguments to descriptors and back, with machine code that the test brings."""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
import time

import numpy as np
import pytest
import torch

import pypto
from pypto import _core as core


def tensor(name, direction="in", dtype="FP32", shape=(-1, 8), names=("N", ""), strides=()):
    return ("tensor", name, direction, dtype, shape, names, strides)


@pytest.fixture
def make(machine_code):
    def make(entry, *slots, returns=()):
        return core.Executable(
            machine_code,
            name="program",
            arch="a2a3",
            entry=entry,
            slots=slots,
            returns=returns,
            returns_tuple=len(returns) > 1,
        )

    return make


@pytest.fixture
def add_one(make):
    return make("add_one", tensor("x"), tensor("y", "out"), returns=[1])


def test_torch_tensors_cross_without_copy(add_one):
    x, y = torch.randn(3, 8), torch.empty(3, 8)
    assert add_one(x, y) is y
    assert torch.equal(y, x + 1)


def test_numpy_arrays_and_capsules(add_one):
    x, y = np.arange(16, dtype=np.float32).reshape(2, 8), np.zeros((2, 8), np.float32)
    add_one(x, y)
    assert (y == x + 1).all()

    class Wrapped:
        def __init__(self, inner):
            self.inner = inner

        def __dlpack__(self):
            return self.inner.__dlpack__()

    add_one(Wrapped(x), Wrapped(y[::-1][::-1]))
    assert (y == x + 1).all()


def test_empty_tensors_run(add_one):
    assert add_one(torch.empty(0, 8), torch.empty(0, 8)).shape == (0, 8)


def test_descriptor_holds_what_the_tensor_is(make):
    show = make(
        "descriptor",
        tensor("x", shape=(-1, -1, 4), names=("", "", ""), strides=(48, 8, 1), dtype="BF16"),
        tensor("d", "out", "INT64", (16,), ("",)),
    )
    x = torch.zeros(5, 6, 8, dtype=torch.bfloat16)[1:, :, 2:6]
    d = torch.zeros(16, dtype=torch.int64)
    show(x, d)
    fields = struct.unpack("<4Qi I4B5I Q5I36x", d.numpy().tobytes())
    address, size, owner, offset, version, rank, dtype, manual, contiguous, _ = fields[:10]
    assert address == x.data_ptr()
    assert size == 2 * (3 * 48 + 5 * 8 + 3 + 1)
    assert (owner, offset, version, rank) == (2**64 - 1, 0, 0, 3)
    assert (dtype, manual, contiguous) == (6, 0, 0)
    assert fields[10:15] == (4, 6, 4, 0, 0)
    assert fields[15] == size // 2
    assert fields[16:21] == (48, 8, 1, 0, 0)


def test_axes_of_one_element_have_any_stride(make):
    show = make("add_one", tensor("x", shape=(1, 8)), tensor("y", "out", shape=(1, 8)))
    x, y = torch.randn(4, 8)[2:3], torch.empty_strided((1, 8), (999, 1))
    show(x, y)
    assert torch.equal(y, x + 1)


SCALARS = ("FP32", "INT8", "UINT16", "BOOL")


@pytest.fixture
def words(make):
    scalars = [("scalar", f"s{i}", dtype, "") for i, dtype in enumerate(SCALARS)]
    program = make("words", tensor("d", "out", "INT64", (4,), ("",)), *scalars)

    def call(*values):
        d = torch.zeros(4, dtype=torch.int64)
        program(d, *values)
        return [int(word) & (2**64 - 1) for word in d]

    return call


def test_scalars_lie_in_the_low_end_of_words(words):
    assert words(1.5, -2, 65535, True) == [0x3FC00000, 0xFE, 0xFFFF, 1]
    assert words(np.float32(1.5), np.int64(-2), np.uint8(7), False) == [0x3FC00000, 0xFE, 7, 0]
    assert words(3, 127, 0, False)[0] == 0x40400000


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ((1e60, 0, 0, True), ValueError, "s0: 1e\\+60 does not fit FP32"),
        ((1.0, 128, 0, True), ValueError, "s1: 128 does not fit INT8"),
        ((1.0, -129, 0, True), ValueError, "s1: -129 does not fit INT8"),
        ((1.0, 2**70, 0, True), ValueError, "s1: .* does not fit INT8"),
        ((1.0, 0, -1, True), ValueError, "s2: -1 does not fit UINT16"),
        ((1.0, 0, 65536, True), ValueError, "s2: 65536 does not fit UINT16"),
        ((1.0, 0.5, 0, True), TypeError, "s1: takes a whole number \\(INT8\\), got 0.5"),
        ((1.0, 0, 0, 1), TypeError, "s3: takes True or False \\(BOOL\\), got 1"),
        (("1", 0, 0, True), TypeError, "s0: takes a number \\(FP32\\), got '1'"),
        ((torch.ones(1), 0, 0, True), TypeError, "s0: takes a number .*, got a tensor"),
    ],
    ids=str,
)
def test_scalars_that_do_not_fit(words, values, error, text):
    with pytest.raises(error, match=text) as caught:
        words(*values)
    assert isinstance(caught.value, pypto.Error)


def base(rows=4, columns=8):
    return torch.zeros(rows, columns)


READ_ONLY = np.zeros((4, 8), np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("x", "y", "error", "text"),
    [
        (base(), 3, TypeError, "y: takes a tensor, got int"),
        (None, base(), TypeError, "x: takes a tensor, got NoneType"),
        (base(), base().double(), TypeError, "y: element type torch.float64 is not one"),
        (base(), base().half(), TypeError, "y: takes \\[N, 8\\] FP32, got \\[4, 8\\] FP16"),
        (base(), base(4, 9), TypeError, "y: takes \\[N, 8\\] FP32, got \\[4, 9\\] FP32"),
        (base(), base().reshape(4, 8, 1), TypeError, "y: takes \\[N, 8\\] FP32, got \\[4, 8, 1\\]"),
        (base(), torch.zeros(1, 1, 1, 1, 1, 8), ValueError, "y: rank 6 is above 5"),
        (base(), base(5), ValueError, "dimension N is 4 in x \\(axis 0\\) and 5 in y \\(axis 0\\)"),
        (base(), base(8, 4).t(), ValueError, "y: its strides \\[1, 4\\] are not those"),
        (base(4, 1).expand(4, 8), base(), ValueError, "x: axis 1 has stride 0 \\(expanded\\)"),
        (base(), READ_ONLY, ValueError, "y: is written, but the array is read-only"),
        (torch.zeros(4, 8, device="meta"), base(), TypeError, "x: Cannot pack tensors on meta$"),
        (base(), b"12345678", TypeError, "y: takes a tensor, got bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tensors_that_do_not_fit(add_one, x, y, error, text):
    with pytest.raises(error, match=text):
        add_one(x, y)


def test_read_only_inputs_are_fine(add_one):
    assert add_one(READ_ONLY, base()).sum() == 32


def test_negative_strides_are_refused(add_one):
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(ValueError, match="x: axis 0 has stride -8"):
        add_one(x[::-1], base())


class Described:
    """A BF16 array that is known by its __array_interface__ alone."""

    def __init__(self, shape, strides=None):
        self.dtype = "bfloat16"
        self.held = np.zeros(64, np.int16)
        interface = {**self.held.__array_interface__, "shape": shape, "strides": strides}
        self.__array_interface__ = interface


@pytest.mark.parametrize(
    ("shape", "strides", "error", "text"),
    [
        ([4, 8], None, TypeError, "x: shape and strides .* are no tuples"),
        (7, None, TypeError, "x: shape and strides .* are no tuples"),
        ((4, 8), 4, TypeError, "x: shape and strides .* are no tuples"),
        ((4, 8), (32,), ValueError, "x: strides and shape .* differ in length"),
        ((-4, 8), None, ValueError, "x: axis 0 has -4 elements"),
        ((2**32, 8), None, ValueError, "x: axis 0 has 4294967296 elements"),
        (("4", 8), None, TypeError, "x: 'str' object cannot be interpreted as an integer"),
        ((2**70, 8), None, TypeError, "x: int too big to convert"),
        ((2**31, 2**31, 2**31), None, ValueError, "x: axis 0 has stride 4611686018427387904"),
        ((2**32 - 1,) * 5, None, ValueError, "x: axis 0 has stride 9223372036854775807"),
    ],
    ids=str,
)
def test_array_interfaces_that_make_no_sense(make, shape, strides, error, text):
    with pytest.raises(error, match=text):
        make("nothing", tensor("x", dtype="BF16"))(Described(shape, strides))


def test_array_interfaces_are_read(make):
    x = Described((4, 8), (16, 2))
    d = torch.zeros(16, dtype=torch.int64)
    slots = tensor("x", dtype="BF16"), tensor("d", "out", "INT64", (16,), ("",))
    make("descriptor", *slots)(x, d)
    assert d[0] == x.held.ctypes.data


@pytest.mark.parametrize("large", [2**31, 3 * 2**30])
def test_empty_tensors_have_any_extents(make, large):
    shape = (0, -1, -1)
    show = make(
        "descriptor",
        tensor("x", dtype="BF16", shape=shape, names=("", "", "")),
        tensor("d", "out", "INT64", (16,), ("",)),
    )
    d = torch.zeros(16, dtype=torch.int64)
    show(Described((0, large, large)), d)
    fields = struct.unpack("<4Qi I4B5I Q5I36x", d.numpy().tobytes())
    assert fields[10:13] == (0, large, large)
    assert all(stride > 0 for stride in fields[16:19])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_argument_counts(add_one, count):
    with pytest.raises(TypeError, match=f"program takes 2 arguments, got {count}"):
        add_one(*[base()] * count)


def overlap_cases():
    whole = torch.zeros(16, 16)
    yield "same tensor", whole[:, :8], whole[:, :8], False
    yield "shifted rows", whole[0:8, :8], whole[4:12, :8], False
    yield "rows apart", whole[0:8, :8], whole[8:16, :8], True
    yield "columns apart", whole[:, :8], whole[:, 8:], True
    yield "columns meet", whole[:, :8], whole[:, 7:15], False
    yield "diagonal apart", whole[0:8, :8], whole[4:12, 8:], True
    yield "wraps into the next row", whole[:8, 9:], whole[:8].flatten()[:56].reshape(8, 7), False


@pytest.mark.parametrize(
    ("x", "y", "apart"), [case[1:] for case in overlap_cases()], ids=[c[0] for c in overlap_cases()]
)
def test_written_tensors_share_no_memory(make, x, y, apart):
    slots = [
        tensor(name, direction, shape=tuple(t.shape), strides=tuple(t.stride()))
        for name, direction, t in (("x", "in", x), ("y", "out", y))
    ]
    program = make("nothing", *slots)
    if apart:
        program(x, y)
    else:
        with pytest.raises(ValueError, match="y: is written and shares memory with x"):
            program(x, y)


def addresses_seen(make, inputs) -> list[int]:
    """The addresses that a program receives for `inputs`."""
    count = len(inputs)
    slots = [tensor(f"t{i}") for i in range(count)]
    program = make(
        "addresses",
        tensor("seen", "out", "INT64", (count,), ("",)),
        *slots,
        ("scalar", "count", "INT64", ""),
    )
    seen = torch.zeros(count, dtype=torch.int64)
    program(seen, *inputs, count)
    return seen.tolist()


def test_two_inputs_may_be_one_tensor(make):
    x = base()
    assert addresses_seen(make, [x, x]) == [x.data_ptr()] * 2


def test_many_arguments(make):
    inputs = [base() for _ in range(40)]
    assert addresses_seen(make, inputs) == [each.data_ptr() for each in inputs]


def test_run_errors_carry_the_code(make):
    with pytest.raises(pypto.RunError, match="program: .*asked to stop") as caught:
        make("fails", tensor("x"))(base())
    assert caught.value.code in (9, -9)


def test_wrong_machine_code_is_a_resource_error():
    slots = dict(name="p", arch="a2a3", entry="e", slots=[], returns=[], returns_tuple=False)
    with pytest.raises(pypto.ResourceError, match="p: cannot load its machine code"):
        core.Executable(b"not ELF", **slots)


def test_missing_entry_is_a_resource_error(make):
    with pytest.raises(pypto.ResourceError, match="has no symbol no_such_entry"):
        make("no_such_entry")


def test_interrupt_stops_a_run(make):
    program = make("endless", tensor("x", "inout"))
    x = base()

    def interrupt():
        while not x[0, 0]:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    # Runners that start in the background ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            program(x)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    # The next run is not affected.
    make("nothing", tensor("x"))(base())


class Impl:
    """What JITFunction asks when no program in memory fits."""

    def __init__(self, program, guards=()):
        self.program, self.guards, self.prepared = program, guards, 0

    def parameter_name(self, index):
        return "xy"[index]

    def bind(self, args, kwargs):
        return args + tuple(kwargs.pop(name) for name in ("y",) if name in kwargs), None

    def prepare(self, function, args, config):
        self.prepared += 1
        function.add(self.program, "", self.guards() if callable(self.guards) else self.guards)
        return self.program


SETTING = 1
LISTED = [1]


def test_jit_function_prepares_once(add_one):
    function = core.JITFunction(Impl(add_one))
    x, y = base(), base()
    for _ in range(3):
        assert function(x, y) is y
    assert function(x, y=y) is y
    assert (function.impl.prepared, function.specialisations) == (1, 1)
    function.clear()
    function(x, y)
    assert function.impl.prepared == 2


def test_changed_names_prepare_again(add_one, monkeypatch):
    def guards():
        return [(globals(), "SETTING", SETTING, None), (globals(), "LISTED", LISTED, list(LISTED))]

    function = core.JITFunction(Impl(add_one, guards))
    function(base(), base())
    monkeypatch.setitem(globals(), "SETTING", 2)
    function(base(), base())
    assert function.impl.prepared == 2
    monkeypatch.setitem(globals(), "SETTING", 1)
    function(base(), base())
    assert function.impl.prepared == 2  # the first program holds again
    LISTED.append(2)
    try:
        function(base(), base())
        assert function.impl.prepared == 3
    finally:
        LISTED.pop()


@pytest.mark.parametrize(
    ("raised", "prepared"), [(LookupError, 2), (KeyboardInterrupt, 1), (SystemExit, 1)]
)
def test_names_that_raise_when_they_are_looked_at(add_one, raised, prepared):
    class Settings:
        fails = False

        @property
        def size(self):
            if self.fails:
                raise raised
            return SETTING

    settings = Settings()
    function = core.JITFunction(Impl(add_one, [(settings, "size", SETTING, None)]))
    function(base(), base())
    settings.fails = True
    if issubclass(raised, Exception):
        function(base(), base())
    else:
        with pytest.raises(raised):
            function(base(), base())
    assert function.impl.prepared == prepared


def test_unreadable_arguments_name_the_parameter(add_one):
    function = core.JITFunction(Impl(add_one))
    with pytest.raises(TypeError, match="^y: element type torch.float64"):
        function(base(), base().double())


def test_functions_and_programs_are_collected(add_one):
    import gc
    import weakref

    impl = Impl(add_one)
    function = core.JITFunction(impl)
    impl.cycle = function
    alive = weakref.ref(function)
    function(base(), base())
    del function, impl
    gc.collect()
    assert alive() is None


def test_calls_of_a_prepared_function_run_no_python(make):
    """What makes them cheap: the microsecond itself is measured by bench/, on a quiet machine."""
    program = make("nothing", tensor("a"), tensor("b"), tensor("c", "out"))
    function = core.JITFunction(Impl(program))
    args = base(), base(), base()
    function(*args)
    seen = []
    sys.setprofile(lambda frame, event, what: seen.append((event, frame.f_code.co_name)))
    try:
        for _ in range(10):
            function(*args)
    finally:
        sys.setprofile(None)
    assert [name for event, name in seen if event == "call"] == []
