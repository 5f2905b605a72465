"""The C++ file of a kernel: the assembler's text and an entry that the runtime can call."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pypto.language as pl
import pytest
import torch
from artifact_programs import GAIN, parse

from pypto import ir

ROOT = Path(__file__).resolve().parents[4]
CLANG = shutil.which("clang++-22") or shutil.which("clang++")

SCALARS = """
import pypto.language as pl
N = pl.dynamic("N")


@pl.program
class Scalars:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[N, 32], pl.FP16], k: pl.Scalar[pl.FP16], i: pl.Scalar[pl.INT32],
               y: pl.Out[pl.Tensor[[N, 32], pl.FP16]]):
        t = pl.load(x, [i, 0], [16, 32])
        y = pl.store(pl.mul(t, k), [i, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[N, 32], pl.FP16], k: pl.Scalar[pl.FP16], i: pl.Scalar[pl.INT32],
             y: pl.Out[pl.Tensor[[N, 32], pl.FP16]]):
        y = self.kernel(x, k, i, y)
        return y
"""

PRODUCT = """
import pypto.language as pl


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16],
               y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        # Straight to L1: A2/A3 have no path there from the vector unit's buffer.
        left = pl.load(a, [0, 0], [16, 64], target_memory=pl.MemorySpace.Mat)
        right = pl.load(b, [0, 0], [64, 32], target_memory=pl.MemorySpace.Mat)
        y = pl.store(pl.matmul(left, right), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16],
             y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        y = self.kernel(a, b, y)
        return y
"""


@pytest.mark.parametrize(
    ("text", "name", "core"),
    [(GAIN, "apply", "aiv"), (SCALARS, "kernel", "aiv"), (PRODUCT, "kernel", "aic")],
)
@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_a_kernel_is_a_file_that_compiles(tmp_path, text, name, core, platform):
    ir.compile(parse(text), tmp_path, platform=platform)
    file = tmp_path / "kernels" / core / f"{name}.cpp"
    written = file.read_text()
    assert written.startswith("#include <pto/pto-inst.hpp>")
    head, _, rest = written.partition("// --- ptoas-generated code ---")
    body, _, entry = rest.partition("// --- Kernel entry point ---")
    assert head and f"static AICORE void {name}(" in body and "#include" not in body
    assert 'extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)' in entry
    assert not (tmp_path / "report" / "codegen_errors.txt").exists()
    done = subprocess.run(
        [
            *(CLANG, "-fsyntax-only", "-std=c++20", "-Wall", "-Werror", "-Wno-unused"),
            *("-D__CPU_SIM", f"-I{ROOT / 'ptoas/test/emission/include'}"),
            *(f"-I{ROOT / 'simpler/kit/include'}", f"-I{ROOT / 'simpler/include'}", str(file)),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_entry_unpacks_what_the_runtime_passes(tmp_path):
    ir.compile(parse(SCALARS), tmp_path)
    text = (tmp_path / "kernels" / "aiv" / "kernel.cpp").read_text()
    entry = text.partition("// --- Kernel entry point ---")[2]
    # Two tensors, then the scalars; a half travels as a float; the open extent is read from x.
    assert "args[0]" in entry and "args[3]" in entry
    assert (
        "kernel(p0, p1, static_cast<half>(s2.value), s3.value, static_cast<int64_t>(t0->shapes[0]))"
        in entry
    )


def test_the_manifest_names_the_file(tmp_path):
    ir.compile(parse(GAIN), tmp_path)
    names: dict = {"__file__": str(tmp_path / "kernel_config.py")}
    exec((tmp_path / "kernel_config.py").read_text(), names)
    (kernel,) = names["KERNELS"]
    assert kernel["source"] == str(tmp_path / "kernels" / "aiv" / "apply.cpp")


@pl.jit
def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = x + x
    return out


def test_functions_have_them_too(tmp_path):
    compiled = doubled.compile(torch.zeros(16, 16), torch.zeros(16, 16))
    folder = Path(compiled.save(tmp_path / "out"))
    (file,) = (folder / "kernels").rglob("*.cpp")
    assert "kernel_entry" in file.read_text()
    assert (folder / "orchestration" / "doubled.mlir").exists()


def test_kernels_may_be_left_to_an_assembler(tmp_path):
    ir.compile(parse(GAIN), tmp_path, skip_ptoas=True)
    files = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert "kernels/aiv/apply.pto" in files and "kernel_config.py" not in files
    assert not [name for name in files if name.endswith(".cpp") or name.startswith("ptoas/")]
