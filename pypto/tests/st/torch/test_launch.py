"""pypto.torch.launch and prepare: what is launched, in which order, and how it fails."""

from __future__ import annotations

import pypto.language as pl
import pypto.torch
import pytest
import torch
from kernels import COLS, TILE, N, add, blocks, increase, scale


def rows(n=100, device="npu"):
    return torch.randn(n, COLS).to(device)


def test_result_is_the_callers_tensor():
    x, y, out = rows(), rows(), torch.empty(100, COLS, device="npu")
    assert pypto.torch.launch(add, x, y, out) is out
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


def test_arguments_by_name_and_numbers():
    x, out = rows(), torch.empty(100, COLS, device="npu")
    pypto.torch.launch(scale, x, out=out, factor=3)
    torch.testing.assert_close(out.cpu(), x.cpu() * 3)


@pytest.mark.parametrize("n", [0, 1, 15, 17])
def test_any_number_of_rows(n):
    x, y, out = rows(n), rows(n), torch.empty(n, COLS, device="npu")
    pypto.torch.launch(add, x, y, out)
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


def test_view_with_an_offset():
    base = rows(64)
    out = torch.zeros(64, COLS, device="npu")
    pypto.torch.launch(add, base[3:20], base[20:37], out[40:57])
    torch.testing.assert_close(out.cpu()[40:57], base.cpu()[3:20] + base.cpu()[20:37])
    assert not out.cpu()[:40].any() and not out.cpu()[57:].any()


def test_compiled_program():
    x, y, out = rows(32, "cpu"), rows(32, "cpu"), torch.empty(32, COLS)
    program = add.compile(x, y, out)
    out = torch.empty(32, COLS, device="npu")
    pypto.torch.launch(program, x.npu(), y.npu(), out)
    torch.testing.assert_close(out.cpu(), x + y)


def test_returns_before_the_kernel_has_run(gate):
    x, y, out = rows(), rows(), torch.zeros(100, COLS, device="npu")
    gate.gate_stream()
    pypto.torch.launch(add, x, y, out)
    assert not torch.npu.current_stream().query()
    gate.open_gates()
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


def test_order_on_the_current_stream(gate):
    """Behind what is queued before it, before what is queued after it."""
    x, out = rows(), torch.empty(100, COLS, device="npu")
    want = (x.cpu() + 1) * 2
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        gate.gate_stream()
        x.add_(1)
        pypto.torch.launch(scale, x, 2.0, out)
        x.zero_()
    gate.open_gates()
    stream.synchronize()
    torch.testing.assert_close(out.cpu(), want)


def test_memory_is_not_reused_before_the_kernel_has_run(gate):
    """A tensor of the default stream that a launch on another stream reads and whose last name goes."""
    x, y = rows(), rows()
    want = x.cpu() + y.cpu()
    out = torch.empty(100, COLS, device="npu")
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        gate.gate_stream()
        pypto.torch.launch(add, x, y, out)
    address = x.data_ptr()
    del x
    others = [torch.zeros(100, COLS, device="npu") for _ in range(20)]
    assert address not in [other.data_ptr() for other in others]
    gate.open_gates()
    stream.synchronize()
    torch.testing.assert_close(out.cpu(), want)


def test_input_that_is_exactly_the_output():
    x, y = rows(), rows()
    want = x.cpu() + y.cpu()
    pypto.torch.launch(add, x, y, x)
    torch.testing.assert_close(x.cpu(), want)


def test_in_place():
    x, y = rows(), rows()
    want = x.cpu() + y.cpu()
    assert pypto.torch.launch(increase, x, y) is x
    torch.testing.assert_close(x.cpu(), want)


TERM = 1.0


def test_changed_names_compile_again():
    global TERM

    @pl.jit
    def shift(x: pl.Tensor[[N, COLS], pl.FP32], out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[0:16, 0:64] = pl.add(x[0:16, 0:64], TERM)
        return out

    TERM = 1.0
    x, out = rows(16), torch.empty(16, COLS, device="npu")
    pypto.torch.launch(shift, x, out)
    torch.testing.assert_close(out.cpu(), x.cpu() + 1)
    TERM = 2.0
    pypto.torch.launch(shift, x, out)
    torch.testing.assert_close(out.cpu(), x.cpu() + 2)


# Errors.


def test_failing_kernel_on_an_idle_stream():
    x, out = rows(), torch.empty(100, COLS, device="npu")
    with pytest.raises(RuntimeError, match="blocks: .*block_num is -1"):
        pypto.torch.launch(blocks, x, -1, out)
    pypto.torch.launch(blocks, x, 1, out)
    torch.testing.assert_close(out.cpu()[:TILE], 2 * x.cpu()[:TILE])


def test_failing_kernel_behind_other_work(gate):
    """The launch returns; the error stays with the device until a wait has raised it."""
    x, out = rows(), torch.empty(100, COLS, device="npu")
    pypto.torch.prepare(blocks, x, 1, out)
    gate.gate_stream()
    pypto.torch.launch(blocks, x, -1, out)
    gate.open_gates()
    with pytest.raises(RuntimeError, match="'blocks' failed.*block_num is -1"):
        torch.npu.synchronize()
    pypto.torch.launch(blocks, x, 1, out)
    torch.npu.synchronize()


@pytest.mark.parametrize(
    "error, text, arguments",
    [
        (TypeError, r"expects 3 arguments including all Out/InOut", lambda x, o: (x, 1)),
        (TypeError, r"Parameter 'x' takes an NPU tensor, got one on cpu", lambda x, o: (x.cpu(), 1, o)),
        (TypeError, r"Parameter 'x' .*meta", lambda x, o: (x.to("meta"), 1, o)),
        (TypeError, r"Parameter 'x' takes an NPU torch.Tensor", lambda x, o: ([1.0], 1, o)),
        (TypeError, r"Parameter 'x' takes fp32", lambda x, o: (x.half(), 1, o)),
        (TypeError, r"Parameter 'count'", lambda x, o: (x, 1.5, o)),
        (TypeError, r"Parameter 'count'", lambda x, o: (x, True, o)),
        (ValueError, r"Parameter 'x' takes rank 2", lambda x, o: (x[0], 1, o)),
        (ValueError, r"Parameter 'x' .*64", lambda x, o: (x[:, :32].contiguous(), 1, o)),
        (ValueError, r"Parameter 'x' is not contiguous", lambda x, o: (x.t(), 1, o)),
        (ValueError, r"Parameter 'x' requires grad", lambda x, o: (x.requires_grad_(), 1, o)),
        (ValueError, r"Parameter 'out' is written and overlaps", lambda x, o: (x[:50], 1, x[25:75])),
        (ValueError, r"on npu:1", lambda x, o: (x, 1, o.to("npu:1"))),
    ],
)  # fmt: skip
def test_arguments_that_are_refused(error, text, arguments):
    x, out = rows(64), torch.empty(64, COLS, device="npu")
    with pytest.raises(error, match=text):
        pypto.torch.launch(blocks, *arguments(x, out))
    pypto.torch.launch(blocks, x.detach(), 4, out)
    torch.testing.assert_close(out.cpu(), 2 * x.detach().cpu())


def test_tensors_of_a_device_that_is_not_current():
    x, out = rows(64, "npu:1"), torch.empty(64, COLS, device="npu:1")
    with pytest.raises(ValueError, match="set_device"):
        pypto.torch.launch(blocks, x, 4, out)
    with torch.npu.device(1):
        pypto.torch.launch(blocks, x, 4, out)
    torch.testing.assert_close(out.cpu(), 2 * x.cpu())


def test_parameters_under_no_grad():
    x, out = rows(64).requires_grad_(), torch.empty(64, COLS, device="npu")
    with torch.no_grad():
        pypto.torch.launch(blocks, x, 4, out)
    torch.testing.assert_close(out.cpu(), 2 * x.detach().cpu())


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match="int is no kernel"):
        pypto.torch.launch(3, rows())


def test_dimensions_with_one_name_agree():
    with pytest.raises(ValueError, match="dimension N is 8 .* and 9"):
        pypto.torch.launch(add, rows(8), rows(9), torch.empty(8, COLS, device="npu"))


def test_closed_context_launches_nothing():
    from pypto.torch.launching import extension

    x, y, out = rows(), rows(), torch.empty(100, COLS, device="npu")
    extension().set_admission("the process's kernel context is CLOSED")
    try:
        with pytest.raises(RuntimeError, match="add is not launched: .*CLOSED"):
            pypto.torch.launch(add, x, y, out)
    finally:
        extension().set_admission(None)
    pypto.torch.launch(add, x, y, out)


# Captures.


def test_capture_and_replay():
    x, y, out = rows(), rows(), torch.empty(100, COLS, device="npu")
    pypto.torch.prepare(add, x, y, out)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        for _ in range(100):
            pypto.torch.launch(add, x, y, out)
            x.copy_(out)
    start = x.cpu()
    graph.replay()
    torch.npu.synchronize()
    torch.testing.assert_close(x.cpu(), start + 100 * y.cpu(), rtol=1e-4, atol=1e-4)


def test_prepare_takes_examples_of_any_device():
    x = torch.empty(10, COLS, device="meta")
    pypto.torch.prepare(scale, x, 1.0, x)
    out = torch.empty(10, COLS, device="npu")
    graph = torch.npu.NPUGraph()
    y = rows(10)
    with torch.npu.graph(graph):
        pypto.torch.launch(scale, y, 4.0, out)
    graph.replay()
    torch.testing.assert_close(out.cpu(), 4 * y.cpu())


def test_prepare_with_a_wrong_number_of_arguments():
    x = torch.empty(10, COLS)
    with pytest.raises(TypeError, match=r"prepare\(add\) has 1 arguments, the kernel 3 parameters"):
        pypto.torch.prepare(add, x)


def test_launch_of_something_unprepared_in_a_capture():
    @pl.jit
    def fresh(x: pl.Tensor[[N, COLS], pl.FP32], out: pl.Out[pl.Tensor[[N, COLS], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[0:16, 0:64] = pl.neg(x[0:16, 0:64])
        return out

    x, out = rows(16), torch.empty(16, COLS, device="npu")
    text = "Kernel capture requires warmup outside capture for this specialization"
    with pytest.raises(RuntimeError, match=text):
        with torch.npu.graph(torch.npu.NPUGraph()):
            pypto.torch.launch(fresh, x, out)
    with pytest.raises(RuntimeError, match="warmup outside capture"):
        with torch.npu.graph(torch.npu.NPUGraph()):
            pypto.torch.prepare(fresh, x, out)
    pypto.torch.prepare(fresh, x, out)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        pypto.torch.launch(fresh, x, out)
    graph.replay()
    torch.testing.assert_close(out.cpu(), -x.cpu())
