//===- TransposeTest.cpp --------------------------------------------------===//
#include "GuardedBuffer.h"
#include "ptoas/Target/Native/Kernels.h"
#include <cstdint>
#include <gtest/gtest.h>
#include <random>

namespace {

template <class T> class TransposeTest : public testing::Test {};
using Types = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(TransposeTest, Types);

TYPED_TEST(TransposeTest, EveryShapeBetweenGuards) {
  std::mt19937 random{11};
  for (int64_t rows : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 64, 70, 130})
    for (int64_t cols : {0, 1, 2, 4, 5, 8, 9, 16, 31, 32, 65, 129})
      for (int64_t pad : {0, 5}) {
        const int64_t srcStride = cols + pad, dstStride = rows + pad;
        const bool any = rows && cols, atEnd = random() % 2;
        GuardedBuffer<TypeParam> src(any ? size_t((rows - 1) * srcStride + cols) : 0, atEnd);
        const size_t dstCount = any ? size_t((cols - 1) * dstStride + rows) : 0;
        GuardedBuffer<TypeParam> dst(dstCount, atEnd);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < cols; ++j)
            src[size_t(i * srcStride + j)] = TypeParam(random());
        const TypeParam mark = TypeParam(0xa5a5a5a5a5a5a5a5u);
        for (size_t i = 0; i < dstCount; ++i)
          dst[i] = mark;
        pto_transpose(rows, cols, src.data(), srcStride, dst.data(), dstStride, sizeof(TypeParam));
        for (int64_t j = 0; j < cols; ++j) {
          for (int64_t i = 0; i < rows; ++i)
            ASSERT_EQ(dst[size_t(j * dstStride + i)], src[size_t(i * srcStride + j)])
                << rows << "x" << cols << " at " << i << ", " << j;
          for (int64_t i = rows; i < dstStride && rows && j + 1 < cols; ++i)
            ASSERT_EQ(dst[size_t(j * dstStride + i)], mark) << "written between rows";
        }
      }
}

} // namespace
