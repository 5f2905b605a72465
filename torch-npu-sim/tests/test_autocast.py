"""Mixed precision."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_policies(dtype):
    a = torch.randn(4, 4, device="npu")
    with torch.autocast("npu", dtype=dtype):
        assert (a @ a).dtype == dtype
        assert torch.exp(a @ a).dtype == torch.float32
        assert torch.cat([a, a.to(dtype)]).dtype == torch.float32
        assert torch.nn.functional.softmax(a.to(dtype), -1).dtype == torch.float32
        assert (a + a.to(dtype)).dtype == torch.float32
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            torch.nn.functional.binary_cross_entropy(torch.sigmoid(a), torch.rand_like(a))
        with torch.autocast("npu", enabled=False):
            assert (a @ a).dtype == torch.float32
    assert (a @ a).dtype == torch.float32
    assert dtype in torch.npu.get_amp_supported_dtype()


def test_scaler_trains():
    net = torch.nn.Linear(4, 1).npu()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=1024.0)
    x = torch.randn(16, 4, device="npu")
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16):
            loss = net(x).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
