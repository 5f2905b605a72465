//===- c_api.h - simpler's C interface for native code --------------------===//
//
// What generated machine code and language bindings call. The C++ API for
// orchestrations (pto_orchestration_api.h) and the Python Worker sit on the same
// entry points. Rules and layouts: spec/simpler.md 2-4, 7.
//
// Threads: a SimplerWorker may be used by one run at a time per caller thread;
// a SimplerRun is used by the thread that executes the orchestration only.
// Ownership: descriptors passed in are copied before a call returns.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_C_API_H
#define SIMPLER_C_API_H

#include "simpler/tensor.h" // struct ChipTensor, 128 bytes (spec 2.2); DataType
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIMPLER_API __attribute__((visibility("default")))

typedef struct SimplerWorker SimplerWorker; // one simulated device: pool of threads and memory
typedef struct SimplerRun SimplerRun;       // one execution of an orchestration

/// Kernel entry: args[0..T) point to ChipTensor, args[T..T+S) are scalar words,
/// args[48] is LocalContext*, args[49] is GlobalContext* (spec 4.1).
typedef void (*SimplerKernelFn)(int64_t *args);

/// Orchestration entry. tensors: one descriptor per tensor argument; scalars: one word each.
typedef void (*SimplerOrchFn)(SimplerRun *run, const struct ChipTensor *tensors,
                              const uint64_t *scalars);

/// What an orchestration expects of one tensor argument.
typedef struct SimplerParam {
  int64_t ndims;
  int64_t dtype;      // DataType
  int64_t shapes[5];  // -1: any extent
  int64_t strides[5]; // elements; 0: row-major
} SimplerParam;

#define SIMPLER_ORCHESTRATION_VERSION 1

/// An orchestration in machine code, as the object that holds it exports it under the name
/// `<entry>__orchestration`. Such an object can be the orchestration of a callable image
/// (callable_api.h); calls are checked against it.
typedef struct SimplerOrchestration {
  SimplerOrchFn fn;
  const SimplerParam *params; // num_tensors of them
  int32_t version;            // SIMPLER_ORCHESTRATION_VERSION
  int32_t num_tensors, num_scalars;
  int32_t reserved;
} SimplerOrchestration;

typedef enum { SIMPLER_AIC = 0, SIMPLER_AIV = 1, SIMPLER_MIX = 2 } SimplerCoreType;

/// A kernel as generated code declares it: static data of the shared object.
typedef struct SimplerKernel {
  SimplerKernelFn fn;
  const char *name; // shown in traces and errors
  const char *file; // source of the kernel, may be null
  int32_t line;
  int32_t core_type; // SimplerCoreType
} SimplerKernel;

/// Values equal TensorArgType of spec 2.1. OUTPUT (runtime allocates) is not used here:
/// generated code calls simpler_alloc first and passes OUTPUT_EXISTING.
enum {
  SIMPLER_ARG_INPUT = 0,
  SIMPLER_ARG_INOUT = 2,
  SIMPLER_ARG_OUTPUT_EXISTING = 3,
  SIMPLER_ARG_NO_DEP = 4
};

enum {
  SIMPLER_PRED_NONE,
  SIMPLER_PRED_EQ,
  SIMPLER_PRED_NE,
  SIMPLER_PRED_GT,
  SIMPLER_PRED_LT,
  SIMPLER_PRED_GE,
  SIMPLER_PRED_LE
};

/// Launch options; a null pointer means {block_num 1, everything else off}.
typedef struct SimplerLaunch {
  int32_t block_num;           // SPMD width, >= 0; 0 launches nothing but keeps the task id valid
  uint8_t sync_start;          // all blocks co-run
  uint8_t allow_early_resolve; // scheduling hint
  uint8_t predicate_op;        // SIMPLER_PRED_*
  uint8_t reserved;
  int32_t num_deps;     // explicit predecessors
  const uint64_t *deps; // task ids; SIMPLER_NO_TASK entries are ignored
  const struct ChipTensor *predicate_tensor;
  uint32_t predicate_index[5];
  int64_t predicate_target;
} SimplerLaunch;

#define SIMPLER_NO_TASK UINT64_MAX
#define SIMPLER_MAX_TENSORS 32
#define SIMPLER_MAX_SCALARS 16

/// Submits a task; edges RAW, WAR, WAW follow from the regions of `tensors` and their `tags`
/// (AUTO scopes) plus launch->deps. `kernel` null submits a dummy (barrier) task.
/// Returns the task id; SIMPLER_NO_TASK after a fatal error of the run.
SIMPLER_API uint64_t simpler_submit(SimplerRun *run, const SimplerKernel *kernel,
                                    const struct ChipTensor *const *tensors, const uint8_t *tags,
                                    int32_t num_tensors, const uint64_t *scalars,
                                    int32_t num_scalars, const SimplerLaunch *launch);

/// Calls body(context), which submits tasks through `run`, or replays what it submitted before
/// without calling it (spec 3.6). `key` names the body: unique among the graphs of a worker's
/// lifetime. The body may use the tensors and scalars given here, and nothing else that changes: it
/// is run again when extents, strides, types, tags or scalars differ, or when tensors overlap in
/// another way, not when they lie elsewhere. What it allocates dies with it. The id stands for all
/// its tasks.
SIMPLER_API uint64_t simpler_submit_graph(SimplerRun *run, uint64_t key,
                                          void (*body)(void *context), void *context,
                                          const struct ChipTensor *const *tensors,
                                          const uint8_t *tags, int32_t num_tensors,
                                          const uint64_t *scalars, int32_t num_scalars);

/// Allocates a contiguous intermediate tensor that lives until the enclosing scope ends and its
/// users are done. shapes: ndims extents, 1 <= ndims <= 5, zero extents allowed. `init`: null, or
/// the bit pattern of one element that fills the buffer. Contents are undefined otherwise.
SIMPLER_API void simpler_alloc(SimplerRun *run, struct ChipTensor *out, const uint32_t *shapes,
                               uint32_t ndims, uint8_t dtype, uint8_t manual_dep,
                               const uint64_t *init);

/// AUTO = 0, MANUAL = 1 (spec 3.4). An outer AUTO scope is open when an orchestration starts.
SIMPLER_API void simpler_scope_begin(SimplerRun *run, int32_t mode);
SIMPLER_API void simpler_scope_end(SimplerRun *run);

/// Reads / writes one element from the orchestration; waits for the tasks that touch it
/// (read: writers; write: readers and writers). Element bits are in the low end of the word.
SIMPLER_API uint64_t simpler_get(SimplerRun *run, const struct ChipTensor *tensor,
                                 const int64_t *indices, uint32_t ndims);
SIMPLER_API void simpler_set(SimplerRun *run, const struct ChipTensor *tensor,
                             const int64_t *indices, uint32_t ndims, uint64_t bits);

/// out = window of `in`: same rank and strides (spec 2.2 `view`). Out of range is a run error.
SIMPLER_API void simpler_view(SimplerRun *run, struct ChipTensor *out, const struct ChipTensor *in,
                              const int64_t *shapes, const int64_t *offsets);
/// Same elements, another shape; `in` must be contiguous.
SIMPLER_API void simpler_reshape(SimplerRun *run, struct ChipTensor *out,
                                 const struct ChipTensor *in, const int64_t *shapes,
                                 uint32_t ndims);
SIMPLER_API void simpler_transpose(SimplerRun *run, struct ChipTensor *out,
                                   const struct ChipTensor *in, uint32_t axis0, uint32_t axis1);

/// Geometry of the device: clusters, vector cores (spec 1.2).
SIMPLER_API int32_t simpler_available_clusters(SimplerRun *run);
SIMPLER_API int32_t simpler_available_aivs(SimplerRun *run);

/// Fails the run with a code of spec 7.5 and a message; later calls of this run do nothing.
SIMPLER_API void simpler_fail(SimplerRun *run, int32_t code, const char *message);
SIMPLER_API int32_t simpler_is_fatal(SimplerRun *run);

/// threads = 0: one per core of the host (at least 1). arch: "a2a3" or "a5" (geometry only).
SIMPLER_API SimplerWorker *simpler_worker_create(const char *arch, int32_t threads);
SIMPLER_API void simpler_worker_destroy(SimplerWorker *worker);
/// The process-wide worker, created on first use, `SIMPLER_THREADS` threads.
SIMPLER_API SimplerWorker *simpler_worker_default(void);

/// Threads of the program's own, such as those of an OpenMP runtime: calls body(context, member,
/// members) on `members` threads at once, the calling one as member 0, and returns 1 when all have
/// returned. Returns 0, and has called nothing, if that is not possible now. Called by threads that
/// execute orchestrations, by several at once.
typedef int32_t (*SimplerTeam)(void (*body)(void *context, int32_t member, int32_t members),
                               void *context);
/// Runs use the team for launches of several blocks, where that pays, instead of the worker's own
/// threads; at most as many members as the worker has threads. Null: never, as at first.
SIMPLER_API void simpler_worker_lend_team(SimplerWorker *worker, SimplerTeam team);

/// Runs an orchestration to completion on the calling thread, which also executes tasks.
/// Returns 0 or a code of spec 7.5; simpler_last_error gives the text (thread local).
SIMPLER_API int32_t simpler_run(SimplerWorker *worker, SimplerOrchFn orch,
                                const struct ChipTensor *tensors, int32_t num_tensors,
                                const uint64_t *scalars, int32_t num_scalars);
SIMPLER_API const char *simpler_last_error(void);

/// Asks every run of the worker to stop at the next task boundary (Ctrl-C). Async-signal-safe.
SIMPLER_API void simpler_worker_interrupt(SimplerWorker *worker);
/// How often that was asked. A caller that makes itself interruptible before a run begins takes the
/// number then: simpler_run_since also stops for what was asked in between.
SIMPLER_API uint64_t simpler_worker_interrupts(const SimplerWorker *worker);
SIMPLER_API int32_t simpler_run_since(SimplerWorker *worker, uint64_t interrupts,
                                      SimplerOrchFn orch, const struct ChipTensor *tensors,
                                      int32_t num_tensors, const uint64_t *scalars,
                                      int32_t num_scalars);

/// Event recording (spec 11): off costs nothing. The trace is Chrome/Perfetto JSON.
SIMPLER_API void simpler_trace_start(SimplerWorker *worker);
SIMPLER_API int32_t simpler_trace_write(SimplerWorker *worker, const char *path);

#ifdef __cplusplus
}
#endif
#endif // SIMPLER_C_API_H
