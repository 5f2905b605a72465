"""What the importer makes of a program: the module of the `import` stage, read as text."""

from __future__ import annotations

import re

import pytest

from pypto import bridge, errors
from pypto import language as pl

HEADER = """import pypto.language as pl

D = pl.dynamic("D")
WIDTH = 32


@pl.jit.inline
def scaled(src, factor):
    return pl.mul(src, factor)


@pl.jit.inline
def fill(dst, value):
    dst[0:16, 0:32] = pl.full([16, 32], dtype=pl.FP32, value=value)


@pl.jit.incore
def copy(a: pl.Tensor, b: pl.Out[pl.Tensor]):
    m, n = a.shape
    b = pl.store(pl.load(a, [0, 0], [m, n]), [0, 0], b)
    return b


@pl.function
def entry(
    x: pl.Tensor[[16, 32], pl.FP32],
    z: pl.Tensor[[64, 32], pl.FP32],
    d: pl.Tensor[[D, 32], pl.FP32],
    v: pl.Tensor[[8], pl.INT32],
    n: pl.Scalar[pl.INDEX],
    y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
"""


def imported(body: str) -> str:
    """The module for a body of statements."""
    text = HEADER + "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    function = pl.parse(text, filename="case.py")
    records = function.as_program().functions
    result = bridge.compiler().compile(
        "entry", False, records, None, {"import_only": True, "emit_dumps": True}
    )
    assert result["ok"], result["diagnostics"]
    return dict(result["unit"]["dumps"])["import"]


def kernel(body: str) -> str:
    """The module for statements inside one pl.at block."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return imported(f"with pl.at(level=pl.Level.CORE_GROUP):\n{lines}")


def loops(module: str) -> list[str]:
    return re.findall(r"scf\.for [^\n]*", module)


def test_extents_of_windows_are_differences_of_affine_forms():
    module = kernel("for i in pl.range(4):\n    y[:] = z[i * 16 : i * 16 + 16, 0:WIDTH]")
    assert "-> !pypto.tensor<16x32xf32>" in module


def test_only_values_that_are_read_later_are_carried():
    module = kernel("""
acc = pl.mul(x, 1.0)
for i in pl.range(4):
    t = z[i * 16 : i * 16 + 16, :]
    u = pl.exp(t)
    acc = pl.add(acc, u)
y[:] = acc""")
    assert len(re.findall(r"%\w+ = %", loops(module)[0].split("iter_args")[1])) == 1


def test_memory_that_is_written_in_a_loop_is_not_carried():
    module = imported("""
for i in pl.range(2):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[i * 8 : i * 8 + 8, :] = x[i * 8 : i * 8 + 8, :]""")
    assert "iter_args" not in module
    assert "-> !pypto.task_id" in module


def test_swapped_buffers_are_carried():
    module = imported("""
a = pl.create_tensor([16, 32], dtype=pl.FP32)
b = pl.create_tensor([16, 32], dtype=pl.FP32)
for i in pl.range(3):
    with pl.at(level=pl.Level.CORE_GROUP):
        b[:] = pl.add(a[:], 1.0)
    c = a
    a = b
    b = c
with pl.at(level=pl.Level.CORE_GROUP):
    y[:] = a[:]""")
    assert loops(module)[0].count("!pypto.tensor<16x32xf32>") == 2


def test_a_name_born_in_a_loop_starts_undefined():
    module = kernel("""
for i in pl.range(4):
    if i == 0:
        best = pl.mul(x, 1.0)
    else:
        best = pl.maximum(best, x)
y[:] = best""")
    assert "pypto.undef" in module
    assert "iter_args" in loops(module)[0]


def test_a_name_that_no_path_binds_is_an_error():
    with pytest.raises(errors.UndefinedVariableError, match="'best'"):
        imported("for i in pl.range(4):\n    best = pl.maximum(best, x)\nq = best")


def test_statements_after_continue_run_under_a_flag():
    module = kernel("""
t = pl.mul(x, 1.0)
for i in pl.range(n):
    if i > 5:
        continue
    t = pl.add(t, 1.0)
y[:] = t""")
    guarded = module.split("arith.xori")[1]
    assert guarded.index("scf.if") < guarded.index("pypto.add")


def test_break_stops_later_iterations():
    module = kernel("""
t = pl.mul(x, 1.0)
for i in pl.range(n):
    if i > 5:
        break
    t = pl.add(t, 1.0)
y[:] = t""")
    assert "-> (i1, !pypto.tensor<16x32xf32>)" in loops(module)[0]


def test_break_in_while():
    module = kernel("""
i = n
while i > 0:
    if i == 3:
        break
    i = i - 1
pl.write(v, [0], pl.cast(i, pl.INT32))""")
    condition = module.split("scf.while")[1].split("scf.condition")[0]
    assert "arith.andi" in condition


def test_loops_with_yield_carry_by_position():
    module = kernel("""
for i, (a, b) in pl.range(6, init_values=(x[:], z[0:16, :])):
    c = pl.add(a, b)
    a, b = pl.yield_(b, c)
y[:] = b""")
    body = module.split("scf.for")[1]
    first, second = re.search(r"iter_args\((%\w+) = %\w+, (%\w+) = ", body).groups()
    added = re.search(rf"(%\w+) = pypto.add {first}, {second} ", body)[1]
    assert f"scf.yield {second}, {added} :" in body


def test_unroll_repeats_its_body():
    module = kernel("for u in pl.unroll(4):\n    y[u * 4 : u * 4 + 4, :] = x[0:4, :]")
    assert "scf.for" not in module
    assert module.count("pypto.assemble") == 4


def test_negative_steps_count_upwards():
    module = kernel("for i in pl.range(3, -1, -1):\n    y[i * 4 : i * 4 + 4, :] = x[0:4, :]")
    assert "arith.constant -1" in module
    assert loops(module)


def test_conditions_known_at_compile_time_take_one_arm():
    module = kernel("if WIDTH == 32:\n    y[:] = x\nelse:\n    y[:] = pl.neg(x)")
    assert "scf.if" not in module
    assert "pypto.neg" not in module


def test_valid_extents_are_part_of_the_type():
    module = kernel("""
t = pl.slice(x, [16, 64], [0, 0], valid_shape=[16, 32])
u = pl.row_expand_sub(pl.exp(t), pl.row_max(t))
y = pl.assemble(y, u, [0, 0])""")
    assert module.count("valid = [16, 32]") >= 3


def test_valid_extents_that_differ_between_iterations_become_dynamic():
    module = kernel("""
t = pl.slice(x, [16, 32], [0, 0], valid_shape=[4, 32])
for i in pl.range(2):
    t = pl.slice(x, [16, 32], [0, 0], valid_shape=[n, 32])
y = pl.assemble(y, t, [0, 0])""")
    assert "valid = [?, 32]" in loops(module)[0]


def test_clamped_loads_say_what_they_hold():
    module = imported("""
with pl.at(level=pl.Level.CORE_GROUP):
    t = pl.load(x, [10, 0], [16, 32], clamp=True)
    y = pl.store(t, [0, 0], y)""")
    assert "valid = [6, 32]" in module


def test_dynamic_extents_have_names_and_are_read_from_the_tensor():
    module = imported("""
r = pl.tensor.dim(d, 0)
for i in pl.range((D + 15) // 16):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.slice(d, [16, 32], [i * 16, 0], valid_shape=[pl.min(16, r - i * 16), 32])""")
    assert 'pypto.dyn = ["D", ""]' in module
    assert "pypto.dim" in module


def test_inline_functions_leave_no_function_behind():
    module = kernel("y[:] = scaled(scaled(x, 2.0), 3.0)")
    assert module.count("pypto.mul") == 2
    assert module.count("func.func") == 1


def test_inline_functions_write_the_buffers_of_their_caller():
    module = kernel("t = pl.create_tensor([16, 32], dtype=pl.FP32)\nfill(t, 4.0)\ny[:] = t")
    written = re.findall(r"(%\w+) = pypto.assemble", module)
    assert f"pypto.assemble %arg5, {written[0]}" in module


def test_kernels_are_made_for_the_types_of_the_call():
    module = imported("""
a = pl.create_tensor([16, 32], dtype=pl.FP32)
a = copy(x, a)
y = copy(a, y)
b = pl.create_tensor([64, 32], dtype=pl.FP32)
b = copy(z, b)""")
    names = re.findall(r"func\.func @(copy\w*)\(", module)
    assert sorted(names) == ["copy", "copy_1"]
    assert module.count("pypto.call") == 3


def test_a_kernel_of_a_strided_window_knows_the_strides():
    module = imported("""
a = pl.create_tensor([16, 16], dtype=pl.FP32)
a = copy(x[:, 0:16], a)""")
    assert "strides = [32, 1]" in module


def test_directions_follow_from_what_is_written():
    module = imported("with pl.at(level=pl.Level.CORE_GROUP):\n    z[0:16, :] = x\n    y[:] = x")
    pairs = re.findall(r'pypto.direction = "(\w+)"[^}]*pypto.name = "(\w)"', module)
    found = {name: way for way, name in pairs}
    assert (found["x"], found["z"], found["y"]) == ("in", "inout", "out")


def test_task_ids_reach_their_consumers():
    module = imported("""
ids = pl.array.create(2, pl.TASK_ID)
for i in pl.range(2):
    with pl.at(level=pl.Level.CORE_GROUP) as t:
        y[i * 8 : i * 8 + 8, :] = x[0:8, :]
    ids[i] = t
with pl.at(level=pl.Level.CORE_GROUP, deps=[ids]) as last:
    z[0:16, :] = y[:]
gate = pl.system.task_dummy(deps=[ids[i] for i in range(2)])
with pl.spmd(2, deps=[gate, last]) as w:
    b = pl.tile.get_block_idx()
    z[b * 16 : b * 16 + 16, :] = x""")
    assert re.search(r"pypto.incore %\w+ .*!pypto.array<2x", module)
    assert len(re.search(r"pypto.task_dummy ([^:{]*)", module)[1].split(",")) == 2
    assert re.search(r"pypto.spmd %\w+, %\w+, %\w+ ", module)


def test_operators_on_tensors():
    module = kernel("y[:] = (x + 1.0) * x - 2.0 * (-x)")
    assert re.findall(r"pypto\.(add|mul|sub|neg)", module) == ["add", "mul", "neg", "mul", "sub"]


def test_a_lost_write_is_an_error():
    with pytest.raises(errors.InvalidOperationError, match="'y' is an output parameter"):
        imported("with pl.at(level=pl.Level.CORE_GROUP):\n    y = pl.add(x, x)")


def test_a_for_over_spmd_makes_one_kernel_of_its_body():
    module = imported("""
for b in pl.spmd(4):
    y[b * 4 : b * 4 + 4, :] = x[b * 4 : b * 4 + 4, :]
    z[0:16, :] = x
    copy(x, y)""")
    assert "pypto.call" not in module
    assert "pypto.load" in module


def test_a_kernel_returns_tensors_in_memory():
    text = """import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore)
def twice(x: pl.Tensor[[16, 32], pl.FP32]):
    return pl.mul(pl.load(x, [0, 0], [16, 32]), 2.0)
"""
    records = pl.parse(text, filename="case.py").as_program().functions
    options = {"import_only": True, "emit_dumps": True}
    result = bridge.compiler().compile("twice", False, records, None, options)
    module = dict(result["unit"]["dumps"])["import"]
    assert "-> !pypto.tensor<16x32xf32>" in re.search(r"func.func @twice[^\n]*", module)[0]
    assert "pypto.returns = array<i64: -1>" in module


def test_memory_that_meets_a_computed_value_is_read_where_it_stands():
    module = kernel("""
t = x
for i in pl.range(3):
    t = pl.add(t, 1.0)
if n > 0:
    u = pl.exp(x)
else:
    u = x
y[:] = pl.add(t, u)""")
    init = re.search(r"iter_args\(%\w+ = (%\w+)\)", module)[1]
    assert re.search(rf"{init} = pypto.slice %arg0", module)
    otherwise = module.split("} else {")[1]
    assert otherwise.index("pypto.slice %arg0") < otherwise.index("scf.yield")
