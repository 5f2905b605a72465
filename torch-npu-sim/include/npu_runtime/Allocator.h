//===- Allocator.h - stream-ordered caching memory of one device ----------===//
//
// A freed block is reused at once by allocations on the stream that allocated it, because those are
// ordered behind its last use there. Uses on other streams are made known by recordStream(); such a
// block waits until these streams have passed the point of its release.
//
// Running work allocates at its own place in the stream, which lies before that of the host: what
// the host has freed may still be read by work that waits behind. So kernels have caches of their
// own, and a kernel's block that the host frees waits for the stream unless that is idle.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Event.h"

#include <cstddef>
#include <list>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace npu {

struct Stat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void add(int64_t n) {
    current += n;
    allocated += n;
    if (current > peak)
      peak = current;
  }
  void remove(int64_t n) {
    current -= n;
    freed += n;
  }
};

/// Each counter three times: all, small pool, large pool.
using Stat3 = std::array<Stat, 3>;

struct MemoryStats {
  Stat3 allocations, segments, active, inactiveSplit;                                   // counts
  Stat3 allocatedBytes, reservedBytes, activeBytes, inactiveSplitBytes, requestedBytes; // bytes
  int64_t retries = 0, outOfMemory = 0, deviceAllocs = 0, deviceFrees = 0;
};

struct Block;

class NPU_API Allocator {
public:
  explicit Allocator(int device);
  ~Allocator();

  /// At least `bytes` bytes, 512-byte aligned, ordered on `stream`. Null for zero bytes.
  /// Throws OutOfMemory. Blocks only when memory is short. Any thread. `inKernel`: by work running
  /// on `stream`.
  Block *allocate(size_t bytes, Stream &stream, bool inKernel = false);
  void release(Block *block);
  /// The block is used on `stream`: its memory is not reused before that stream has passed its
  /// release.
  void recordStream(Block *block, Stream &stream);

  static void *data(const Block *block);
  static Stream &stream(const Block *block);
  static int device(const Block *block);
  static size_t requested(const Block *block); ///< bytes asked for

  /// Gives unused segments back to the host. Waits for the device first.
  void emptyCache();
  MemoryStats stats() const;
  void resetPeak();
  void resetAccumulated();

  size_t limit() const;
  /// Bytes that the device may reserve. Throws DeviceError if it is below what is reserved now.
  void setLimit(size_t bytes);
  size_t reserved() const;

  /// Allocations on captured streams come from the pool of their capture. A pool lives while graphs
  /// hold it; after the last release its blocks join the common pool as they become free.
  void retainPool(uint64_t pool);
  void releasePool(uint64_t pool);

  /// A readable account of live memory for the out-of-memory message.
  std::string outOfMemoryText(size_t bytes) const;

  struct SegmentView {
    const void *address;
    size_t bytes, allocated;
    int64_t streamId;
    uint64_t pool;
    bool large;
  };
  std::vector<SegmentView> segments() const;

private:
  struct Segment;
  struct Cache; // free blocks of one (pool, stream)
  struct Pending {
    Block *block;
    std::vector<Event> events;
  };

  Cache &cacheFor(uint64_t pool, Stream &stream, bool inKernel);
  void defer(Block *block, std::unique_lock<std::mutex> &lock);
  Block *take(Cache &cache, size_t bytes);
  Block *split(Block *block, size_t bytes);
  Block *grow(Cache &cache, size_t bytes);
  void putBack(Block *block);
  void mergeInto(Cache &cache, Block *block);
  void flushBins();
  void collectPending();
  void dropFreeSegments();
  void releaseSegment(Segment *segment);

  const int device_;
  mutable std::mutex mutex_;
  std::map<std::tuple<uint64_t, Stream *, bool>, std::unique_ptr<Cache>> caches_;
  Cache *lastCache_[2] = {};
  std::unordered_map<Segment *, std::unique_ptr<Segment>> segments_;
  std::list<Pending> pending_;
  std::map<uint64_t, int> poolUses_;
  std::vector<Block *> spare_; // block headers for reuse
  MemoryStats stats_;
  size_t limit_;
};

} // namespace npu
