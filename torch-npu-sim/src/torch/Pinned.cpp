//===- Pinned.cpp - page-locked host memory -------------------------------===//
//
// Work that copies from or to pinned memory holds the host tensor, so a block can be reused when it
// is released; record_event() is honoured all the same for callers that hold only the pointer.
//
//===----------------------------------------------------------------------===//
#include "Pinned.h"

#include "npu_runtime/Device.h"

#include <ATen/core/CachingHostAllocator.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <unordered_map>

namespace npu {
namespace {

struct HostBlock {
  void *ptr;
  size_t bytes;
  std::vector<Event> events;
};

class PinnedAllocator final : public at::HostAllocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    if (!bytes)
      return {nullptr, c10::kCPU};
    size_t size = (bytes + 4095) / 4096 * 4096;
    std::lock_guard lock(mutex_);
    collect();
    HostBlock *block = nullptr;
    if (auto found = free_.lower_bound(size); found != free_.end() && found->first <= 2 * size) {
      block = found->second;
      free_.erase(found);
    } else {
      void *memory = std::aligned_alloc(4096, size);
      TORCH_CHECK(memory, "pinned host memory: cannot allocate ", size, " bytes");
      block = new HostBlock{memory, size, {}};
      stats_.allocations.increase(1);
      stats_.allocated_bytes.increase(int64_t(size));
    }
    live_[reinterpret_cast<uintptr_t>(block->ptr)] = block;
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(int64_t(block->bytes));
    return {block->ptr, block, &PinnedAllocator::release, c10::kCPU};
  }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  bool record_event(void *ptr, void *, c10::Stream stream) override {
    std::lock_guard lock(mutex_);
    HostBlock *block = find(ptr);
    if (!block)
      return false;
    block->events.emplace_back();
    block->events.back().record(device(stream.device_index()).stream(stream.id()));
    return true;
  }
  void empty_cache() override {
    std::lock_guard lock(mutex_);
    collect();
    for (auto &[size, block] : free_) {
      stats_.allocations.decrease(1);
      stats_.allocated_bytes.decrease(int64_t(block->bytes));
      std::free(block->ptr);
      delete block;
    }
    free_.clear();
  }
  at::HostStats get_stats() override {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {
    std::lock_guard lock(mutex_);
    stats_.active_bytes.reset_peak();
    stats_.active_requests.reset_peak();
  }
  bool owns(const void *ptr) {
    std::lock_guard lock(mutex_);
    return find(ptr) != nullptr;
  }

private:
  HostBlock *find(const void *ptr) {
    auto at = reinterpret_cast<uintptr_t>(ptr);
    auto next = live_.upper_bound(at);
    if (next == live_.begin())
      return nullptr;
    HostBlock *block = std::prev(next)->second;
    return at < std::prev(next)->first + block->bytes ? block : nullptr;
  }
  static void release(void *context);
  void releaseBlock(HostBlock *block) {
    std::lock_guard lock(mutex_);
    live_.erase(reinterpret_cast<uintptr_t>(block->ptr));
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(int64_t(block->bytes));
    if (block->events.empty())
      free_.emplace(block->bytes, block);
    else
      waiting_.push_back(block);
  }
  void collect() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      auto &events = (*it)->events;
      if (!std::all_of(events.begin(), events.end(), [](const Event &e) { return e.query(); })) {
        ++it;
        continue;
      }
      events.clear();
      free_.emplace((*it)->bytes, *it);
      it = waiting_.erase(it);
    }
  }

  std::mutex mutex_;
  std::map<uintptr_t, HostBlock *> live_;
  std::multimap<size_t, HostBlock *> free_;
  std::list<HostBlock *> waiting_;
  at::HostStats stats_;
};

PinnedAllocator &instance() {
  static auto *allocator = new PinnedAllocator;
  return *allocator;
}

void PinnedAllocator::release(void *context) {
  if (!inBadFork())
    instance().releaseBlock(static_cast<HostBlock *>(context));
}

const bool registered = [] {
  at::setHostAllocator(c10::kPrivateUse1, &instance());
  return true;
}();

} // namespace

c10::Allocator *pinnedAllocator() { return &instance(); }
bool isPinned(const void *data) { return instance().owns(data); }

} // namespace npu
