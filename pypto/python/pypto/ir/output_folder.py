"""The folder of a compiled program: IR after each stage, .pto texts, machine code, metadata, report."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from pypto import dtypes, knobs

_DIRECTIONS = {"in": "In", "out": "Out", "inout": "InOut"}


def new_folder(name: str) -> str:
    """`<base>/<name>_<time>`; a number is added where that exists."""
    base = os.path.join(
        knobs.get("PYPTO_PROG_BUILD_DIR"), f"{name}_{time.strftime('%Y%m%d_%H%M%S')}"
    )
    folder, count = base, 1
    while os.path.exists(folder):
        folder, count = f"{base}_{count}", count + 1
    return folder


def write(
    folder: str,
    result: dict[str, Any],
    *,
    dumps: bool,
    profile: bool = False,
    meta: dict[str, Any] | None = None,
) -> None:
    """Writes what the compiler gave. Files of other names in `folder` stay."""
    unit = result["unit"]
    os.makedirs(folder, exist_ok=True)
    if dumps:
        for index, (stage, text) in enumerate(unit["dumps"]):
            _put(folder, f"passes_dump/{index:02d}_after_{stage}.mlir", text)
    for name, text in unit["pto"]:
        _put(folder, f"ptoas/{name}.pto", text)
    for each in [unit, *result["others"]]:
        if each["code"]:
            _put(folder, f"{each['name']}.so", each["code"])
    if meta:
        _put(folder, "compiled_meta.json", json.dumps(meta, indent=2) + "\n")
    if profile:
        stages = [
            {"name": name, "seconds": milliseconds / 1e3, "children": []}
            for name, milliseconds in unit["stage_ms"]
        ]
        total = sum(stage["seconds"] for stage in stages)
        report = {"total_seconds": total, "stages": stages}
        _put(folder, "report/pipeline_profile.json", json.dumps(report, indent=2) + "\n")
        lines = [f"{stage['name']:<40} {stage['seconds'] * 1e3:10.3f} ms" for stage in stages]
        lines.append(f"{'total':<40} {total * 1e3:10.3f} ms")
        _put(folder, "report/pipeline_profile.txt", "\n".join(lines) + "\n")


def meta_of(header: dict[str, Any], platform: str) -> dict[str, Any]:
    """compiled_meta.json (spec/compiler.md 9.3, schema 1)."""
    params = []
    for slot in header["slots"]:
        if slot[0] == "baked":
            continue
        tensor = slot[0] == "tensor"
        params.append(
            {
                "name": slot[1],
                "direction": _DIRECTIONS[slot[2]] if tensor else "In",
                "shape": list(slot[4]) if tensor else None,
                "dtype": str(dtypes.ALL[slot[3] if tensor else slot[2]]),
            }
        )
    return {
        "schema": 1,
        "params": params,
        "num_return_types": len(header["returns"]),
        "platform": platform,
        "backend_type": "Ascend950" if platform.startswith("a5") else "Ascend910B",
    }


def _put(folder: str, name: str, content: str | bytes) -> None:
    """Writes a file under another name first, so that a reader never sees half of it."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.replace(temporary, path)
