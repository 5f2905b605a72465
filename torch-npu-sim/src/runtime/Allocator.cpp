//===- Allocator.cpp - stream-ordered caching memory of one device --------===//
//
// Small requests (up to 1 MiB) come from 2 MiB segments, larger ones from 20 MiB segments or their
// own. A freed small block first goes to a bin of its exact size, without merging; bins are merged
// back when memory is short. All others lie in a best-fit set and merge with their neighbours.
//
//===----------------------------------------------------------------------===//
#include "npu_runtime/Allocator.h"

#include "npu_runtime/Device.h"
#include "npu_runtime/Graph.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sys/mman.h>

namespace npu {
namespace {

constexpr size_t Granule = 512, MiB = size_t(1) << 20;
constexpr size_t SmallLimit = MiB, SmallSegment = 2 * MiB, LargeSegment = 20 * MiB,
                 OwnSegment = 10 * MiB;
constexpr size_t BinDepth = 64;

size_t roundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

std::string readable(size_t bytes) {
  char text[32];
  if (bytes >= (size_t(1) << 30))
    std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / double(size_t(1) << 30));
  else if (bytes >= MiB)
    std::snprintf(text, sizeof text, "%.2f MiB", double(bytes) / double(MiB));
  else
    std::snprintf(text, sizeof text, "%.2f KiB", double(bytes) / 1024.0);
  return text;
}

} // namespace

struct Block {
  char *ptr = nullptr;
  size_t bytes = 0, requested = 0;
  Allocator *owner = nullptr;
  void *segment = nullptr;
  Stream *stream = nullptr;
  Block *prev = nullptr, *next = nullptr; // neighbours in the segment
  enum class Where { Used, Bin, Set, Pending } where = Where::Used;
  bool small = false;
  std::vector<Stream *> usedOn;
};

struct Allocator::Segment {
  char *ptr;
  size_t bytes;
  uint64_t pool;
  Stream *stream;
  Cache *cache;
  Block *first;
  bool small;
};

struct Allocator::Cache {
  struct Smaller {
    bool operator()(const Block *a, const Block *b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->ptr < b->ptr;
    }
  };
  uint64_t pool;
  Stream *stream;
  bool inKernel;
  std::array<std::set<Block *, Smaller>, 2> free; // large, small
  std::vector<std::vector<Block *>> bins{SmallLimit / Granule + 1};
};

// Addresses of freed segments that a graph may still name. Replaying a graph whose tensors are gone
// gives wrong values, as on hardware, but must not end the process. Graphs hold a pool, so the
// addresses stay while the allocator has pools in use; their pages do not.
namespace {
std::mutex parkedMutex;
std::multimap<std::pair<const Allocator *, size_t>, void *> parked;

void park(const Allocator *owner, void *memory, size_t bytes) {
  madvise(memory, bytes, MADV_DONTNEED);
  std::lock_guard lock(parkedMutex);
  parked.emplace(std::pair(owner, bytes), memory);
}

void *unpark(const Allocator *owner, size_t bytes) {
  std::lock_guard lock(parkedMutex);
  auto found = parked.find({owner, bytes});
  if (found == parked.end())
    return nullptr;
  void *memory = found->second;
  parked.erase(found);
  return memory;
}

void unmapParked(const Allocator *owner) {
  std::lock_guard lock(parkedMutex);
  std::erase_if(parked, [owner](const auto &entry) {
    return entry.first.first == owner && munmap(entry.second, entry.first.second) == 0;
  });
}
} // namespace

Allocator::Allocator(int device) : device_(device), limit_(config().memoryBytes) {}

Allocator::~Allocator() {
  for (auto &[key, segment] : segments_)
    munmap(segment->ptr, segment->bytes);
}

void *Allocator::data(const Block *block) { return block ? block->ptr : nullptr; }
Stream &Allocator::stream(const Block *block) { return *block->stream; }
size_t Allocator::requested(const Block *block) { return block->requested; }
int Allocator::device(const Block *block) { return block->owner->device_; }

Allocator::Cache &Allocator::cacheFor(uint64_t pool, Stream &stream, bool inKernel) {
  Cache *&last = lastCache_[inKernel];
  if (last && last->stream == &stream && last->pool == pool)
    return *last;
  auto &cache = caches_[{pool, &stream, inKernel}];
  if (!cache) {
    cache = std::make_unique<Cache>();
    cache->pool = pool;
    cache->stream = &stream;
    cache->inKernel = inKernel;
  }
  return *(last = cache.get());
}

static void count(Stat3 &stat, bool small, int64_t n) {
  stat[0].add(n);
  stat[small ? 1 : 2].add(n);
}
static void uncount(Stat3 &stat, bool small, int64_t n) {
  stat[0].remove(n);
  stat[small ? 1 : 2].remove(n);
}

Block *Allocator::allocate(size_t bytes, Stream &stream, bool inKernel) {
  if (!bytes)
    return nullptr;
  if (bytes > (size_t(1) << 60))
    throw OutOfMemory(outOfMemoryText(bytes));
  size_t size = roundUp(bytes, Granule);
  Graph *graph = inKernel ? nullptr : stream.capture(); // Running work is not part of a capture.
  uint64_t pool = graph ? graph->memoryPool() : 0;
  std::unique_lock lock(mutex_);
  if (!pending_.empty() && !graph)
    collectPending();
  Block *block = take(cacheFor(pool, stream, inKernel), size);
  if (!block)
    block = grow(cacheFor(pool, stream, inKernel), size);
  if (!block) { // Short of memory: give all that is unused back, then try once more.
    lock.unlock();
    if (!inKernel)
      npu::device(device_).waitFinished();
    lock.lock();
    ++stats_.retries;
    collectPending();
    flushBins();
    block = take(cacheFor(pool, stream, inKernel), size);
    if (!block) {
      dropFreeSegments();
      block = grow(cacheFor(pool, stream, inKernel), size);
    }
  }
  if (!block) {
    ++stats_.outOfMemory;
    lock.unlock();
    throw OutOfMemory(outOfMemoryText(bytes));
  }
  block->where = Block::Where::Used;
  block->requested = bytes;
  bool small = block->small;
  count(stats_.allocations, small, 1);
  count(stats_.active, small, 1);
  count(stats_.allocatedBytes, small, int64_t(block->bytes));
  count(stats_.activeBytes, small, int64_t(block->bytes));
  count(stats_.requestedBytes, small, int64_t(bytes));
  return block;
}

Block *Allocator::take(Cache &cache, size_t size) {
  bool small = size <= SmallLimit;
  if (small) {
    auto &bin = cache.bins[size / Granule];
    if (!bin.empty()) {
      Block *block = bin.back();
      bin.pop_back();
      return block;
    }
  }
  auto &free = cache.free[small];
  Block key;
  key.bytes = size;
  auto found = free.lower_bound(&key);
  if (found == free.end())
    return nullptr;
  Block *block = *found;
  free.erase(found);
  return split(block, size);
}

Block *Allocator::split(Block *block, size_t size) {
  size_t rest = block->bytes - size;
  if (rest < Granule || (!block->small && rest <= SmallLimit))
    return block;
  Block *tail;
  if (spare_.empty()) {
    tail = new Block;
  } else {
    tail = spare_.back();
    spare_.pop_back();
  }
  tail->ptr = block->ptr + size;
  tail->bytes = rest;
  tail->owner = this;
  tail->segment = block->segment;
  tail->stream = block->stream;
  tail->small = block->small;
  tail->prev = block;
  tail->next = block->next;
  if (tail->next)
    tail->next->prev = tail;
  block->next = tail;
  block->bytes = size;
  tail->where = Block::Where::Set;
  static_cast<Segment *>(block->segment)->cache->free[block->small].insert(tail);
  return block;
}

Block *Allocator::grow(Cache &cache, size_t size) {
  bool small = size <= SmallLimit;
  size_t bytes = small               ? SmallSegment
                 : size < OwnSegment ? LargeSegment
                                     : roundUp(size, SmallSegment);
  size_t used = size_t(stats_.reservedBytes[0].current);
  if (bytes > limit_ || used > limit_ - bytes) {
    bytes = roundUp(size, small ? Granule : SmallSegment); // A smaller segment may still fit.
    if (bytes > limit_ || used > limit_ - bytes)
      return nullptr;
  }
  void *memory = unpark(this, bytes);
  if (!memory)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto segment = std::make_unique<Segment>();
  auto *block = new Block;
  *segment = {static_cast<char *>(memory), bytes, cache.pool, cache.stream, &cache, block, small};
  block->ptr = segment->ptr;
  block->bytes = bytes;
  block->owner = this;
  block->segment = segment.get();
  block->stream = cache.stream;
  block->small = small;
  count(stats_.segments, small, 1);
  count(stats_.reservedBytes, small, int64_t(bytes));
  ++stats_.deviceAllocs;
  segments_[segment.get()] = std::move(segment);
  return split(block, size);
}

void Allocator::recordStream(Block *block, Stream &stream) {
  if (!block || &stream == block->stream)
    return;
  std::lock_guard lock(mutex_);
  if (std::find(block->usedOn.begin(), block->usedOn.end(), &stream) == block->usedOn.end())
    block->usedOn.push_back(&stream);
}

void Allocator::release(Block *block) {
  if (!block || inBadFork())
    return; // A forked child has the locks of threads that it does not have.
  bool small = block->small;
  std::unique_lock lock(mutex_);
  uncount(stats_.allocations, small, 1);
  uncount(stats_.allocatedBytes, small, int64_t(block->bytes));
  uncount(stats_.requestedBytes, small, int64_t(block->requested));
  bool mayBeRead =
      static_cast<Segment *>(block->segment)->cache->inKernel &&
      Stream::running() != block->stream &&
      !(block->stream->query() && npu::device(device_).taskQueue(*block->stream).idle());
  if (mayBeRead)
    block->usedOn.push_back(block->stream);
  if (block->usedOn.empty())
    putBack(block);
  else
    defer(block, lock);
}

/// Puts the block back when the streams that use it have passed this point.
void Allocator::defer(Block *block, std::unique_lock<std::mutex> &lock) {
  std::vector<Stream *> streams = std::move(block->usedOn);
  block->usedOn.clear();
  block->where = Block::Where::Pending;
  lock.unlock();
  Pending pending{block, {}};
  for (Stream *stream : streams) {
    pending.events.emplace_back();
    if (!stream->capture())
      pending.events.back().record(*stream);
  }
  lock.lock();
  pending_.push_back(std::move(pending));
}

void Allocator::putBack(Block *block) {
  uncount(stats_.active, block->small, 1);
  uncount(stats_.activeBytes, block->small, int64_t(block->bytes));
  Cache &cache = *static_cast<Segment *>(block->segment)->cache;
  if (block->bytes <= SmallLimit) {
    auto &bin = cache.bins[block->bytes / Granule];
    if (bin.size() < BinDepth && block->small) {
      block->where = Block::Where::Bin;
      bin.push_back(block);
      return;
    }
  }
  mergeInto(cache, block);
}

void Allocator::mergeInto(Cache &cache, Block *block) {
  auto &free = cache.free[block->small];
  auto absorb = [&](Block *left, Block *right) { // right goes into left
    left->bytes += right->bytes;
    left->next = right->next;
    if (left->next)
      left->next->prev = left;
    *right = Block();
    spare_.push_back(right);
  };
  if (Block *next = block->next; next && next->where == Block::Where::Set) {
    free.erase(next);
    absorb(block, next);
  }
  if (Block *prev = block->prev; prev && prev->where == Block::Where::Set) {
    free.erase(prev);
    absorb(prev, block);
    block = prev;
  }
  block->where = Block::Where::Set;
  free.insert(block);
}

void Allocator::flushBins() {
  for (auto &[key, cache] : caches_)
    for (auto &bin : cache->bins) {
      for (Block *block : bin)
        mergeInto(*cache, block);
      bin.clear();
    }
}

void Allocator::collectPending() {
  for (auto it = pending_.begin(); it != pending_.end();) {
    bool done =
        std::all_of(it->events.begin(), it->events.end(), [](const Event &e) { return e.query(); });
    if (!done) {
      ++it;
      continue;
    }
    putBack(it->block);
    it = pending_.erase(it);
  }
}

void Allocator::dropFreeSegments() {
  std::vector<Segment *> unused;
  for (auto &[key, segment] : segments_)
    if (segment->first->where == Block::Where::Set && !segment->first->next &&
        (!segment->pool || !poolUses_.count(segment->pool)))
      unused.push_back(segment.get());
  if (poolUses_.empty())
    unmapParked(this);
  for (Segment *segment : unused)
    releaseSegment(segment);
}

void Allocator::releaseSegment(Segment *segment) {
  segment->cache->free[segment->small].erase(segment->first);
  delete segment->first;
  if (poolUses_.empty())
    munmap(segment->ptr, segment->bytes);
  else
    park(this, segment->ptr, segment->bytes);
  uncount(stats_.segments, segment->small, 1);
  uncount(stats_.reservedBytes, segment->small, int64_t(segment->bytes));
  ++stats_.deviceFrees;
  segments_.erase(segment);
}

void Allocator::emptyCache() {
  npu::device(device_).waitFinished();
  std::lock_guard lock(mutex_);
  collectPending();
  flushBins();
  dropFreeSegments();
}

MemoryStats Allocator::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

template <class F> static void forEachStat(MemoryStats &s, F f) {
  for (Stat3 *stat : {&s.allocations, &s.segments, &s.active, &s.inactiveSplit, &s.allocatedBytes,
                      &s.reservedBytes, &s.activeBytes, &s.inactiveSplitBytes, &s.requestedBytes})
    for (Stat &one : *stat)
      f(one);
}

void Allocator::resetPeak() {
  std::lock_guard lock(mutex_);
  forEachStat(stats_, [](Stat &s) { s.peak = s.current; });
}

void Allocator::resetAccumulated() {
  std::lock_guard lock(mutex_);
  forEachStat(stats_, [](Stat &s) { s.allocated = s.freed = 0; });
  stats_.retries = stats_.outOfMemory = stats_.deviceAllocs = stats_.deviceFrees = 0;
}

size_t Allocator::limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

void Allocator::setLimit(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t used = size_t(stats_.reservedBytes[0].current);
  if (bytes < used)
    throw DeviceError("NPU memory limit " + readable(bytes) + " is below the " + readable(used) +
                      " that device " + std::to_string(device_) +
                      " has reserved; free tensors and call empty_cache()");
  limit_ = bytes;
}

size_t Allocator::reserved() const {
  std::lock_guard lock(mutex_);
  return size_t(stats_.reservedBytes[0].current);
}

void Allocator::retainPool(uint64_t pool) {
  std::lock_guard lock(mutex_);
  ++poolUses_[pool];
}

void Allocator::releasePool(uint64_t pool) {
  std::lock_guard lock(mutex_);
  auto found = poolUses_.find(pool);
  if (found == poolUses_.end() || --found->second)
    return;
  poolUses_.erase(found);
  // No allocation can name this pool again: what is free goes back to the host now, the rest when
  // it is freed and the cache is emptied.
  for (auto &[key, cache] : caches_)
    if (cache->pool == pool)
      for (auto &bin : cache->bins) {
        for (Block *block : bin)
          mergeInto(*cache, block);
        bin.clear();
      }
  dropFreeSegments();
}

std::string Allocator::outOfMemoryText(size_t bytes) const {
  MemoryStats s = stats();
  size_t total = limit(), reserved = size_t(s.reservedBytes[0].current),
         used = size_t(s.allocatedBytes[0].current);
  return "NPU out of memory. Tried to allocate " + readable(bytes) + ". NPU " +
         std::to_string(device_) + " has a total capacity of " + readable(total) + " of which " +
         readable(total - std::min(total, reserved)) + " is free. Of the allocated memory " +
         readable(used) + " is allocated by PyTorch, and " +
         readable(reserved - std::min(used, reserved)) +
         " is reserved by PyTorch but unallocated. The capacity can be set with PTO_NPU_MEMORY or "
         "torch_npu.npu.set_memory_limit().";
}

std::vector<Allocator::SegmentView> Allocator::segments() const {
  std::lock_guard lock(mutex_);
  std::vector<SegmentView> views;
  for (auto &[key, segment] : segments_) {
    size_t used = 0;
    for (Block *block = segment->first; block; block = block->next)
      if (block->where == Block::Where::Used)
        used += block->bytes;
    views.push_back({segment->ptr, segment->bytes, used, segment->stream->id(), segment->pool,
                     !segment->small});
  }
  return views;
}

} // namespace npu
