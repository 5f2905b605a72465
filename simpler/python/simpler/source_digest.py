"""The identity of the runtime's native sources: one digest over all that is compiled into the extension.

The build writes it into `_task_interface.__build_commit__`; whoever has the sources beside the extension compares the
two to find an extension that was built from other sources. Run as `python source_digest.py FOLDER OUTPUT` it writes a
header that defines SIMPLER_BUILD_COMMIT; an up-to-date header keeps its time.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

_PARTS = ("include", "lib", "python/bindings")
_SUFFIXES = (".h", ".cpp", ".inc")


def source_digest(root: Path) -> str:
    """40 hex digits over names and contents below `root`, the folder `simpler`; empty where the sources are not."""
    files = [
        file
        for part in _PARTS
        for file in (root / part).rglob("*")
        if file.suffix in _SUFFIXES and file.is_file()
    ]
    if not (root / "lib").is_dir() or not files:
        return ""
    total = hashlib.sha256()
    for file in sorted(files, key=lambda f: f.relative_to(root).as_posix()):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:40]


def main(arguments: list[str]) -> int:
    root, output = Path(arguments[0]), Path(arguments[1])
    text = f'#define SIMPLER_BUILD_COMMIT "{source_digest(root)}"\n'
    if not output.exists() or output.read_text() != text:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
