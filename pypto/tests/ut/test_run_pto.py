"""run_pto: kernels of `.pto` files and texts on torch tensors and NumPy arrays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
import torch
from pypto.runtime import PtoError, run_pto

import pypto

KERNELS = Path(__file__).resolve().parents[3] / "ptoas/tests/kernels"

SCALE = """\
!V = !pto.tile_buf<vec, 16x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
!T = !pto.tensor_view<?x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @scale(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: index, %s: f32, %__pypto_spmd_block_idx: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %b = arith.index_cast %__pypto_spmd_block_idx : i32 to index
    %r = arith.muli %b, %c16 : index
    %xv = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !T
    %yv = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : !T
    %xp = pto.partition_view %xv, offsets = [%r, %c0], sizes = [%c16, %c64] : !T -> !P
    %yp = pto.partition_view %yv, offsets = [%r, %c0], sizes = [%c16, %c64] : !T -> !P
    %t = pto.alloc_tile : !V
    pto.tload ins(%xp : !P) outs(%t : !V)
    pto.tmuls ins(%t, %s : !V, f32) outs(%t : !V)
    pto.tstore ins(%t : !V) outs(%yp : !P)
    return
  }
}
"""


def test_arrays_in_place():
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)
    y = np.zeros_like(x)
    run_pto(SCALE, x, y, 32, 2.5, blocks=2)
    np.testing.assert_array_equal(y, x * np.float32(2.5))


def test_torch_tensors_and_a_file(tmp_path):
    file = tmp_path / "scale.pto"
    file.write_text(SCALE)
    x, y = torch.randn(16, 64), torch.zeros(16, 64)
    run_pto(file, x, y, 16, -1)
    assert torch.equal(y, -x)
    run_pto(str(file), y, y, 16, -1)  # the same memory twice
    assert torch.equal(y, x)


@pytest.mark.parametrize("level", [2, 3])
def test_halves_of_a_cluster_run_together(level):
    rng = np.random.default_rng(0)
    q, k, v = (
        rng.uniform(-1, 1, s).astype(ml_dtypes.bfloat16) for s in [(16, 64), (64, 64), (64, 64)]
    )
    out, slots = np.zeros((16, 64), np.float32), np.zeros(8 * 16 * 64, np.float32)
    run_pto(KERNELS / f"level{level}/attention.pto", q, k, v, out, slots)
    s = 0.125 * q.astype(np.float64) @ k.astype(np.float64).T
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose(out, p @ v.astype(np.float64), atol=1e-2)


def test_bfloat16_of_torch_and_bit_patterns():
    x = torch.randn(16, 64)
    y = torch.zeros(16, 64, dtype=torch.bfloat16)
    run_pto(KERNELS / "level2/round_trip_bf16.pto", x, y)
    assert torch.equal(y, (2 * x).bfloat16())
    bits = np.zeros((16, 64), np.uint16)
    run_pto(KERNELS / "level2/round_trip_bf16.pto", x, bits)
    assert np.array_equal(bits, y.view(torch.uint16).numpy())


def test_checked_execution_names_the_place():
    x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    with pytest.raises(PtoError) as error:
        run_pto(SCALE, x, y, 16, 1.0, blocks=2, check=True)
    assert str(error.value) == (
        "<pto>:17:5: error: 'pto.tload' op touches memory outside argument 0 'x': its window has 16 elements "
        "from 16 on in dimension 0, where the tensor has 16"
    )
    assert (y == 1).all()  # block 0 was right


def test_checked_execution_warns_as_the_assembler_does(capfd):
    kind = "attributes {pto.kernel_kind = #pto.kernel_kind<cube>}"
    text = SCALE.replace("block_idx: i32) {", f"block_idx: i32) {kind} {{")
    x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    warning = "warning: 'pto.tmuls' op runs on a vector core, but this function is compiled for a cube core"
    run_pto(text, x, y, 16, 2.0)
    assert warning not in capfd.readouterr().err
    run_pto(text, x, y, 16, 2.0, check=True)
    assert warning in capfd.readouterr().err
    assert (y == 2).all()


def test_the_knob_asks_for_checks(monkeypatch):
    monkeypatch.setenv("PTO_CHECK", "1")
    x = np.ones((16, 64), np.float32)
    with pytest.raises(PtoError, match="touches memory outside argument 0"):
        run_pto(SCALE, x, x, 16, 1.0, blocks=2)


BAD = [
    ("module {", (), r"<pto>|expected"),
    (SCALE.replace("tmuls", "tmulz"), (), r"<pto>:18:\d+: error:"),
    (SCALE, (np.zeros(4, np.float32),), r"takes 4 arguments \(x: !pto.ptr<f32>, y: .*got 1"),
    (
        SCALE,
        (np.zeros(4), np.zeros(4), 1, 1),
        r"argument 0 \('x'\) of 'scale' has elements of f8.*needs f32",
    ),
    (SCALE, (1, 2, 3, 4), r"argument 0 \('x'\) of 'scale' is !pto.ptr<f32>: give a torch tensor"),
    (SCALE, (np.zeros((4, 4), np.float32).T[::2],) * 2 + (16, 1.0), r"must be contiguous"),
    (
        SCALE,
        (np.zeros(4, np.float32),) * 2 + ("many", 1.0),
        r"argument 2 \('rows'\) .* no value of type index",
    ),
    (
        SCALE,
        (np.zeros(4, np.float32),) * 2 + (16, 1.0),
        r"<pto>:12:\d+: error: .*covers bytes 0 to 4096",
    ),
]


@pytest.mark.parametrize("text, arguments, message", BAD)
def test_what_is_wrong_is_said(text, arguments, message):
    with pytest.raises(PtoError, match=message):
        run_pto(text, *arguments)


def test_more_that_is_wrong(tmp_path):
    with pytest.raises(PtoError, match="cannot be read"):
        run_pto(tmp_path / "none.pto")
    with pytest.raises(PtoError, match="blocks must be at least 1"):
        run_pto(SCALE, blocks=0)
    with pytest.raises(PtoError, match="defines no function 'other'"):
        run_pto(SCALE, entry="other")
    read_only = np.zeros((16, 64), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(PtoError, match="read-only"):
        run_pto(SCALE, read_only, read_only, 16, 1.0)


@pytest.mark.parametrize(
    "given,message",
    [
        (np.zeros((16, 64), ">f4"), "elements of >f4, where the kernel needs f32"),
        (torch._neg_view(torch.ones(16, 64)), "must be contiguous"),
        (
            torch.zeros(16, 64).to_sparse(),
            "must be dense, got one with the layout torch.sparse_coo",
        ),
        ([[0.0] * 64] * 16, "not a list"),
    ],
)
def test_memory_that_kernels_cannot_read(given, message):
    with pytest.raises(PtoError, match=message):
        run_pto(SCALE, given, np.zeros((16, 64), np.float32), 16, 1.0)


def test_a_bytecode_file(tmp_path):
    text, code = tmp_path / "scale.pto", tmp_path / "scale.ptobc"
    text.write_text(SCALE.replace("__pypto_spmd_block_idx", "block"))  # it keeps no names
    tools = sorted(Path(__file__).resolve().parents[3].glob("build/*/bin/ptobc"))
    tool = max(tools, key=lambda path: path.stat().st_mtime)
    subprocess.run([tool, "encode", text, "-o", code], check=True)
    x, y = torch.randn(16, 64), torch.zeros(16, 64)
    run_pto(code, x, y, 16, 3.0, 0)
    assert torch.equal(y, x * 3)
    code.write_bytes(code.read_bytes()[:100])
    with pytest.raises(PtoError, match="bytecode: .* rest of the file"):
        run_pto(code, x, y, 16, 3.0, 0)


@pytest.mark.parametrize("source", [b"module {}", None, ""])
def test_sources_of_other_kinds(source):
    with pytest.raises(PtoError, match="expected the path of a .pto file or its text, got"):
        run_pto(source)


def test_deadlock_is_an_error():
    text = (KERNELS / "level2/dense_relu.pto").read_text()
    lonely = text.replace("pto.tpush_to_aiv", "// pto.tpush_to_aiv", 1)
    a = np.zeros((32, 64), ml_dtypes.bfloat16)
    b = np.zeros((64, 64), ml_dtypes.bfloat16)
    c, slots = np.zeros((32, 64), np.float32), np.zeros(8 * 32 * 64, np.float32)
    with pytest.raises(PtoError, match="deadlock|no function of the module sends"):
        run_pto(lonely, a, b, c, slots)
    # One pop more than there are pushes.
    pop = next(line for line in text.splitlines() if "tpop_from_aic" in line)
    more = text.replace(pop, pop + "\n" + pop.replace("%t", "%again", 1), 1)
    with pytest.raises(PtoError, match="deadlock: every function of the cluster waits"):
        run_pto(more, a, b, c, slots)


@pl.jit
def shifted(
    x: pl.Tensor[[16, 64], pl.FP32],
    n: pl.Tensor[[1, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="shifted"):
        i = pl.read(n, [0, 0])
        y[0:16, 0:64] = pl.add(x[i : i + 16, 0:64], 1.0)
    return y


def test_the_knob_checks_programs_of_the_language_too(monkeypatch):
    monkeypatch.setenv("PTO_CHECK", "1")
    x, y = torch.randn(16, 64), torch.empty(16, 64)
    shifted(x, torch.zeros(1, 1, dtype=torch.int32), y)
    assert torch.equal(y, x + 1)
    with pytest.raises(
        pypto.Error,
        match=r"test_run_pto\.py:\d+:\d+: error: .*16 elements from 8 on in dimension 0",
    ):
        shifted(x, torch.full((1, 1), 8, dtype=torch.int32), y)
    shifted(x, torch.zeros(1, 1, dtype=torch.int32), y)  # the fault is over
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (SCALE, {"entry": 5}, "entry must be a string, got 5"),
        (SCALE, {"arch": 3}, "arch must be a string, got 3"),
        ("kernel\0.pto", {}, "cannot be read: embedded null byte"),
        (SCALE + "// \ud800", {}, "the text has a character that no file can have"),
    ],
)
def test_what_is_no_text_or_name_is_said(source, options, message):
    with pytest.raises(PtoError, match=message):
        run_pto(source, np.ones((16, 64), np.float32), **options)


ENDLESS = """
module {
  func.func @endless(%flag: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %true = arith.constant true
    pto.store_scalar %one, %flag[%c0] : !pto.ptr<i32>, i32
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
    return
  }
}
"""
RUN_ENDLESS = """
import signal, sys
import numpy as np
from pypto.runtime import run_pto
# What starts processes in the background may have them ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
flag = np.memmap(sys.argv[1], np.int32, "r+", shape=(1,))
run_pto(sys.argv[2], flag)
"""


def test_an_interrupt_ends_an_endless_kernel(tmp_path):
    memory, kernel = tmp_path / "flag", tmp_path / "endless.pto"
    flag = np.memmap(memory, np.int32, "w+", shape=(1,))
    kernel.write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_ENDLESS, str(memory), str(kernel)],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not flag[0] and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT
    assert "kernel 'endless' did not return within a second of Ctrl-C" in errors


def test_an_interrupt_of_a_kernel_that_returns_is_an_exception():
    """The kernel of the first call is over when the signal comes; the handler stays Python's."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        x = np.ones((16, 64), np.float32)
        run_pto(SCALE, x, x, 16, 2.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        run_pto(SCALE, x, x, 16, 2.0)
        np.testing.assert_array_equal(x, 4)
    finally:
        signal.signal(signal.SIGINT, before)
