"""What this machine is and what it can do at most, measured, not looked up."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Host:
    cpu: str
    cores: int
    amx: bool
    fp32_gflops: float  # one core, register micro-kernel
    bf16_gflops: float  # one core; 0 where the host has no bf16 unit
    build: Path

    def __str__(self) -> str:
        peaks = f"{self.fp32_gflops:.0f} GFLOP/s fp32"
        if self.bf16_gflops:
            peaks += f", {self.bf16_gflops:.0f} GFLOP/s bf16"
        return f"{self.cpu}, {self.cores} cores, measured peak per core {peaks}"


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def measure(build: Path) -> Host:
    done = subprocess.run(
        [str(build / "ptoas/kernels/kernels_bench"), "--peak"],
        capture_output=True,
        text=True,
        check=True,
    )
    peak = json.loads(done.stdout)
    flags = Path("/proc/cpuinfo").read_text()
    return Host(
        cpu_name(),
        os.cpu_count() or 1,
        "amx_bf16" in flags,
        peak["fp32_gflops"],
        peak["bf16_gflops"],
        build,
    )
