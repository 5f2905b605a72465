"""`.pto` programs of a given size, for the figures of the assembler.

    python bench/pto_files.py 50000 > big.pto

A program is a kernel of steps: load a tile, scale it, softmax its rows, store it. Every fifth step loops, and tiles
of neighbouring steps live side by side, so that the planner and the insertion of flags have what they have in real
kernels. Nothing is random: the same size gives the same text.
"""

from __future__ import annotations

import sys

V = "!pto.tile_buf<vec, 16x64xf32>"
C = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
P = "!pto.partition_tensor_view<16x64xf32>"
STEP_OPS = 17  # what one step adds, its addresses and windows included


def step(index: int, indent: str) -> list[str]:
    """One step; `%row` is the first row of its window."""
    i = index
    return [
        indent + line
        for line in (
            f"%t{i} = pto.alloc_tile : {V}",
            f"%s{i} = pto.alloc_tile : {V}",
            f"%m{i} = pto.alloc_tile : {C}",
            f"%x{i} = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {P}",
            f"pto.tload ins(%x{i} : {P}) outs(%t{i} : {V})",
            f"pto.tmuls ins(%t{i}, %scale : {V}, f32) outs(%t{i} : {V})",
            f"pto.trowmax ins(%t{i}, %s{i} : {V}, {V}) outs(%m{i} : {C})",
            f"pto.trowexpandsub ins(%t{i}, %m{i} : {V}, {C}) outs(%t{i} : {V})",
            f"pto.texp ins(%t{i} : {V}) outs(%t{i} : {V})",
            f"pto.trowsum ins(%t{i}, %s{i} : {V}, {V}) outs(%m{i} : {C})",
            f"pto.trowexpanddiv ins(%t{i}, %m{i} : {V}, {C}) outs(%t{i} : {V})",
            f"pto.tadds ins(%t{i}, %scale : {V}, f32) outs(%s{i} : {V})",
            f"pto.tmul ins(%s{i}, %t{i} : {V}, {V}) outs(%s{i} : {V})",
            f"pto.tmaxs ins(%s{i}, %scale : {V}, f32) outs(%s{i} : {V})",
            f"pto.tabs ins(%s{i} : {V}) outs(%s{i} : {V})",
            f"%y{i} = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {P}",
            f"pto.tstore ins(%s{i} : {V}) outs(%y{i} : {P})",
        )
    ]


def program(ops: int) -> str:
    """A level2 module of at least `ops` ops."""
    lines = [
        'module attributes {pto.target_arch = "a2a3"} {',
        "  func.func @steps(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %scale: f32)",
        "      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {",
        "    %c0 = arith.constant 0 : index",
        "    %c1 = arith.constant 1 : index",
        "    %c16 = arith.constant 16 : index",
        "    %c64 = arith.constant 64 : index",
        "    %row = arith.muli %n, %c16 : index",
    ]
    for name in "xy":
        lines.append(
            f"    %{name}v = pto.make_tensor_view %{name}, shape = [%row, %c64], strides = [%c64, %c1]"
            " {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>"
        )
    for index in range(max(1, -(-(ops - 10) // STEP_OPS))):
        if index % 5 == 4:
            lines.append(f"    scf.for %i{index} = %c0 to %n step %c1 {{")
            lines += step(index, "      ")
            lines.append("    }")
        else:
            lines += step(index, "    ")
    lines += ["    return", "  }", "}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1])))
