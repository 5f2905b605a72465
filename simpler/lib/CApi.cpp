//===- CApi.cpp - the C interface -----------------------------------------===//
#include "Log.h"
#include "RunOrchestration.h"

#include <cstdlib>
#include <exception>

using namespace simpler;

struct SimplerWorker : Device {
  using Device::Device;
};

static thread_local std::string lastError;
void simpler::setLastError(const std::string &text) { lastError = text; }
Device &simpler::deviceOf(SimplerWorker *worker) { return *worker; }

static int32_t defaultThreads() {
  if (const char *text = std::getenv("SIMPLER_THREADS")) {
    char *rest;
    long value = std::strtol(text, &rest, 10);
    if (*text && !*rest && value >= 1 && value <= 200)
      return static_cast<int32_t>(value);
    std::fprintf(stderr, "simpler: SIMPLER_THREADS=%s ignored, it must be 1..200\n", text);
  }
  unsigned cores = std::thread::hardware_concurrency();
  return cores ? static_cast<int32_t>(cores < 200 ? cores : 200) : 1;
}

extern "C" {

SimplerWorker *simpler_worker_create(const char *arch, int32_t threads) {
  const Geometry *geometry = findGeometry(arch);
  if (!geometry) {
    lastError = std::string("unknown platform '") + (arch ? arch : "(null)") +
                "'; known are a2a3, a2a3sim, a5, a5sim";
    return nullptr;
  }
  if (threads < 0 || threads > 200) {
    lastError = "threads is " + std::to_string(threads) + "; it must be 0 (one per core) to 200";
    return nullptr;
  }
  try {
    return new SimplerWorker(*geometry, threads ? threads : defaultThreads());
  } catch (const std::bad_alloc &) {
    lastError = "the system has no memory for a worker";
    return nullptr;
  }
}

void simpler_worker_destroy(SimplerWorker *worker) { delete worker; }

SimplerWorker *simpler_worker_default(void) {
  // Never destroyed: threads of the program may still run tasks while the process exits.
  static SimplerWorker *worker = simpler_worker_create("a2a3sim", 0);
  return worker;
}

int32_t simpler_run(SimplerWorker *worker, SimplerOrchFn orch, const ChipTensor *tensors, int32_t,
                    const uint64_t *scalars, int32_t) {
  return runOrchestration(
      *worker, RunOptions(), [&](SimplerRun &run) { orch(&run, tensors, scalars); }, lastError);
}

int32_t simpler_run_since(SimplerWorker *worker, uint64_t interrupts, SimplerOrchFn orch,
                          const ChipTensor *tensors, int32_t, const uint64_t *scalars, int32_t) {
  RunOptions options;
  options.interrupts = interrupts;
  return runOrchestration(
      *worker, options, [&](SimplerRun &run) { orch(&run, tensors, scalars); }, lastError);
}

const char *simpler_last_error(void) { return lastError.c_str(); }

void simpler_worker_lend_team(SimplerWorker *worker, SimplerTeam team) { worker->setTeam(team); }
void simpler_worker_interrupt(SimplerWorker *worker) { worker->interrupt(); }
uint64_t simpler_worker_interrupts(const SimplerWorker *worker) { return worker->interrupts(); }
void simpler_trace_start(SimplerWorker *worker) { worker->startTrace(); }
int32_t simpler_trace_write(SimplerWorker *worker, const char *path) {
  int32_t status = worker->writeTrace(path);
  if (status)
    lastError = std::string("cannot write the trace to '") + path + "'";
  return status;
}

uint64_t simpler_submit(SimplerRun *run, const SimplerKernel *kernel,
                        const ChipTensor *const *tensors, const uint8_t *tags, int32_t numTensors,
                        const uint64_t *scalars, int32_t numScalars, const SimplerLaunch *launch) {
  Submission submission;
  // One function, whatever the cores: a MIX kernel counts as cube for the width of a cohort.
  submission.kernels[kernel && kernel->core_type == SIMPLER_AIV ? 1 : 0] = kernel;
  submission.tensors = tensors;
  submission.tags = tags;
  submission.numTensors = numTensors;
  submission.scalars = scalars;
  submission.numScalars = numScalars;
  submission.launch = launch;
  return run->submit(submission);
}

uint64_t simpler_submit_graph(SimplerRun *run, uint64_t key, void (*body)(void *), void *context,
                              const ChipTensor *const *tensors, const uint8_t *tags,
                              int32_t numTensors, const uint64_t *scalars, int32_t numScalars) {
  GraphCall call;
  call.id = key;
  call.body = body;
  call.context = context;
  call.tensors = tensors;
  call.tags = tags;
  call.numTensors = numTensors;
  call.scalars = scalars;
  call.numScalars = numScalars;
  return run->submitGraph(call);
}

void simpler_alloc(SimplerRun *run, ChipTensor *out, const uint32_t *shapes, uint32_t ndims,
                   uint8_t dtype, uint8_t manualDep, const uint64_t *init) {
  run->allocate(*out, shapes, ndims, dtype, manualDep != 0, init);
}

void simpler_scope_begin(SimplerRun *run, int32_t mode) { run->scopeBegin(mode); }
void simpler_scope_end(SimplerRun *run) { run->scopeEnd(); }

uint64_t simpler_get(SimplerRun *run, const ChipTensor *tensor, const int64_t *indices,
                     uint32_t ndims) {
  return run->getElement(*tensor, indices, ndims);
}
void simpler_set(SimplerRun *run, const ChipTensor *tensor, const int64_t *indices, uint32_t ndims,
                 uint64_t bits) {
  run->setElement(*tensor, indices, ndims, bits);
}

/// Extents and offsets of native code are 64 bits wide; a descriptor's are 32.
static bool narrow(SimplerRun *run, const char *what, const int64_t *values, uint32_t count,
                   uint32_t *out) {
  for (uint32_t d = 0; d < count; ++d) {
    if (values[d] < 0 || values[d] > UINT32_MAX) {
      run->fail(SIMPLER_INVALID_ARGS, "%s: value %lld of axis %u is outside 0..2^32-1", what,
                static_cast<long long>(values[d]), d);
      return false;
    }
    out[d] = static_cast<uint32_t>(values[d]);
  }
  return true;
}

void simpler_view(SimplerRun *run, ChipTensor *out, const ChipTensor *in, const int64_t *shapes,
                  const int64_t *offsets) {
  ViewErrors errors(run);
  uint32_t extents[MAX_TENSOR_DIMS], origin[MAX_TENSOR_DIMS] = {};
  ChipTensor source = *in;
  bool empty = false;
  if (!narrow(run, "view: extents", shapes, source.ndims, extents)) {
    *out = source;
    return;
  }
  for (uint32_t d = 0; d < source.ndims; ++d)
    empty |= extents[d] == 0;
  if (!empty && !narrow(run, "view: offsets", offsets, source.ndims, origin)) {
    *out = source;
    return;
  }
  *out = source.view(extents, origin, source.manual_dep);
}

void simpler_reshape(SimplerRun *run, ChipTensor *out, const ChipTensor *in, const int64_t *shapes,
                     uint32_t ndims) {
  ViewErrors errors(run);
  uint32_t extents[MAX_TENSOR_DIMS];
  ChipTensor source = *in;
  if (ndims < 1 || ndims > MAX_TENSOR_DIMS) {
    run->fail(SIMPLER_INVALID_ARGS, "reshape: rank %u is not in 1..5", ndims);
    *out = source;
  } else if (narrow(run, "reshape: extents", shapes, ndims, extents)) {
    *out = source.reshape(extents, ndims, source.manual_dep);
  }
}

void simpler_transpose(SimplerRun *run, ChipTensor *out, const ChipTensor *in, uint32_t axis0,
                       uint32_t axis1) {
  ViewErrors errors(run);
  ChipTensor source = *in;
  *out = source.transpose(axis0, axis1, source.manual_dep);
}

int32_t simpler_available_clusters(SimplerRun *run) { return run->device().geometry().clusters; }
int32_t simpler_available_aivs(SimplerRun *run) { return run->device().geometry().vectorCores(); }

void simpler_fail(SimplerRun *run, int32_t code, const char *message) {
  run->fail(code ? code : SIMPLER_EXPLICIT_ORCH_FATAL, "%s", message ? message : "");
}
int32_t simpler_is_fatal(SimplerRun *run) { return run->fatal() != 0; }

} // extern "C"
