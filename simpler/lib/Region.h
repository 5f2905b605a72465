//===- Region.h - the bytes a tensor view touches -------------------------===//
//
// Canonical form of a view: an innermost run of bytes repeated along up to five
// outer dimensions, ascending strides, merged where they are packed. Two views of
// the same bytes have one form, whatever base address, rank or element type they
// are described with.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_REGION_H
#define SIMPLER_REGION_H

#include "simpler/tensor.h"

namespace simpler {

struct Region {
  struct Dim {
    uint64_t stride; // bytes
    uint64_t count;  // >= 2
  };
  uint64_t lo = 0;   // first byte
  uint64_t hi = 0;   // one past the last byte
  uint64_t run = 0;  // bytes of the innermost contiguous piece
  uint32_t rank = 0; // outer dimensions in use
  Dim dims[MAX_TENSOR_DIMS];

  uint64_t hash() const {
    uint64_t h = lo * 0x9e3779b97f4a7c15ull ^ (hi + run) * 0xc2b2ae3d27d4eb4full;
    return h ^ (h >> 29);
  }
};

/// False when the view has no element.
bool makeRegion(const ChipTensor &tensor, Region &region);

bool sameRegion(const Region &a, const Region &b);

/// Whether some byte lies in both. Exact for equal strides and whenever few pieces meet;
/// otherwise may answer true for regions that interleave without touching.
bool overlaps(const Region &a, const Region &b);

/// Whether every byte of `inner` lies in `outer`; may answer false when that is costly to show.
bool covers(const Region &outer, const Region &inner);

} // namespace simpler

#endif // SIMPLER_REGION_H
