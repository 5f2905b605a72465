//===- pipe_sync.h - stores of this kernel are visible afterwards ---------===//
#pragma once

inline void pipe_sync() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
