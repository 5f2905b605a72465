"""The Python of README.md and of the folders' READMEs runs as it stands there, and the commands that it names exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text()
FILES = [ROOT / "README.md", ROOT / "ptoas/README.md"]
SNIPPETS = [
    (path, snippet)
    for path in FILES
    for snippet in re.findall(r"```python\n(.*?)```", path.read_text(), re.S)
]


def test_readmes_have_python():
    assert {path for path, _ in SNIPPETS} == set(FILES)


@pytest.mark.parametrize("path, snippet", SNIPPETS)
def test_python_of_the_readme_runs(path, snippet, tmp_path):
    file = tmp_path / "snippet.py"
    file.write_text(snippet)  # its last line compares with torch or NumPy
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"\bmake ([a-z-]+)", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_examples_of_the_readme_exist():
    for name in set(re.findall(r"\b(\d\d_\w+\.py)", TEXT)):
        assert (ROOT / "examples" / name).is_file(), name
