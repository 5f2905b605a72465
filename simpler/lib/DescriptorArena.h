//===- DescriptorArena.h - descriptors that live as long as a scope -------===//
#ifndef SIMPLER_DESCRIPTOR_ARENA_H
#define SIMPLER_DESCRIPTOR_ARENA_H

#include "simpler/tensor.h"

#include <memory>
#include <vector>

namespace simpler {

/// A stack of descriptors with stable addresses. Neighbouring ones of one request are contiguous.
class DescriptorArena {
public:
  struct Mark {
    size_t chunk, used;
  };
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark mark) {
    chunk_ = mark.chunk;
    used_ = mark.used;
  }
  ChipTensor *take(size_t count) {
    while (chunk_ < chunks_.size() && chunks_[chunk_].size - used_ < count) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      size_t size = count > kChunk ? count : kChunk;
      chunks_.push_back({size, std::make_unique<ChipTensor[]>(size)});
      used_ = 0;
    }
    ChipTensor *result = chunks_[chunk_].tensors.get() + used_;
    used_ += count;
    return result;
  }

private:
  static constexpr size_t kChunk = 256;
  struct Chunk {
    size_t size;
    std::unique_ptr<ChipTensor[]> tensors;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0;
};

} // namespace simpler

#endif // SIMPLER_DESCRIPTOR_ARENA_H
