//===- Region.cpp - canonical form and overlap of strided regions ---------===//
#include "Region.h"

#include <algorithm>
#include <numeric>

namespace simpler {

bool makeRegion(const ChipTensor &tensor, Region &region) {
  uint64_t element = get_element_size(tensor.dtype);
  Region::Dim sorted[MAX_TENSOR_DIMS];
  uint32_t count = 0;
  for (uint32_t d = tensor.ndims; d-- > 0;) {
    uint64_t extent = tensor.shapes[d];
    if (extent == 0)
      return false;
    if (extent == 1)
      continue;
    Region::Dim dim{tensor.strides[d] * element, extent};
    uint32_t at = count++;
    for (; at > 0 && sorted[at - 1].stride > dim.stride; --at)
      sorted[at] = sorted[at - 1];
    sorted[at] = dim;
  }
  region.run = element;
  region.rank = 0;
  uint64_t extent = element;
  for (uint32_t i = 0; i < count; ++i) {
    Region::Dim dim = sorted[i];
    extent += (dim.count - 1) * dim.stride;
    if (region.rank == 0 && dim.stride == region.run) {
      region.run *= dim.count;
    } else if (region.rank > 0 &&
               region.dims[region.rank - 1].stride * region.dims[region.rank - 1].count ==
                   dim.stride) {
      region.dims[region.rank - 1].count *= dim.count;
    } else {
      region.dims[region.rank++] = dim;
    }
  }
  region.lo = tensor.buffer.addr + tensor.start_offset * element;
  region.hi = region.lo + extent;
  return true;
}

bool sameRegion(const Region &a, const Region &b) {
  if (a.lo != b.lo || a.hi != b.hi || a.run != b.run || a.rank != b.rank)
    return false;
  for (uint32_t i = 0; i < a.rank; ++i)
    if (a.dims[i].stride != b.dims[i].stride || a.dims[i].count != b.dims[i].count)
      return false;
  return true;
}

namespace {

/// A region without its outermost dimensions: `rank` inner ones remain.
struct Part {
  const Region &region;
  uint32_t rank;
  int64_t lo;

  int64_t extent(uint32_t ofRank) const {
    uint64_t bytes = region.run;
    for (uint32_t i = 0; i < ofRank; ++i)
      bytes += (region.dims[i].count - 1) * region.dims[i].stride;
    return static_cast<int64_t>(bytes);
  }
  int64_t stride() const { return rank ? static_cast<int64_t>(region.dims[rank - 1].stride) : 0; }
  int64_t count() const { return static_cast<int64_t>(region.dims[rank - 1].count); }
};

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

constexpr int kPieces = 64; // pairs of pieces compared before the answer becomes "may overlap"

bool meet(Part a, Part b, int &budget) {
  int64_t extentA = a.extent(a.rank), extentB = b.extent(b.rank);
  if (a.lo >= b.lo + extentB || b.lo >= a.lo + extentA)
    return false;
  if (a.rank == 0 && b.rank == 0)
    return true;
  if (--budget < 0)
    return true;
  if (a.stride() < b.stride())
    return meet(b, a, budget);
  int64_t s = a.stride(), innerA = a.extent(a.rank - 1);
  Part slabA{a.region, a.rank - 1, a.lo};
  if (a.stride() == b.stride()) {
    // Slab i of A meets slab j of B iff slab 0 meets slab 0 moved by (j - i) strides.
    int64_t innerB = b.extent(b.rank - 1), d = b.lo - a.lo;
    int64_t first = std::max(floorDiv(-innerB - d, s) + 1, 1 - a.count());
    int64_t last = std::min(-floorDiv(d - innerA, s) - 1, b.count() - 1);
    for (int64_t k = first; k <= last; ++k)
      if (meet(slabA, Part{b.region, b.rank - 1, b.lo + k * s}, budget))
        return true;
    return false;
  }
  int64_t first = std::max<int64_t>(floorDiv(b.lo - innerA - a.lo, s) + 1, 0);
  int64_t last = std::min(-floorDiv(a.lo - b.lo - extentB, s) - 1, a.count() - 1);
  for (int64_t k = first; k <= last; ++k) {
    slabA.lo = a.lo + k * s;
    if (meet(slabA, b, budget))
      return true;
  }
  return false;
}

/// All piece starts of a region are congruent modulo the gcd of the strides: disjoint residues
/// prove disjoint regions (interleaved slices with different steps).
bool residuesDisjoint(const Region &a, const Region &b) {
  uint64_t g = 0;
  for (uint32_t i = 0; i < a.rank; ++i)
    g = std::gcd(g, a.dims[i].stride);
  for (uint32_t i = 0; i < b.rank; ++i)
    g = std::gcd(g, b.dims[i].stride);
  if (g == 0)
    return false;
  uint64_t d = (b.lo % g + g - a.lo % g) % g;
  return d >= a.run && g - d >= b.run;
}

} // namespace

bool overlaps(const Region &a, const Region &b) {
  if (a.lo >= b.hi || b.lo >= a.hi)
    return false;
  if (a.rank == 0 && b.rank == 0)
    return true;
  int budget = kPieces;
  bool result = meet(Part{a, a.rank, static_cast<int64_t>(a.lo)},
                     Part{b, b.rank, static_cast<int64_t>(b.lo)}, budget);
  return result && (budget >= 0 || !residuesDisjoint(a, b));
}

bool covers(const Region &outer, const Region &inner) {
  if (outer.lo > inner.lo || outer.hi < inner.hi)
    return false;
  return outer.rank == 0 || sameRegion(outer, inner);
}

} // namespace simpler
