"""Copies and signals between devices (which share this machine's memory)."""

from __future__ import annotations

import numpy as np
import pytest
from native import Kernel

HEAD = """
!V = !pto.tile_buf<vec, 8x16xf32>
!P = !pto.partition_tensor_view<8x16xf32>
!H = !pto.partition_tensor_view<4x16xf32>
!S = !pto.partition_tensor_view<1x1xi32>
!T = !pto.tensor_view<?x?xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>, %s: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %one = arith.constant 1 : i32
    %v = pto.alloc_tile : !V
    %xt = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c32, %c1] : !T
    %yt = pto.make_tensor_view %y, shape = [%c8, %c16], strides = [%c16, %c1] : !T
    %zt = pto.make_tensor_view %z, shape = [%c8, %c16], strides = [%c16, %c1] : !T
    %st = pto.make_tensor_view %s, shape = [%c1, %c1], strides = [%c1, %c1] : !pto.tensor_view<?x?xi32>
    %xp = pto.partition_view %xt, offsets = [%c0, %c0], sizes = [%c8, %c16] : !T -> !P
    %yp = pto.partition_view %yt, offsets = [%c0, %c0], sizes = [%c8, %c16] : !T -> !P
    %zp = pto.partition_view %zt, offsets = [%c0, %c0], sizes = [%c8, %c16] : !T -> !P
    %y0 = pto.partition_view %yt, offsets = [%c0, %c0], sizes = [%c4, %c16] : !T -> !H
    %y1 = pto.partition_view %yt, offsets = [%c4, %c0], sizes = [%c4, %c16] : !T -> !H
    %z0 = pto.partition_view %zt, offsets = [%c0, %c0], sizes = [%c4, %c16] : !T -> !H
    %z1 = pto.partition_view %zt, offsets = [%c4, %c0], sizes = [%c4, %c16] : !T -> !H
    %sp = pto.partition_view %st, offsets = [%c0, %c0], sizes = [%c1, %c1] : !pto.tensor_view<?x?xi32> -> !S
"""


def run(body: str):
    rng = np.random.default_rng(1)
    x, y, z = (rng.integers(-9, 9, s).astype(np.float32) for s in [(8, 32), (8, 16), (8, 16)])
    s = np.zeros(1, np.int32)
    before = x.copy(), y.copy(), z.copy()
    Kernel(HEAD + body + "\n    return\n  }\n}\n")(x, y, z, s)
    return before, (x, y, z), s[0]


ADD = "{atomicType = #pto<atomic_type atomic_add>}"
NONE = "{atomicType = #pto<atomic_type atomic_none>}"


@pytest.mark.parametrize("op", ["tput", "tget"])
@pytest.mark.parametrize("attr", [NONE, ADD])
def test_copies(op, attr):
    (x, y, _), (_, got, _), _ = run(f"pto.comm.{op}(%yp, %xp, buf(%v) : !P, !P, !V) {attr}")
    np.testing.assert_array_equal(got, x[:, :16] + (y if attr == ADD else 0))


@pytest.mark.parametrize("op", ["tput_async", "tget_async"])
def test_asynchronous_copies(op):
    # Contiguous on both sides.
    body = f"""
    %ws = pto.castptr %y : !pto.ptr<f32> -> !pto.ptr<i8>
    %q = pto.comm.build_async_session(%v, %ws : !V, !pto.ptr<i8>) {{sync_id = 0 : i32}} -> !pto.async_session
    %k = pto.make_prefetch_async_context() -> !pto.prefetch_async_context
    %g = pto.get_prefetch_async_session(%k : !pto.prefetch_async_context) -> !pto.async_session
    %h = pto.tprefetch_async(%zp, %k : !P, !pto.prefetch_async_context) -> !pto.async_event
    pto.tprefetch ins(%zp : !P) outs(%v : !V)
    pto.tsync ins(%v : !V)
    %ya = pto.partition_view %yt, offsets = [%c1, %c0], sizes = [%c1, %c16] : !T -> !pto.partition_tensor_view<1x16xf32>
    %za = pto.partition_view %zt, offsets = [%c0, %c0], sizes = [%c1, %c16] : !T -> !pto.partition_tensor_view<1x16xf32>
    %e = pto.comm.{op}(%ya, %za, %q : !pto.partition_tensor_view<1x16xf32>, !pto.partition_tensor_view<1x16xf32>, !pto.async_session) -> !pto.async_event
    %ok = pto.comm.wait_async_event(%e, %q : !pto.async_event, !pto.async_session) -> i1
    %too = pto.comm.test_async_event(%e, %q : !pto.async_event, !pto.async_session) -> i1
    %both = arith.andi %ok, %too : i1
    %word = arith.extui %both : i1 to i32
    pto.store_scalar %word, %s[%c0] : !pto.ptr<i32>, i32"""
    (_, y, z), (_, got, _), done = run(body)
    np.testing.assert_array_equal(got[1], z[0])
    np.testing.assert_array_equal(got[2:], y[2:])
    assert done == 1


def test_broadcast():
    (x, _, _), (_, y, z), _ = run(
        "pto.comm.tbroadcast(%xp, recv(%v), group(%yp, %zp) : !P, !V, !P, !P) {root = 0 : i32}"
    )
    np.testing.assert_array_equal(y, x[:, :16])
    np.testing.assert_array_equal(z, x[:, :16])


def test_gather():
    (_, _, z), (_, y, _), _ = run(
        "pto.comm.tgather(%yp, recv(%v), group(%z1, %z0) : !P, !V, !H, !H) {root = 0 : i32}"
    )
    np.testing.assert_array_equal(y, np.concatenate([z[4:], z[:4]]))


def test_scatter():
    (x, _, _), (_, y, z), _ = run(
        "pto.comm.tscatter(%xp, recv(%v), group(%y1, %z0) : !P, !V, !H, !H) {root = 0 : i32}"
    )
    np.testing.assert_array_equal(y[4:], x[:4, :16])
    np.testing.assert_array_equal(z[:4], x[4:, :16])


@pytest.mark.parametrize(
    "op,reference", [("sum", np.add), ("max", np.maximum), ("min", np.minimum)]
)
def test_reduce(op, reference):
    (x, y, z), (_, got, _), _ = run(
        "pto.comm.treduce(%yp, %v, recv(%v), group(%xp, %zp) : !P, !V, !V, !P, !P) "
        f"{{reduceOp = #pto<reduce_op {op}>, root = 0 : i32}}"
    )
    np.testing.assert_array_equal(got, reference(x[:, :16], z))


def test_signals():
    body = """
    pto.comm.tnotify(%sp, %one : !S, i32) {notifyOp = #pto<notify_op atomic_add>}
    pto.comm.tnotify(%sp, %one : !S, i32) {notifyOp = #pto<notify_op atomic_add>}
    pto.comm.twait(%sp, %one : !S, i32) {cmp = #pto<wait_cmp ge>}
    %t = pto.comm.ttest(%sp, %one : !S, i32) {cmp = #pto<wait_cmp gt>} -> i1
    %w = arith.extui %t : i1 to i32
    %three = arith.constant 3 : i32
    %r = arith.muli %w, %three : i32
    pto.comm.tnotify(%sp, %r : !S, i32) {notifyOp = #pto<notify_op set>}"""
    assert run(body)[2] == 3


def test_fusion_region_is_its_body():
    body = """
    %r = pto.fusion_region {
      pto.tload ins(%zp : !P) outs(%v : !V)
      pto.texp ins(%v : !V) outs(%v : !V)
      pto.yield %one : i32
    } -> i32
    pto.tstore ins(%v : !V) outs(%yp : !P)
    pto.store_scalar %r, %s[%c0] : !pto.ptr<i32>, i32"""
    (_, _, z), (_, y, _), word = run(body)
    np.testing.assert_allclose(y, np.exp(z), rtol=1e-6)
    assert word == 1
