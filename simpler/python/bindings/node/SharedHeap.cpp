//===- SharedHeap.cpp - first fit over pages of one shared mapping --------===//
#include "SharedHeap.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace simpler::py {

static constexpr uint64_t kPage = 4096;

SharedHeap::SharedHeap(uint64_t bytes)
    : capacity_((std::max<uint64_t>(bytes, kPage) + kPage - 1) / kPage * kPage) {
  // Anonymous shared memory has no name that could be left behind.
  void *base = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    error_ = "the system has no room for the shared heap; give a smaller heap_ring_size";
    capacity_ = 0;
    return;
  }
  base_ = static_cast<char *>(base);
  madvise(base_, capacity_, MADV_DONTDUMP);
  gaps_[0] = capacity_;
}

SharedHeap::~SharedHeap() {
  if (base_)
    munmap(base_, capacity_);
}

uint64_t SharedHeap::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

char *SharedHeap::allocate(uint64_t bytes) {
  bytes = (std::max<uint64_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  std::lock_guard lock(mutex_);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    auto [offset, size] = *gap;
    if (size < bytes)
      continue;
    gaps_.erase(gap);
    if (size > bytes)
      gaps_[offset + bytes] = size - bytes;
    blocks_[offset] = bytes;
    used_ += bytes;
    return base_ + offset;
  }
  return nullptr;
}

void SharedHeap::free(char *block) {
  std::lock_guard lock(mutex_);
  auto found = blocks_.find(static_cast<uint64_t>(block - base_));
  if (found == blocks_.end())
    return;
  auto [offset, bytes] = *found;
  blocks_.erase(found);
  used_ -= bytes;
  madvise(base_ + offset, bytes, MADV_REMOVE); // the pages go; zeros come back
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  gaps_[offset] = bytes;
}

} // namespace simpler::py
