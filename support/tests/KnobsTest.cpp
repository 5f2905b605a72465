#include "support/Knobs.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace knobs = pto::knobs;

namespace {

TEST(Knobs, UnsetGivesTheDefault) {
  unsetenv("PTO_CACHE_SIZE");
  unsetenv("PTO_FUSE");
  EXPECT_EQ(knobs::CacheSize(), uint64_t(1) << 30);
  EXPECT_TRUE(knobs::Fuse());
}

TEST(Knobs, ValuesAreTyped) {
  setenv("PTO_CACHE_SIZE", "512M", 1);
  setenv("PTO_FUSE", "off", 1);
  setenv("SIMPLER_THREADS", "-3", 1);
  setenv("PTO_ISA", "avx2", 1);
  EXPECT_EQ(knobs::CacheSize(), uint64_t(512) << 20);
  EXPECT_FALSE(knobs::Fuse());
  EXPECT_EQ(knobs::SimplerThreads(), -3);
  EXPECT_EQ(knobs::Isa(), "avx2");
}

TEST(Knobs, WhatIsNotOfTheTypeGivesTheDefault) {
  for (const char *text : {"", "x", "12x", "99999999999999999999", "17179869184G"}) {
    setenv("PTO_CACHE_SIZE", text, 1);
    EXPECT_EQ(knobs::CacheSize(), uint64_t(1) << 30) << text;
  }
}

} // namespace
