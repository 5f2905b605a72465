"""torch.save and torch.load, deep copies."""

import copy
import io

import pytest
import torch
import torch_npu


def round_trip(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


def test_tensors_keep_their_device():
    x = torch.arange(12.0, device="npu:1").reshape(3, 4)
    y = round_trip(x)
    assert y.device == x.device and torch.equal(y.cpu(), x.cpu())
    assert round_trip(x, map_location="cpu").device.type == "cpu"
    assert round_trip(x, map_location="npu:0").device.index == 0
    assert round_trip(x.cpu(), map_location="npu").device.type == "npu"
    views = round_trip([x, x.t()])
    views[0][0, 1] = 99
    assert views[1][1, 0].item() == 99


def test_modules():
    net = torch.nn.Linear(3, 2).npu()
    other = torch.nn.Linear(3, 2).npu()
    other.load_state_dict(round_trip(net.state_dict()))
    assert torch.equal(net.weight.cpu(), other.weight.cpu())
    twin = copy.deepcopy(net)
    twin.weight.data.zero_()
    assert net.weight.abs().sum().item() > 0


def test_format_survives():
    torch.npu.config.allow_internal_format = True
    try:
        x = torch_npu.npu_format_cast(torch.randn(40, 24, device="npu"), 29)
        y = round_trip(x)
        assert torch_npu.get_npu_format(y) == 29 and torch.equal(y.cpu(), x.cpu())
        with pytest.raises(RuntimeError, match="view of an FRACTAL_NZ"):
            round_trip(x[1:])
    finally:
        torch.npu.config.allow_internal_format = False
