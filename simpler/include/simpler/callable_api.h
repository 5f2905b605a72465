//===- callable_api.h - compiled orchestrations and their kernels ---------===//
//
// A callable image holds an orchestration object, up to 1024 kernel objects and the
// names of the entries (spec 9.4). Loading links them into the process; running calls the
// entry with tensors and scalars. Used by the Python package.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_CALLABLE_API_H
#define SIMPLER_CALLABLE_API_H

#include "simpler/c_api.h"

#include <cstddef>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimplerCallable SimplerCallable;

/// Limits and outputs of one run; zeros mean default.
typedef struct SimplerCallOptions {
  uint64_t ring_task_window[4]; // budgets by ring (scope depth, at most 3)
  uint64_t ring_heap[4];
  uint64_t ring_dep_pool[4];
  int32_t host_build_graph;  // 1: no task starts before the orchestration has ended
  int32_t swimlane;          // 0..4: chip_swimlane_records.json
  int32_t dump_args;         // 0..3: args_dump/
  int32_t pmu;               // 0 off, else event type: pmu.csv
  int32_t dep_gen;           // deps.json
  int32_t scope_stats;       // scope_stats/scope_stats.jsonl
  const char *output_prefix; // folder of these files
  int32_t timing;            // 1: the times of timing slots are wanted (simpler_callable_times)
  /// As simpler_run_since; null: interrupts count from the run's begin.
  const uint64_t *interrupts;
  /// The run stops when another thread has made it non-zero; null: never.
  const int32_t *cancelled;
} SimplerCallOptions;

#define SIMPLER_TIMING_SLOTS 16

/// Tasks of one timing slot; nanoseconds of CLOCK_MONOTONIC.
typedef struct SimplerSlotTimes {
  uint64_t first, last; // begin of the first block, end of the last
  uint64_t busy;        // sum over blocks
  uint64_t blocks;
} SimplerSlotTimes;

/// When a run began, its orchestration ended, and its last task ended.
typedef struct SimplerRunTimes {
  uint64_t begin, orchestrated, end;
  SimplerSlotTimes slots[SIMPLER_TIMING_SLOTS]; // zeros unless options->timing
} SimplerRunTimes;

/// The image is copied. Null on failure: simpler_last_error says why (truncated image, missing
/// symbol, object of another architecture, …).
SIMPLER_API SimplerCallable *simpler_callable_load(const void *image, size_t bytes);
/// No run of the callable may be in progress.
SIMPLER_API void simpler_callable_free(SimplerCallable *callable);

/// As simpler_run. HOST tensors whose direction in the callable's signature is IN keep their
/// contents even when a task declares to write them. -1: fewer arguments than the program expects.
SIMPLER_API int32_t simpler_callable_run(SimplerWorker *worker, SimplerCallable *callable,
                                         const struct ChipTensor *tensors, int32_t num_tensors,
                                         const uint64_t *scalars, int32_t num_scalars,
                                         const SimplerCallOptions *options);

/// Times of the run that this thread executed last.
SIMPLER_API void simpler_callable_times(SimplerRunTimes *out);

#ifdef __cplusplus
}
#endif
#endif // SIMPLER_CALLABLE_API_H
