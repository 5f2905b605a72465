"""args_dump/ -> a list of the dumped arguments, or the values of one of them."""

from __future__ import annotations

import argparse
import struct
import sys
from pathlib import Path
from typing import Any

from simpler_setup.tools.run_files import FileError, command, input_file, read_json, task_label

_CODES = {
    "FLOAT32": "f",
    "FLOAT16": "e",
    "INT32": "i",
    "INT16": "h",
    "INT8": "b",
    "UINT8": "B",
    "INT64": "q",
    "UINT64": "Q",
    "UINT16": "H",
    "UINT32": "I",
    "BOOL": "?",
}


def values(data: bytes, dtype: str) -> list[Any]:
    """Elements of one dumped argument; types that Python does not have as their bit patterns."""
    if dtype == "BFLOAT16":
        words = struct.unpack(f"<{len(data) // 2}H", data)
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]
    code = _CODES.get(dtype, "B")
    count = len(data) // struct.calcsize("<" + code)
    return list(struct.unpack(f"<{count}{code}", data[: count * struct.calcsize("<" + code)]))


def read_dump(path: Path) -> tuple[list[dict[str, Any]], bytes]:
    manifest = read_json(path)
    rows = manifest.get("args") if isinstance(manifest, dict) else None
    if not isinstance(rows, list):
        raise FileError(f"{path}: not the manifest of an argument dump: no list 'args'")
    binary = path.with_name(str(manifest.get("bin_file", "args.bin")))
    try:
        data = binary.read_bytes()
    except OSError as error:
        raise FileError(f"{binary}: {error.strerror}") from error
    for i, row in enumerate(rows):
        end = int(row.get("bin_offset", 0)) + int(row.get("bin_size", 0))
        if end > len(data):
            raise FileError(f"{path}: args[{i}] ends at byte {end}, {binary.name} has {len(data)}")
    return rows, data


def describe(row: dict[str, Any]) -> str:
    task = task_label(int(str(row.get("task_id", "0")), 16))
    kind = (
        f"{row.get('dtype', '')}{row.get('shape', '')}" if row.get("kind") == "tensor" else "scalar"
    )
    return (
        f"{task} func {row.get('func_id')} arg {row.get('arg_index')} {row.get('role')} "
        f"{row.get('stage')} {kind} {row.get('bin_size', 0)} bytes"
    )


def _format(row: dict[str, Any], data: bytes, limit: int) -> str:
    start = int(row["bin_offset"])
    payload = data[start : start + int(row["bin_size"])]
    if row.get("kind") != "tensor":
        word = int.from_bytes(payload, "little") if payload else 0
        return f"  {word} ({word:#x})" if payload else "  no payload"
    found = values(payload, str(row.get("dtype")))
    if not found:
        return "  no payload"
    text = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in found[:limit])
    return f"  {text}{f', … {len(found) - limit} more' if len(found) > limit else ''}"


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="dump_viewer", description=__doc__)
    parser.add_argument("input", nargs="?", help="args_dump.json or its folder; newest of outputs/")
    parser.add_argument("--task", metavar="rXtY", help="only this task")
    parser.add_argument("--arg", type=int, metavar="N", help="only this argument")
    parser.add_argument("--stage", choices=("before_dispatch", "after_completion"))
    parser.add_argument("--values", action="store_true", help="show contents")
    parser.add_argument("--limit", type=int, default=16, help="elements to show (16)")
    options = parser.parse_args(arguments)
    source = input_file(options.input, "args_dump.json")
    if not source.exists() and (source.parent / "args_dump" / source.name).exists():
        source = source.parent / "args_dump" / source.name
    rows, data = read_dump(source)
    shown = 0
    for row in rows:
        label = task_label(int(str(row.get("task_id", "0")), 16))
        if (options.task and options.task != label) or (
            options.arg is not None and options.arg != row.get("arg_index")
        ):
            continue
        if options.stage and options.stage != row.get("stage"):
            continue
        shown += 1
        print(describe(row))
        if options.values:
            print(_format(row, data, max(options.limit, 1)))
    if not shown:
        raise FileError(f"{source}: none of {len(rows)} dumped arguments is meant")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
