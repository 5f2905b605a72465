"""Where the runtime's programs are. There is one, and it is part of this installation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simpler_setup.platform_names import parse_platform


@dataclass(frozen=True)
class RuntimeBinaries:
    """The three programs of the original; here one library serves as all of them."""

    host: Path
    aicpu: Path
    aicore: Path


class RuntimeBuilder:
    def __init__(self, platform: str) -> None:
        self.platform = platform
        parse_platform(platform)

    def get_binaries(self, name: str, build: bool = False) -> RuntimeBinaries:
        if name not in ("tensormap_and_ringbuffer", "host_build_graph"):
            raise ValueError(
                f"runtime {name!r} is neither tensormap_and_ringbuffer nor host_build_graph"
            )
        from simpler import _task_interface

        library = Path(_task_interface.__file__)
        return RuntimeBinaries(library, library, library)
