"""Order within a core, meetings of blocks, and the signals between cores: what waits, and for whom."""

from __future__ import annotations

import numpy as np
import pytest
from native import Code, CompileError, Kernel, KernelFault


def test_order_within_a_core_makes_no_code():
    """Flags, events and barriers of one core: program order, whatever they are."""
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<i32>, %y: !pto.ptr<i64>, %i: index) {
    %c0 = arith.constant 0 : index
    %v = arith.constant 5 : i32
    pto.set_ffts %y : !pto.ptr<i64>
    %e = pto.declare_eventid_array -> !pto.eventid_array<2>
    pto.eventid_array_set %e[%c0], %i : !pto.eventid_array<2>
    %k = pto.eventid_array_get %e[%c0] : !pto.eventid_array<2>
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
    pto.barrier <PIPE_ALL>
    pto.barrier_sync[#pto.sync_op_type<TLOAD>]
    pto.get_buf[#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}
    pto.rls_buf[#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}
    pto.get_buf_dyn "PIPE_V", %i, 0
    pto.rls_buf_dyn "PIPE_V", %i, 0
    pto.mem_bar #pto.membar<VST_VLD>
    pto.fence.barrier_all #pto.fence_scope<gm>
    pto.cmo.cacheinvalid all #pto.address_space<gm>
    pto.store_scalar %v, %x[%c0] : !pto.ptr<i32>, i32
    %w = arith.index_cast %k : index to i64
    pto.store_scalar %w, %y[%c0] : !pto.ptr<i64>, i64
    return
  }
}"""
    x, y = np.zeros(1, np.int32), np.zeros(2, np.int64)
    Code(text)("f", x, y, 1)
    assert x[0] == 5
    np.testing.assert_array_equal(y, [1, 0])  # the event id; the signals' memory is left alone


# ---- blocks -------------------------------------------------------------------------------------
# What makes all vector cores of a launch wait for each other.
MEETINGS = {
    "syncall": "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>",
    "sync.set": "pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 0 : i32}\n    pto.sync.wait <PIPE_V>, 3",
    "cross_block": "pto.set_cross_block <PIPE_MTE3>, 3\n    pto.wait_cross_block <PIPE_V>, 3",
    "cross_block, run-time id": "pto.set_cross_block <PIPE_MTE3>, %d\n    pto.wait_cross_block <PIPE_V>, %d",
}


@pytest.mark.parametrize("blocks", [1, 4])
@pytest.mark.parametrize("meeting", MEETINGS.values(), ids=MEETINGS)
def test_blocks_meet(meeting, blocks):
    """Twice: every block reads what all others wrote before. Ids are those of the launch."""
    text = f"""
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @f(%x: !pto.ptr<i64>, %y: !pto.ptr<i64>, %d: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %b = pto.get_block_idx
    %n = pto.get_block_num
    %s = pto.get_subblock_idx
    %m = pto.get_subblock_num
    %i = arith.index_cast %b : i64 to index
    %e = arith.index_cast %n : i64 to index
    %k = arith.addi %b, %s : i64
    pto.store_scalar %k, %x[%i] : !pto.ptr<i64>, i64
    {meeting}
    %sum = scf.for %j = %c0 to %e step %c1 iter_args(%a = %z) -> i64 {{
      %v = pto.load_scalar %x[%j] : !pto.ptr<i64> -> i64
      %w = arith.addi %a, %v : i64
      scf.yield %w : i64
    }}
    {meeting}
    %t = arith.muli %sum, %m : i64
    pto.store_scalar %t, %x[%i] : !pto.ptr<i64>, i64
    pto.store_scalar %t, %y[%i] : !pto.ptr<i64>, i64
    return
  }}
}}"""
    kernel = Kernel(text)
    for _ in range(5):
        x, y = np.full(blocks, 100, np.int64), np.zeros(blocks, np.int64)
        kernel(x, y, 7, blocks=blocks)
        np.testing.assert_array_equal(y, np.full(blocks, blocks * (blocks - 1) // 2))


# ---- cube and vector cores of a cluster ---------------------------------------------------------
def pair(arch: str, cube: str, vector: str, lines: str = "") -> str:
    """`cube` runs between writing x[0] and summing x[1] and x[2]; `vector` between and behind reading and writing."""
    before, behind = vector.split("---")
    given, taken = cube.split("---")
    return f"""
module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @cube(%x: !pto.ptr<i32>, %m: !pto.ptr<i64>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.addi %c1, %c2 : index
    %c4 = arith.addi %c2, %c2 : index
    %v = arith.constant 5 : i32
    {lines}
    pto.store_scalar %v, %x[%c0] : !pto.ptr<i32>, i32
    {given}
    {taken}
    %a = pto.load_scalar %x[%c1] : !pto.ptr<i32> -> i32
    %b = pto.load_scalar %x[%c2] : !pto.ptr<i32> -> i32
    %s = arith.addi %a, %b : i32
    pto.store_scalar %s, %x[%c0] : !pto.ptr<i32>, i32
    return
  }}
  func.func @vector(%x: !pto.ptr<i32>, %m: !pto.ptr<i64>, %__pypto_spmd_subblock_idx: i32)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.addi %c1, %c2 : index
    %c4 = arith.addi %c2, %c2 : index
    %l = arith.index_cast %__pypto_spmd_subblock_idx : i32 to index
    %i = arith.addi %l, %c1 : index
    {lines}
    {before}
    %v = pto.load_scalar %x[%c0] : !pto.ptr<i32> -> i32
    %w = arith.addi %v, %__pypto_spmd_subblock_idx : i32
    pto.store_scalar %w, %x[%i] : !pto.ptr<i32>, i32
    {behind}
    return
  }}
}}
"""


FFTS = "pto.set_ffts %m : !pto.ptr<i64>"
# The set of the cube, and with --- behind it what it waits for; the wait of the vector cores, and what they set.
SIGNALS = {
    "a2a3": (
        "a2a3", "pto.sync.set <PIPE_FIX>, 3 --- pto.sync.wait <PIPE_MTE2>, 4",
        "pto.sync.wait <PIPE_MTE2>, 3 --- pto.sync.set <PIPE_MTE3>, 4", FFTS,
    ),
    "run-time ids": (
        "a2a3", "pto.sync.set <PIPE_FIX>, %c3 --- pto.sync.wait <PIPE_MTE2>, %c4",
        "pto.sync.wait <PIPE_MTE2>, 3 --- pto.sync.set <PIPE_MTE3>, %c4 {ffts_mode = 2 : i32}", FFTS,
    ),
    "a5": (
        "a5", "pto.sync.set <PIPE_FIX>, 3 --- pto.sync.wait <PIPE_FIX>, 4",
        "pto.sync.wait <PIPE_MTE2>, 3 --- pto.sync.set <PIPE_MTE3>, 4", "",
    ),
    # The cube has numbers of its own for either lane: 16 apart.
    "intra_block": (
        "a5",
        "pto.set_intra_block <PIPE_FIX>, 3\n pto.set_intra_block <PIPE_FIX>, 19 ---"
        "pto.wait_intra_block <PIPE_FIX>, 4\n pto.wait_intra_block <PIPE_FIX>, 20",
        "pto.wait_intra_block <PIPE_MTE2>, %c3 --- pto.set_intra_block <PIPE_MTE3>, %c4", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("arch,cube,vector,lines", SIGNALS.values(), ids=SIGNALS)
def test_data_is_handed_over_and_back(arch, cube, vector, lines, check):
    kernel = Kernel(pair(arch, cube, vector, lines), entry="cube,vector", check=check)
    for _ in range(10):
        x, memory = np.zeros(3, np.int32), np.zeros(256, np.int64)
        kernel(x, memory)
        np.testing.assert_array_equal(x, [11, 5, 6])


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("arch,cube,vector,lines", SIGNALS.values(), ids=SIGNALS)
def test_a_wait_without_a_set_ends_with_a_fault(arch, cube, vector, lines, check):
    taken = cube.split("---")[1]
    kernel = Kernel(pair(arch, f"--- {taken}", vector, lines), entry="cube,vector", check=check)
    x, memory = np.zeros(3, np.int32), np.zeros(256, np.int64)
    with pytest.raises(KernelFault, match="deadlock: every function .* a signal that nobody sets"):
        kernel(x, memory)
    np.testing.assert_array_equal(x, [5, 0, 0])  # nobody went past a wait


def test_the_cube_signals_one_lane():
    """Lane 1 runs first, then lane 0 sees what it wrote."""
    cube = """pto.set_intra_block <PIPE_FIX>, 19
    pto.wait_intra_block <PIPE_FIX>, 20
    %got = pto.load_scalar %x[%c2] : !pto.ptr<i32> -> i32
    pto.store_scalar %got, %x[%c0] : !pto.ptr<i32>, i32
    pto.set_intra_block <PIPE_FIX>, 3 --- pto.wait_intra_block <PIPE_FIX>, 4"""
    vector = "pto.wait_intra_block <PIPE_MTE2>, 3 --- pto.set_intra_block <PIPE_MTE3>, 4"
    kernel = Kernel(pair("a5", cube, vector), entry="cube,vector")
    for _ in range(10):
        x = np.zeros(3, np.int32)
        kernel(x, np.zeros(1, np.int64))
        np.testing.assert_array_equal(x, [12, 6, 6])


def test_a_lane_waits_for_the_set_of_its_own_number():
    cube = "pto.set_intra_block <PIPE_FIX>, 3 --- pto.wait_intra_block <PIPE_FIX>, 4"
    vector = "pto.wait_intra_block <PIPE_MTE2>, 3 --- pto.set_intra_block <PIPE_MTE3>, 4"
    x = np.zeros(3, np.int32)
    with pytest.raises(KernelFault, match="deadlock"):
        Kernel(pair("a5", cube, vector), entry="cube,vector")(x, np.zeros(1, np.int64))
    np.testing.assert_array_equal(x, [5, 5, 0])  # lane 0 and the cube went on, lane 1 did not


def test_the_lanes_of_a_block_meet():
    """FFTS mode 1: each vector core sees what the other wrote before."""
    vector = """ ---
    pto.sync.set <PIPE_MTE3>, 5 {ffts_mode = 1 : i32}
    pto.sync.wait <PIPE_MTE2>, 5
    %n = arith.subi %c2, %l : index
    %o = pto.load_scalar %x[%n] : !pto.ptr<i32> -> i32
    %j = arith.addi %i, %c2 : index
    pto.store_scalar %o, %x[%j] : !pto.ptr<i32>, i32
    pto.sync.set <PIPE_MTE3>, 4"""
    kernel = Kernel(
        pair("a2a3", "--- pto.sync.wait <PIPE_FIX>, 4", vector, FFTS), entry="cube,vector"
    )
    for _ in range(10):
        x = np.full(5, 5, np.int32)
        kernel(x, np.zeros(256, np.int64))
        np.testing.assert_array_equal(x, [11, 5, 6, 6, 5])


@pytest.mark.parametrize(
    "op",
    ["sync.set", "sync.wait", "set_cross_block", "wait_cross_block", "set_intra_block"],
)
def test_a_signal_needs_to_know_its_core(op):
    text = f'module attributes {{pto.target_arch = "a5"}} {{\n func.func @f() {{\n pto.{op} <PIPE_FIX>, 3\n return\n }}\n}}'
    with pytest.raises(CompileError, match=rf"3:2.*'pto.{op}' needs a function with a pto.kernel_"):
        Code(text)
