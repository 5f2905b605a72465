"""NPU graphs and torch.accelerator.Graph."""

import threading

import pytest
import torch


def capture(function):
    g = torch.npu.NPUGraph()
    with torch.npu.graph(g):
        result = function()
    return g, result


def test_capture_runs_nothing_and_replay_uses_new_contents():
    x = torch.ones(8, device="npu")
    counter = torch.zeros(1, device="npu")

    def work():
        counter.add_(1)
        return torch.nn.functional.gelu(x * 2).sum()

    g, y = capture(work)
    assert counter.item() == 0
    for value in (1.0, 3.0):
        x.fill_(value)
        g.replay()
        torch.testing.assert_close(
            y.cpu(), torch.nn.functional.gelu(torch.full((8,), value * 2)).sum()
        )
    assert counter.item() == 2


def test_replay_of_a_module_equals_eager():
    net = torch.nn.Sequential(
        torch.nn.Linear(8, 32), torch.nn.LayerNorm(32), torch.nn.SiLU(), torch.nn.Linear(32, 4)
    ).npu()
    x = torch.randn(5, 8, device="npu")
    with torch.no_grad():
        g, y = capture(lambda: net(x))
        for _ in range(3):
            x.normal_()
            g.replay()
            torch.testing.assert_close(y, net(x))


def test_intermediates_do_not_collide_with_later_tensors():
    x = torch.arange(1000.0, device="npu")
    g, y = capture(lambda: (x + 1) * 2 - 3)
    others = [torch.full((1000,), -7.0, device="npu") for _ in range(10)]
    g.replay()
    torch.testing.assert_close(y.cpu(), (torch.arange(1000.0) + 1) * 2 - 3)
    assert all(t.eq(-7).all().item() for t in others)


def test_side_streams_join_by_events():
    x = torch.ones(4, device="npu")
    side = torch.npu.Stream()

    def work():
        a = x + 1
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            b = a * 10
        torch.npu.current_stream().wait_stream(side)
        return b + 1

    g, y = capture(work)
    g.replay()
    assert y.cpu().eq(21).all()


def test_random_numbers_advance():
    g, y = capture(lambda: torch.rand(5, device="npu"))
    g.replay()
    a = y.clone()
    g.replay()
    assert not torch.equal(a, y)


def test_shared_pool_and_reset():
    pool = torch.npu.graph_pool_handle()
    x = torch.ones(4, device="npu")
    first, second = torch.npu.NPUGraph(), torch.npu.NPUGraph()
    with torch.npu.graph(first, pool=pool):
        a = x + 1
    with torch.npu.graph(second, pool=first.pool()):
        b = x + 2
    assert first.pool() == second.pool()
    first.replay()
    second.replay()
    assert (a + b).cpu().eq(5).all()
    del a, b
    torch.npu.synchronize()
    reserved = torch.npu.memory_reserved()
    first.reset()
    second.reset()
    assert torch.npu.memory_reserved() < reserved
    with torch.npu.graph(first):
        c = x + 3
    first.replay()
    assert c.cpu().eq(4).all()


def test_replay_after_its_input_is_freed():
    """Values are undefined, as on hardware; the process and other tensors stay whole."""
    inputs = [torch.ones(30_000_000, device="npu")]  # a segment of its own
    g, y = capture(lambda: inputs[0] + 1)
    inputs.clear()
    reserved = torch.npu.memory_reserved()
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < reserved
    g.replay()
    torch.npu.synchronize()
    again = torch.full_like(y, 2)  # the same addresses
    assert again.eq(2).all()
    g.reset()


def test_extension_kernels_are_captured(ext):
    x = torch.ones(10, device="npu")
    g, y = capture(lambda: ext.add(x, x) * 3)
    x.fill_(2)
    g.replay()
    assert y.cpu().eq(12).all()


def test_replay_is_asynchronous_and_its_errors_name_the_node(ext):
    x, index = torch.arange(4.0, device="npu"), torch.tensor([0], device="npu")
    g, y = capture(lambda: x.index_select(0, index))
    index.fill_(9)
    g.replay()
    with pytest.raises(RuntimeError, match="graph node 'aten::index_select'.*out of range"):
        torch.npu.synchronize()
    index.fill_(3)
    g.replay()
    assert y.item() == 3


@pytest.mark.parametrize(
    ("illegal", "message"),
    [
        (lambda x: x.sum().item(), "_local_scalar_dense.*host has to wait"),
        (lambda x: torch.npu.synchronize(), "synchronization is not permitted"),
        (lambda x: x.nonzero(), "nonzero.*host has to wait"),
        (lambda x: x.cpu(), "pageable host memory"),
        (lambda x: torch.ones(4).npu(), "pageable host memory"),
        (lambda x: torch.npu.current_stream().query(), "stream query"),
    ],
)
def test_illegal_in_capture(illegal, message):
    x = torch.ones(4, device="npu")
    g = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match=message), torch.npu.graph(g):
        illegal(x)
    assert x.sum().item() == 4
    with torch.npu.graph(g):  # the object can be used again
        y = x + 1
    g.replay()
    assert y.sum().item() == 8


def test_swallowed_error_still_fails_the_capture():
    x = torch.ones(4, device="npu")
    g = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match="capture failed: .*not permitted"), torch.npu.graph(g):
        try:
            x.sum().item()
        except RuntimeError:
            pass


def test_order_of_calls():
    g = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.pool()
    with pytest.raises(RuntimeError, match="non-default stream"):
        g.capture_begin()
    with pytest.raises(RuntimeError, match="without capture_begin"):
        g.capture_end()
    with torch.npu.graph(g):
        assert torch.npu.is_current_stream_capturing()
    assert not torch.npu.is_current_stream_capturing()
    with pytest.raises(RuntimeError, match="already owns a captured graph"), torch.npu.graph(g):
        pass
    with pytest.raises(RuntimeError, match="captured on device 0"), torch.npu.device(1):
        g.replay()
    with (
        pytest.raises(ValueError, match="capture_error_mode"),
        torch.npu.graph(torch.npu.NPUGraph(), capture_error_mode="x"),
    ):
        pass


def test_task_queue_mode_2_cannot_capture(run_python):
    text = "import torch, torch_npu\nwith torch.npu.graph(torch.npu.NPUGraph()): pass"
    code, out = run_python(text, TASK_QUEUE_ENABLE="2")
    assert code and "does not work with TASK_QUEUE_ENABLE=2" in out


def test_graphed_callables():
    net = torch.nn.Linear(4, 2).npu().requires_grad_(False)
    sample = torch.randn(3, 4, device="npu")
    fast = torch.npu.make_graphed_callables(net, (sample,))
    new = torch.randn(3, 4, device="npu")
    torch.testing.assert_close(fast(new), net(new))
    with pytest.raises(RuntimeError, match="arguments that need gradients are not supported"):
        fast(new.requires_grad_())
    with pytest.raises(RuntimeError, match="modules that need gradients are not supported"):
        torch.npu.make_graphed_callables(net.requires_grad_(), (sample,))
    with torch.no_grad():
        torch.testing.assert_close(fast(new), net(new))


def test_accelerator_graph():
    if not hasattr(torch.accelerator, "Graph"):
        pytest.skip("torch.accelerator.Graph came with torch 2.12")
    x = torch.zeros(4, device="npu")
    g = torch.accelerator.Graph()
    with torch.Stream(device="npu"), g:
        x += 1
    assert x.sum().item() == 0
    g.replay()
    g.replay()
    torch.accelerator.synchronize()
    assert x.sum().item() == 8


HOST_CALLS = {
    "an event query": lambda event, stream: event.query(),
    "event synchronization": lambda event, stream: event.synchronize(),
    "a stream query": lambda event, stream: stream.query(),
    "stream synchronization": lambda event, stream: stream.synchronize(),
    "device synchronization": lambda event, stream: torch.npu.synchronize(),
}


def capture_with(call, mode, in_thread):
    """Captures one operator while `call` is made; (error of the call, error of the capture, result)."""
    x = torch.zeros(4, device="npu")
    # Of the other pool, so that it is not the stream that captures.
    event, other = torch.npu.Event(), torch.npu.Stream(priority=-1)
    event.record(other)
    errors = []

    def host_call():
        try:
            call(event, other)
        except RuntimeError as error:
            errors.append(str(error))

    graph = torch.npu.NPUGraph()
    broken = None
    try:
        with torch.npu.graph(graph, capture_error_mode=mode):
            y = x + 1
            if in_thread:
                thread = threading.Thread(target=host_call)
                thread.start()
                thread.join()
            else:
                host_call()
    except RuntimeError as error:
        broken = str(error)
    if not broken:
        graph.replay()
        assert y.tolist() == [1.0] * 4
    return (errors[0] if errors else None), broken


@pytest.mark.parametrize("what", HOST_CALLS)
@pytest.mark.parametrize("in_thread", [False, True], ids=["here", "thread"])
@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_capture_error_modes(what, mode, in_thread):
    """global: a waiting call of any thread breaks the capture; thread_local: of the capturing one."""
    error, broken = capture_with(HOST_CALLS[what], mode, in_thread)
    refused = mode == "global" or (mode == "thread_local" and not in_thread)
    if what == "device synchronization" and not in_thread:
        refused = True  # it would wait for the captured stream, which is current here
    assert (error is not None) == (broken is not None) == refused
    if refused:
        assert what in error and what in broken


def test_what_waits_for_the_captured_stream_is_refused_in_every_mode():
    for mode in ("global", "thread_local", "relaxed"):
        graph = torch.npu.NPUGraph()
        with pytest.raises(RuntimeError, match="stream synchronization is not permitted"):
            with torch.npu.graph(graph, capture_error_mode=mode):
                torch.npu.current_stream().synchronize()


@torch.library.custom_op("npu_graph_test::window", mutates_args=())
def window(x: torch.Tensor, lengths: list[int], scale: float = 1.0) -> torch.Tensor:
    """Row i keeps its first lengths[i] values, scaled; the rest is 0. Its own temporaries are several."""
    rows = [
        torch.cat([row[:n] * scale, torch.zeros_like(row[n:])])
        for row, n in zip(x.unbind(0), lengths, strict=True)
    ]
    return torch.stack(rows)


def window_of(x, lengths, scale=1.0):
    mask = torch.arange(x.shape[1]) < torch.tensor(lengths).unsqueeze(1)
    return x.cpu() * mask * scale


def capture_for_update(function):
    g = torch.npu.NPUGraph()
    with torch.npu.graph(g, auto_dispatch_capture=True):
        result = function()
    return g, result


def test_update_changes_host_arguments_of_later_replays():
    x = torch.randn(2, 64, device="npu")

    def work():
        before = x + 1  # live across the operator, and freed after it
        first = window(x, [3, 4])
        middle = first + before
        return window(middle, [64, 64], scale=2.0) - before, first

    def wanted(a, b, scale):
        middle = window_of(x, a) + (x.cpu() + 1)
        return window_of(middle, b, scale) - (x.cpu() + 1)

    g, (y, first) = capture_for_update(work)
    g.replay()
    torch.testing.assert_close(y.cpu(), wanted([3, 4], [64, 64], 2.0))
    # More and fewer nodes than before, one call at a time and both.
    for given, a, b, scale in [
        ([{"lengths": [0, 64]}, {}], [0, 64], [64, 64], 2.0),
        ([{}, {"lengths": [10, 1], "scale": -1.0}], [0, 64], [10, 1], -1.0),
        ([{"lengths": [5, 6]}, {"scale": 3.0}], [5, 6], [10, 1], 3.0),
    ]:
        g.replay()
        g.update(cpu_update_input=given)
        for _ in range(2):
            x.normal_()
            g.replay()
            torch.testing.assert_close(y.cpu(), wanted(a, b, scale))
            torch.testing.assert_close(first.cpu(), window_of(x, a))


def test_update_frees_what_it_replaces():
    x = torch.randn(2, 4096, device="npu")
    g, y = capture_for_update(lambda: window(x, [1, 2]))
    g.update([{"lengths": [3, 4]}])
    torch.npu.synchronize()
    live = torch.npu.memory_allocated()
    for n in range(20):
        g.update([{"lengths": [n, 4096]}])
        g.replay()
    torch.testing.assert_close(y.cpu(), window_of(x, [19, 4096]))
    assert torch.npu.memory_allocated() == live
    g.reset()
    with pytest.raises(RuntimeError, match="auto_dispatch_capture=True"):
        g.update([{"lengths": [1, 2]}])


def test_refused_updates_change_nothing():
    x = torch.randn(2, 8, device="npu")
    g, y = capture_for_update(lambda: window(window(x, [1, 2]), [8, 8]))
    for given, error, message in [
        ([{}], RuntimeError, "2 operators were recorded.*has 1"),
        ({"lengths": [1, 2]}, TypeError, "must be a list of dicts, got dict"),
        ([{}, 3], TypeError, r"cpu_update_input\[1\].*must be a dict"),
        (
            [{"length": [1, 2]}, {}],
            ValueError,
            "names 'length'; the operator has x, lengths, scale",
        ),
        ([{"x": x}, {}], ValueError, "'x' is on the device"),
        ([{"scale": x}, {}], ValueError, "'scale' must be a number"),
        ([{"lengths": [7, 7]}, {"lengths": [1]}], ValueError, "zip"),  # the operator's own error
        ([{"lengths": [7, 7]}, {"lengths": "no"}], RuntimeError, "lengths"),
    ]:
        with pytest.raises(error, match=message):
            g.update(given)
        g.replay()
        torch.testing.assert_close(y.cpu(), window_of(x, [1, 2]))
    plain, _ = capture(lambda: window(x, [1, 2]))
    with pytest.raises(RuntimeError, match="auto_dispatch_capture=True"):
        plain.update([{"lengths": [3, 4]}])
    with pytest.raises(RuntimeError, match="capture"):
        torch.npu.NPUGraph().update([])


def test_operators_of_torch_are_not_recorded():
    x = torch.ones(4, device="npu")
    g, y = capture_for_update(lambda: torch.nn.functional.gelu(x * 2.0).sum())
    g.update([])
    g.replay()
    torch.testing.assert_close(y.cpu(), torch.nn.functional.gelu(torch.full((4,), 2.0)).sum())
