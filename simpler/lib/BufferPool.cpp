//===- BufferPool.cpp - size classes of intermediate memory ---------------===//
#include "BufferPool.h"
#include "FaultPoint.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace simpler {

// Four classes per doubling, from 64 bytes: at most a quarter of a buffer is unused.
uint32_t BufferPool::classOf(uint64_t bytes) {
  uint64_t units = std::max<uint64_t>((bytes + 63) / 64, 1);
  if (units <= 4)
    return static_cast<uint32_t>(units - 1);
  uint32_t log =
      static_cast<uint32_t>(std::bit_width(units - 1)) - 1; // units in (2^log, 2^(log+1)]
  uint64_t quarter = (units - 1 - (1ull << log)) >> (log - 2);
  return 4 * (log - 1) + static_cast<uint32_t>(quarter);
}

uint64_t BufferPool::classBytes(uint32_t sizeClass) {
  if (sizeClass < 4)
    return 64 * (sizeClass + 1);
  uint32_t log = sizeClass / 4 + 1;
  return 64 * ((1ull << log) + (sizeClass % 4 + 1) * (1ull << (log - 2)));
}

uint64_t BufferPool::capacityFor(uint64_t bytes) { return classBytes(classOf(bytes)); }

Buffer *BufferPool::allocate(uint64_t bytes) {
  if (bytes > 1ull << 46)
    return nullptr;
  uint32_t sizeClass = classOf(bytes);
  uint64_t capacity = classBytes(sizeClass);
  Buffer *buffer;
  if (free_[sizeClass]) {
    buffer = free_[sizeClass];
    free_[sizeClass] = buffer->nextFree;
    cached_ -= capacity;
  } else {
    buffer = refused(FaultPoint::Memory)
                 ? nullptr
                 : static_cast<Buffer *>(std::aligned_alloc(64, sizeof(Buffer) + capacity));
    if (!buffer)
      return nullptr;
    buffer->magic = Buffer::kMagic;
    buffer->pool = this;
    buffer->bytes = capacity;
    buffer->sizeClass = sizeClass;
  }
  buffer->references = 1;
  live_ += capacity;
  peak_ = std::max(peak_, live_);
  return buffer;
}

void BufferPool::recycle(Buffer *buffer) {
  live_ -= buffer->bytes;
  cached_ += buffer->bytes;
  buffer->nextFree = free_[buffer->sizeClass];
  free_[buffer->sizeClass] = buffer;
}

void BufferPool::trim(uint64_t bytes) {
  for (uint32_t c = kClasses; c-- > 0 && cached_ > bytes;) {
    while (free_[c] && cached_ > bytes) {
      Buffer *buffer = free_[c];
      free_[c] = buffer->nextFree;
      cached_ -= buffer->bytes;
      buffer->magic = 0;
      std::free(buffer);
    }
  }
}

BufferPool::~BufferPool() { trim(0); }

} // namespace simpler
