"""Importing the package is cheap and does no work."""

from __future__ import annotations

FORBIDDEN = ("torch", "numpy", "ast", "inspect", "pypto._core", "pypto._compiler", "rich")


def test_import_loads_neither_torch_nor_compiler(python):
    loaded = python("import sys\nimport pypto.language as pl\nprint(*sys.modules, sep='\\n')")
    assert "pypto.language" in loaded
    assert [name for name in FORBIDDEN if name in loaded] == []


def test_import_takes_under_100_ms(python):
    text = (
        "import time\nbegin = time.process_time()\nimport pypto.language as pl\n"
        "print(time.process_time() - begin)"
    )
    python(text)  # writes the byte code
    assert min(float(python(text)[0]) for _ in range(3)) < 0.1


def test_a_decorated_function_loads_no_compiler(python):
    lines = python(
        "import sys\nimport pypto.language as pl\n"
        "@pl.jit\ndef entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):\n    return y\n"
        "print('pypto._compiler' in sys.modules, 'ast' in sys.modules)"
    )
    assert lines == ["False False"]
