//===- SharedHeap.h - memory that a node and its children see alike -------===//
//
// One mapping, made before the children are forked: an address means the same bytes in
// every process of the node. Pages cost nothing until they are written; freed blocks give
// theirs back and read as zero when they are handed out again.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_NODE_SHARED_HEAP_H
#define SIMPLER_BINDINGS_NODE_SHARED_HEAP_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace simpler::py {

class SharedHeap {
public:
  /// Reserves `bytes` of addresses, rounded up to pages. `error()` tells when that failed.
  explicit SharedHeap(uint64_t bytes);
  ~SharedHeap();
  SharedHeap(const SharedHeap &) = delete;

  const char *error() const { return error_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t used() const;

  /// Zeroed, aligned to a page; null when no gap is large enough. Any thread of the process
  /// that made the heap; children must not allocate.
  char *allocate(uint64_t bytes);
  void free(char *block);

  bool contains(uint64_t lo, uint64_t hi) const {
    uint64_t base = reinterpret_cast<uintptr_t>(base_);
    return lo >= base && hi <= base + capacity_;
  }

private:
  const char *error_ = nullptr;
  char *base_ = nullptr;
  uint64_t capacity_ = 0;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> gaps_, blocks_; // offset -> bytes
  uint64_t used_ = 0;
};

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_NODE_SHARED_HEAP_H
