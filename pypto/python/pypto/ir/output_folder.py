"""The folder of a compiled program: IR after each stage, .pto texts, manifests, machine code, report.

    compiled_meta.json            signatures, results, target (pypto.ir.artifact_metadata)
    kernel_config.py              kernels and orchestration, for tools
    orchestration/<entry>.mlir    the lowered program, from which machine code is made
    ptoas/<kernel>.pto            each kernel as text
    kernels/<core>/<kernel>.cpp   each kernel as C++ with its entry; report/codegen_errors.txt says which
                                  have none (the machine code here is not made from it)
    prebuilt/…                    machine code (pypto.runtime.artifact_runtime)
    passes_dump/…, report/…, debug/run.py

A program with several entries has one such folder for each, below next_levels/, and no manifest on top.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pypto import knobs
from pypto.ir.artifact_metadata import FILE, ArtifactMetadata

# What tells kinds of builds apart; those of another kind are removed from a folder that is used again.
MARKERS = (FILE, "distributed_meta.json", "kernel_config.py", "orchestration/host_orch.py")


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
    metadata: Sequence[ArtifactMetadata],
    *,
    dumps: bool,
    profile: bool = False,
    assembled: bool = True,
) -> None:
    """Writes what the compiler gave; `metadata` has one entry for each unit of the result. Files of
    other names stay, markers of another kind of build go. What is not `assembled` has kernels/<core>/*.pto
    for an assembler to come, no C++ and no manifest."""
    os.makedirs(folder, exist_ok=True)
    for marker in MARKERS:
        _remove(os.path.join(folder, marker))
    unit = result["unit"]
    units = [unit, *result["others"]]
    if dumps:
        for index, (stage, text) in enumerate(unit["dumps"]):
            put(folder, f"passes_dump/{index:02d}_after_{stage}.mlir", text)
    if len(units) == 1:
        _write_entry(folder, unit, unit, metadata[0], assembled)
    else:
        for each, described in zip(units, metadata, strict=True):
            _write_entry(
                os.path.join(folder, "next_levels", described.entry),
                each,
                unit,
                replace(described, entries=()),
                assembled,
            )
        put(folder, FILE, metadata[0].text())
    if profile:
        _write_profile(folder, unit["stage_ms"])


def _write_entry(
    folder: str,
    unit: dict[str, Any],
    texts: dict[str, Any],
    metadata: ArtifactMetadata,
    assembled: bool,
) -> None:
    """The files of one entry; kernels' texts are with the first unit of a result."""
    from pypto.runtime import artifact_runtime

    cores = {kernel.name: kernel.core_type for kernel in metadata.kernels}
    for name, text in texts["pto"]:
        place = "ptoas" if assembled else f"kernels/{cores.get(name, 'aiv')}"
        put(folder, f"{place}/{name}.pto", text)
    sources = {}
    for name, text in texts["cpp"] if assembled else ():
        put(folder, f"ptoas/{name}.cpp", text)
        if name in cores:
            sources[name] = f"kernels/{cores[name]}/{name}.cpp"
            put(folder, sources[name], text)
    if assembled and texts["cpp_problems"]:
        lines = [f"{name}: {why}\n" for name, why in texts["cpp_problems"]]
        put(folder, "report/codegen_errors.txt", "".join(lines))
    if unit["lowered"]:
        put(folder, artifact_runtime.lowered_file(metadata.entry), unit["lowered"])
        if assembled:
            put(folder, "kernel_config.py", kernel_config(metadata, sources))
    if unit["code"]:
        manifest = artifact_runtime.binary_manifest(metadata, unit["code"])
        put(folder, artifact_runtime.ORCHESTRATION, unit["code"])
        put(folder, artifact_runtime.BINARY_MANIFEST, json.dumps(manifest, indent=2) + "\n")
    if knobs.get("PYPTO_EMIT_DEBUG_RUNNER"):
        put(folder, "debug/run.py", _RUNNER)
    put(folder, FILE, metadata.text())


def kernel_config(metadata: ArtifactMetadata, sources: Mapping[str, str]) -> str:
    """kernel_config.py: a Python module with RUNTIME_CONFIG, ORCHESTRATION and KERNELS. `sources` are the
    C++ files of kernels; the others have their .pto text."""
    from pypto.runtime.artifact_runtime import lowered_file

    signature = [p.direction.name.upper() for p in metadata.params if p.is_tensor]
    words = {"_D.IN", "_D.OUT", "_D.INOUT"} if signature or metadata.kernels else set()
    lines = ['"""Manifest of a compiled program."""', "", "from pathlib import Path", ""]
    if words:
        lines += ["from simpler.task_interface import ArgDirection as _D", ""]
    lines += [
        "_HERE = Path(__file__).resolve().parent",
        "",
        f'RUNTIME_CONFIG = {{"runtime": {_quoted(metadata.runtime)}, "aicpu_thread_num": 0}}',
        "",
        "ORCHESTRATION = {",
        f'    "source": str(_HERE / {_quoted(lowered_file(metadata.entry))}),',
        f'    "function_name": {_quoted(metadata.entry)},',
        f'    "signature": [{", ".join(f"_D.{word}" for word in signature)}],',
        "}",
        "",
        "KERNELS = [",
    ]
    for number, kernel in enumerate(metadata.kernels):
        source = sources.get(kernel.name, f"ptoas/{kernel.name}.pto")
        lines += [
            "    {",
            f'        "func_id": {number},',
            f'        "name": {_quoted(kernel.name)},',
            f'        "source": str(_HERE / {_quoted(source)}),',
            f'        "core_type": {_quoted(kernel.core_type)},',
            f'        "signature": [{", ".join(f"_D.{word}" for word in kernel.signature)}],',
            "    },",
        ]
    return "\n".join([*lines, "]", ""])


def _quoted(text: str) -> str:
    return json.dumps(text)


_RUNNER = '''"""Runs the compiled program of this folder on random arguments and prints its results.

    python debug/run.py
"""

from pathlib import Path

import torch

from pypto import ir
from pypto.ir.type_tables import torch_dtype

DYNAMIC = 32  # for extents that the call decides

program = ir.CompiledProgram.from_dir(Path(__file__).resolve().parent.parent)
args = []
for param in program.params:
    if param.is_scalar:
        args.append(False if param.dtype.name == "BOOL" else 1)
        continue
    shape = [DYNAMIC if extent < 0 else extent for extent in param.shape]
    dtype = torch_dtype(param.dtype)
    if param.direction.name == "Out":
        args.append(torch.zeros(shape, dtype=dtype))
    elif dtype.is_floating_point:
        args.append(torch.randn(shape).to(dtype))
    else:
        args.append(torch.randint(0, 2, shape).to(dtype))
program(*args)
for param, arg in zip(program.params, args, strict=True):
    if param.is_written:
        print(param.name, arg)
'''


def _write_profile(folder: str, stage_ms: Sequence[tuple[str, float]]) -> None:
    stages = [
        {"name": name, "seconds": milliseconds / 1e3, "children": []}
        for name, milliseconds in stage_ms
    ]
    total = sum(stage["seconds"] for stage in stages)
    report = {"total_seconds": total, "stages": stages}
    put(folder, "report/pipeline_profile.json", json.dumps(report, indent=2) + "\n")
    lines = [f"{stage['name']:<40} {stage['seconds'] * 1e3:10.3f} ms" for stage in stages]
    lines.append(f"{'total':<40} {total * 1e3:10.3f} ms")
    put(folder, "report/pipeline_profile.txt", "\n".join(lines) + "\n")


def put(folder: str | os.PathLike, name: str, content: str | bytes) -> None:
    """Writes a file under another name first, so that a reader never sees half of it."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.tmp{os.getpid()}-{threading.get_ident()}"
    with open(temporary, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.replace(temporary, path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
