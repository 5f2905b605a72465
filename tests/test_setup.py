"""tools/setup.sh on machines that lack something: it names every missing package and stops."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def fake(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text("#!/bin/sh\n" + body + "\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def run_setup(folder: Path) -> subprocess.CompletedProcess:
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", str(ROOT / "tools/setup.sh")], env=env, capture_output=True, text=True
    )


def test_missing_packages_are_named_when_they_cannot_be_installed(tmp_path):
    fake(tmp_path, "dpkg-query", "exit 1")  # nothing is installed …
    fake(tmp_path, "id", "echo 1000")  # … and this user may not install
    done = run_setup(tmp_path)
    assert done.returncode == 1
    for package in ("libmlir-22-dev", "clang-22", "liblld-22-dev", "libboost-context-dev"):
        assert package in done.stderr, done.stderr
    assert "apt-get install" in done.stderr or "not Debian 12" in done.stderr


def test_one_missing_package_is_named_alone(tmp_path):
    fake(tmp_path, "dpkg-query", 'case "$*" in *lld-22*) exit 1;; *) printf installed;; esac')
    fake(tmp_path, "id", "echo 1000")
    done = run_setup(tmp_path)
    assert done.returncode == 1
    assert "lld-22" in done.stderr
    assert "libboost-context-dev" not in done.stderr
