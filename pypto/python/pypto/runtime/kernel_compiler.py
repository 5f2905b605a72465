"""Compiles C++ kernels and orchestrations for simpler: its `KernelCompiler`, with the check that the
runtime belongs to these sources."""

from __future__ import annotations

from pypto.runtime.runtime_pin import check_runtime_pin

check_runtime_pin()

from simpler_setup.kernel_compiler import KernelCompiler  # noqa: E402

__all__ = ["KernelCompiler"]
