"""Checked runs: the order of queues with the extents and events of the run, and tiles outside their memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from native import CompileError, Kernel, KernelFault
from order_programs import (
    ALL,
    BEFORE,
    BEHIND,
    EXP,
    GOOD,
    LOAD,
    STORE,
    program,
    set_flag,
    wait_flag,
    without,
)

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "ptoas/tests/kernels"
BIN = Path(os.environ.get("PTO_BUILD", ROOT / "build/dev")) / "bin"


def run(text: str, n: int = 0, kernel: Kernel | None = None) -> str:
    """What a checked run says besides; the numbers are right."""
    kernel = kernel or Kernel(text, check=True)
    x = np.linspace(0, 1, 64 * 64, dtype=np.float32).reshape(64, 64)
    y = np.zeros_like(x)
    kernel(x, y, 64, n)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
    return kernel.notes


def faults(text: str, n: int = 0) -> list[str]:
    with pytest.raises(KernelFault) as caught:
        run(text, n)
    return str(caught.value).splitlines()


def line_of(text: str, words: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if words in line)


PLACES = {
    "level3": {},
    "level2": {"t": None, "u": None},
    "A5": {"arch": "a5"},
    "run-time address": {"u": "%n"},
}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_a_kernel_with_all_flags_is_not_complained_of(places):
    assert run(program(GOOD, BEFORE, BEHIND, **places), n=8192) == ""
    assert run(program([LOAD, ALL, EXP, ALL, STORE, ALL], **places), n=8192) == ""


# What is left out -> the instruction that may run too early, the earlier one, tile, and whether that is of an
# earlier iteration.
PAIRS = {
    ("MTE2", "V"): ("texp", "tload", "%t", False),
    ("V", "MTE3"): ("tstore", "texp", "%u", False),
    ("V", "MTE2"): ("tload", "texp", "%t", True),
    ("MTE3", "V"): ("texp", "tstore", "%u", True),
}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_missing_flag_is_named(pair, places):
    left_out = set_flag(*pair), wait_flag(*pair)
    later, earlier, tile, is_earlier_round = PAIRS[pair]
    text = program(*(without(part, *left_out) for part in (GOOD, BEFORE, BEHIND)), **places)
    said = faults(text, n=4096)
    address = {"%t": 0, "%u": 4096}[tile]
    where = f"vec bytes {address} to {address + 4096} (tile {tile})"
    if places.get("t", "") is None:
        where = f"bytes 0 to 4096 of tile {tile}"
    flag = "[<PIPE_{}>, <PIPE_{}>, <EVENT_ID0>]".format(*pair)
    message = (
        f"k.pto:{line_of(text, later)}:7: error: 'pto.{later}' op may run before 'pto.{earlier}' at "
        f"k.pto:{line_of(text, earlier)}:7 is done{', that of an earlier iteration' * is_earlier_round}: "
        f"both touch {where}; missing: set_flag{flag} behind that one, wait_flag{flag} before this one"
        + ", and one set in front of the loop and one wait behind it"
        * is_earlier_round
    )
    assert message in said
    # Each missing order once: of four iterations.
    assert len(said) == len(set(said)) <= 2


def test_queues_that_do_not_run_in_order_need_barriers():
    """On A2/A3 two vector instructions; on A5 they follow each other."""
    twice = GOOD.copy()
    twice.insert(twice.index(EXP) + 1, "pto.tadds ins(%u, %z : !V, f32) outs(%u : !V)")
    before = ["%z = arith.constant 0.0 : f32", *BEFORE]
    said = faults(program(twice, before, BEHIND))
    assert len(said) == 1
    assert "'pto.tadds' op may run before 'pto.texp' at" in said[0]
    assert said[0].endswith("missing: barrier <PIPE_V> between them")
    assert run(program(twice, before, BEHIND, arch="a5")) == ""


def test_flags_that_nobody_sets_or_waits_for():
    flag = r"\[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>\]"
    (said,) = faults(program(GOOD, BEFORE[:1], BEHIND))
    assert re.search(f"'pto.wait_flag' op waits for {flag}, which nothing has set: a device", said)
    (said,) = faults(program(GOOD, BEFORE, BEHIND[:1]))
    assert re.search(f"'pto.set_flag' op sets {flag}, which nothing waits for", said)
    said = faults(program([set_flag("MTE3", "V", 3)] + GOOD, BEFORE, BEHIND))
    assert re.search(r"sets \[.*EVENT_ID3>\] again, which nothing has waited for since", said[0])


def ping_pong(address: str, event: str = "%k") -> str:
    """Two tiles in turn, each with an event of its own: known only when it runs."""
    body = [
        "%number = arith.index_cast %k : index to i64",
        f"%at = {address}",
        "%p = pto.alloc_tile addr = %at : !V",
        "pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %k]",
        LOAD.replace("%t", "%p"),
        f"pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, {event}]",
        f"pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, {event}]",
        wait_flag("MTE3", "V"),
        EXP.replace("%t", "%p"),
        "pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %k]",
        set_flag("V", "MTE3"),
        wait_flag("V", "MTE3"),
        STORE,
        set_flag("MTE3", "V"),
    ]
    turns = [set_flag("V", "MTE2"), set_flag("V", "MTE2", 1), set_flag("MTE3", "V")]
    ends = [wait_flag("V", "MTE2"), wait_flag("V", "MTE2", 1), wait_flag("MTE3", "V")]
    return program(body, turns, ends, u="%n")


def test_events_and_addresses_of_the_run():
    assert run(ping_pong("arith.muli %number, %a1 : i64"), n=8192) == ""
    # Both turns in one tile: the second load does not wait for the first turn's exp.
    said = faults(ping_pong("arith.muli %number, %a0 : i64"), n=8192)
    assert any("'pto.tload' op may run before 'pto.texp'" in line for line in said)
    said = faults(ping_pong("arith.muli %number, %a1 : i64", "%i"), n=8192)
    assert any("'pto.set_flag_dyn' op uses event 16; events are 0 to 7" in line for line in said)


def test_global_memory_by_its_windows():
    """A window that is read behind a store to it needs an order, another one does not."""
    again = GOOD + ["{wait}", "pto.tload ins(%p : !P) outs(%w : !V)"]
    window = "%p = pto.partition_view %ys, offsets = [{}, %c0], sizes = [%c16, %c64] : !T -> !P"
    made = ["%w0 = arith.constant 16384 : i64", "%w = pto.alloc_tile addr = %w0 : !V"]

    def text(offset: str, order: str = "") -> str:
        lines = [window.format(offset), *(line.format(wait=order) for line in again)]
        return program(lines + ["pto.barrier <PIPE_MTE2>"], made + BEFORE, BEHIND)

    assert run(text("%c0", ALL)) == ""
    said = faults(text("%i"))
    assert len(said) == 1
    assert "'pto.tload' op may run before 'pto.tstore' at" in said[0]
    assert "both touch bytes 0 to 4096 of argument 1 'y'; missing: set_flag[<PIPE_MTE3>" in said[0]
    # The last rows are written last, and not read again behind that.
    assert run(text("%rows").replace("[%rows, %c64], s", "[%c128, %c64], s")
               .replace("%c2 =", "%c128 = arith.constant 128 : index\n    %c2 =")
               .replace("[%rows, %c0]", "[%c64, %c0]").replace("%p : !P", "%from : !P")) == ""  # fmt: skip


def test_a_kernel_without_flags_says_so_once():
    for body in ([LOAD, EXP, STORE], [LOAD, ALL, EXP, STORE, ALL]):
        kernel = Kernel(program(body), check=True)
        (note,) = run("", kernel=kernel).splitlines()
        assert "note: the kernel does not order its queues" in note
        assert "it needs --enable-insert-sync ('pto." in note
        assert run("", kernel=kernel) == ""


# ---- memory ---------------------------------------------------------------------------------------
def test_tiles_beyond_their_memory():
    with pytest.raises(
        CompileError, match="address 194560 ends beyond the capacity of vec, 196608"
    ):
        run(program(GOOD, BEFORE, BEHIND, a1=194560))
    (said,) = faults(program(GOOD, BEFORE, BEHIND, u="%n"), n=194560)
    assert re.search(r"k.pto:17:10: .* the address of a tile of 4096 bytes in vec \(196608 bytes\) is "
                     "194560, which must be between 0 and 192512", said)  # fmt: skip
    # What fits is told by the architecture.
    assert run(program(GOOD, BEFORE, BEHIND, u="%n", arch="a5"), n=194560) == ""
    with pytest.raises(CompileError, match="at address 16, which must be a multiple of 32"):
        run(program(GOOD, BEFORE, BEHIND, a0=16))
    (said,) = faults(program(GOOD, BEFORE, BEHIND, u="%n"), n=4100)
    assert said == (
        "k.pto:17:10: error: 'pto.alloc_tile' op places a tile in vec at address 4100, "
        "which must be a multiple of 32"
    )


def test_the_table_of_tiles_that_do_not_fit():
    text = program([LOAD, EXP, STORE], t=None, u=None)
    text = text.replace("16x64xf32", "512x64xf32").replace("[%c16, %c64] :", "[%c512, %c64] :")
    text = text.replace("%c16 =", "%c512 = arith.constant 512 : index\n    %c16 =")
    with pytest.raises(CompileError) as caught:
        Kernel(text, check=True)
    assert "the tiles need 262144 bytes at once, the capacity is 196608 bytes" in str(caught.value)
    assert str(caught.value).count("131072 bytes are live from here") == 2
    Kernel(text)  # without the check it may run


def test_tiles_that_lose_bytes_to_others():
    body = [LOAD, ALL, EXP, ALL, "pto.tmuls ins(%t, %z : !V, f32) outs(%w : !V)", ALL, STORE, ALL]
    before = ["%z = arith.constant 1.0 : f32", "%w0 = arith.constant 16384 : i64",
              "%w = pto.alloc_tile addr = %w0 : !V"]  # fmt: skip
    text = program(body, before, a1=2048)
    kernel = Kernel(text, check=True)
    x = np.zeros((64, 64), np.float32)
    kernel(x, np.zeros_like(x), 64, 0)
    assert kernel.notes.splitlines() == [
        f"k.pto:{line_of(text, 'tmuls')}:7: note: 'pto.tmuls' reads tile %t, whose bytes 2048 to 4096 of vec "
        f"'pto.texp' at k.pto:{line_of(text, 'texp')}:7 has written over as tile %u: the tiles overlap in part"
    ]
    # Bytes that are shared on purpose: all of them.
    assert run(program([LOAD, ALL, EXP, ALL, STORE, ALL], a1=0)) == ""


# ---- kernels whose flags the assembler has inserted ---------------------------------------------------
sys.path.append(str(KERNELS))
INSERTED = ["softmax_tail", "layer_norm", "matmul_long_k", "dense_pipeline", "attention"]


@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("name", INSERTED)
def test_inserted_flags_are_enough_and_each_is_needed(name, level):
    import cube_kernels  # noqa: F401
    import vector_kernels  # noqa: F401
    from cases import CASES

    command = [BIN / "ptoas", KERNELS / f"level{level}/{name}.pto", f"--pto-level=level{level}",
               "--enable-insert-sync", "--emit-pto-ir"]  # fmt: skip
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()

    def call(lines: list[str]) -> Kernel:
        kernel = Kernel("\n".join(lines), check=True)
        inputs, outputs, scratch = CASES[name].arrays(0)
        kernel(*inputs, *outputs, *scratch)
        return kernel

    assert call(lines).notes == ""
    sets = [i for i, line in enumerate(lines) if "pto.set_flag" in line]
    for at in sets[:: max(1, len(sets) // 3)]:
        flag = lines[at].split("set_flag")[1].split(" loc")[0]
        # All sets of this event and all waits for it: an order less, nothing else.
        with pytest.raises(KernelFault, match="may run before|again before the wait"):
            call([line for line in lines if f"_flag{flag}" not in line])


# ---- who waits ----------------------------------------------------------------------------------------
def test_a_deadlock_names_who_waits():
    text = (KERNELS / "level2/dense_relu.pto").read_text()
    pop = next(line for line in text.splitlines() if "tpop_from_aic" in line)
    more = text.replace(pop, pop + "\n" + pop.replace("%t", "%again", 1), 1)
    a, b = (np.zeros(shape, np.uint16) for shape in ((32, 64), (64, 64)))
    kernel = Kernel(more)
    with pytest.raises(KernelFault) as caught:
        kernel(a, b, np.zeros((32, 64), np.float32), np.zeros(8 * 32 * 64, np.float32))
    first, said = str(caught.value).splitlines()
    assert first.startswith("deadlock: every function of the cluster waits")
    assert re.fullmatch(
        r"  k\.py:\d+:\d+: 'pto.tpop_from_aic' of the vector core waits for pipe 0 \(cube to vector\) "
        r"\(block 0, lane 0\): none of its 8 slots is full, 1 have been pushed and 1 popped",
        said,
    ), said


# ---- parts of tiles -------------------------------------------------------------------------------
def parts(offsets: list[tuple[int, int]]) -> str:
    """Loads of 16x32 parts of an L1 tile in boxes: one queue, whose transfers do not wait for each other."""
    lines = ""
    for i, (row, col) in enumerate(offsets):
        lines += f"""    %m{i} = pto.subview %m[%c{row}, %c{col}] sizes [16, 32] : !M -> !S
    pto.tload ins(%p : !P) outs(%m{i} : !S)
"""
    boxes = "blayout=col_major, slayout=row_major"
    return f"""!M = !pto.tile_buf<mat, 32x64xf16, {boxes}>
!S = !pto.tile_buf<mat, 16x32xf16, {boxes}>
!T = !pto.tensor_view<16x32xf16>
!P = !pto.partition_tensor_view<16x32xf16>
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @f(%x: !pto.ptr<f16>) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %a0 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %v = pto.make_tensor_view %x, shape = [%c16, %c32], strides = [%c32, %c1] : !T
    %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c32] : !T -> !P
    %m = pto.alloc_tile addr = %a0 : !M
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
{lines}    return
  }}
}}
"""


def test_parts_of_boxed_tiles_are_told_apart():
    x = np.zeros((16, 32), np.float16)
    Kernel(parts([(0, 0), (16, 0), (0, 32), (16, 32)]), check=True)(x)
    with pytest.raises(KernelFault, match="'pto.tload' op may run before 'pto.tload'"):
        Kernel(parts([(0, 0), (16, 32), (16, 32)]), check=True)(x)
