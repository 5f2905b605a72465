//===- pto_async_kernel_api.h - completion after the kernel has returned --===//
//
// A task whose kernel registered conditions is complete when the kernel has returned and
// every counter has reached its value (as signed numbers, counter >= value).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "intrinsic.h"

enum class NotifyOp : int32_t { Set = 0, Add = 1 };

inline AsyncCtx get_async_ctx(int64_t *args) { return simpler_local(args)->async; }
inline bool async_ctx_is_deferred(const AsyncCtx &ctx) { return ctx.list && ctx.list->count > 0; }

/// False when the condition is malformed or one too many; the run then fails with 101 or 102.
inline bool register_completion_condition(const AsyncCtx &ctx, const CompletionToken &token) {
  if (!ctx.list || token.addr == 0 || token.addr % 4 != 0) {
    if (ctx.list)
      ++ctx.list->invalid;
    return false;
  }
  uint32_t at = ctx.list->count++;
  if (at >= kMaxCompletionConditions)
    return false;
  ctx.list->tokens[at] = token;
  return true;
}

inline bool save_expected_notification_counter(const AsyncCtx &ctx, volatile void *counter,
                                               uint32_t value) {
  return register_completion_condition(
      ctx, {static_cast<uint64_t>(reinterpret_cast<uintptr_t>(counter)), value, 0, 0, 0});
}

/// Raises or sets a counter that another task or device waits for.
inline void send_notification(volatile void *counter, int32_t value, NotifyOp op) {
  auto *word = static_cast<int32_t *>(const_cast<void *>(counter));
  if (op == NotifyOp::Add)
    __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
  else
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
