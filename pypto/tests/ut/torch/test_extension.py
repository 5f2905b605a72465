"""The extension pypto._torch_npu: what it offers, what it links, when it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]

torch_npu = pytest.importorskip("torch_npu")


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("pypto._torch_npu")


def test_it_offers_lifecycle_and_the_nz_query_only(native):
    public = {name for name in dir(native) if not name.startswith("__")}
    assert public == {
        "BorrowedContext",
        "borrow_context",
        "cxx11_abi",
        "framework_alive",
        "retain_until_exit",
        "storage_descriptor",
        "torch_version",
    }
    methods = {name for name in dir(native.BorrowedContext) if not name.startswith("_")}
    assert methods == {"bind", "unbind", "device_index"}


def test_it_was_built_for_this_torch(native):
    import torch

    assert native.torch_version == torch.__version__
    assert native.cxx11_abi is True


def test_it_does_not_link_the_runtime(native):
    content = Path(native.__file__).read_bytes()
    assert b"libtorch_npu.so" in content
    assert b"simpler" not in content and b"pypto_kernel_abi" not in content


def test_a_context_is_borrowed_bound_and_given_back(native):
    torch_npu.npu.set_device(0)
    torch_npu.npu.synchronize()
    assert native.framework_alive()
    context = native.borrow_context(1)
    assert context.device_index == 1 and torch_npu.npu.current_device() == 0
    context.bind()
    assert torch_npu.npu.current_device() == 1
    context.unbind()
    assert torch_npu.npu.current_device() == 0


def test_the_storage_query_takes_npu_tensors(native):
    import torch

    with pytest.raises(TypeError, match="expected an NPU tensor, got one on cpu"):
        native.storage_descriptor(torch.ones(3))
    x = torch.ones(6, 4, device="npu")[2:4]
    assert native.storage_descriptor(x) == (2, (2, 4), 8, 96)


# How it is configured. The folder is added to a project that has nothing else.

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(only LANGUAGES NONE)
set(PTO_WARNINGS "")
add_subdirectory({folder} {binary})
if(TARGET pypto_torch_npu)
  message(STATUS "the extension is built")
endif()
"""


@pytest.fixture
def configure(tmp_path):
    def run(torch_abi, *arguments, **environment):
        source = tmp_path / "project"
        source.mkdir(exist_ok=True)
        shutil.copytree(ROOT / "cmake", source / "cmake", dirs_exist_ok=True)
        folder = ROOT / "pypto/python/bindings/torch_npu"
        (source / "CMakeLists.txt").write_text(
            PROJECT.format(folder=folder, binary=tmp_path / "binary")
        )
        stand_in = tmp_path / "site/torch"
        stand_in.mkdir(parents=True, exist_ok=True)
        (stand_in / "__init__.py").write_text(
            f"__version__ = '2.6.0'\nclass _C:\n    _GLIBCXX_USE_CXX11_ABI = {torch_abi}\n"
        )
        command = ["cmake", "-S", source, "-B", tmp_path / "build", *arguments]
        done = subprocess.run(
            [*map(str, command), f"-DPython_EXECUTABLE={sys.executable}"],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return run


def test_a_build_without_torch_npu_leaves_it_out(configure):
    code, text = configure(False)  # an ABI that would not do is not even looked at
    assert code == 0 and "the extension is built" not in text, text


@pytest.mark.parametrize("optimize", ["", "1", "2"])
def test_the_abi_of_torch_is_checked_when_configuring(configure, optimize):
    code, text = configure(False, "-DPYPTO_BUILD_TORCH_NPU=ON", PYTHONOPTIMIZE=optimize)
    assert code != 0
    assert "pypto._torch_npu needs a torch that was built with the C++11 ABI" in text
    assert "torch 2.6.0 uses the C++ library's old ABI" in text


def test_without_headers_of_a_torch_npu_the_error_says_so(configure):
    code, text = configure(True, "-DPYPTO_BUILD_TORCH_NPU=ON")
    assert code != 0
    assert "neither torch-npu-sim is part of this build" in text
    assert "a torch_npu with C++ headers" in text
