//===- SymbolicTest.cpp - affine forms and bounds of integer scalars ------===//
#include "Symbolic.h"
#include <gtest/gtest.h>

using namespace pypto::importer;

namespace {

TEST(Symbolic, WindowOfAStrideHasAConstantExtent) {
  Symbols s;
  Affine i = s.fresh();
  Affine low = s.mul(i, 16), high = s.add(s.mul(i, 16), 16);
  EXPECT_EQ(s.sub(high, low), Affine(16));
}

TEST(Symbolic, ProductsOfSymbolsAreTheSameSymbolInBothOrders) {
  Symbols s;
  Affine a = s.fresh(), b = s.fresh();
  EXPECT_EQ(s.mul(a, b), s.mul(b, a));
  EXPECT_NE(s.mul(a, b), s.mul(a, a));
}

TEST(Symbolic, DivisionFloors) {
  Symbols s;
  EXPECT_EQ(s.floorDiv(-7, 2), Affine(-4));
  EXPECT_EQ(s.floorMod(-7, 2), Affine(1));
  Affine i = s.fresh();
  EXPECT_EQ(s.floorDiv(s.add(s.mul(i, 32), 5), 16), s.mul(i, 2));
  EXPECT_EQ(s.floorMod(s.add(s.mul(i, 32), 5), 16), Affine(5));
}

TEST(Symbolic, DivisionOfABoundedSymbolIsBounded) {
  Symbols s;
  Affine i = s.fresh({0, 31});
  Bounds q = s.bounds(s.floorDiv(i, 8));
  EXPECT_EQ(q.low, 0);
  EXPECT_EQ(q.high, 3);
  EXPECT_EQ(s.floorDiv(i, 32), Affine(0));
  EXPECT_EQ(s.floorMod(i, 32), i);
}

TEST(Symbolic, OrderIsThreeValued) {
  Symbols s;
  Affine i = s.fresh({0, 3}), n = s.fresh({0, std::nullopt});
  EXPECT_EQ(s.lessEqual(i, 3), true);
  EXPECT_EQ(s.lessEqual(4, i), false);
  EXPECT_EQ(s.lessEqual(i, 2), std::nullopt);
  EXPECT_EQ(s.lessEqual(i, n), std::nullopt);
  EXPECT_EQ(s.lessEqual(i, s.add(i, n)), true);
}

TEST(Symbolic, MinimumIsBoundedByEachSide) {
  Symbols s;
  Affine rest = s.fresh();
  Affine live = s.min(16, rest);
  EXPECT_EQ(s.bounds(live).high, 16);
  EXPECT_EQ(s.lessEqual(live, 16), true);
  EXPECT_EQ(live, s.min(rest, 16));
  Affine i = s.fresh({0, 3});
  EXPECT_EQ(s.min(i, 8), i);
  EXPECT_EQ(s.max(i, 8), Affine(8));
}

TEST(Symbolic, OverflowGivesUpInsteadOfWrapping) {
  Symbols s;
  Affine big(INT64_MAX);
  EXPECT_FALSE(s.add(big, 1).isConstant());
  EXPECT_FALSE(s.mul(big, 2).isConstant());
  Affine i = s.fresh({0, INT64_MAX});
  EXPECT_EQ(s.bounds(s.mul(i, 4)).high, std::nullopt);
}

TEST(Symbolic, ParametersAreFoundThroughOperations) {
  Symbols s;
  Affine p = s.fresh({}, 2), q = s.fresh({}, 5);
  EXPECT_EQ(s.parametersOf(s.floorDiv(s.mul(p, q), 3)), (std::vector<int>{2, 5}));
  EXPECT_TRUE(s.parametersOf(7).empty());
}

} // namespace
