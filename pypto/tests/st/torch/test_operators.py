"""pypto.torch.register: the operator in eager mode, under autograd, compiled, exported and captured."""

from __future__ import annotations

import itertools

import pypto.torch
import pytest
import torch
from kernels import (
    COLS,
    add,
    bare,
    blocks,
    increase,
    scale,
    scale_by_default,
    silu,
    silu_grad,
    window,
)

counter = itertools.count()
DEVICES = pytest.mark.parametrize("device", ["cpu", "npu"])
F = torch.nn.functional


@pytest.fixture
def name():
    """A name of its own for each test; registrations last as long as the process."""
    return f"op{next(counter)}"


def rows(device, n=33, **options):
    return torch.randn(n, COLS, device="cpu").to(device).requires_grad_(bool(options))


def sigmoid_rule(grad_out, x):
    s = torch.sigmoid(x)
    return grad_out * s * (1 + x * (1 - s))


# Eager.


@DEVICES
def test_both_overloads(name, device):
    op = pypto.torch.register("pypto_test", name, add)
    assert op is getattr(torch.ops.pypto_test, name)
    x, y = rows(device), rows(device)
    made = op(x, y)
    assert made.device == x.device
    torch.testing.assert_close(made, x + y)
    out = torch.empty_like(x)
    assert op.out(x, y, out) is None
    torch.testing.assert_close(out, x + y)


def test_schemas(name):
    op = pypto.torch.register("pypto_test", name, scale)
    assert str(op.default._schema) == f"pypto_test::{name}(Tensor x, float factor) -> Tensor"
    assert (
        str(op.out._schema)
        == f"pypto_test::{name}.out(Tensor(a0) x, float factor, Tensor(a2!) out) -> ()"
    )


@DEVICES
def test_in_out_parameter_gives_a_changed_copy(name, device):
    op = pypto.torch.register("pypto_test", name, increase)
    x, y = rows(device), rows(device)
    before = x.clone()
    torch.testing.assert_close(op(x, y), before + y)
    torch.testing.assert_close(x, before)
    version = x._version
    op.out(x, y)
    torch.testing.assert_close(x, before + y)
    assert x._version == version + 1


@DEVICES
def test_without_annotations(name, device):
    with pytest.raises(TypeError, match="nothing says what x is"):
        pypto.torch.register("pypto_test", name, bare)
    example = [torch.empty(16, 64) for _ in range(3)]
    op = pypto.torch.register("pypto_test", name, bare, example=example, outputs={"out": "x"})
    x, y = rows(device, 16), rows(device, 16)
    torch.testing.assert_close(op(x, y), x + y)


@DEVICES
def test_inputs_that_are_not_contiguous(name, device):
    """The functional overload copies them, as torch's own operators do; the other one refuses."""
    op = pypto.torch.register("pypto_test", name, add)
    wide = torch.randn(COLS, 33).to(device)
    x, y = wide.t(), rows(device)
    torch.testing.assert_close(op(x, y), x + y)
    with pytest.raises(ValueError, match="Parameter 'x' is not contiguous"):
        op.out(x, y, torch.empty_like(y))


@DEVICES
def test_empty(name, device):
    op = pypto.torch.register("pypto_test", name, add)
    assert op(rows(device, 0), rows(device, 0)).shape == (0, COLS)


def test_meta(name):
    op = pypto.torch.register("pypto_test", name, add)
    x = torch.empty(7, COLS, device="meta")
    assert op(x, x).shape == (7, COLS)


# Registration.


def test_the_same_again_and_another_one(name):
    op = pypto.torch.register("pypto_test", name, add)
    assert pypto.torch.register("pypto_test", name, add) is op
    with pytest.raises(ValueError, match=f"pypto_test::{name}: it is registered for add already"):
        pypto.torch.register("pypto_test", name, silu)


def test_a_name_of_another_library():
    with pytest.raises(ValueError, match="aten::add: torch has one of this name"):
        pypto.torch.register("aten", "add", add)


@pytest.mark.parametrize("example", [(1,), 5])
def test_examples_that_are_no_arguments(name, example):
    with pytest.raises(TypeError, match="example"):
        pypto.torch.register("pypto_test", name, silu, example=example)


@pytest.mark.parametrize("bad", ["", "1x", "a-b", "class", "_pypto_x"])
def test_names_that_are_refused(bad):
    with pytest.raises(ValueError):
        pypto.torch.register("pypto_test", bad, add)
    with pytest.raises(ValueError):
        pypto.torch.register(bad, "x", add)


def test_a_registration_that_fails_leaves_nothing(name):
    def wrong(grad_out, weight):
        return grad_out

    with pytest.raises(TypeError, match="it takes weight, and there is no such value") as error:
        pypto.torch.register("pypto_test", name, silu, backward=wrong)
    assert "it can take grad_out, x, out" in str(error.value)
    assert not hasattr(torch.ops.pypto_test, name)
    op = pypto.torch.register("pypto_test", name, silu)
    torch.testing.assert_close(op(torch.ones(2, COLS)), F.silu(torch.ones(2, COLS)))


def test_backward_kernel_with_a_wrong_output(name):
    with pytest.raises(TypeError, match="it writes out, which is no gradient"):
        pypto.torch.register("pypto_test", name, silu, backward=add)


def test_rules_for_outputs_are_checked(name):
    for rule, text in [
        ({"x": "x"}, "no Out parameter"),
        ({"out": "z"}, "no tensor that a call passes"),
        ({"out": [1]}, "rank 2"),
        ({"out": [("x", 3), 64]}, "no axis 3"),
        ({"out": [("x", 0), 32]}, "axis 1 of out the extent 32, the kernel says 64"),
        ({"out": 5}, r"outputs\['out'\] cannot be 5"),
        ({"out": [("x", 0, 1), 64]}, "cannot be .'x', 0, 1."),
        ({"out": [-1, 64]}, "cannot be -1"),
        ("out", "outputs is a str, it takes a dict"),
    ]:
        with pytest.raises((ValueError, TypeError), match=text):
            pypto.torch.register("pypto_test", name, silu, outputs=rule)
    op = pypto.torch.register("pypto_test", name, silu, outputs={"out": [("x", 0), 64]})
    torch.testing.assert_close(op(torch.ones(2, COLS)), F.silu(torch.ones(2, COLS)))


# Autograd.


@DEVICES
@pytest.mark.parametrize("rule", [silu_grad, sigmoid_rule], ids=["kernel", "function"])
def test_backward(name, device, rule):
    op = pypto.torch.register("pypto_test", name, silu, backward=rule)
    x = rows(device, grad=True)
    grad = torch.randn_like(x)
    (got,) = torch.autograd.grad(op(x), x, grad)
    (wanted,) = torch.autograd.grad(F.silu(x), x, grad)
    torch.testing.assert_close(got, wanted)


def test_backward_with_numbers_and_results(name):
    def rule(grad_out, factor, out):
        assert out.shape == grad_out.shape
        return grad_out * factor

    op = pypto.torch.register("pypto_test", name, scale, backward=rule)
    x = rows("cpu", grad=True)
    op(x, 2.5).sum().backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 2.5))


def test_backward_that_raises_or_gives_too_much(name):
    def rule(grad_out):
        return (grad_out, grad_out)

    x = rows("cpu", grad=True)
    op = pypto.torch.register("pypto_test", name, silu, backward=rule)
    with pytest.raises(ValueError, match="gave 2 gradients for 1 tensors"):
        op(x).sum().backward()

    def fails(grad_out):
        raise KeyError("mine")

    op = pypto.torch.register("pypto_test", name + "f", silu, backward=fails)
    with pytest.raises(KeyError, match="mine"):
        op(x).sum().backward()


@DEVICES
def test_backward_of_a_wrong_shape(name, device):
    op = pypto.torch.register(
        "pypto_test", name, add, backward=lambda grad_out: (None, grad_out[:2])
    )
    x, y = rows(device), rows(device, grad=True)
    with pytest.raises(
        ValueError, match=r"gradient of shape \[2, 64\] for parameter 'y', .* \[33, 64\]"
    ):
        op(x, y).sum().backward()


@pytest.mark.parametrize("backward", [None, sigmoid_rule])
def test_forward_mode_is_refused(name, backward):
    """A tangent that is dropped would be a derivative of zero."""
    op = pypto.torch.register("pypto_test", name, silu, backward=backward)
    x = rows("cpu")
    with pytest.raises(NotImplementedError, match="parameter 'x' has a tangent"):
        torch.func.jvp(op, (x,), (x,))
    with torch.autograd.forward_ad.dual_level(), torch.no_grad():
        torch.testing.assert_close(op(x), F.silu(x))


@DEVICES
def test_requires_grad_without_backward(name, device):
    op = pypto.torch.register("pypto_test", name, silu)
    x = rows(device, grad=True)
    with pytest.raises(ValueError, match="parameter 'x' requires grad, and .* backward="):
        op(x)
    with pytest.raises(ValueError, match="call the overload that returns new tensors"):
        op.out(x, torch.empty_like(x))
    with torch.no_grad():
        torch.testing.assert_close(op(x), F.silu(x))
    with torch.inference_mode():
        torch.testing.assert_close(op(x), F.silu(x))


def test_a_saved_tensor_that_is_changed_is_noticed(name):
    op = pypto.torch.register("pypto_test", name, silu, backward=silu_grad)
    other = pypto.torch.register("pypto_test", name + "i", increase)
    x = rows("cpu", grad=True)
    y = x * 1
    z = op(y)
    other.out(y.detach(), torch.ones(33, COLS))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# Compilers.


@DEVICES
@pytest.mark.filterwarnings("ignore:.*Inductor has no code generator")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(name, device, backend):
    """One graph for all numbers of rows, with its derivative."""
    op = pypto.torch.register("pypto_test", name, silu, backward=silu_grad)
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: op(x * 2) + 1, fullgraph=True, dynamic=True, backend=backend)
    torch._dynamo.utils.counters.clear()
    for n in (33, 40, 7):
        x = rows(device, n, grad=True)
        compiled(x).sum().backward()
        got, x.grad = x.grad, None
        (F.silu(x * 2) + 1).sum().backward()
        torch.testing.assert_close(got, x.grad)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@DEVICES
@pytest.mark.filterwarnings("ignore:.*Inductor has no code generator")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_what_writes(name, device, backend):
    op = pypto.torch.register("pypto_test", name, increase)
    torch._dynamo.reset()

    def step(x, y):
        z = x * 2
        op.out(z, y)
        return z + 1

    compiled = torch.compile(step, fullgraph=True, dynamic=True, backend=backend)
    x, y = rows(device), rows(device)
    torch.testing.assert_close(compiled(x, y), x * 2 + y + 1)


@DEVICES
def test_export(name, device):
    op = pypto.torch.register("pypto_test", name, scale)

    class Module(torch.nn.Module):
        def forward(self, x):
            return op(x, 3.0) + 1

    n = torch.export.Dim("n", min=2, max=1000)
    program = torch.export.export(Module(), (rows(device),), dynamic_shapes={"x": {0: n}})
    assert f"pypto_test.{name}.default" in str(program.graph)
    x = rows(device, 50)
    torch.testing.assert_close(program.module()(x), x * 3 + 1)


@DEVICES
def test_opcheck(name, device):
    op = pypto.torch.register("pypto_test", name, silu, backward=silu_grad)
    # torch 2.13 has the check of the registration for CPU, CUDA and XPU only.
    tests = ["test_schema", "test_faketensor", "test_aot_dispatch_dynamic"]
    tests += ["test_autograd_registration"] if device == "cpu" else []
    torch.library.opcheck(op.default, (rows(device, grad=True),), test_utils=tests)
    out = torch.empty(33, COLS, device=device)
    torch.library.opcheck(op.out, (rows(device), out), test_utils=tests)


# Graphs of the device.


def test_capture(name):
    op = pypto.torch.register("pypto_test", name, silu)
    x = rows("npu", 20)
    op(x)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = op(op(x))
    x.copy_(torch.randn(20, COLS))
    graph.replay()
    torch.testing.assert_close(y, F.silu(F.silu(x)))


@DEVICES
def test_defaults_of_numbers(name, device):
    op = pypto.torch.register("pypto_test", name, scale_by_default)
    numbers = "float factor=2.5, SymInt times=1"
    assert str(op.default._schema).endswith(f"(Tensor x, {numbers}) -> Tensor")
    assert f"(Tensor(a0) x, Tensor(a1!) out, {numbers})" in str(op.out._schema)
    x = rows(device)
    torch.testing.assert_close(op(x), x * 2.5)
    out = torch.empty_like(x)

    def write(x, out):
        op.out(x, out)
        return out + 0

    for call in (write, torch.compile(write, fullgraph=True, backend="aot_eager")):
        torch.testing.assert_close(call(x, out), x * 2.5)
        torch.testing.assert_close(out, x * 2.5)
        out.zero_()
    op.out(x, out, times=2)
    torch.testing.assert_close(out, x * 2.5)
    op.out(x, out, -1.0)
    torch.testing.assert_close(out, -x)


def test_update_of_numbers_in_a_graph(name):
    op = pypto.torch.register("pypto_test", name, scale)
    x = rows("npu", 20)
    op(x, 1.0)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        y = op(op(x, 2.0) + 1, 3.0)
    graph.update(cpu_update_input=[{"factor": -4.0}, {}])
    graph.replay()
    torch.testing.assert_close(y, (x * -4 + 1) * 3)
    graph.update(cpu_update_input=[{}, {"factor": 0.5}])
    graph.replay()
    torch.testing.assert_close(y, (x * -4 + 1) * 0.5)


# Errors.


@DEVICES
def test_checked_windows(name, device, monkeypatch):
    """PTO_CHECK=1: a window outside its tensor is an error that says where; the process goes on."""
    monkeypatch.setenv("PTO_CHECK", "1")
    op = pypto.torch.register("pypto_test", name, window)
    x, y = rows(device), rows(device)
    wanted = y.cpu().clone()
    wanted[1:17] = x.cpu()[1:17] + 1
    text = (
        r"window.*kernels.py:\d+:\d+: error: .*16 elements from {} on in dimension 0.*tensor has 33"
    )

    def call(at):
        result = op(x, at, y)
        torch.accelerator.synchronize()
        return result

    for at in (20, 1 << 20, -1):
        with pytest.raises(RuntimeError, match=text.format(at)):
            call(at)
        torch.testing.assert_close(call(1).cpu(), wanted)
    with pytest.raises(RuntimeError, match=text.format(18)):
        op.out(x, 18, y)
        torch.accelerator.synchronize()
    if device == "npu":
        with pytest.raises(RuntimeError, match=text.format(18)):
            pypto.torch.launch(window, x, 18, y)
            torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph, auto_dispatch_capture=True):
            op(x, 1, y)
        graph.update([{"at": 18}])
        graph.replay()
        with pytest.raises(RuntimeError, match=text.format(18)):
            torch.npu.synchronize()
    torch.testing.assert_close(call(1)[1:17].cpu(), wanted[1:17])


@DEVICES
def test_foreign_element_types_name_the_parameter(name, device):
    op = pypto.torch.register("pypto_test", name, add)
    right, wrong = rows(device), rows(device).double()
    with pytest.raises(TypeError, match="^y: .*float64"):
        op(right, wrong)
    with pytest.raises(TypeError, match="^x: .*float64"):
        op.out(wrong, right, torch.empty_like(right))
    with pytest.raises(TypeError, match="^x: .*float64"):
        add(x=wrong.cpu(), y=right.cpu(), out=right.cpu())


def test_tensors_of_two_devices(name):
    op = pypto.torch.register("pypto_test", name, add)
    text = "Expected all tensors to be on the same device.*npu:0 and cpu.*parameter 'y'"
    with pytest.raises(RuntimeError, match=text):
        op(rows("npu"), rows("cpu"))
    with pytest.raises(RuntimeError, match="npu:0 and npu:1"):
        op(rows("npu:0"), rows("npu:1"))


@DEVICES
def test_overlapping_outputs(name, device):
    op = pypto.torch.register("pypto_test", name, add)
    base = rows(device, 64)
    with pytest.raises(ValueError, match="Parameter 'out' is written and overlaps parameter 'x'"):
        op.out(base[:32], rows(device, 32), base[16:48])
    wanted = base + base
    op.out(base, base, base)
    torch.testing.assert_close(base, wanted)


@DEVICES
def test_wrong_types_and_shapes(name, device):
    op = pypto.torch.register("pypto_test", name, add)
    with pytest.raises(TypeError, match="element type FP16 is not FP32"):
        op(rows(device).half(), rows(device))
    with pytest.raises(TypeError, match="axis 1 has 32 elements, not 64"):
        op(torch.ones(4, 32, device=device), torch.ones(4, 32, device=device))
    with pytest.raises(ValueError, match="dimension N is 3 .* and 4"):
        op(rows(device, 3), rows(device, 4))


def test_failing_kernel(name):
    op = pypto.torch.register("pypto_test", name, blocks)
    for device in ("cpu", "npu"):
        with pytest.raises(RuntimeError, match="blocks: .*block_num is -2"):
            op(rows(device, 64), -2)
        torch.testing.assert_close(op(rows(device, 64), 4).shape, (64, COLS))


def test_out_of_memory(name):
    op = pypto.torch.register("pypto_test", name, silu)
    x = rows("npu", 4096)
    op(x)
    free = torch.npu.mem_get_info()[1]
    torch.npu.synchronize()
    torch.npu.empty_cache()
    torch.npu.set_memory_limit(torch.npu.memory_reserved() + (1 << 20))
    try:
        kept = []
        with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 1.00 MiB"):
            for _ in range(100):
                kept.append(op(x))
        kept.clear()
    finally:
        torch.npu.set_memory_limit(free)
    torch.testing.assert_close(op(x), F.silu(x))
