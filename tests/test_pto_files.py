"""The files of docs/pto-files.md assemble for their architecture and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(os.environ.get("PTO_BUILD", ROOT / "build/dev")) / "bin"
PAGE = (ROOT / "docs/pto-files.md").read_text()
FILES = dict(re.findall(r"^`(\w+)\.pto`: .*?```mlir\n(.*?)```", PAGE, re.M | re.S))


def run(folder: Path, name: str, arguments: list) -> np.ndarray:
    """The array that `--out` names."""
    file = folder / f"{name}.pto"
    file.write_text(FILES[name])
    for flags in (["--enable-insert-sync", "--verify-sync"], []):
        subprocess.run([BIN / "ptoas", file, *flags, "-o", folder / "k.cpp"], check=True)
    given: list = []
    for index, value in enumerate(arguments):
        flag, value = value if isinstance(value, tuple) else ("--arg", value)
        if isinstance(value, np.ndarray):
            path = folder / f"{index}.npy"
            np.save(path, value)
            value = path
        given += [flag, value]
    command = [BIN / "pto-run", file, *map(str, given)]
    subprocess.run([*command, "--check"], check=True)
    return np.load(given[given.index("--out") + 1])


def test_the_page_has_four_files():
    assert list(FILES) == ["softmax", "product", "relu_of_product", "doubled"]


def test_softmax(tmp_path):
    x = np.random.default_rng(1).standard_normal((64, 64), np.float32)
    y = run(tmp_path, "softmax", [x, ("--out", np.zeros_like(x)), 64])
    wanted = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    np.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["product", "relu_of_product"])
def test_products(tmp_path, name):
    random = np.random.default_rng(2)
    a = random.integers(-4, 5, (16, 64)).astype(np.float16)
    b = random.integers(-4, 5, (64, 32)).astype(np.float16)
    out = ("--out", np.zeros((16, 32), np.float32))
    slots = [np.zeros(8 * 512, np.float32)] if name != "product" else []
    c = run(tmp_path, name, [a, b, out, *slots])
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, wanted if name == "product" else np.maximum(wanted, 0))


def test_a_checked_run_says_what_the_page_says(tmp_path):
    (tmp_path / "doubled.pto").write_text(FILES["doubled"])
    x = np.ones((16, 64), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.zeros_like(x))
    command = re.search(r"^\$ (pto-run doubled.*)\n(Error: .*)\n", PAGE, re.M)

    def call() -> subprocess.CompletedProcess:
        words = [BIN / "pto-run", *command[1].split()[1:]]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)

    done = call()
    assert (done.returncode, done.stderr.rstrip()) == (1, command[2])
    assert not np.load(tmp_path / "y.npy").any()
    # With the flag that it asks for there is nothing to say.
    flag = re.search(r"set_flag(\[.*?\]) behind that one", command[2])[1]
    store = "    pto.tstore"
    order = f"    pto.set_flag{flag}\n    pto.wait_flag{flag}\n"
    (tmp_path / "doubled.pto").write_text(FILES["doubled"].replace(store, order + store))
    done = call()
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * x)
