"""The logger "simpler" and its extra levels."""

from __future__ import annotations

import ctypes
import logging

TIMING, NUL = 25, 60
logging.addLevelName(TIMING, "TIMING")
logging.addLevelName(NUL, "NUL")


def get_logger() -> logging.Logger:
    return logging.getLogger("simpler")


def apply_threshold() -> None:
    """Hands the logger's level to the native part; called once by Worker.init."""
    from simpler import _task_interface

    level = get_logger().level or TIMING
    ctypes.CDLL(_task_interface.__file__).simpler_set_log_threshold(ctypes.c_int32(level))
