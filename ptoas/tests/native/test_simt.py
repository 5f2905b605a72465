"""pto.section.simt: each thread runs the body; scalar code only."""

from __future__ import annotations

import numpy as np
import pytest
from native import CompileError, Kernel, KernelFault

HEAD = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%p: !pto.ptr<i32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
"""
TAIL = "\n    return\n  }\n}\n"
COUNT = """%old = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32
      %new = arith.addi %old, %one : i32
      pto.store_scalar %new, %p[%c0] : !pto.ptr<i32>, i32"""


@pytest.mark.parametrize("n", [0, 1, 5, 2048])
def test_each_thread_runs_the_body(n):
    kernel = Kernel(HEAD + f"    pto.section.simt <<<%n, 3, 2>>> {{\n      {COUNT}\n    }}" + TAIL)
    count = np.zeros(1, np.int32)
    kernel(count, n)
    assert count[0] == 6 * n


def test_loops_and_arrays_of_a_thread():
    body = f"""    pto.section.simt <<<4, 1, 1>>> {{
      %a = pto.declare_local_array -> !pto.local_array<2xi32>
      pto.local_array_set %a[%c1], %one : !pto.local_array<2xi32>, i32
      scf.for %i = %c0 to %n step %c1 {{
      %was = pto.local_array_get %a[%c1] : !pto.local_array<2xi32> -> i32
      %twice = arith.addi %was, %was : i32
      pto.local_array_set %a[%c1], %twice : !pto.local_array<2xi32>, i32
      }}
      %last = pto.local_array_get %a[%c1] : !pto.local_array<2xi32> -> i32
      pto.store_scalar %last, %p[%c1] : !pto.ptr<i32>, i32
      {COUNT}
    }}"""
    out = np.zeros(2, np.int32)
    Kernel(HEAD + body + TAIL)(out, 5)
    assert out.tolist() == [4, 32]


@pytest.mark.parametrize("n", [-1, 2049])
def test_a_wrong_number_of_threads(n):
    kernel = Kernel(HEAD + f"    pto.section.simt <<<2, %n, 2>>> {{\n      {COUNT}\n    }}" + TAIL)
    count = np.zeros(1, np.int32)
    with pytest.raises(
        KernelFault,
        match=rf"k\.pto:6:5: error: 'pto.section.simt' op number of threads 1 is {n}, which must be between 0 and 2048",
    ):
        kernel(count, n)
    assert not count.any()


@pytest.mark.parametrize(
    "body,op",
    [
        ("pto.texpands ins(%one : i32) outs(%t : !pto.tile_buf<vec, 8x8xi32>)", "pto.texpands"),
        ("pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier"),
    ],
)
def test_what_is_no_code_of_a_thread(body, op):
    text = HEAD + "    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xi32>\n"
    text += f"    pto.section.simt <<<2, 1, 1>>> {{\n      {body}\n    }}" + TAIL
    with pytest.raises(
        CompileError, match=f"k.pto:8:7: error: native target: '{op}' is no instruction of a thread"
    ):
        Kernel(text)
