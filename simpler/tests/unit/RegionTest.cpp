//===- RegionTest.cpp - overlap of strided regions against brute force ----===//
#include "Region.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

using namespace simpler;

namespace {

std::set<uint64_t> bytesOf(const Region &region) {
  std::vector<uint64_t> starts{region.lo};
  for (uint32_t i = 0; i < region.rank; ++i) {
    std::vector<uint64_t> more;
    for (uint64_t start : starts)
      for (uint64_t k = 0; k < region.dims[i].count; ++k)
        more.push_back(start + k * region.dims[i].stride);
    starts = more;
  }
  std::set<uint64_t> bytes;
  for (uint64_t start : starts)
    for (uint64_t b = 0; b < region.run; ++b)
      bytes.insert(start + b);
  return bytes;
}

ChipTensor randomTensor(std::mt19937 &random) {
  uint32_t rank = 1 + random() % 3, shape[5], stride[5];
  for (uint32_t d = 0; d < rank; ++d) {
    shape[d] = 1 + random() % 5;
    stride[d] = 1 + random() % 12;
  }
  DataType types[] = {DataType::INT8, DataType::INT16, DataType::FLOAT32};
  ChipTensor t =
      make_tensor_strided(reinterpret_cast<void *>(4096), shape, stride, rank, types[random() % 3]);
  t.start_offset = random() % 30;
  return t;
}

TEST(Region, CanonicalFormKeepsTheBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    ChipTensor t = randomTensor(random);
    Region region;
    ASSERT_TRUE(makeRegion(t, region));
    std::set<uint64_t> expected;
    uint64_t size = get_element_size(t.dtype);
    for (uint64_t k = 0; k < t.numel(); ++k) {
      uint64_t rest = k, at = t.start_offset;
      for (uint32_t d = t.ndims; d-- > 0; rest /= t.shapes[d])
        at += rest % t.shapes[d] * t.strides[d];
      for (uint64_t b = 0; b < size; ++b)
        expected.insert(4096 + at * size + b);
    }
    EXPECT_EQ(expected, bytesOf(region));
    EXPECT_EQ(*expected.begin(), region.lo);
    EXPECT_EQ(*expected.rbegin() + 1, region.hi);
  }
}

TEST(Region, OverlapNeverMissesAByte) {
  std::mt19937 random(2);
  int conservative = 0, disjoint = 0;
  for (int i = 0; i < 20000; ++i) {
    Region a, b;
    makeRegion(randomTensor(random), a);
    makeRegion(randomTensor(random), b);
    std::set<uint64_t> bytesA = bytesOf(a), bytesB = bytesOf(b);
    bool truth = false;
    for (uint64_t byte : bytesA)
      truth |= bytesB.count(byte) > 0;
    bool answer = overlaps(a, b);
    ASSERT_TRUE(answer || !truth) << i;
    EXPECT_EQ(answer, overlaps(b, a));
    disjoint += !truth;
    conservative += answer && !truth;
    if (covers(a, b)) {
      for (uint64_t byte : bytesB)
        ASSERT_TRUE(bytesA.count(byte));
    }
  }
  // Small regions are compared piece by piece: practically always exact.
  EXPECT_LT(conservative, disjoint / 100);
}

TEST(Region, ColumnTilesOfOneMatrixAreDisjoint) {
  std::vector<float> m(64 * 64);
  uint32_t shape[2] = {64, 64}, tile[2] = {64, 8};
  ChipTensor whole = make_tensor_external(m.data(), shape, 2);
  for (uint32_t i = 0; i < 8; ++i)
    for (uint32_t j = 0; j < 8; ++j) {
      uint32_t atI[2] = {0, 8 * i}, atJ[2] = {0, 8 * j};
      Region a, b;
      makeRegion(whole.view(tile, atI), a);
      makeRegion(whole.view(tile, atJ), b);
      EXPECT_EQ(i == j, overlaps(a, b));
    }
}

TEST(Region, InterleavedLongSlicesAreToldApartByResidues) {
  std::vector<int8_t> m(100000);
  uint32_t shape[1] = {100000};
  ChipTensor whole = make_tensor_external(m.data(), shape, 1, DataType::INT8);
  Region a, b, c;
  makeRegion(whole.slice(0, 0, 100000, 6), a);
  makeRegion(whole.slice(0, 1, 100000, 4), b);
  makeRegion(whole.slice(0, 2, 100000, 4), c);
  EXPECT_FALSE(overlaps(a, b)); // even and odd bytes
  EXPECT_TRUE(overlaps(a, c));
}

TEST(Region, EmptyViewHasNone) {
  uint32_t shape[2] = {4, 0};
  Region region;
  EXPECT_FALSE(makeRegion(make_tensor_external(nullptr, shape, 2), region));
}

} // namespace
