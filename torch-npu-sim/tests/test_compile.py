"""torch.compile, fake tensors, export, custom operators, gradients, as torch's own checks see the device."""

import warnings

import pytest
import torch


def step(x, w):
    return torch.nn.functional.gelu(x @ w).sum(-1) * 2


@pytest.fixture(autouse=True)
def fresh_dynamo():
    yield
    torch._dynamo.reset()


def test_aot_eager_compiles_the_whole_graph_with_dynamic_shapes():
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True)
    w = torch.randn(8, 8, device="npu", requires_grad=True)
    for rows in (4, 7):
        x = torch.randn(rows, 8, device="npu")
        got, want = compiled(x, w), step(x, w)
        torch.testing.assert_close(got, want)
        (gradient,) = torch.autograd.grad(got.sum(), w)
        torch.testing.assert_close(gradient, torch.autograd.grad(want.sum(), w)[0])


def test_inductor_falls_back_with_one_line():
    x, w = torch.randn(4, 8, device="npu"), torch.randn(8, 8, device="npu")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.testing.assert_close(torch.compile(step)(x, w), step(x, w))
    lines = [str(w.message) for w in caught if "Inductor" in str(w.message)]
    assert len(lines) == 1 and "aot_eager" in lines[0]


def test_fake_tensors_touch_no_device():
    from torch._subclasses.fake_tensor import FakeTensorMode

    before = torch.npu.memory_stats()["allocation.all.allocated"]
    with FakeTensorMode():
        x = torch.empty(1 << 40, device="npu")
        assert (x * 2).device.type == "npu"
    assert torch.npu.memory_stats()["allocation.all.allocated"] == before


def test_device_interface():
    from torch._dynamo.device_interface import get_interface_for_device

    interface = get_interface_for_device("npu")
    assert interface.device_count() == 2 and interface.is_available()
    assert interface.get_device_properties().name == "Ascend910B1"
    assert interface.get_raw_stream(0) == torch.npu.current_stream().npu_stream


@pytest.fixture
def library():
    lib = torch.library.Library("npu_test", "DEF")
    lib.define("scale(Tensor x, float by) -> Tensor")
    lib.impl("scale", lambda x, by: x * by, "CPU")
    torch.library.register_fake("npu_test::scale", lambda x, by: torch.empty_like(x), lib=lib)
    torch.library.register_autograd(
        "npu_test::scale", lambda ctx, g: (g * ctx.by, None), setup_context=keep, lib=lib
    )
    yield torch.ops.npu_test.scale
    lib._destroy()


def keep(ctx, inputs, output):
    ctx.by = inputs[1]


def test_operator_with_a_cpu_kernel_runs_on_the_device(library):
    x = torch.randn(5, device="npu", requires_grad=True)
    y = library(x, 3.0)
    assert y.device.type == "npu"
    torch.testing.assert_close(y, x * 3)
    # test_autograd_registration knows three devices by name and no other.
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(library, (x, 3.0), test_utils=checks)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        lambda x: x @ x.t(),
        lambda x: torch.cumsum(x.sin(), 0),
        lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None, :2, :2]),
        lambda x: torch.fft.rfft(x).abs(),
        lambda x: torch.linalg.solve(
            x @ x.t() + torch.eye(len(x), device=x.device, dtype=x.dtype), x
        ),
    ],
)
def test_gradcheck(function):
    x = torch.rand(3, 4, dtype=torch.float64, device="npu", requires_grad=True) + 0.5
    assert torch.autograd.gradcheck(function, (x,))


def test_gradgradcheck():
    x = torch.rand(3, dtype=torch.float64, device="npu", requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: x.exp() * x.sin(), (x,))


def test_vmap_and_functional():
    x = torch.randn(4, 3, device="npu")
    torch.testing.assert_close(torch.func.vmap(torch.dot)(x, x), (x * x).sum(1))
    jacobian = torch.func.jacrev(torch.sin)(x[0])
    torch.testing.assert_close(jacobian, torch.diag(x[0].cos()))


def test_export():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1

    x = torch.randn(3, device="npu")
    program = torch.export.export(Net(), (x,))
    torch.testing.assert_close(program.module()(x), torch.relu(x) + 1)
