"""Environment variables of the runtime, read in one place."""

from __future__ import annotations

import os

RING_VARIABLES = {
    "ring_task_window": "PTO2_RING_TASK_WINDOW",
    "ring_heap": "PTO2_RING_HEAP",
    "ring_dep_pool": "PTO2_RING_DEP_POOL",
}


def ring_values(name: str) -> list[int] | None:
    """Four values from the environment, or None when unset or malformed."""
    text = os.environ.get(RING_VARIABLES[name])
    if not text:
        return None
    try:
        parts = [int(part) for part in text.split(",")]
    except ValueError:
        return None
    if len(parts) == 1:
        parts *= 4
    return parts if len(parts) == 4 and all(p >= 0 for p in parts) else None
