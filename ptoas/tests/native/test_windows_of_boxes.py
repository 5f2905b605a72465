"""What a load pads beside the data, and sums into windows that are not rows and columns."""

from __future__ import annotations

import numpy as np
import pytest
from native import Code

NZ = "blayout=col_major, slayout=row_major"
rng = np.random.default_rng(11)


def module(arguments: str, body: str, arch: str = "a2a3") -> str:
    numbers = "\n".join(
        f"    %c{n} = arith.constant {n} : index\n    %a{n} = arith.constant {n} : i64"
        for n in (0, 1, 2, 3, 4, 5, 8, 12, 16, 19, 20, 32, 64, 128, 256, 384, 1024, 4096, 16384)
    )
    return (
        f'module attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @f({arguments}) {{\n'
        f"{numbers}\n{body}\n    return\n  }}\n}}\n"
    )


def whole(name: str, rows: int, cols: int, element: str) -> str:
    view, window = (
        f"tensor_view<{rows}x{cols}x{element}>",
        f"partition_tensor_view<{rows}x{cols}x{element}>",
    )
    return (
        f"    %{name}v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1] : !pto.{view}\n"
        f"    %{name}w = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}] : !pto.{view} -> !pto.{window}\n"
    )


def tile(name: str, type_: str, address: int) -> str:
    return f"    %{name} = pto.alloc_tile addr = %a{address} : {type_}\n"


# A window of 5x20 in a mat tile of 16x32; the product reads all 16x32.
PART = f"!pto.tile_buf<mat, 16x32xf16, valid=5x20, {NZ}>"
FULL = f"!pto.tile_buf<mat, 16x32xf16, {NZ}>"
B_L1 = f"!pto.tile_buf<mat, 32x16xf16, {NZ}>"
LEFT = "!pto.tile_buf<left, 16x32xf16, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 32x16xf16, slayout=col_major>"
ACC = f"!pto.tile_buf<acc, 16x16xf32, {NZ}, fractal=1024>"


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("read", ["by move", "by another handle"])
def test_loads_of_l1_fill_their_boxes_with_zeros(read, fuse):
    moved = ("part", PART) if read == "by move" else ("full", FULL)
    body = (
        whole("old", 16, 32, "f16") + whole("x", 5, 20, "f16") + whole("b", 32, 16, "f16")
        + whole("c", 16, 16, "f32")
        + tile("full", FULL, 0) + tile("part", PART, 0) + tile("bm", B_L1, 16384)
        + tile("l", LEFT, 0) + tile("r", RIGHT, 0) + tile("acc", ACC, 0)
        + f"""    pto.tload ins(%oldw : !pto.partition_tensor_view<16x32xf16>) outs(%full : {FULL})
    pto.tload ins(%xw : !pto.partition_tensor_view<5x20xf16>) outs(%part : {PART})
    pto.tload ins(%bw : !pto.partition_tensor_view<32x16xf16>) outs(%bm : {B_L1})
    pto.tmov ins(%{moved[0]} : {moved[1]}) outs(%l : {LEFT})
    pto.tmov ins(%bm : {B_L1}) outs(%r : {RIGHT})
    pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%acc : {ACC})
    pto.tstore ins(%acc : {ACC}) outs(%cw : !pto.partition_tensor_view<16x16xf32>)"""
    )  # fmt: skip
    text = module(
        "%old: !pto.ptr<f16>, %x: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>", body
    )
    old, x, b = (rng.integers(-4, 5, s).astype(np.float16) for s in ((16, 32), (5, 20), (32, 16)))
    c = np.zeros((16, 16), np.float32)
    Code(text, fuse=fuse)("f", old, x, b, c)
    padded = np.zeros((16, 32), np.float32)
    padded[:5, :20] = x
    np.testing.assert_array_equal(c, padded @ b.astype(np.float32))


@pytest.mark.parametrize(
    ("pad", "value"),
    [(0, None), (1, 0), (2, np.inf), (3, -np.inf)],
    ids=["null", "zero", "max", "min"],
)
def test_loads_of_the_vector_memory_pad_the_last_block(pad, value):
    part, full = (
        f"!pto.tile_buf<vec, 8x32xf32, valid=5x19, pad={pad}>",
        "!pto.tile_buf<vec, 8x32xf32>",
    )
    body = (
        whole("x", 5, 19, "f32") + whole("y", 8, 32, "f32") + tile("f", full, 0) + tile("p", part, 0)
        + f"""    pto.tload ins(%yw : !pto.partition_tensor_view<8x32xf32>) outs(%f : {full})
    pto.tload ins(%xw : !pto.partition_tensor_view<5x19xf32>) outs(%p : {part})
    pto.tstore ins(%f : {full}) outs(%yw : !pto.partition_tensor_view<8x32xf32>)"""
    )  # fmt: skip
    x = rng.standard_normal((5, 19)).astype(np.float32)
    y = rng.standard_normal((8, 32)).astype(np.float32)
    expected = y.copy()
    expected[:5, :19] = x
    if value is not None:
        expected[:5, 19:24] = value  # up to 32 bytes, not further
    Code(module("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>", body))("f", x, y)
    np.testing.assert_array_equal(y, expected)


ADD = "{atomicType = #pto<atomic_type atomic_add>}"


def test_sums_into_five_dimensions():
    view, window = "tensor_view<2x3x2x4x16xf32>", "partition_tensor_view<1x2x2x3x16xf32>"
    t = "!pto.tile_buf<vec, 12x16xf32>"
    body = (
        whole("x", 12, 16, "f32") + tile("t", t, 0)
        + f"""    pto.tload ins(%xw : !pto.partition_tensor_view<12x16xf32>) outs(%t : {t})
    %v = pto.make_tensor_view %y, shape = [%c2, %c3, %c2, %c4, %c16], strides = [%c384, %c128, %c64, %c16, %c1] : !pto.{view}
    %w = pto.partition_view %v, offsets = [%c1, %c1, %c0, %c1, %c0], sizes = [%c1, %c2, %c2, %c3, %c16] : !pto.{view} -> !pto.{window}
    pto.tstore ins(%t : {t}) outs(%w : !pto.{window}) {ADD}"""
    )  # fmt: skip
    x = rng.integers(-8, 9, (12, 16)).astype(np.float32)
    y = rng.integers(-8, 9, (2, 3, 2, 4, 16)).astype(np.float32)
    expected = y.copy()
    expected[1, 1:, :, 1:] += x.reshape(2, 2, 3, 16)
    Code(module("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>", body))("f", x, y)
    np.testing.assert_array_equal(y, expected)


def test_sums_into_boxes():
    view, window = "tensor_view<1x8x2x16x8xf32>", "partition_tensor_view<1x8x2x16x8xf32>"
    t, n = "!pto.tile_buf<vec, 32x64xf32>", f"!pto.tile_buf<vec, 32x64xf32, {NZ}>"
    body = (
        whole("x", 32, 64, "f32") + tile("t", t, 0) + tile("n", n, 16384)
        + f"""    pto.tload ins(%xw : !pto.partition_tensor_view<32x64xf32>) outs(%t : {t})
    pto.tmov ins(%t : {t}) outs(%n : {n})
    %v = pto.make_tensor_view %y, shape = [%c1, %c8, %c2, %c16, %c8], strides = [%c4096, %c256, %c128, %c8, %c1] {{layout = #pto.layout<nz>}} : !pto.{view}
    %w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0], sizes = [%c1, %c8, %c2, %c16, %c8] : !pto.{view} -> !pto.{window}
    pto.tstore ins(%n : {n}) outs(%w : !pto.{window}) {ADD}"""
    )  # fmt: skip
    x = rng.integers(-8, 9, (32, 64)).astype(np.float32)
    y = rng.integers(-8, 9, (1, 8, 2, 16, 8)).astype(np.float32)
    expected = y + x.reshape(2, 16, 8, 8).transpose(2, 0, 1, 3)
    Code(module("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>", body))("f", x, y)
    np.testing.assert_array_equal(y, expected)
