//===- RunOrchestration.cpp - context, exceptions, status -----------------===//
#include "RunOrchestration.h"
#include "PipeState.h"

#include <exception>

namespace simpler {

static thread_local SimplerRun *viewRun = nullptr;

ViewErrors::ViewErrors(SimplerRun *run)
    : outerRun_(viewRun), outerHandler_(simpler_view_error_handler) {
  viewRun = run;
  simpler_view_error_handler = [](const char *text) {
    viewRun->fail(SIMPLER_INVALID_ARGS, "%s", text);
  };
}

ViewErrors::~ViewErrors() {
  viewRun = outerRun_;
  simpler_view_error_handler = outerHandler_;
}

int32_t runOrchestration(Device &device, const RunOptions &options,
                         void (*body)(SimplerRun &, void *), void *context, std::string &error) {
  error.clear();
  if (device.forked()) {
    error = "the worker was made before fork; its threads exist in the parent process only. Create "
            "the worker in the process that uses it";
    return SIMPLER_FORKED;
  }
  SimplerRun *run = nullptr;
  try {
    run = device.acquireRun();
  } catch (const std::bad_alloc &) {
    error = "the system has no memory for another run";
    return SIMPLER_HEAP_RING_DEADLOCK;
  }
  if (!run) {
    error = "more than " + std::to_string(Device::kMaxRuns) + " runs at once on one worker";
    return SIMPLER_BUSY;
  }
  Executor *outer = Executor::current(); // of the kernel or orchestration that calls us
  CallPlace place = callPlace();
  if (outer)
    outer->leave();
  Executor::setCurrent(&run->executor());
  setCallPlace({}); // what runs here cannot yield for the calling kernel
  run->begin(options, outer);
  if (outer)
    outer->restBegin();
  try {
    body(*run, context);
  } catch (const std::exception &exception) {
    run->fail(SIMPLER_KERNEL_FAILED, "the orchestration threw an exception: %s", exception.what());
  } catch (...) {
    run->fail(SIMPLER_KERNEL_FAILED, "the orchestration threw something that is no std::exception");
  }
  int32_t status = run->end();
  if (status)
    try {
      error = run->message();
    } catch (const std::bad_alloc &) {
      error = "no memory"; // short enough to need none
    }
  // One of the two is never at rest: that both were would prove that nothing goes on any more.
  if (outer)
    outer->restEnd();
  run->executor().restBegin();
  setCallPlace(place);
  Executor::setCurrent(outer);
  if (!run->abandoned())
    device.releaseRun(run);
  return status;
}

} // namespace simpler
