//===- BufferPool.h - intermediate tensors of a run -----------------------===//
//
// Buffers are counted: one reference by the scope that made them, one by each task
// that names them. Only the orchestrator counts, so counts are plain integers; a
// worker's references come back when its task is recycled. Freed memory is kept by size
// class for the next request and given back at the end of the run above a limit.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BUFFER_POOL_H
#define SIMPLER_BUFFER_POOL_H

#include <cstddef>
#include <cstdint>

namespace simpler {

/// Lies directly in front of the memory it describes.
struct alignas(64) Buffer {
  static constexpr uint64_t kMagic = 0x53504c5242554652ull;
  uint64_t magic;
  const void *pool;
  uint64_t bytes;   // capacity of the memory
  uint64_t creator; // id of the task that made it
  int64_t references;
  uint32_t sizeClass;
  Buffer *nextFree;

  void *memory() { return this + 1; }
  uint64_t address() { return reinterpret_cast<uintptr_t>(memory()); }
  static Buffer *of(uint64_t address) {
    return reinterpret_cast<Buffer *>(static_cast<uintptr_t>(address)) - 1;
  }
};

class BufferPool {
public:
  BufferPool() = default;
  BufferPool(const BufferPool &) = delete;
  ~BufferPool();

  /// Memory aligned to 64 bytes with one reference, or null.
  Buffer *allocate(uint64_t bytes);
  void release(Buffer *buffer) {
    if (--buffer->references == 0)
      recycle(buffer);
  }
  /// A buffer that is kept for one purpose does not count as live while it is idle.
  void park(const Buffer *buffer) {
    live_ -= buffer->bytes;
    parked_ += buffer->bytes;
  }
  void unpark(const Buffer *buffer) {
    parked_ -= buffer->bytes;
    live_ += buffer->bytes;
  }
  /// Frees cached memory down to `bytes`.
  void trim(uint64_t bytes);

  uint64_t liveBytes() const { return live_; }
  uint64_t peakBytes() const { return peak_; }
  uint64_t heldBytes() const { return live_ + cached_ + parked_; }
  void resetPeak() { peak_ = live_; }
  static uint64_t capacityFor(uint64_t bytes);

private:
  static constexpr uint32_t kClasses = 4 * 48;
  static uint32_t classOf(uint64_t bytes);
  static uint64_t classBytes(uint32_t sizeClass);
  void recycle(Buffer *buffer);

  Buffer *free_[kClasses] = {};
  uint64_t live_ = 0, cached_ = 0, parked_ = 0, peak_ = 0;
};

} // namespace simpler

#endif // SIMPLER_BUFFER_POOL_H
