"""Rules that are written as code: each is broken once, and reported in its words (messages_of_*.py)."""

from __future__ import annotations

import re
import subprocess

import messages_of_others as others
import messages_of_tiles as tiles
from tools_of_tree import tool

T = "!pto.tile_buf<"
P = "!pto.partition_tensor_view<"
NZ = ", blayout=col_major, slayout=row_major"
# Values by name; what a case uses becomes the arguments of its function.
VALUES = {
    "v": T + "vec, 16x64xf32>",
    "w": T + "vec, 16x64xf32>",
    "t": T + "vec, 16x64xf32>",
    "d": T + "vec, 16x64xf32>",
    "h": T + "vec, 16x64xf16>",
    "n": T + "vec, 16x64xi32>",
    "s16": T + "vec, 16x64xi16>",
    "s16b": T + "vec, 16x64xi16>",
    "s16s": T + "vec, 16x32xi16>",
    "b8": T + "vec, 16x64xi8>",
    "u8": T + "vec, 16x64xui8>",
    "u8b": T + "vec, 32x64xui8>",
    "u16": T + "vec, 16x64xui16>",
    "u32": T + "vec, 16x256xui32>",
    "ui": T + "vec, 16x64xui32>",
    "q": T + "vec, 16x64xi64, pad=2>",
    "l64": T + "vec, 16x64xi64>",
    "z64": T + "vec, 16x64xi64, pad=1>",
    "p8": T + "vec, 8x64xf32, pad=2>",
    "small": T + "vec, 8x64xf32>",
    "half": T + "vec, 16x32xf32>",
    "cm": T + "vec, 16x64xf32, blayout=col_major>",
    "cm8": T + "vec, 16x64xi8, blayout=col_major>",
    "c": T + "vec, 16x1xf32, blayout=col_major>",
    "ci": T + "vec, 16x1xi32, blayout=col_major>",
    "c8": T + "vec, 32x1xui8, blayout=col_major>",
    "r": T + "vec, 1x64xf32>",
    "rh": T + "vec, 1x64xf16>",
    "r2": T + "vec, 1x128xf32>",
    "ri": T + "vec, 1x64xi32>",
    "ri4": T + "vec, 1x8xi32, valid=1x4>",
    "blk": T + "vec, 16x8xf32>",
    "tiny": T + "vec, 1x4xf32>",
    "one": T + "vec, 16x8xf32, valid=16x1>",
    "odd": T + "vec, 16x10xf32>",
    "open": T + "vec, 16x64xf32, valid=?x?>",
    "boxed": T + "vec, 16x64xf32, slayout=row_major>",
    "m": T + "mat, 64x64xf16" + NZ + ">",
    "mf": T + "mat, 16x32xf32" + NZ + ">",
    "mh": T + "mat, 16x32xf16" + NZ + ">",
    "mi": T + "mat, 16x32xi8" + NZ + ">",
    "mr": T + "mat, 16x32xf16>",
    "mrow": T + "mat, 1x32xi8>",
    "mri": T + "mat, 16x32xi8>",
    "l": T + "left, 16x64xf16, slayout=row_major>",
    "lm": T + "left, 64x64xf16, slayout=row_major>",
    "lbf": T + "left, 16x64xbf16, slayout=row_major>",
    "l5": T + "left, 16x64xf16" + NZ + ">",
    "lbig": T + "left, 4096x64xf16, slayout=row_major>",
    "k": T + "right, 64x32xf16, slayout=col_major>",
    "krow": T + "right, 64x32xf16>",
    "kcol": T + "right, 64x32xf16, blayout=col_major, slayout=col_major>",
    "k4": T + "right, 64x32x!pto.f4E2M1x2, slayout=col_major>",
    "l8": T + "left, 16x64xf8E4M3FN" + NZ + ">",
    "a": T + "acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "arow": T + "acc, 16x32xf32>",
    "ah": T + "acc, 16x32xf16, blayout=col_major, slayout=row_major, fractal=1024>",
    "ai": T + "acc, 16x32xi32, blayout=col_major, slayout=row_major, fractal=1024>",
    "abig": T + "acc, 4096x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "awide": T + "acc, 16x4096xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "bias": T + "bias, 1x32xf32>",
    "bias16": T + "bias, 1x16xf32>",
    "biascol": T + "bias, 1x32xf32, blayout=col_major>",
    "sc": T + "scaling, 1x32xf32>",
    "sl": T + "scaling, 16x2x!pto.f8E8M0>",
    "sk": T + "scaling, 2x32x!pto.f8E8M0>",
    "p": P + "16x64xf32>",
    "p2": P + "16x32xf32>",
    "ph": P + "16x64xf16>",
    "pwide": P + "16x4096xf32>",
    "pwideq": P + "16x4096xi8>",
    "pq": P + "16x32xi8>",
    "ps16": P + "16x32xi16>",
    "pb8": P + "16x64xi8>",
    "pl": P + "16x64xi64>",
    "pm": P + "64x64xf16>",
    "p0": P + "0x64xf32>",
    "pd": P + "?x64xf32>",
    "f": P + "1x1024xf32>",
    "fd": P + "1x?xf32>",
    "f2": P + "2x512xf32>",
    "sig": P + "1x1xi32>",
    "sigf": P + "1x1xf32>",
    "tv": "!pto.tensor_view<32x64xf32>",
    "mt": "!pto.multi_tile_buf<vec, 16x64xf32, count=2>",
    "i": "index",
    "j": "index",
    "x": "f32",
    "xh": "f16",
    "i1": "i1",
    "i8": "i8",
    "i32": "i32",
    "i64": "i64",
    "e4": "vector<4xi16>",
    "pf": "!pto.ptr<f32>",
    "pi": "!pto.ptr<i32>",
    "pb": "!pto.ptr<i8>",
    "pipe": "!pto.pipe",
    "ses": "!pto.async_session",
    "ev": "!pto.eventid_array<2>",
    "arr": "!pto.local_array<4xi32>",
    "st": "!pto.struct<i32, f32>",
}


def escape(message: str) -> str:
    return "\n// expected-error @below {{" + message + "}}\n"


def function(message: str, lines: str, arch: str) -> str:
    lines = re.sub(r"\$(\w+)", lambda m: VALUES[m[1]], lines)
    defined = set(re.findall(r"^%(\w+) =", lines, re.M))
    names = [n for n in dict.fromkeys(re.findall(r"%(\w+)", lines)) if n not in defined]
    arguments = ", ".join(f"%{n}: {VALUES[n]}" for n in names)
    *before, last = re.split(r"\n(?=%y =|pto\.)", lines) if lines.startswith("%c") else [lines]
    body = "\n".join(before) + escape(message) + last
    return (
        f'module attributes {{pto.target_arch = "{arch}"}} {{\n'
        f"func.func @f({arguments}) {{\n{body}\nreturn\n}}\n}}\n"
    )


def texts() -> list[str]:
    shared = [(said, line.format(op)) for said, line, ops in others.SHARED for op in ops.split()]
    made = [function(*case, "a2a3") for case in [*tiles.A3, *others.A3, *shared]]
    made += [function(*case, "a5") for case in [*tiles.A5, *others.A5]]
    return made + [escape(message) + text + "\n" for message, text in others.WHOLE]


def test_each_rule_says_what_is_wrong(tmp_path):
    path = tmp_path / "messages.mlir"
    path.write_text("\n// -----\n".join(texts()))
    command = [tool("pto-opt"), str(path), "-split-input-file", "-verify-diagnostics"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
