"""Where kernel mode's parts are, what is documented, and that each device test has its twin."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest
from pypto.torch import interop

ST = Path(__file__).resolve().parents[2] / "st/runtime/kernel"

PARTS = {
    "session": ["KernelConfig", "check_runtime_capability", "preflight", "_BorrowedWorkerSession"],
    "context": ["KernelProcessManager", "ProcessState", "manager"],
    "owner": ["OwnerThread"],
    "callable": ["ArtifactIdentity", "KernelRegistration"],
    "pending": ["PendingTicket", "PendingTickets"],
    "teardown": ["check_framework", "install", "keep_until_exit"],
}


@pytest.mark.parametrize("file, names", PARTS.items(), ids=PARTS)
def test_each_name_is_in_its_file(file, names):
    module = importlib.import_module(f"pypto.runtime.kernel.{file}")
    for name in names:
        assert getattr(module, name).__module__ == module.__name__
    table = importlib.import_module("pypto.runtime.kernel").__doc__
    assert f"`{file}.py`" in table


def test_the_limits_of_a_frame_are_documented():
    text = " ".join(interop.__doc__.split())
    assert "does not protect asynchronous use on the device after the frame is gone" in text
    assert "its caller must not resize or free the storages" in text


def test_each_device_test_has_a_twin():
    """Both files take the same cases; what is skipped without a card runs on the simulated NPU."""

    def cases(name):
        tree = ast.parse((ST / name).read_text())
        return [
            node.module
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
        ]

    assert (
        cases("test_torch_interop.py")
        == cases("test_torch_interop_simulated.py")
        == ["interop_cases"]
    )
    tests = [
        n
        for n in ast.parse((ST / "interop_cases.py").read_text()).body
        if isinstance(n, ast.FunctionDef)
    ]
    assert len([t for t in tests if t.name.startswith("test_")]) >= 10


def test_the_doctor_says_what_kernel_mode_lacks(monkeypatch):
    from pypto import doctor

    def line():
        (found,) = [f for f in doctor.examine() if f.what == "kernel mode"]
        return found

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n == "torch_npu" else find(n)
    )
    assert line().state == "note" and "not possible without torch_npu" in str(line())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert line().state == "ok"
