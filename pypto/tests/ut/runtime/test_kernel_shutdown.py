"""torch_npu's shutdown closes kernel mode first, or what it cannot close stays until the process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings

import pytest
from pypto.runtime.kernel import teardown


class Native:
    """`torch_npu._C` as far as its shutdown goes."""

    def __init__(self, log):
        self._npu_shutdown_synchronize = lambda: log.append("synchronize") or True
        self._npu_shutdown = lambda success: log.append(f"shutdown {success}")


class Manager:
    def __init__(self, log, error=None):
        self.log = log
        self.error = error

    def close(self):
        self.log.append("close")
        if self.error:
            raise self.error

    def abandon(self, reason):
        self.log.append(f"abandon: {reason}")


@pytest.fixture
def log():
    return []


def framework(log, version="2.10.0.post2+sim"):
    return types.SimpleNamespace(__version__=version, _C=Native(log))


@pytest.mark.parametrize(
    "version", ["2.6.0.post2", "2.10.0.post2", "2.10.0.post2+sim", "2.6.0.post2+gitabc"]
)
def test_validated_versions_with_any_build_suffix(version, log):
    teardown.check_framework(framework(log, version))


@pytest.mark.parametrize(
    "version", ["2.10.0", "2.10.0.post4", "2.7.1.post2", "2.10.0.post2x", "unknown"]
)
def test_other_versions_are_refused(version, log):
    with pytest.raises(
        RuntimeError, match=f"torch_npu {version} is not one of the validated versions"
    ):
        teardown.check_framework(framework(log, version))


@pytest.mark.parametrize("hook", teardown.HOOKS)
def test_a_missing_hook_is_refused(hook, log):
    torch_npu = framework(log)
    delattr(torch_npu._C, hook)
    with pytest.raises(RuntimeError, match=f"has no torch_npu._C.{hook}"):
        teardown.check_framework(torch_npu)


def test_pypto_closes_once_and_before_the_framework(log):
    torch_npu = framework(log)
    teardown.install(torch_npu, Manager(log))
    teardown.install(torch_npu, Manager(log))  # no second wrapping
    assert torch_npu._C._npu_shutdown_synchronize() is True
    torch_npu._C._npu_shutdown(True)
    assert log == ["close", "synchronize", "shutdown True"]


def test_a_shutdown_without_its_synchronize_closes_first_as_well(log):
    torch_npu = framework(log)
    teardown.install(torch_npu, Manager(log))
    torch_npu._C._npu_shutdown(False)
    assert log == ["close", "shutdown False"]


def test_what_cannot_be_closed_is_kept_and_said(log):
    torch_npu, kept = framework(log), []
    manager = Manager(log, OSError("device lost"))
    teardown.install(torch_npu, manager, kept.append)
    with pytest.warns(RuntimeWarning, match="retained until process exit .OSError: device lost"):
        assert torch_npu._C._npu_shutdown_synchronize() is True
    reason = "kernel mode could not be closed (device lost)"
    assert log == ["close", f"abandon: {reason}", "synchronize"] and kept == [manager]


def test_warnings_as_errors_do_not_stop_the_shutdown(log, capsys):
    torch_npu = framework(log)
    teardown.install(torch_npu, Manager(log, OSError("lost")), lambda thing: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch_npu._C._npu_shutdown_synchronize()
    assert log[-1] == "synchronize"
    assert "retained until process exit" in capsys.readouterr().err


def test_a_forked_child_keeps_and_does_not_close(log):
    torch_npu, kept = framework(log), []
    manager = Manager(log)
    teardown.install(torch_npu, manager, kept.append)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        torch_npu._C._npu_shutdown_synchronize()
        torch_npu._C._npu_shutdown(True)
        os.write(writer, repr((log, kept == [manager])).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).decode() == "(['synchronize', 'shutdown True'], True)"
    torch_npu._C._npu_shutdown_synchronize()
    assert log == ["close", "synchronize"] and kept == []


def test_the_anchor_outlives_the_interpreter():
    pytest.importorskip("torch_npu")
    body = """
import torch, torch_npu
import pypto._torch_npu as native

class Thing:
    def __del__(self):
        print("destroyed", flush=True)

native.retain_until_exit(Thing())
other = Thing()
del other
print("end", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, ["destroyed", "end"]), done.stderr
