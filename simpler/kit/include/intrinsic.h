//===- intrinsic.h - what a kernel asks about its place -------------------===//
#pragma once
#include "simpler/kernel_context.h"

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif

inline LocalContext *simpler_local(int64_t *args) {
  return reinterpret_cast<LocalContext *>(static_cast<uintptr_t>(args[kLocalContextWord]));
}
inline GlobalContext *simpler_global(int64_t *args) {
  return reinterpret_cast<GlobalContext *>(static_cast<uintptr_t>(args[kGlobalContextWord]));
}

/// Logical block of this call, 0 <= index < get_block_num(args).
inline int32_t get_block_idx(int64_t *args) { return simpler_local(args)->block_idx; }
inline int32_t get_block_num(int64_t *args) { return simpler_local(args)->block_num; }
/// 0 for the cube core and the first vector core of a cluster, 1 for the second.
inline int32_t get_sub_block_id(int64_t *args) { return simpler_global(args)->sub_block_id; }
inline uint64_t get_dma_workspace(int64_t *args, int kind) {
  return kind >= 0 && kind < kDmaWorkspaceKinds ? simpler_global(args)->dma_workspace[kind] : 0;
}
/// A kernel that waits for another block of its launch gives that block a chance to run.
inline void yield_block(int64_t *args) { simpler_global(args)->yield(); }
