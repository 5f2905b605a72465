"""Compiles kernels and orchestrations to shared objects, with a content-addressed cache.

The key is the SHA-256 of the preprocessed text, the flags and the compiler's version; entries are written under a
temporary name and renamed, so that readers never see half a file.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from simpler_setup.platform_names import parse_platform
from simpler_setup.pto_isa import runtime_sources

_KIT = runtime_sources() / "kit"
_COMPILERS = ("clang++-22", "clang++", "g++", "c++")
_COMMON = ["-shared", "-fPIC", "-std=c++20", "-fno-strict-aliasing"]
_KERNEL = ["-O2", "-DNDEBUG", "-D__CPU_SIM", "-DPTO_CPU_MAX_THREADS=1", "-Wno-ignored-attributes"]
_CACHE_LIMIT = 512 << 20


class CompileError(RuntimeError):
    """The compiler refused a source; the text is the compiler's."""


@functools.cache
def host_compiler() -> str:
    """$SIMPLER_CXX, or the first C++20 compiler there is."""
    for name in (os.environ.get("SIMPLER_CXX"), *_COMPILERS):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CompileError(
        f"no C++ compiler: install one of {', '.join(_COMPILERS)} or set SIMPLER_CXX"
    )


@functools.cache
def _compiler_identity(compiler: str) -> str:
    return subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=True
    ).stdout


def cache_folder() -> Path:
    root = os.environ.get("PTO_CACHE_DIR")
    return (Path(root) if root else Path.home() / ".cache" / "pto-stack") / "kernels"


class KernelCompiler:
    """Builds for one platform. Any C++20 compiler serves; sources are the ones written for the original headers."""

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.arch, self.variant = parse_platform(platform)

    @property
    def project_root(self) -> Path:
        return _KIT.parent

    def get_orchestration_include_dirs(self, runtime_name: str) -> list[str]:
        """Folders with tensor.h, intrinsic.h, pto_orchestration_api.h and what they include."""
        if runtime_name not in ("tensormap_and_ringbuffer", "host_build_graph"):
            raise ValueError(
                f"runtime {runtime_name!r} is neither tensormap_and_ringbuffer nor host_build_graph"
            )
        return [str(_KIT / "include"), str(_KIT.parent / "include")]

    def compile_incore(
        self,
        source_path: str,
        core_type: str = "aiv",
        pto_isa_root: str | None = None,
        extra_include_dirs: Sequence[str] | None = None,
        build_dir: str | None = None,
    ) -> bytes:
        """A kernel: defines `kernel_entry`. core_type is "aic" or "aiv"."""
        if core_type not in ("aic", "aiv"):
            raise ValueError(f"core_type {core_type!r} is neither 'aic' nor 'aiv'")
        from simpler_setup.pto_isa import ensure_pto_isa_root

        isa = Path(pto_isa_root or ensure_pto_isa_root())
        core = "-D__DAV_CUBE__" if core_type == "aic" else "-D__DAV_VEC__"
        arch = "-DPTO_PLATFORM_A5" if self.arch == "a5" else "-DPTO_PLATFORM_A2A3"
        includes = [str(isa / "include"), str(isa / "include" / "pto"), *(extra_include_dirs or [])]
        flags = [*_COMMON, *_KERNEL, core, arch, f"-Wl,-soname,{Path(source_path).name}"]
        return self._build([str(source_path)], flags, includes, build_dir)

    def compile_orchestration(
        self,
        runtime_name: str,
        source_path: str,
        extra_include_dirs: Sequence[str] | None = None,
        build_dir: str | None = None,
    ) -> bytes:
        """An orchestration with the runtime's binding code."""
        includes = [*self.get_orchestration_include_dirs(runtime_name), *(extra_include_dirs or [])]
        flags = [*_COMMON, "-O2", "-g1", "-pthread", f"-Wl,-soname,{Path(source_path).name}"]
        return self._build(
            [str(source_path), str(_KIT / "src" / "bind_runtime.cpp")], flags, includes, build_dir
        )

    def _build(
        self, sources: list[str], flags: list[str], includes: list[str], build_dir: str | None
    ) -> bytes:
        for source in sources:
            if not Path(source).is_file():
                raise FileNotFoundError(f"no source file {source}")
        compiler = host_compiler()
        if "clang" not in _compiler_identity(compiler):
            # Unique symbols would be shared by all kernels of the process.
            flags = [*flags, "-fno-gnu-unique"]
        flags = [*flags, *(f"-I{folder}" for folder in includes)]
        text = self._run(
            [compiler, *(f for f in flags if not f.startswith("-Wl")), "-E", "-P", *sources]
        )
        key = hashlib.sha256()
        for part in (
            _compiler_identity(compiler).encode(),
            "\0".join(f for f in flags if f[:2] != "-I").encode(),
            text,
        ):
            key.update(hashlib.sha256(part).digest())
        entry = cache_folder() / f"{key.hexdigest()}.so"
        try:
            data = entry.read_bytes()
            if data[:4] == b"\x7fELF":
                os.utime(entry)
                return data
            entry.unlink()  # damaged: build again
        except OSError:
            pass
        with tempfile.TemporaryDirectory(prefix="simpler-build-", dir=build_dir) as folder:
            target = Path(folder) / "out.so"
            self._run([compiler, *flags, *sources, "-o", str(target)])
            data = target.read_bytes()
        _store(entry, data)
        return data

    @staticmethod
    def _run(command: list[str]) -> bytes:
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}")
        return done.stdout


def _store(entry: Path, data: bytes) -> None:
    """A cache that cannot be written is no error."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=entry.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, entry)
        entries = sorted(entry.parent.glob("*.so"), key=lambda p: p.stat().st_mtime)
        total = sum(p.stat().st_size for p in entries)
        while total > _CACHE_LIMIT and entries:
            oldest = entries.pop(0)
            total -= oldest.stat().st_size
            oldest.unlink(missing_ok=True)
    except OSError:
        pass
