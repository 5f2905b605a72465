"""Exceptions of the runtime."""

from __future__ import annotations

CODE_NAMES = {
    1: "SCOPE_DEADLOCK",
    2: "HEAP_RING_DEADLOCK",
    3: "FLOW_CONTROL_DEADLOCK",
    4: "DEP_POOL_OVERFLOW",
    5: "INVALID_ARGS",
    6: "DEPENDENCY_OVERFLOW",
    7: "REQUIRE_SYNC_START_INVALID",
    8: "TENSOR_WAIT_TIMEOUT",
    9: "EXPLICIT_ORCH_FATAL",
    10: "SCOPE_TASKS_OVERFLOW",
    11: "TENSORMAP_OVERFLOW",
    100: "SCHEDULER_TIMEOUT",
    101: "ASYNC_COMPLETION_INVALID",
    102: "ASYNC_WAIT_OVERFLOW",
    103: "ASYNC_REGISTRATION_FAILED",
    104: "READY_QUEUE_OVERFLOW",
    200: "KERNEL_FAILED",
    201: "INTERRUPTED",
    202: "FORKED",
    203: "BUSY",
    204: "WORKER_LOST",
}


class RunError(RuntimeError):
    """A run failed. `code` is the positive number of the error, `name` its word; the text names task and argument."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.name = CODE_NAMES.get(code, "UNKNOWN")
