#include "support/DType.h"

#include <gtest/gtest.h>
#include <set>

namespace {

TEST(DType, NamesAndCodesAreUnique) {
  std::set<std::string_view> names;
  std::set<int> codes;
  for (const pto::DType &row : pto::dtypes()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(codes.insert(row.code).second) << row.name;
    EXPECT_EQ(pto::dtypeByName(row.name), &row);
    EXPECT_EQ(pto::dtypeByCode(row.code), &row);
  }
}

TEST(DType, DescriptorCodesAreThoseOfTheRuntime) {
  EXPECT_EQ(pto::dtypeByName("FP32")->runtime, 0);
  EXPECT_EQ(pto::dtypeByName("FP16")->runtime, 1);
  EXPECT_EQ(pto::dtypeByName("BF16")->runtime, 6);
  EXPECT_EQ(pto::dtypeByName("BOOL")->runtime, 11);
  EXPECT_EQ(pto::dtypeByName("UINT64")->runtime, 8);
}

TEST(DType, DLPackPairsComeBack) {
  EXPECT_EQ(pto::dtypeByDLPack(4, 16)->name, "BF16");
  EXPECT_EQ(pto::dtypeByDLPack(2, 16)->name, "FP16");
  EXPECT_EQ(pto::dtypeByDLPack(0, 64)->name, "INT64");
  EXPECT_EQ(pto::dtypeByDLPack(6, 8)->name, "BOOL");
  EXPECT_EQ(pto::dtypeByDLPack(2, 64), nullptr); // float64 has no counterpart
}

TEST(DType, KindsFollowTheCode) {
  EXPECT_TRUE(pto::dtypeByName("BF16")->isFloat());
  EXPECT_TRUE(pto::dtypeByName("INDEX")->isSignedInt());
  EXPECT_TRUE(pto::dtypeByName("UINT8")->isUnsignedInt());
  EXPECT_FALSE(pto::dtypeByName("TASK_ID")->isFloat());
  EXPECT_EQ(pto::dtypeByName("FP4")->bytes(), 1);
}

} // namespace
