"""deps.json -> text, Graphviz source, or one HTML page that draws the graph and says why each edge exists."""

from __future__ import annotations

import argparse
import html
import json
import shutil
import subprocess
import sys
from pathlib import Path

from simpler_setup.tools.run_files import (
    DepEdge,
    Deps,
    DepTask,
    FileError,
    Names,
    command,
    input_file,
    name_options,
    read_deps,
    read_names,
    task_label,
)

_STYLE = {"explicit": "dashed", "creator": "solid", "tensormap": "bold"}
_ENGINES = ("dot", "neato", "fdp", "sfdp", "circo", "twopi")


def _shape(arg: dict) -> str:
    return f"{arg.get('dtype', '?')}{arg.get('shape', [])}"


def describe_edge(edge: DepEdge, deps: Deps) -> str:
    """Why the edge exists, in words."""
    if edge.source == "explicit" or edge.argument < 0:
        return "explicit dependency"
    args = deps.tasks[edge.after].args
    arg = args[edge.argument] if edge.argument < len(args) else {}
    how = {"creator": "made by the predecessor", "tensormap": "bytes in common"}
    text = f"argument {edge.argument} ({arg.get('type', '?')} {_shape(arg)}): "
    return text + how.get(edge.source, edge.source) + (
        f", {edge.overlap}" if edge.overlap and edge.source == "tensormap" else ""
    )  # fmt: skip


def _label(task: DepTask, deps: Deps, names: Names) -> str:
    return f"{names.task(deps, task.task)}({task_label(task.task)})"


def to_text(deps: Deps, names: Names, tensor_info: bool = False) -> str:
    lines = [f"{len(deps.tasks)} tasks, {len(deps.edges)} edges, {len(deps.tensors)} tensors"]
    incoming: dict[int, list[DepEdge]] = {}
    for edge in deps.edges:
        incoming.setdefault(edge.after, []).append(edge)
    for task in deps.tasks.values():
        blocks = f", {task.blocks} blocks" if task.blocks != 1 else ""
        lines.append(f"{_label(task, deps, names)}  [{task.scope}{blocks}]")
        if tensor_info:
            for arg in task.args:
                tensor = deps.tensors.get(int(arg.get("tensor_id", 0)), {})
                at = f"{int(tensor['buffer_addr']):#x}" if "buffer_addr" in tensor else "?"
                lines.append(
                    f"    {arg.get('idx')}: {arg.get('type')} {_shape(arg)} "
                    f"strides {arg.get('strides')} +{arg.get('start_offset')} of buffer {at}"
                )
        for edge in incoming.get(task.task, ()):
            before = _label(deps.tasks[edge.before], deps, names)
            lines.append(f"    after {before}: {describe_edge(edge, deps)}")
    return "\n".join(lines)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def to_dot(deps: Deps, names: Names, tensor_info: bool = False, direction: str = "TB") -> str:
    lines = [
        "digraph deps {",
        f"  rankdir={direction};",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=9];',
    ]
    for task in deps.tasks.values():
        label = _label(task, deps, names)
        if task.blocks != 1:
            label += f"\n{task.blocks} blocks"
        if tensor_info:
            label += "".join(f"\n{a.get('idx')}: {a.get('type')} {_shape(a)}" for a in task.args)
        lines.append(f"  t{task.task} [label={_quote(label)}];")
    for edge in deps.edges:
        label = "" if edge.argument < 0 else f"arg {edge.argument}"
        style = _STYLE.get(edge.source, "solid")
        tip = _quote(describe_edge(edge, deps))
        lines.append(
            f"  t{edge.before} -> t{edge.after} [label={_quote(label)}, style={style}, "
            f"tooltip={tip}, edgetooltip={tip}];"
        )
    return "\n".join([*lines, "}"])


# -- HTML -------------------------------------------------------------------------------------------------------------
def _layers(deps: Deps) -> dict[int, tuple[int, int]]:
    """Column and row of each task: the row is the longest way from a task without predecessors."""
    depth: dict[int, int] = {}
    for task in deps.order():
        depth[task] = max((depth[p] + 1 for p in deps.predecessors[task]), default=0)
    rows: dict[int, list[int]] = {}
    for task in deps.tasks:
        rows.setdefault(depth[task], []).append(task)
    place: dict[int, tuple[int, int]] = {}
    for row in sorted(rows):
        # Near the middle of the predecessors.
        def middle(task: int, row: int = row) -> float:
            before = [place[p][0] for p in deps.predecessors[task] if p in place]
            return sum(before) / len(before) if before else 0.0

        for column, task in enumerate(sorted(rows[row], key=lambda t: (middle(t), t))):
            place[task] = (column, row)
    return place


def _svg(deps: Deps, names: Names, direction: str) -> str:
    """A drawing without Graphviz: rows of boxes, lines between them."""
    place = _layers(deps)
    wide, high, gap_x, gap_y = 150, 34, 24, 60
    sideways = direction == "LR"

    def corner(task: int) -> tuple[int, int]:
        column, row = place[task]
        if sideways:
            return 20 + row * (wide + gap_y), 20 + column * (high + gap_x)
        return 20 + column * (wide + gap_x), 20 + row * (high + gap_y)

    width = max((corner(t)[0] for t in deps.tasks), default=0) + wide + 20
    height = max((corner(t)[1] for t in deps.tasks), default=0) + high + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    for edge in deps.edges:
        (ax, ay), (bx, by) = corner(edge.before), corner(edge.after)
        if sideways:
            ends = (ax + wide, ay + high // 2, bx, by + high // 2)
        else:
            ends = (ax + wide // 2, ay + high, bx + wide // 2, by)
        dash = ' stroke-dasharray="5 4"' if edge.source == "explicit" else ""
        parts.append(
            f'<line class="{html.escape(edge.source)}" x1="{ends[0]}" y1="{ends[1]}" x2="{ends[2]}" '
            f'y2="{ends[3]}"{dash} marker-end="url(#tip)">'
            f"<title>{html.escape(describe_edge(edge, deps))}</title></line>"
        )
    for task in deps.tasks.values():
        x, y = corner(task.task)
        args = "\n".join(f"{a.get('idx')}: {a.get('type')} {_shape(a)}" for a in task.args)
        parts.append(
            f'<g><rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="6"/>'
            f'<text x="{x + wide // 2}" y="{y + 21}">{html.escape(_label(task, deps, names))}</text>'
            f"<title>{html.escape(args)}</title></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _graphviz_svg(dot: str, engine: str) -> str | None:
    program = shutil.which(engine)
    if program is None:
        return None
    done = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, text=True)
    return done.stdout[done.stdout.index("<svg") :] if done.returncode == 0 else None


_PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; margin: 12px; }} svg text {{ font: 11px sans-serif; text-anchor: middle; }}
svg rect {{ fill: #eef4ff; stroke: #46a; }} svg line {{ stroke: #888; }} svg line.tensormap {{ stroke: #46a; }}
svg line:hover {{ stroke: #d40; stroke-width: 3; }} svg g:hover rect {{ fill: #ffd; }}
table {{ border-collapse: collapse; margin-top: 1em; }} td, th {{ border: 1px solid #ccc; padding: 2px 8px; text-align: left; }}
</style></head><body>
<h3>{title}</h3><p>{count}. Dashed: explicit. Rest the pointer on a line to see why the edge exists.</p>
{drawing}
<table><tr><th>task</th><th>after</th><th>why</th></tr>
{rows}
</table>
<script type="application/json" id="deps">{data}</script>
</body></html>
"""


def to_html(
    deps: Deps,
    names: Names,
    tensor_info: bool = False,
    direction: str = "TB",
    engine: str | None = None,
) -> str:
    """One page without outside parts. With an `engine` Graphviz draws, if it is installed."""
    drawing = None
    if engine is not None:
        drawing = _graphviz_svg(to_dot(deps, names, tensor_info, direction), engine)
    rows = "\n".join(
        f"<tr><td>{html.escape(_label(deps.tasks[e.after], deps, names))}</td>"
        f"<td>{html.escape(_label(deps.tasks[e.before], deps, names))}</td>"
        f"<td>{html.escape(describe_edge(e, deps))}</td></tr>"
        for e in deps.edges
    )
    data = json.dumps([[str(e.before), str(e.after), e.source] for e in deps.edges])
    return _PAGE.format(
        title=html.escape(f"Dependencies of {deps.path.parent.name or deps.path.name}"),
        count=f"{len(deps.tasks)} tasks, {len(deps.edges)} edges",
        drawing=drawing or _svg(deps, names, direction),
        rows=rows,
        data=data.replace("<", "\\u003c"),
    )


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="deps_viewer", description=__doc__)
    parser.add_argument("input", nargs="?", help="deps.json or its folder; newest of outputs/")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: beside the input; - is stdout"
    )
    parser.add_argument("--format", choices=("text", "dot", "html"), default="text")
    parser.add_argument(
        "--engine", choices=_ENGINES, help="let this program of Graphviz draw the HTML page"
    )
    parser.add_argument("--show-tensor-info", action="store_true", help="arguments of each task")
    parser.add_argument("--direction", choices=("TB", "LR"), default="TB")
    name_options(parser)
    options = parser.parse_args(arguments)
    source = input_file(options.input, "deps.json")
    deps = read_deps(source)
    deps.order()  # a cycle is an error in every format
    names = read_names(source.parent, options.func_names, options.kernel_config)
    if options.format == "text":
        text = to_text(deps, names, options.show_tensor_info)
    elif options.format == "dot":
        text = to_dot(deps, names, options.show_tensor_info, options.direction)
    else:
        if options.engine and not shutil.which(options.engine):
            print(
                f"{options.engine} is not installed (Debian: graphviz); drawn without it",
                file=sys.stderr,
            )
        text = to_html(deps, names, options.show_tensor_info, options.direction, options.engine)
    output = options.output or ("-" if options.format == "text" else None)
    if output == "-":
        print(text)
        return
    target = Path(output) if output else source.with_name(f"deps.{options.format}")
    try:
        target.write_text(text)
    except OSError as error:
        raise FileError(f"{target}: {error.strerror}") from error
    print(f"wrote {target}")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
