"""scope_stats.jsonl -> one HTML page: tasks, bytes and dependency entries in use over the scopes of a run."""

from __future__ import annotations

import argparse
import html
import json
import sys
from pathlib import Path
from typing import Any

from simpler_setup.tools.run_files import FileError, command, input_file

_SERIES = (
    ("tasks", "task_window"),
    ("heap bytes", "heap"),
    ("dependency entries", "dep_pool"),
)


def read_scopes(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise FileError(f"{path}:{number}: not JSON: {error.msg}") from None
    if not rows or rows[0].get("version") != 6:
        raise FileError(f"{path}: not scope statistics of version 6")
    return rows[0], rows[1:]


def in_use(row: dict[str, Any], key: str) -> int:
    """Taken minus given back so far."""
    return int(row.get(f"{key}_start", 0)) - int(row.get(f"{key}_end", 0))


def text(head: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    lines = [f"{len(rows)} records{', the run failed' if head.get('fatal') else ''}"]
    for name, key in _SERIES:
        peak = max(rows, key=lambda r: abs(in_use(r, key)), default=None)
        if peak is not None:
            lines.append(
                f"{name}: at most {abs(in_use(peak, key))}, at {peak.get('site', '?')} ({peak.get('phase')})"
            )
    return "\n".join(lines)


def _chart(name: str, key: str, rows: list[dict[str, Any]]) -> str:
    values = [abs(in_use(r, key)) for r in rows]
    top = max(values, default=0) or 1
    wide, high = 900, 160
    step = wide / max(len(values) - 1, 1)
    points = " ".join(f"{i * step:.1f},{high - v / top * high:.1f}" for i, v in enumerate(values))
    marks = "".join(
        f'<circle cx="{i * step:.1f}" cy="{high - v / top * high:.1f}" r="3">'
        f"<title>{html.escape(str(r.get('site')))} {r.get('phase')}, depth {r.get('depth')}: {v}</title></circle>"
        for i, (r, v) in enumerate(zip(rows, values))
    )
    return (
        f"<h4>{html.escape(name)}, at most {max(values, default=0)}</h4>"
        f'<svg width="{wide + 20}" height="{high + 10}" viewBox="-5 -5 {wide + 20} {high + 10}">'
        f'<polyline points="{points}"/>{marks}</svg>'
    )


def to_html(head: dict[str, Any], rows: list[dict[str, Any]], title: str) -> str:
    charts = "\n".join(_chart(name, key, rows) for name, key in _SERIES)
    return (
        '<!doctype html><html><head><meta charset="utf-8"><style>body{font:14px sans-serif}'
        "polyline{fill:none;stroke:#46a;stroke-width:1.5}circle{fill:#46a}svg{border:1px solid #ccc}"
        f"</style><title>{html.escape(title)}</title></head><body><h3>{html.escape(title)}</h3>"
        f"<p>{len(rows)} records; rest the pointer on a dot to see the scope.</p>{charts}</body></html>\n"
    )


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="scope_stats_plot", description=__doc__)
    parser.add_argument(
        "input", nargs="?", help="scope_stats.jsonl or its folder; newest of outputs/"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: scope_stats.html beside it"
    )
    options = parser.parse_args(arguments)
    source = input_file(options.input, "scope_stats.jsonl")
    if not source.exists() and (source.parent / "scope_stats" / source.name).exists():
        source = source.parent / "scope_stats" / source.name
    head, rows = read_scopes(source)
    target = Path(options.output) if options.output else source.with_suffix(".html")
    try:
        target.write_text(to_html(head, rows, f"Scopes of {source.parent.parent.name or 'a run'}"))
    except OSError as error:
        raise FileError(f"{target}: {error.strerror}") from error
    print(text(head, rows))
    print(f"wrote {target}")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
