"""The tools that the build has made."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("PTO_BUILD_DIR", ROOT / "build" / "dev"))


def tool(name: str) -> str:
    path = BUILD / "bin" / name
    assert path.exists(), f"{path} is missing: build the tree first"
    return str(path)
