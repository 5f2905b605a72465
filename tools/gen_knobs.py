#!/usr/bin/env python3
"""Writes support/include/support/Knobs.def and pypto/python/pypto/knobs.py from tools/knobs.toml.

`gen_knobs.py --check` writes nothing and fails when a file is not what the list gives.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "knobs.toml"
CPP = ROOT / "support" / "include" / "support" / "Knobs.def"
PYTHON = ROOT / "pypto" / "python" / "pypto" / "knobs.py"


def identifier(env: str) -> str:
    """PTO_CACHE_DIR -> CacheDir; the prefix of another family stays (SimplerThreads)."""
    return "".join(part.capitalize() for part in env.removeprefix("PTO_").split("_"))


def cpp(knobs: list[dict]) -> str:
    lines = [
        "// Made by tools/gen_knobs.py from tools/knobs.toml; do not edit.",
        "// PTO_KNOB(Name, variable, Type, default, help)",
        "",
    ]
    for knob in knobs:
        kind = {"flag": "Flag", "int": "Int", "size": "Size"}.get(knob["type"], "Text")
        default = json.dumps(knob["default"])
        lines.append(
            f"PTO_KNOB({identifier(knob['env'])}, {json.dumps(knob['env'])}, {kind}, {default},\n"
            f"         {json.dumps(knob['help'])})"
        )
    return "\n".join(lines) + "\n"


PYTHON_HEAD = '''\
"""The environment variables that the stack reads: type, default and one line of help.

Made by tools/gen_knobs.py from tools/knobs.toml; do not edit.

`get("PTO_CACHE_DIR")` reads the environment at each call and raises `ValueError` for a value that the
variable's type does not allow.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Knob(NamedTuple):
    env: str
    type: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()


KNOBS: tuple[Knob, ...] = (
'''

PYTHON_TAIL = """\
)

_BY_ENV = {knob.env: knob for knob in KNOBS}
_TRUE = ("1", "on", "true", "yes")
_FALSE = ("0", "off", "false", "no")
_SUFFIX = {"K": 10, "M": 20, "G": 30}


def parse(knob: Knob, text: str) -> Any:
    \"\"\"The value that `text` gives `knob`; ValueError names the variable and what it takes.\"\"\"
    if knob.type == "flag":
        low = text.strip().lower()
        if low in _TRUE or low in _FALSE:
            return low in _TRUE
        raise ValueError(f"{knob.env}={text!r}: takes 1 or 0")
    if knob.type == "int":
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{knob.env}={text!r}: takes a whole number") from None
    if knob.type == "size":
        body, shift = text.strip().removesuffix("B").removesuffix("i"), 0
        if body[-1:].upper() in _SUFFIX:
            body, shift = body[:-1], _SUFFIX[body[-1:].upper()]
        if not body.isdigit():
            raise ValueError(f"{knob.env}={text!r}: takes bytes, as 1048576, 512M or 2GiB")
        return int(body) << shift
    if knob.type == "choice" and text not in knob.choices:
        raise ValueError(f"{knob.env}={text!r}: takes one of {', '.join(knob.choices)}")
    if knob.type == "path":
        return os.path.expanduser(text)
    return text


def get(env: str) -> Any:
    \"\"\"Value of the variable `env` now; unset or empty gives the default.\"\"\"
    knob = _BY_ENV[env]
    text = os.environ.get(env)
    if not text:
        return os.path.expanduser(knob.default) if knob.type == "path" else knob.default
    return parse(knob, text)
"""


def python(knobs: list[dict]) -> str:
    lines = [PYTHON_HEAD]
    for knob in knobs:
        fields = [f'"{knob["env"]}"', f'"{knob["type"]}"', repr(knob["default"]).replace("'", '"')]
        lines.append("    Knob(\n")
        lines += [f"        {field},\n" for field in fields]
        lines.append(f"        {json.dumps(knob['help'])},\n")
        if choices := knob.get("choices"):
            lines.append(f"        ({', '.join(json.dumps(c) for c in choices)}),\n")
        lines.append("    ),\n")
    return "".join(lines) + PYTHON_TAIL


def main() -> int:
    knobs = tomllib.loads(LIST.read_text())["knob"]
    stale = []
    for path, text in ((CPP, cpp(knobs)), (PYTHON, python(knobs))):
        if path.exists() and path.read_text() == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(str(path.relative_to(ROOT)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if stale:
        print("not what tools/knobs.toml gives: " + ", ".join(stale) + "; run tools/gen_knobs.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
