//===- bind_runtime.cpp - linked into every orchestration object ----------===//
//
// One runtime per thread: several runs of one callable may be in progress at once.
//
//===----------------------------------------------------------------------===//
#include "pto_orchestration_api.h"

static thread_local PTO2Runtime *boundRuntime = nullptr;

static void viewError(const char *text) {
  if (boundRuntime)
    boundRuntime->ops->report_fatal(boundRuntime, 5, text);
}

PTO2Runtime *simpler_bound_runtime() { return boundRuntime; }

extern "C" __attribute__((visibility("default"))) void
framework_bind_runtime(PTO2Runtime *runtime) {
  boundRuntime = runtime;
  simpler_view_error_handler = runtime ? viewError : nullptr;
}

/// Entries take C++ references; the runtime calls them through these with plain data.
extern "C" __attribute__((visibility("default"))) void
simpler_call_entry(void *entry, const ChipTensor *tensors, int32_t numTensors,
                   const uint64_t *scalars, int32_t numScalars) {
  ChipTaskArgs args(tensors, numTensors, scalars, numScalars);
  reinterpret_cast<void (*)(const ChipTaskArgs &)>(entry)(args);
}

extern "C" __attribute__((visibility("default"))) int32_t
simpler_call_config(void *entry, const ChipTensor *tensors, int32_t numTensors,
                    const uint64_t *scalars, int32_t numScalars) {
  ChipTaskArgs args(tensors, numTensors, scalars, numScalars);
  return reinterpret_cast<PTO2OrchestrationConfig (*)(const ChipTaskArgs &)>(entry)(args)
      .expected_arg_count;
}
