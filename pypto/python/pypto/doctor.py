"""Looks at what programs need: the package's own modules, the CPU, folders, optional packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from dataclasses import dataclass

from pypto import knobs


@dataclass(frozen=True)
class Finding:
    """One line of the report. `state` is "ok", "note" or "missing"; `remedy` says how to get it."""

    state: str
    what: str
    detail: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.state:<8} {self.what}: {self.detail}"
        return f"{text}\n{'':<8}   {self.remedy}" if self.remedy else text


_CPU_FLAGS = (
    ("avx2", "missing", "vector code needs AVX2"),
    ("fma", "missing", "vector code needs FMA"),
    ("avx512f", "note", "code is generated for AVX2"),
    ("avx512_bf16", "note", "BF16 products go through FP32"),
    ("avx512_vnni", "note", "INT8 products go through wider integers"),
    ("amx_bf16", "note", "BF16 products use vector instructions"),
    ("amx_int8", "note", "INT8 products use vector instructions"),
)


def examine() -> list[Finding]:
    """Everything worth knowing, in the order in which it matters."""
    return [*_modules(), *_cpu(), _device(), _cache(), *_packages(), _kernel_mode(), *_knobs()]


def _modules() -> list[Finding]:
    from pypto import bridge
    from pypto.errors import ResourceError

    findings = []
    for name, load in (("pypto._core", bridge.core), ("pypto._compiler", bridge.compiler)):
        try:
            findings.append(Finding("ok", name, str(load().__file__)))
        except ResourceError as error:
            findings.append(Finding("missing", name, error.message, error.hint or ""))
    return findings


def _cpu() -> list[Finding]:
    flags: set[str] = set()
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "flags":
                    flags = set(value.split())
                    break
                if key.strip() == "model name":
                    model = value.strip()
    except OSError:
        return [Finding("note", "CPU", f"{model}; its features cannot be read")]
    findings = [Finding("ok", "CPU", f"{model}, {os.cpu_count()} cores")]
    for flag, severity, consequence in _CPU_FLAGS:
        if flag in flags:
            findings.append(Finding("ok", f"CPU {flag}", "there"))
        else:
            findings.append(Finding(severity, f"CPU {flag}", f"not there: {consequence}"))
    return findings


def _device() -> Finding:
    if os.path.exists("/dev/davinci0"):
        return Finding(
            "note", "NPU", "there is one; programs run on the simulated device of this package"
        )
    return Finding("ok", "NPU", "none; platforms a2a3 and a5 run on the simulated device")


def _cache() -> Finding:
    from pypto import cache

    if not cache.enabled():
        return Finding("note", "cache", "off", "unset PTO_CACHE to keep compiled programs")
    folder = cache.folder()
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    entries, size = cache.size()
    if not os.access(existing, os.W_OK):
        remedy = "set PTO_CACHE_DIR to a folder that can be written"
        return Finding("note", "cache", f"{folder} cannot be written", remedy)
    return Finding("ok", "cache", f"{folder}, {entries} programs, {size >> 10} KiB")


def _packages() -> list[Finding]:
    findings = []
    for name, use in (("torch", "torch tensors as arguments"), ("numpy", "NumPy arrays")):
        try:
            findings.append(Finding("ok", name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            findings.append(
                Finding("note", name, f"not installed; {use} need it", f"pip install {name}")
            )
    return findings


def _kernel_mode() -> Finding:
    """What pypto.torch.init needs, without loading it."""
    needed = ("torch_npu", "simpler", "pypto._torch_npu")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if not missing:
        return Finding("ok", "kernel mode", f"{', '.join(needed)} are there")
    detail = f"not possible without {', '.join(missing)}; only pypto.torch.init needs it"
    return Finding(
        "note", "kernel mode", detail, "build the stack with torch: torch-npu-sim, or a torch_npu"
    )


def _knobs() -> list[Finding]:
    findings = []
    for knob in knobs.KNOBS:
        try:
            value = knobs.get(knob.env)
        except ValueError as error:
            findings.append(Finding("missing", knob.env, str(error), knob.help))
            continue
        if os.environ.get(knob.env):
            findings.append(Finding("note", knob.env, f"set to {value!r}"))
    return findings
