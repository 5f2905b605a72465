"""Programs that the dialect takes and this target has no code for: each is an error at the op, with the reason."""

from __future__ import annotations

import re

import pytest
from native import Code, CompileError

V = "!pto.tile_buf<vec, 16x64xf32>"
H = "!pto.tile_buf<vec, 8x32xf32>"
R = "!pto.tile_buf<vec, 16x16xf32>"
I = "!pto.tile_buf<vec, 1x16xi32>"  # noqa: E741
T3 = "!pto.tensor_view<?x?x?xf32>"
P3 = "!pto.partition_tensor_view<2x16x64xf32>"
A = "!pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
P = "!pto.partition_tensor_view<16x64xf32>"
VIEW = (
    "%v = pto.make_tensor_view %p, shape = [%c2, %c16, %c64], strides = [%c64, %c64, %c1] : " + T3
)

# Message, arguments, lines; the last line is wrong.
LINES = [
    (
        "tiles are not carried as results of 'scf.for'",
        "",
        f"%t = pto.alloc_tile : {V}\n"
        f"%r = scf.for %i = %c0 to %c16 step %c1 iter_args(%a = %t) -> {V} {{ scf.yield %a : {V} }}",
    ),
    (
        "tiles are not carried as results of 'scf.if'",
        "%b: i1",
        f"%t = pto.alloc_tile : {V}\n"
        f"%r = scf.if %b -> {V} {{ scf.yield %t : {V} }} else {{ scf.yield %t : {V} }}",
    ),
    (
        "a window of a tile cannot be reshaped",
        "",
        f"%t = pto.alloc_tile : {V}\n%s = pto.subview %t[%c0, %c0] sizes [8, 32] : {V} -> {H}\n"
        f"%r = pto.treshape %s : {H} -> {R}",
    ),
    (
        "no code for tiles of 'i1' elements",
        "",
        "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xi1>",
    ),
    (
        "'pto.mgather' needs a two-dimensional view",
        "%p: !pto.ptr<f32>",
        f"{VIEW}\n%w = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [%c2, %c16, %c64] : "
        f"{T3} -> {P3}\n%t = pto.alloc_tile : {V}\n%i = pto.alloc_tile : {I}\n"
        f"pto.mgather ins(%w, %i : {P3}, {I}) outs(%t : {V}) {{coalesce = #pto<coalesce row>}}",
    ),
    (
        "no code for reluPreMode scalar_relu, expected no_relu or normal_relu",
        "%p: !pto.ptr<f32>",
        "%v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : "
        "!pto.tensor_view<?x?xf32>\n%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : "
        f"!pto.tensor_view<?x?xf32> -> {P}\n%a = pto.alloc_tile : {A}\n"
        f"pto.tstore ins(%a : {A}) outs(%w : {P}) {{reluPreMode = #pto<relu_pre_mode scalar_relu>}}",
    ),
    (
        "the dimension must be a constant below 3",
        "%p: !pto.ptr<f32>, %n: index",
        f"{VIEW}\n%d = pto.get_tensor_view_dim %v, %n : {T3} -> index",
    ),
    (
        "'pto.declare_struct' with members that are no scalars",
        "",
        "%a = pto.declare_struct -> !pto.struct<!pto.pipe>",
    ),
    (
        "a local array of 'f8E5M2'",
        "",
        "%a = pto.declare_local_array -> !pto.local_array<4xf8E5M2>",
    ),
]


@pytest.mark.parametrize("message,arguments,lines", LINES, ids=[case[0] for case in LINES])
def test_the_op_is_named(message, arguments, lines):
    constants = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 16, 64))
    body = constants + lines
    text = (
        'module attributes {pto.target_arch = "a5"} {\n'
        f"func.func @f({arguments}) {{\n{body}\nreturn\n}}\n}}"
    )
    with pytest.raises(CompileError) as error:
        Code(text)
    line = 3 + body.count("\n")
    assert re.search(rf'^loc\("-":{line}:\d+\): .*{re.escape(message)}', str(error.value))


@pytest.mark.parametrize("type_", ["tensor<4xf32>", "!pto.pipe", V])
def test_arguments_without_a_c_type(type_):
    with pytest.raises(CompileError, match="an argument of type .* has no C type"):
        Code(f"module {{\nfunc.func @f(%x: {type_}) {{\nreturn\n}}\n}}")


def test_results_without_a_c_type():
    with pytest.raises(CompileError, match="a result of type .* has no C type"):
        Code(
            f"module {{\nfunc.func @f() -> {V} {{\n%t = pto.alloc_tile : {V}\nreturn %t : {V}\n}}\n}}"
        )
