"""PyTorch's own lists of modules and optimizers (ModuleInfo, OptimizerInfo), and gradcheck, on the device."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db

# Module: why it is not compared.
EXCLUDED = {
    "nn.Transformer": "takes minutes; its layers are compared",
    "nn.FractionalMaxPool2d": "its windows are random",
    "nn.FractionalMaxPool3d": "its windows are random",
}
# Lazy modules have no parameters to copy before the first call.
MODULES = [m for m in module_db if m.name not in EXCLUDED and not m.name.startswith("nn.Lazy")]
# The device has no sparse tensors.
OPTIMIZERS = [info for info in optim_db if info.optim_cls is not torch.optim.SparseAdam]


def to(value, device):
    if isinstance(value, torch.Tensor):
        return value.detach().to(device).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(to(each, device) for each in value)
    if isinstance(value, dict):
        return {key: to(each, device) for key, each in value.items()}
    return value


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for each in value for t in tensors(each)]
    return []


@pytest.mark.parametrize("info", MODULES, ids=lambda info: info.name)
def test_module(info):
    """Same results and gradients of parameters as on the CPU, for the first two cases of each module."""
    torch.manual_seed(0)
    cases = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
    )
    compared = 0
    for case in cases[:2]:
        if case.forward_input is None:
            continue
        built = case.constructor_input
        module = info.module_cls(*built.args, **built.kwargs).eval()
        twin = copy.deepcopy(module).to("npu")
        args, kwargs = case.forward_input.args, case.forward_input.kwargs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = tensors(module(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
            got = tensors(twin(*to(args, "npu"), **to(kwargs, "npu")))
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            assert mine.device.type == "npu"
            torch.testing.assert_close(mine.cpu(), theirs, rtol=1e-4, atol=1e-5, equal_nan=True)
        compared += 1
        leaves = [t for t in wanted if t.requires_grad]
        if not leaves:
            continue
        sum(t.double().square().sum() for t in leaves).backward()
        sum(t.double().square().sum() for t in got if t.requires_grad).backward()
        for mine, theirs in zip(twin.parameters(), module.parameters(), strict=True):
            if theirs.grad is not None:
                torch.testing.assert_close(
                    mine.grad.cpu(), theirs.grad, rtol=1e-3, atol=1e-4, equal_nan=True
                )
    assert compared or not any(case.forward_input for case in cases[:2])


@pytest.mark.parametrize("info", OPTIMIZERS, ids=lambda info: info.optim_cls.__name__)
def test_optimizer(info):
    """Five steps from the same start."""

    def run(device):
        torch.manual_seed(0)
        case = info.optim_inputs_func(device="cpu")[0]
        weights = [torch.randn(4, 3).to(device).requires_grad_() for _ in range(2)]
        optimizer = info.optim_cls(weights, **to(case.kwargs, device))
        scale = torch.arange(12.0).view(4, 3).to(device)

        def closure():
            optimizer.zero_grad()
            loss = sum((w * scale).square().mean() for w in weights)
            loss.backward()
            return loss

        for _ in range(5):
            optimizer.step(closure)
        return [w.detach().cpu() for w in weights]

    for mine, theirs in zip(run("npu"), run("cpu"), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


F = torch.nn.functional
DIFFERENTIABLE = {
    "matmul": lambda x, y: x @ y.t(),
    "softmax": lambda x, y: F.softmax(x * y, -1),
    "layer_norm": lambda x, y: F.layer_norm(x + y, (4,)),
    "gelu": lambda x, y: F.gelu(x) * y,
    "cumprod": lambda x, y: torch.cumprod(x + y, 0),
    "index": lambda x, y: x[[0, 2]] * y[1:],
    "attention": lambda x, y: F.scaled_dot_product_attention(x[None], y[None], x[None]),
    "conv": lambda x, y: F.conv1d(x[None], y[:, :3, None].transpose(1, 1)),
    "logsumexp": lambda x, y: torch.logsumexp(x * y, 0),
    "where": lambda x, y: torch.where(x > 0, x * y, y),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradcheck(name):
    torch.manual_seed(0)
    x, y = (torch.randn(3, 4, dtype=torch.float64, device="npu").requires_grad_() for _ in range(2))
    torch.autograd.gradcheck(DIFFERENTIABLE[name], (x, y))
    torch.autograd.gradgradcheck(DIFFERENTIABLE[name], (x, y))
