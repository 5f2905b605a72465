"""Control flow that is neither scf.for nor scf.if: blocks with branches, switches, regions that run once."""

from __future__ import annotations

import numpy as np
import pytest
from native import Kernel

BLOCKS = """
module {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %xv = pto.make_tensor_view %x, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<8x32xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<8x32xf32> -> !pto.partition_tensor_view<8x32xf32>
    %yv = pto.make_tensor_view %y, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<8x32xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<8x32xf32> -> !pto.partition_tensor_view<8x32xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>
    pto.tload ins(%xw : !pto.partition_tensor_view<8x32xf32>) outs(%t : !pto.tile_buf<vec, 8x32xf32>)
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^done
  ^body:
    %odd = arith.remsi %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %next = arith.addi %i, %c1 : index
    cf.cond_br %is_odd, ^negate, ^double
  ^negate:
    pto.tneg ins(%t : !pto.tile_buf<vec, 8x32xf32>) outs(%t : !pto.tile_buf<vec, 8x32xf32>)
    cf.br ^head(%next : index)
  ^double:
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x32xf32>, !pto.tile_buf<vec, 8x32xf32>) outs(%t : !pto.tile_buf<vec, 8x32xf32>)
    cf.br ^head(%next : index)
  ^done:
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x32xf32>) outs(%yw : !pto.partition_tensor_view<8x32xf32>)
    return
  }
}"""


@pytest.mark.parametrize("n", [0, 1, 5])
def test_blocks_with_branches(n):
    x = np.arange(256, dtype=np.float32).reshape(8, 32)
    y = np.zeros_like(x)
    Kernel(BLOCKS)(x, y, n)
    for i in range(n):
        x = -x if i % 2 else x + x
    np.testing.assert_array_equal(y, x)


CHOICE = """
module {
  func.func @f(%y: !pto.ptr<i64>, %k: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.index_switch %k -> i64
    case -2 {
      %a = arith.constant 20 : i64
      scf.yield %a : i64
    }
    case 5 {
      %b = arith.constant 50 : i64
      scf.yield %b : i64
    }
    default {
      %c = arith.constant 7 : i64
      scf.yield %c : i64
    }
    %e = scf.execute_region -> i64 {
      %small = arith.cmpi slt, %k, %c1 : index
      cf.cond_br %small, ^less, ^more
    ^less:
      %d = arith.addi %r, %r : i64
      scf.yield %d : i64
    ^more:
      scf.yield %r : i64
    }
    pto.store_scalar %r, %y[%c0] : !pto.ptr<i64>, i64
    pto.store_scalar %e, %y[%c1] : !pto.ptr<i64>, i64
    return
  }
}"""


@pytest.mark.parametrize(
    ("k", "first", "second"), [(-2, 20, 40), (5, 50, 50), (0, 7, 14), (6, 7, 7)]
)
def test_switch_and_region_that_runs_once(k, first, second):
    y = np.zeros(2, np.int64)
    Kernel(CHOICE)(y, k)
    assert y.tolist() == [first, second]
