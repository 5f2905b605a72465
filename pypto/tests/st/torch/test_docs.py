"""The Python of docs/torch.md is one program that runs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]


def test_page_runs(run_python, tmp_path):
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs/torch.md").read_text(), re.S)
    assert len(snippets) >= 7
    program = tmp_path / "page.py"
    program.write_text("\n".join(snippets))
    code, output = run_python(f"import runpy; runpy.run_path({str(program)!r})", timeout=300)
    assert code == 0, output
