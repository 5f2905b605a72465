//===- error_codes.h - what a run can fail with ---------------------------===//
//
// A run's status is 0 or minus one of these; 1..104 are the codes of spec 7.5, those from 200 on
// are this runtime's own.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_ERROR_CODES_H
#define SIMPLER_ERROR_CODES_H

enum SimplerErrorCode {
  SIMPLER_OK = 0,
  SIMPLER_SCOPE_DEADLOCK = 1,        // a scope holds more tasks than the task window
  SIMPLER_HEAP_RING_DEADLOCK = 2,    // live buffers exceed the heap budget (or the system's memory)
  SIMPLER_FLOW_CONTROL_DEADLOCK = 3, // task window full and nothing can be reclaimed
  SIMPLER_DEP_POOL_OVERFLOW = 4,     // more dependency entries than the budget
  SIMPLER_INVALID_ARGS = 5,
  SIMPLER_DEPENDENCY_OVERFLOW = 6,
  SIMPLER_REQUIRE_SYNC_START_INVALID = 7, // cohort wider than the device
  SIMPLER_TENSOR_WAIT_TIMEOUT = 8,        // data read that can never become ready
  SIMPLER_EXPLICIT_ORCH_FATAL = 9,        // the program gave up
  SIMPLER_SCOPE_TASKS_OVERFLOW = 10,
  SIMPLER_TENSORMAP_OVERFLOW = 11,
  SIMPLER_SCHEDULER_TIMEOUT = 100, // nothing can run although tasks are left
  SIMPLER_ASYNC_COMPLETION_INVALID = 101,
  SIMPLER_ASYNC_WAIT_OVERFLOW = 102,
  SIMPLER_ASYNC_REGISTRATION_FAILED = 103,
  SIMPLER_READY_QUEUE_OVERFLOW = 104,
  SIMPLER_KERNEL_FAILED = 200, // a kernel or the orchestration threw
  SIMPLER_INTERRUPTED = 201,
  SIMPLER_FORKED = 202,      // the worker belongs to the parent process
  SIMPLER_BUSY = 203,        // more runs at once than the worker has contexts for
  SIMPLER_WORKER_LOST = 204, // level 3: the process of a device or sub-worker is gone
};

#endif // SIMPLER_ERROR_CODES_H
