"""Parameters with the layout NZ: matrices that lie in blocks of 16 rows and 32 bytes."""

from __future__ import annotations

import pypto.language as pl
import pytest
import torch
from pypto.ir.artifact_metadata import ArtifactExecutionMode
from pypto.ir.compile import _compile_artifact
from pypto.runtime.task_args import build_task_args

import pypto
from pypto import ir


def blocked(matrix: torch.Tensor) -> torch.Tensor:
    """The same elements in the order of NZ, in a tensor of the same shape."""
    *batch, rows, columns = matrix.shape
    width = 32 // matrix.element_size()
    boxes = matrix.reshape(-1, rows // 16, 16, columns // width, width)
    return boxes.permute(0, 3, 1, 2, 4).contiguous().reshape(matrix.shape)


def product(rows: int, inner: int, columns: int, dtype: str, body: str = "") -> str:
    accumulator = "INT32" if dtype == "INT8" else "FP32"
    body = body or (
        f"tb = pl.load(w, [0, 0], [{inner}, {columns}])\n"
        f"        y = pl.store(pl.matmul(pl.load(a, [0, 0], [{rows}, {inner}]), tb), [0, 0], y)"
    )
    params = (
        f"a: pl.Tensor[[{rows}, {inner}], pl.{dtype}], "
        f"w: pl.Tensor[[{inner}, {columns}], pl.{dtype}, pl.NZ], "
        f"y: pl.Out[pl.Tensor[[{rows}, {columns}], pl.{accumulator}]]"
    )
    return f"""
import pypto.language as pl


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, {params}):
        {body}
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, {params}):
        y = self.kernel(a, w, y)
        return y
"""


def parse(text: str):
    return pl.parse(text, filename="nz.py")


def check(artifact, a, w, y):
    want = (a.float() @ w.float()).to(y.dtype)
    artifact.load().executable(a, blocked(w), y)
    torch.testing.assert_close(y, want, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("dtype", ["FP16", "BF16", "INT8"])
@pytest.mark.parametrize("contract", ArtifactExecutionMode)
def test_a_blocked_weight_is_multiplied(dtype, contract):
    artifact = _compile_artifact(parse(product(16, 64, 32, dtype)), contract=contract)
    c0 = 32 if dtype == "INT8" else 16
    params, lowered = artifact.metadata.params, artifact.metadata.lowered_params
    assert (params[1].shape, params[1].layout) == ((64, 32), "NZ")
    assert (lowered[1].shape, lowered[1].layout) == ((1, 32 // c0, 4, 16, c0), "NZ")
    if dtype == "INT8":
        a = torch.randint(-8, 8, (16, 64), dtype=torch.int8)
        w = torch.randint(-8, 8, (64, 32), dtype=torch.int8)
        check(artifact, a, w, torch.empty(16, 32, dtype=torch.int32))
    else:
        kind = torch.float16 if dtype == "FP16" else torch.bfloat16
        check(
            artifact,
            torch.randn(16, 64).to(kind),
            torch.randn(64, 32).to(kind),
            torch.empty(16, 32),
        )


def test_the_runtime_sees_the_blocked_form():
    from pypto.runtime.task_interface import Buffer, DataType, TaskArgs, TensorArgType, Worker

    from simpler import RunError

    artifact = _compile_artifact(parse(product(16, 64, 32, "FP16")))
    a, w, y = torch.randn(16, 64).half(), torch.randn(64, 32).half(), torch.empty(16, 32)
    worker = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
    worker.init()
    try:
        handle = worker.register(artifact.load().chip_callable)
        worker.run(handle, build_task_args(artifact.metadata, [a, blocked(w), y]))
        torch.testing.assert_close(y, a.float() @ w.float(), rtol=1e-3, atol=1e-2)
        flat = TaskArgs()
        for each, tag in ((a, TensorArgType.INPUT), (w, TensorArgType.INPUT)):
            flat.add_tensor(Buffer.wrap(each).tensor(list(each.shape), DataType.FLOAT16), tag)
        flat.add_tensor(
            Buffer.wrap(y).tensor([16, 32], DataType.FLOAT32), TensorArgType.OUTPUT_EXISTING
        )
        with pytest.raises(RunError, match="tensor 1 has rank 2, expected is 5"):
            worker.run(handle, flat)
    finally:
        worker.close()


SLICES = """acc = pl.matmul(pl.load(a, [0, 0], [16, 32]), pl.load(w, [0, 0], [32, 32]))
        for k in pl.range(32, 128, 32):
            acc = pl.matmul_acc(acc, pl.load(a, [0, k], [16, 32]), pl.load(w, [k, 0], [32, 32]))
        y = pl.store(acc, [0, 0], y)"""


def test_groups_of_rows_are_windows():
    artifact = _compile_artifact(parse(product(16, 128, 32, "INT8", SLICES)))
    a = torch.randint(-8, 8, (16, 128), dtype=torch.int8)
    w = torch.randint(-8, 8, (128, 32), dtype=torch.int8)
    check(artifact, a, w, torch.empty(16, 32, dtype=torch.int32))


COLUMNS = """for j in pl.range(4):
            t = pl.matmul(pl.load(a, [0, 0], [16, 32]), pl.load(w, [0, j * 16], [32, 16]))
            y = pl.store(t, [0, j * 16], y)"""


def test_groups_of_columns_are_windows():
    artifact = _compile_artifact(parse(product(16, 32, 64, "FP16", COLUMNS)))
    check(artifact, torch.randn(16, 32).half(), torch.randn(32, 64).half(), torch.empty(16, 64))


def test_elements_are_found_in_their_blocks():
    body = """t = pl.full([16, 32], dtype=pl.FP32, value=0.0)
        y = pl.store(t, [0, 0], y)
        for i in pl.range(16):
            for j in pl.range(32):
                pl.write(y, [i, j], pl.cast(pl.read(w, [i, j]), pl.FP32))"""
    artifact = _compile_artifact(parse(product(16, 16, 32, "FP16", body)))
    w, y = torch.randn(16, 32).half(), torch.empty(16, 32)
    artifact.load().executable(torch.zeros(16, 16).half(), blocked(w), y)
    assert torch.equal(y, w.float())


BATCH = """
import pypto.language as pl
B = pl.dynamic("B")


@pl.program
class Batch:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 32], pl.FP16], w: pl.Tensor[[B, 32, 32], pl.FP16, pl.NZ],
               y: pl.Out[pl.Tensor[[B, 16, 32], pl.FP32]]):
        ta = pl.load(a, [0, 0], [16, 32])
        for i in pl.range(pl.dim(w, 0)):
            t = pl.matmul(ta, pl.reshape(pl.load(w, [i, 0, 0], [1, 32, 32]), [32, 32]))
            y = pl.store(t, [i, 0, 0], y, shapes=[1, 16, 32])
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 32], pl.FP16], w: pl.Tensor[[B, 32, 32], pl.FP16, pl.NZ],
             y: pl.Out[pl.Tensor[[B, 16, 32], pl.FP32]]):
        y = self.kernel(a, w, y)
        return y
"""


def test_a_batch_of_blocked_weights():
    artifact = _compile_artifact(parse(BATCH))
    assert artifact.metadata.params[1].shape == (-1, 32, 32)
    assert artifact.metadata.lowered_params[1].shape == (-1, 2, 2, 16, 16)
    a = torch.randn(16, 32).half()
    for count in (1, 3):
        w, y = torch.randn(count, 32, 32).half(), torch.empty(count, 16, 32)
        artifact.load().executable(a, blocked(w), y)
        torch.testing.assert_close(y, a.float() @ w.float(), rtol=1e-3, atol=1e-2)


@pl.jit
def tensor_level(
    a: pl.Tensor[[16, 64], pl.FP16],
    w: pl.Tensor[[64, 32], pl.FP16, pl.NZ],
    y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.matmul(a, w, out_dtype=pl.FP32)
    return y


def test_products_of_whole_tensors():
    a, w, y = torch.randn(16, 64).half(), torch.randn(64, 32).half(), torch.empty(16, 32)
    tensor_level(a, blocked(w), y)
    torch.testing.assert_close(y, a.float() @ w.float(), rtol=1e-3, atol=1e-2)
    artifact = _compile_artifact(tensor_level, a, w, y)
    check(artifact, a, w, y)


def test_the_folder_keeps_the_layout(tmp_path):
    ir.compile(parse(product(16, 64, 32, "FP16")), tmp_path)
    restored = ir.CompiledProgram.from_dir(tmp_path)
    assert restored.params[1].layout == "NZ"
    a, w = torch.randn(16, 64).half(), torch.randn(64, 32).half()
    torch.testing.assert_close(restored(a, blocked(w)), a.float() @ w.float(), rtol=1e-3, atol=1e-2)
    assert "layout = #pto.layout<nz>" in (tmp_path / "ptoas" / "kernel.pto").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (product(16, 72, 32, "FP16"), "has 72 rows, which do not fill blocks of 16"),
        (product(16, 64, 16, "INT8"), "has 16 columns, which do not fill blocks of 32"),
        (
            product(16, 64, 32, "FP16", COLUMNS.replace("[32, 16]", "[32, 8]")),
            "a number of columns that is not known to be a multiple of 16",
        ),
        (
            product(16, 64, 64, "FP16", COLUMNS.replace("j * 16", "j * 8")),
            "starts at a column that is not known to be a multiple of 16",
        ),
        (
            product(16, 64, 32, "FP16").replace("w: pl.Tensor[[64, 32], pl.FP16, pl.NZ]",
                                                "w: pl.Out[pl.Tensor[[64, 32], pl.FP16, pl.NZ]]")
            .replace("return y", "w = pl.store(pl.load(w, [0, 0], [64, 32]), [0, 0], w)\n        return y", 1),
            "is written; NZ parameters are read only|takes an NZ parameter as it lies",
        ),
        (
            product(16, 64, 32, "FP16").replace("pl.FP16, pl.NZ]", "pl.FP16]")
            .replace("w: pl.Tensor[[64, 32], pl.FP16]", "w: pl.Tensor[[64, 32], pl.FP16, pl.NZ]", 1),
            r"'kernel': parameter 'w' has the layout NZ, the argument is",
        ),
        (
            product(16, 64, 32, "FP16").replace("self.kernel(a, w, y)",
                                                "self.kernel(a, w[0:64, 0:32], y)"),
            "pl.slice of an NZ parameter; pass it whole",
        ),
        (
            product(16, 64, 32, "FP16").replace("y = self.kernel(a, w, y)",
                                                "n = pl.read(w, [0, 0])\n        y = self.kernel(a, w, y)"),
            "pl.read of an NZ parameter; pass it whole",
        ),
    ],
)  # fmt: skip
def test_what_blocks_do_not_allow(text, message):
    with pytest.raises(pypto.Error, match=message):
        ir.compile(parse(text))


TWICE = """
import pypto.language as pl


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, w: pl.Tensor[[16, 32], pl.FP16], y: pl.Out[pl.Tensor[[16, 32], pl.FP16]]):
        y = pl.store(pl.load(w, [0, 0], [16, 32]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, plain: pl.Tensor[[16, 32], pl.FP16], w: pl.Tensor[[16, 32], pl.FP16, pl.NZ],
             y: pl.Out[pl.Tensor[[16, 32], pl.FP16]], z: pl.Out[pl.Tensor[[16, 32], pl.FP16]]):
        y = self.copy(plain, y)
        z = self.copy(w, z)
        return y, z
"""


def test_one_kernel_serves_both_layouts():
    x = torch.randn(16, 32).half()
    y, z = ir.compile(parse(TWICE))(x, blocked(x))
    assert torch.equal(y, x) and torch.equal(z, x)


@pl.jit
def windows(
    a: pl.Tensor[[16, 64], pl.FP16],
    w: pl.Tensor[[64, 32], pl.FP16, pl.NZ],
    y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.matmul(a[:, 0:32], w[32:64, :], out_dtype=pl.FP32)
    return y


def test_windows_of_values():
    a, w, y = torch.randn(16, 64).half(), torch.randn(64, 32).half(), torch.empty(16, 32)
    windows(a, blocked(w), y)
    torch.testing.assert_close(y, a[:, :32].float() @ w[32:].float(), rtol=1e-3, atol=1e-2)
