"""Random numbers: seeds, states, independence from the host's generator."""

import torch


def test_seed_repeats_and_devices_have_their_own():
    torch.manual_seed(3)
    host = torch.rand(4)
    a, b = torch.rand(4, device="npu:0"), torch.randn(4, device="npu:1")
    torch.manual_seed(3)
    assert torch.equal(torch.rand(4, device="npu:0"), a)  # before the host's: independent
    assert torch.equal(torch.rand(4), host)
    assert torch.equal(torch.randn(4, device="npu:1"), b)


def test_state_round_trip():
    state = torch.npu.get_rng_state()
    a = torch.randint(0, 1000, (8,), device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(torch.randint(0, 1000, (8,), device="npu"), a)
    states = torch.npu.get_rng_state_all()
    b = torch.rand(2, device="npu:1")
    torch.npu.set_rng_state_all(states)
    assert torch.equal(torch.rand(2, device="npu:1"), b)


def test_state_counts_queued_draws(ext):
    torch.npu.manual_seed(1)
    x = torch.empty(100, device="npu")
    torch.npu.synchronize()
    ext.gate_stream()
    x.uniform_()
    import threading

    timer = threading.Timer(0.05, ext.open_gates)
    timer.start()
    after = torch.npu.get_rng_state()  # waits for the draw
    timer.join()
    torch.npu.manual_seed(1)
    x.uniform_()
    assert torch.equal(torch.npu.get_rng_state(), after)


def test_dropout_draws_from_the_device():
    host = torch.random.get_rng_state()
    torch.npu.manual_seed(5)
    a = torch.nn.functional.dropout(torch.ones(100, device="npu"))
    torch.npu.manual_seed(5)
    b = torch.nn.functional.dropout(torch.ones(100, device="npu"))
    assert torch.equal(a, b) and 20 < a.count_nonzero().item() < 80
    assert torch.equal(torch.random.get_rng_state(), host)


def test_own_generator():
    g = torch.Generator(device="npu").manual_seed(9)
    a = torch.randperm(10, device="npu", generator=g)
    assert torch.equal(torch.randperm(10, device="npu", generator=g.manual_seed(9)), a)
    assert (
        torch.npu.default_generators[0].device.type == "npu"
        and len(torch.npu.default_generators) == 2
    )
    torch.npu.manual_seed(77)
    assert torch.npu.initial_seed() == 77


def test_fork_rng():
    with torch.random.fork_rng(device_type="npu"):
        a = torch.rand(1, device="npu")
    assert torch.equal(torch.rand(1, device="npu"), a)
