"""Compiles the scenes' sources once per session."""

from __future__ import annotations

import functools
from pathlib import Path

from simpler.task_interface import ArgDirection, ChipCallable, CoreCallable
from simpler_setup import KernelCompiler

HERE = Path(__file__).resolve().parent
# func_id -> source, core; the order of the enumeration in orchestrations/kernels.h
KERNELS = [
    ("add", "aiv"),
    ("affine", "aiv"),
    ("copy", "aiv"),
    ("fill", "aiv"),
    ("index", "aiv"),
    ("lane", "aic"),
    ("lane", "aiv"),
    ("meet", "aic"),
    ("meet", "aiv"),
    ("expect", "aiv"),
    ("deliver", "aiv"),
    ("matmul", "aic"),
    ("attention", "aiv"),
    ("divide", "aiv"),
    ("throw", "aiv"),
    ("wait", "aiv"),
]


@functools.cache
def kernels(platform: str) -> tuple[tuple[int, CoreCallable], ...]:
    compiler = KernelCompiler(platform)
    includes = [
        *compiler.get_orchestration_include_dirs("tensormap_and_ringbuffer"),
        str(HERE / "kernels"),
    ]
    return tuple(
        (
            func_id,
            CoreCallable.build(
                signature=[],
                binary=compiler.compile_incore(
                    str(HERE / "kernels" / f"{name}.cpp"),
                    core_type=core,
                    extra_include_dirs=includes,
                ),
            ),
        )
        for func_id, (name, core) in enumerate(KERNELS)
    )


@functools.cache
def orchestration(platform: str, file: str) -> bytes:
    compiler = KernelCompiler(platform)
    return compiler.compile_orchestration(
        "tensormap_and_ringbuffer", str(HERE / "orchestrations" / f"{file}.cpp")
    )


def chip(platform: str, file: str, entry: str, directions: list[str]) -> ChipCallable:
    return ChipCallable.build(
        signature=[getattr(ArgDirection, d) for d in directions],
        func_name=entry,
        binary=orchestration(platform, file),
        children=list(kernels(platform)),
    )
