"""Random programs: fused, unfused, with and without shared storage must agree bit for bit.

Tiles of several types and shapes, windows of tiles, loops, branches; level2 handles, and level3 addresses that
overlap at random. Unfused code runs one op at a time, each of which other tests check against NumPy.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from native import AVX2, HOST, Code, Program

ROWS, ARENA = 8, 8192
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}


class Generator:
    def __init__(self, seed: int, level3: bool):
        self.r = random.Random(seed)
        self.p = Program("a5")
        self.level3 = level3
        self.inputs = [self.p.pointer("f32") for _ in range(2)]
        self.outputs = [self.p.pointer("f32") for _ in range(2)]
        self.count = self.p.scalar("index")
        self.tiles: list[tuple] = []  # name, type, dtype, rows, cols, address
        self.depth = 0
        zero = self.p.const("0.0", "f32"), "f32"
        if level3:
            whole = self.p.tile("f32", ARENA // 256, 64, addr=0)
            self.p.op("texpands", [zero], [whole])
        for dtype in ["f32"] * 5 + ["f16", "bf16", "i32", "i32"]:
            cols = self.r.choice([32, 64])
            self.make(dtype, ROWS, cols)
        for _ in range(3):
            self.make("f32", ROWS, 1)
        for cols in (32, 64):
            self.make("f32", 1, cols)
        # Stations of a product: tiles that may become views of what they are made from.
        nz, at = ", blayout=col_major, slayout=row_major", (lambda a: a if level3 else None)
        tile = self.p.tile
        self.a_mat = tile("f32", ROWS, 32, space="mat", extra=nz, addr=at(0))
        self.b_mat = tile("f32", 32, 64, space="mat", extra=nz, addr=at(4096))
        self.left = tile("f32", ROWS, 32, space="left", extra=nz, addr=at(0))
        self.right = tile("f32", 32, 64, space="right", extra=", slayout=col_major", addr=at(0))
        self.acc = tile("f32", ROWS, 64, space="acc", extra=nz + ", fractal=1024", addr=at(0))
        self.make("f32", ROWS, 32)
        self.make("f32", ROWS, 64)
        for kind in ("stage", "fetch", "pass", "product"):
            self.product(kind)

    def product(self, kind):
        p, r = self.p, self.r
        if kind == "stage":
            p.op("tmov", [self.pick("f32", ROWS, 32)], [self.a_mat])
        elif kind == "pass":
            p.op("tmov", [self.a_mat], [self.left])
            p.op("tmov", [self.b_mat], [self.right])
        elif kind == "fetch":
            source = r.choice(self.inputs + self.outputs)
            p.load(p.view(source, "f32", [4 * ROWS, 64]), self.b_mat)
        else:
            p.op("tmatmul", [self.left, self.right], [self.acc])
            p.op("tmov", [self.acc], [self.pick("f32", ROWS, 64)])

    def make(self, dtype, rows, cols):
        addr = None
        if self.level3:
            size = rows * cols * BYTES[dtype]
            addr = self.r.randrange(0, ARENA - size, 512)
        if cols == 1:
            tile = self.p.tile(dtype, rows, 1, extra=", blayout=col_major", addr=addr)
        else:
            tile = self.p.tile(dtype, rows, cols, addr=addr)
        self.tiles.append((*tile, dtype, rows, cols, addr))
        if not self.level3:
            if cols == 1:
                self.p.op("trowmax", [self.tiles[0][:2]], [tile])
            elif dtype == "bf16":
                wide = self.p.tile("f32", rows, cols)
                self.p.op("texpands", [(self.p.const("0.5", "f32"), "f32")], [wide])
                self.p.op("tcvt", [wide], [tile])
            else:
                value = "1" if dtype == "i32" else "0.5"
                self.p.op("texpands", [(self.p.const(value, dtype), dtype)], [tile])

    def pick(self, dtype=None, rows=None, cols=None):
        fits = [
            t
            for t in self.tiles
            if (dtype is None or t[2] == dtype)
            and (rows is None or t[3] == rows)
            and (cols is None or t[4] == cols)
        ]
        return self.r.choice(fits) if fits else None

    def apart(self, out, *ins):
        """An op reads and writes the same bytes in the same arrangement, or different bytes."""
        if not self.level3:
            return True
        for t in ins:
            same = t[5] == out[5] and t[2:5] == out[2:5]
            below = t[5] + t[3] * t[4] * BYTES[t[2]] <= out[5]
            above = out[5] + out[3] * out[4] * BYTES[out[2]] <= t[5]
            if not (same or below or above):
                return False
        return True

    def view(self, pointer, rows, cols, store=False):
        offset = self.r.choice([0, 0, ROWS, 2 * ROWS])
        return self.p.view(pointer, "f32", [4 * ROWS, 64], offsets=[offset, 0], sizes=[rows, cols])

    def step(self):
        p, r = self.p, self.r
        kind = r.choice(
            ["load", "store", "binary", "binary", "unary", "scalar", "rowsum", "rowexpand", "colexpand", "colsum",
             "cvt", "window", "column", "loop", "if", "fill", "stage", "pass", "fetch", "product"]
        )  # fmt: skip
        cols = r.choice([32, 64])
        if kind == "load":
            p.load(
                self.view(r.choice(self.inputs + self.outputs), ROWS, cols),
                self.pick("f32", ROWS, cols),
            ) if self.pick("f32", ROWS, cols) else None
        elif kind == "store" and (t := self.pick("f32", ROWS, cols)):
            p.store(t, self.view(r.choice(self.outputs), ROWS, cols))
        elif kind in ("binary", "column"):
            dtype = "f32" if kind == "column" else r.choice(["f32", "f32", "f16", "bf16", "i32"])
            cols = 1 if kind == "column" else cols
            a, b, o = (self.pick(dtype, ROWS, cols) for _ in range(3))
            if a and self.apart(o, a, b):
                p.op(r.choice(["tadd", "tsub", "tmax", "tmin"]), [a, b], [o])
        elif kind in ("stage", "pass", "fetch", "product"):
            self.product(kind)
        elif kind == "unary":
            a, o = self.pick("f32", ROWS, cols), self.pick("f32", ROWS, cols)
            if a and self.apart(o, a):
                p.op(r.choice(["tabs", "tneg", "texp", "trelu"]), [a], [o])
        elif kind == "scalar":
            a, o = self.pick("f32", ROWS, cols), self.pick("f32", ROWS, cols)
            if a and self.apart(o, a):
                p.op(
                    r.choice(["tmuls", "tadds", "tmins"]), [a, (p.const("0.75", "f32"), "f32")], [o]
                )
        elif kind == "fill" and (o := self.pick("f32", cols=cols)):
            p.op("texpands", [(p.const("0.25", "f32"), "f32")], [o])
        elif kind == "rowsum":
            a, o = self.pick("f32", ROWS, cols), self.pick("f32", ROWS, 1)
            if a and self.apart(o, a):
                p.op(r.choice(["trowsum", "trowmax", "trowmin"]), [a], [o])
        elif kind == "rowexpand":
            a, c, o = (
                self.pick("f32", ROWS, cols),
                self.pick("f32", ROWS, 1),
                self.pick("f32", ROWS, cols),
            )
            if a and self.apart(o, a, c):
                p.op(r.choice(["trowexpandmul", "trowexpandsub"]), [a, c], [o])
        elif kind == "colexpand":
            a, c, o = (
                self.pick("f32", ROWS, cols),
                self.pick("f32", 1, cols),
                self.pick("f32", ROWS, cols),
            )
            if a and self.apart(o, a, c):
                p.op(r.choice(["tcolexpandmul", "tcolexpandadd"]), [a, c], [o])
        elif kind == "colsum":
            a, o = self.pick("f32", ROWS, cols), self.pick("f32", 1, cols)
            if a and self.apart(o, a):
                p.op(r.choice(["tcolsum", "tcolmax"]), [a], [o])
        elif kind == "cvt":
            pair = r.choice(
                [
                    ("f32", "f16"),
                    ("f16", "f32"),
                    ("f32", "bf16"),
                    ("bf16", "f32"),
                    ("f32", "i32"),
                    ("i32", "f32"),
                ]
            )
            a, o = self.pick(pair[0], ROWS, cols), self.pick(pair[1], ROWS, cols)
            if a and o and self.apart(o, a):
                p.op("tcvt", [a], [o], inside="rmode = #pto<round_mode RINT>")
        elif kind == "window" and (t := self.pick("f32", ROWS, 64)):
            at = r.choice([0, 8, 32])
            name, type_ = p.name(), f"!pto.tile_buf<vec, {ROWS}x32xf32>"
            p.emit(
                f"{name} = pto.subview {t[0]}[{p.const(0)}, {p.const(at)}] sizes [{ROWS}, 32] : {t[1]} -> {type_}"
            )
            a = self.pick("f32", ROWS, 32)
            if a and (not self.level3 or self.apart(t, a)):
                if r.random() < 0.5:
                    p.op("tadd", [(name, type_), a], [(name, type_)])
                else:
                    p.op("tadd", [(name, type_), a], [a])
        elif kind in ("loop", "if") and self.depth < 2:
            self.depth += 1
            if kind == "loop":
                iv = p.name()
                p.emit(f"scf.for {iv} = {p.const(0)} to {self.count} step {p.const(1)} {{")
            else:
                flag = p.name()
                p.emit(
                    f"{flag} = arith.cmpi slt, {self.count}, {p.const(r.choice([1, 9]))} : index"
                )
                p.emit(f"scf.if {flag} {{")
            for _ in range(r.randrange(1, 6)):
                self.step()
            p.emit("}")
            self.depth -= 1

    def text(self):
        for _ in range(self.r.randrange(6, 26)):
            self.step()
        for i, pointer in enumerate(self.outputs):
            if t := self.pick("f32", ROWS, 64):
                self.p.store(
                    t,
                    self.p.view(
                        pointer,
                        "f32",
                        [4 * ROWS, 64],
                        offsets=[(3 - i) * ROWS, 0],
                        sizes=[ROWS, 64],
                    ),
                )
        return self.p.text()


def canonical(array):
    """Payloads of NaN depend on the order of operands."""
    return np.where(np.isnan(array), np.float32(np.nan), array).tobytes()


@pytest.mark.parametrize("level3", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_modes_agree(seed, level3):
    text = Generator(seed, level3).text()
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal((4 * ROWS, 64)).astype(np.float32) for _ in range(2)]
    for isa in (HOST, AVX2):
        results = {}
        for fuse in (False, True):
            for reuse in (True, False):
                outputs = [np.zeros((4 * ROWS, 64), np.float32) for _ in range(2)]
                Code(text, fuse=fuse, reuse=reuse, isa=isa)("f", *inputs, *outputs, 2)
                results[fuse, reuse] = [canonical(o) for o in outputs]
        for mode, result in results.items():
            assert result == results[False, False], f"isa={isa} fuse, reuse = {mode}\n{text}"
