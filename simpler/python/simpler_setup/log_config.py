"""Log levels by name."""

from __future__ import annotations

LEVELS = {"debug": 10, "info": 20, "timing": 25, "warn": 30, "warning": 30, "error": 40, "nul": 60}


def parse_level(text: str | int) -> int:
    """ "info" or "20" -> 20."""
    name = str(text).strip().lower()
    if name in LEVELS:
        return LEVELS[name]
    if name.isdigit():
        return int(name)
    raise ValueError(f"log level {text!r} is none of {', '.join(LEVELS)}")
