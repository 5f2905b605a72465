//===- orchestration_abi.h - between orchestration objects and the runtime ===//
//
// Orchestrations are compiled by any C++ compiler into shared objects that link nothing of
// the runtime: they call through the table at the head of PTO2Runtime. Everything in it
// is plain data.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_ORCHESTRATION_ABI_H
#define SIMPLER_ORCHESTRATION_ABI_H

#include "simpler/tensor.h"

enum class PTO2ScopeMode : int32_t { AUTO = 0, MANUAL = 1 };

/// How an output looks that the runtime allocates: 64 bytes.
struct TensorCreateInfo {
  uint32_t shapes[MAX_TENSOR_DIMS] = {};
  uint32_t ndims = 0;
  uint64_t initial_value = 0; // bits of one element
  DataType dtype = DataType::FLOAT32;
  bool manual_dep = false;
  bool has_initial_value = false;
  uint8_t reserved[29] = {};

  TensorCreateInfo(const uint32_t extents[], uint32_t rank, DataType type = DataType::FLOAT32,
                   bool manual = false)
      : ndims(rank), dtype(type), manual_dep(manual) {
    for (uint32_t d = 0; d < rank && d < MAX_TENSOR_DIMS; ++d)
      shapes[d] = extents[d];
  }
  /// Fills the new buffer with `value`.
  template <typename T> void set_initial_value(T value) {
    static_assert(sizeof(T) <= 8);
    initial_value = to_u64(value);
    has_initial_value = true;
  }
};
static_assert(sizeof(TensorCreateInfo) == 64);

/// One argument of a task: `tensor`, or `create` for an OUTPUT.
struct SimplerOrchArg {
  const ChipTensor *tensor;
  const TensorCreateInfo *create;
  TensorArgType tag;
};

struct SimplerOrchPredicate {
  const ChipTensor *tensor;
  uint32_t ndims;
  uint32_t indices[MAX_TENSOR_DIMS];
  uint8_t op; // PredicateOp
  int64_t target;
};

struct SimplerOrchTask {
  int32_t kernel_ids[3]; // cube, vector 0, vector 1; -1 = none
  int32_t dummy;         // no kernels wanted
  const char *error;     // what was wrong while arguments were added, or null
  const SimplerOrchArg *args;
  const uint64_t *scalars;
  const PTO2TaskId *deps;
  const SimplerOrchPredicate *predicate; // or null
  int32_t num_args, num_scalars, num_deps;
  int32_t block_num;
  uint8_t sync_start, early_resolve, dump_all, has_dep_kinds;
  int32_t timing_slot; // -1 = none
  uint64_t dump_mask;  // bit i: argument i
  const int8_t
      *scalar_sources; // per scalar: boundary scalar of the graph it was copied from, or -1
  static constexpr uint8_t kDepWait = 1, kDepRetain = 2;
  const uint8_t *dep_kinds; // with has_dep_kinds, per dependency; both kinds otherwise
};

/// A call of rt_submit_graph.
struct SimplerOrchGraph {
  uint64_t id;       // GRAPH_KEY, or 0
  uint64_t function; // address of the body
  const uint64_t *config;
  int32_t num_config;
  void (*body)(void *);
  void *context;
  const SimplerOrchArg *args;
  int32_t num_args;
  const uint64_t *scalars;
  int32_t num_scalars;
  const uint64_t *scalars_read; // bit i is set when the body looks at scalar i
};

/// Outputs the runtime allocated; the descriptors live until the scope ends.
struct SimplerOrchOutputs {
  PTO2TaskId task_id;
  const ChipTensor *tensors;
  uint32_t count;
};

struct PTO2Runtime;

struct PTO2RuntimeOps {
  SimplerOrchOutputs (*submit_task)(PTO2Runtime *, const SimplerOrchTask *);
  void (*scope_begin)(PTO2Runtime *, PTO2ScopeMode, const char *site);
  void (*scope_end)(PTO2Runtime *);
  void (*orchestration_done)(PTO2Runtime *);
  bool (*is_fatal)(PTO2Runtime *);
  void (*report_fatal)(PTO2Runtime *, int32_t code, const char *text);
  void (*log)(PTO2Runtime *, int32_t level, const char *text);
  uint64_t (*get_tensor_data)(PTO2Runtime *, const ChipTensor *, uint32_t ndims,
                              const uint32_t *indices);
  void (*set_tensor_data)(PTO2Runtime *, const ChipTensor *, uint32_t ndims,
                          const uint32_t *indices, uint64_t bits);
  SimplerOrchOutputs (*alloc_tensors)(PTO2Runtime *, const TensorCreateInfo *const *, uint32_t n);
  int32_t (*available_cluster_count)(PTO2Runtime *);
  int32_t (*available_aiv_count)(PTO2Runtime *);
  /// Calls body(context), or replays what it submitted before.
  PTO2TaskId (*submit_graph)(PTO2Runtime *, const SimplerOrchGraph *);
};

struct PTO2Runtime {
  const PTO2RuntimeOps *ops;
  PTO2ScopeMode pending_scope_mode;
};

#endif // SIMPLER_ORCHESTRATION_ABI_H
