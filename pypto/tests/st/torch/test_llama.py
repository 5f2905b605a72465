"""The model of examples/15_llama_in_torch.py: its values and 50 training steps, eager and compiled, on both devices."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "examples"))
llama = importlib.import_module("15_llama_in_torch")


@pytest.fixture(scope="module")
def plain_losses():
    return llama.train(llama.Llama(llama.Plain), llama.tokens(), torch.empty(50))


@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_forward(device):
    ids = llama.tokens()
    model, plain = llama.Llama(llama.Kernels).to(device), llama.Llama(llama.Plain)
    with torch.no_grad():
        torch.testing.assert_close(model(ids.to(device)).cpu(), plain(ids), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operator", ["rms_norm", "rope", "attention", "swiglu"])
def test_gradients(operator):
    torch.manual_seed(3)
    shape = (llama.TOKENS, llama.HIDDEN if operator == "swiglu" else llama.DIM)
    args = [torch.randn(shape, requires_grad=True) for _ in range(3)]
    if operator == "rms_norm":
        args = [args[0], torch.randn(1, llama.DIM, requires_grad=True)]
    elif operator == "rope":
        angles = torch.randn(llama.TOKENS, llama.HALF)
        args = [args[0], angles.cos(), angles.sin()]
    elif operator == "swiglu":
        args = args[:2]
    leaves = [a for a in args if a.requires_grad]
    grad = torch.randn(shape)
    got = torch.autograd.grad(getattr(llama.Kernels, operator)(*args), leaves, grad)
    wanted = torch.autograd.grad(getattr(llama.Plain, operator)(*args), leaves, grad)
    for mine, theirs in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*Inductor has no code generator")
@pytest.mark.parametrize(
    "device, backend",
    [("cpu", None), ("cpu", "aot_eager"), ("cpu", "inductor"), ("npu", None), ("npu", "aot_eager")],
)
def test_training(device, backend, plain_losses):
    torch._dynamo.reset()
    model = llama.Llama(llama.Kernels).to(device)
    run = torch.compile(model, backend=backend, fullgraph=True) if backend else model
    losses = llama.train(run, llama.tokens().to(device), torch.empty(50))
    assert losses[-1] < 0.5 * losses[0]
    torch.testing.assert_close(losses, plain_losses, rtol=1e-3, atol=1e-3)
