"""Copies: host and device, between devices, types, strides, conjugates."""

import itertools

import pytest
import torch

PLACES = list(itertools.product(["cpu", "npu:0", "npu:1"], repeat=2))
DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.uint8,
    torch.bool,
    torch.complex64,
]


@pytest.mark.parametrize(("source", "target"), PLACES)
def test_contents(source, target):
    x = torch.randn(7, 5)
    assert torch.equal(x.to(source).to(target).cpu(), x)
    assert torch.equal(x.to(source).t().to(target).cpu(), x.t())
    y = torch.zeros(5, 7, device=target)
    y.t().copy_(x.to(source))
    assert torch.equal(y.cpu(), x.t())
    z = torch.zeros(3, 7, 5, device=target)
    z[1:, ::2].copy_(x[::2].to(source))  # strided and broadcast
    assert (
        torch.equal(z[2].cpu()[::2], x[::2])
        and z[0].sum().item() == 0
        and z[:, 1].sum().item() == 0
    )


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_types(a, b):
    x = (torch.arange(6).reshape(2, 3) - (0 if torch.uint8 in (a, b) else 2)).to(a)
    if a.is_complex and not b.is_complex:
        x = x.real
    want = x.to(b)
    for copy in (x.npu().to(b), x.to("npu", b), torch.empty(2, 3, dtype=b, device="npu").copy_(x)):
        assert copy.dtype == b and torch.equal(copy.cpu(), want)
    assert torch.equal(x.npu().to("cpu", b), want)


def test_conjugate_and_negative_views():
    x = torch.randn(4, dtype=torch.complex64)
    y = x.npu()
    assert torch.equal(y.conj().cpu(), x.conj().resolve_conj())
    assert torch.equal(y.conj().imag.cpu(), x.conj().imag.resolve_neg())
    assert torch.equal(torch.empty_like(y).copy_(x.conj()).cpu(), x.conj().resolve_conj())


def test_empty_scalar_and_shape_errors():
    assert torch.empty(0, 3).npu().shape == (0, 3)
    assert torch.tensor(3.5).npu().item() == 3.5
    with pytest.raises(RuntimeError, match="size"):
        torch.empty(3, device="npu").copy_(torch.empty(4))


def test_views_share_bytes():
    x = torch.zeros(4, 6, device="npu")
    x[1].fill_(1)
    x.view(2, 12)[1, 3:5] = 2
    x.t()[0, 0] = 3
    x.unfold(1, 2, 2)[3, :, 1] = 4
    want = torch.zeros(4, 6)
    want[1] = 1
    want.view(2, 12)[1, 3:5] = 2
    want[0, 0] = 3
    want.unfold(1, 2, 2)[3, :, 1] = 4
    assert torch.equal(x.cpu(), want)
    assert x.data_ptr() == x.t().data_ptr() == x.view(-1).data_ptr()


def test_numpy_needs_the_host():
    with pytest.raises(TypeError, match="npu"):
        torch.ones(2, device="npu").numpy()
    assert torch.ones(2, device="npu").cpu().numpy().tolist() == [1, 1]
