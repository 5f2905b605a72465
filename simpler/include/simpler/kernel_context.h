//===- kernel_context.h - what a kernel finds in args[48] and args[49] ----===//
//
// Shared by the runtime and the kernel-side headers. Layout of the first two fields of
// LocalContext and the first of GlobalContext: spec 4.1.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_KERNEL_CONTEXT_H
#define SIMPLER_KERNEL_CONTEXT_H

#include <cstdint>

inline constexpr int kLocalContextWord = 48;
inline constexpr int kGlobalContextWord = 49;
inline constexpr uint32_t kMaxCompletionConditions = 64;

/// A counter that must reach a value before the task counts as complete (spec 4.3).
struct CompletionToken {
  uint64_t addr;           // int32 counter, 4-byte aligned
  uint32_t expected_value; // complete when counter >= expected, compared as signed numbers
  int32_t engine;
  int32_t completion_type;
  uint64_t backend_cookie;
};

/// Conditions one kernel call registered; lives in the executor while the call runs.
struct CompletionList {
  uint32_t count;   // may exceed the maximum: the run then fails with code 102
  uint32_t invalid; // malformed registrations: code 101
  CompletionToken tokens[kMaxCompletionConditions];
};

struct AsyncCtx {
  CompletionList *list;
  uint64_t task_id;
};

struct LocalContext {
  int32_t block_idx;
  int32_t block_num;
  AsyncCtx async;
};

inline constexpr int kDmaWorkspaceKinds = 4;

struct GlobalContext {
  int32_t sub_block_id; // 0 for cube and first vector lane, 1 for the second vector lane
  uint64_t dma_workspace[kDmaWorkspaceKinds];
  void (*yield)(); // lets the other blocks of a co-running launch proceed
};

#endif // SIMPLER_KERNEL_CONTEXT_H
