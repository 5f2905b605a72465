"""Control flow that is neither scf.for nor scf.if: blocks with branches, switches, regions that run once."""

from __future__ import annotations

import random

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


class RandomBlocks:
    """Blocks that change four numbers in memory and branch by them, in any direction. Every block takes one from
    the fuel and ends the function without any left."""

    OPS = {"addi": int.__add__, "xori": int.__xor__, "muli": int.__mul__}

    def __init__(self, seed: int):
        rng = random.Random(seed)
        self.count = rng.randint(2, 9)  # the block behind the last one is the end
        self.blocks = [
            (
                [
                    (
                        rng.choice([*self.OPS]),
                        rng.randrange(4),
                        rng.randrange(4),
                        rng.randint(-9, 9),
                    )
                    for _ in range(rng.randint(0, 3))
                ],
                rng.choice(["br", "cond_br", "switch"]),
                [rng.randint(0, self.count) for _ in range(3)],
                rng.randrange(4),
            )
            for _ in range(self.count)
        ]

    def text(self) -> str:
        lines = ["module {", "func.func @f(%m: !pto.ptr<i64>, %fuel: i64) {"]
        lines += [f"%i{i} = arith.constant {i} : index" for i in range(4)]
        lines += [f"%n{v} = arith.constant {v} : i64" for v in range(10)]
        lines += [f"%m{-v} = arith.constant {v} : i64" for v in range(-9, 0)]
        lines += ["cf.br ^b0(%fuel : i64)"]
        for b, (changes, kind, ways, chosen) in enumerate(self.blocks):

            def to(way, b=b):
                return f"^b{way}(%left{b} : i64)" if way < self.count else "^end"

            lines += [
                f"^b{b}(%fuel{b}: i64):",
                f"%left{b} = arith.subi %fuel{b}, %n1 : i64",
                f"%empty{b} = arith.cmpi sle, %fuel{b}, %n0 : i64",
                f"cf.cond_br %empty{b}, ^end, ^go{b}",
                f"^go{b}:",
            ]
            for k, (op, source, target, number) in enumerate(changes):
                constant = f"%n{number}" if number >= 0 else f"%m{-number}"
                lines += [
                    f"%x{b}_{k} = pto.load_scalar %m[%i{source}] : !pto.ptr<i64> -> i64",
                    f"%y{b}_{k} = arith.{op} %x{b}_{k}, {constant} : i64",
                    f"pto.store_scalar %y{b}_{k}, %m[%i{target}] : !pto.ptr<i64>, i64",
                ]
            lines += [
                f"%s{b} = pto.load_scalar %m[%i{chosen}] : !pto.ptr<i64> -> i64",
                f"%bits{b} = arith.andi %s{b}, %n3 : i64",
                f"%small{b} = arith.cmpi slt, %bits{b}, %n2 : i64",
                f"%case{b} = arith.trunci %bits{b} : i64 to i32",
            ]
            first, second, third = map(to, ways)
            lines += {
                "br": [f"cf.br {first}"],
                "cond_br": [f"cf.cond_br %small{b}, {first}, {second}"],
                "switch": [
                    f"cf.switch %case{b} : i32, [default: {first}, 1: {second}, 2: {third}]"
                ],
            }[kind]
        return "\n".join([*lines, "^end:", "return", "}", "}"])

    def run(self, numbers: list[int], fuel: int) -> list[int]:
        at = 0
        while at < self.count and fuel > 0:
            changes, kind, ways, chosen = self.blocks[at]
            for op, source, target, number in changes:
                value = self.OPS[op](numbers[source], number)
                numbers[target] = (value + 2**63) % 2**64 - 2**63
            bits, fuel = numbers[chosen] & 3, fuel - 1
            taken = {"br": 0, "cond_br": int(bits >= 2), "switch": bits % 3}[kind]
            at = ways[taken]
        return numbers


@pytest.mark.parametrize("seed", range(60))
def test_random_blocks(seed):
    """Loops with several entries and exits, and blocks that nothing reaches, among them."""
    program = RandomBlocks(seed)
    kernel = Kernel(program.text())
    for fuel in (0, 1, 7, 40):
        numbers = np.array([1, -2, 3, 5], np.int64)
        want = program.run(numbers.tolist(), fuel)
        kernel(numbers, fuel)
        assert numbers.tolist() == want
