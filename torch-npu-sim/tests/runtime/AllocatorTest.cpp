//===- AllocatorTest.cpp - reuse, streams, limits, statistics -------------===//
#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <random>

using namespace npu;

namespace {

TEST(Allocator, ReusesAtOnceOnTheSameStreamOnly) {
  Device &d = device(0);
  Stream &a = d.streamFromPool(0), &b = d.streamFromPool(0);
  Block *first = d.allocator().allocate(1000, a);
  void *address = Allocator::data(first);
  d.allocator().release(first);
  Block *other = d.allocator().allocate(1000, b);
  EXPECT_NE(Allocator::data(other), address);
  Block *again = d.allocator().allocate(1000, a);
  EXPECT_EQ(Allocator::data(again), address);
  d.allocator().release(other);
  d.allocator().release(again);
}

TEST(Allocator, RecordedStreamHoldsTheBlock) {
  Device &d = device(0);
  Stream &a = d.streamFromPool(0), &b = d.streamFromPool(0);
  std::promise<void> open;
  Block *block = d.allocator().allocate(4096, a);
  void *address = Allocator::data(block);
  b.push("gate", [opened = open.get_future().share()] { opened.wait(); });
  d.allocator().recordStream(block, b);
  d.allocator().release(block);
  Block *next = d.allocator().allocate(4096, a);
  EXPECT_NE(Allocator::data(next), address);
  open.set_value();
  b.synchronize();
  Block *after = d.allocator().allocate(4096, a);
  EXPECT_EQ(Allocator::data(after), address);
  d.allocator().release(next);
  d.allocator().release(after);
}

TEST(Allocator, RunningWorkDoesNotGetWhatWaitingWorkReads) {
  Device &d = device(0);
  Stream &s = d.streamFromPool(0);
  Block *input = d.allocator().allocate(8192, s);
  int *data = static_cast<int *>(Allocator::data(input));
  int seen = 0;
  std::promise<void> freed;
  launch(s, "write", [=] { *data = 42; });
  s.push("kernel with a temporary", [&, freed = freed.get_future().share()] {
    freed.wait();
    Block *temporary = d.allocator().allocate(8192, s, /*inKernel=*/true);
    *static_cast<int *>(Allocator::data(temporary)) = 7;
    d.allocator().release(temporary);
  });
  launch(s, "read", [&, data] { seen = *data; });
  d.allocator().release(input); // the host is done with it, the stream is not
  freed.set_value();
  s.synchronize();
  EXPECT_EQ(seen, 42);
}

TEST(Allocator, KernelsBlockFreedByTheHostWaitsForTheStream) {
  Device &d = device(0);
  Stream &s = d.streamFromPool(0);
  Block *result = d.allocator().allocate(8192, s, /*inKernel=*/true);
  void *address = Allocator::data(result);
  std::promise<void> open;
  s.push("gate", [opened = open.get_future().share()] { opened.wait(); });
  d.allocator().release(result);
  Block *other = d.allocator().allocate(8192, s, /*inKernel=*/true);
  EXPECT_NE(Allocator::data(other), address);
  open.set_value();
  s.synchronize();
  d.allocator().release(other);
}

TEST(Allocator, BlocksAreAlignedDisjointAndCounted) {
  Device &d = device(1);
  Allocator &memory = d.allocator();
  memory.emptyCache();
  MemoryStats before = memory.stats();
  std::mt19937 random(7);
  std::map<char *, size_t> live;
  std::vector<Block *> blocks;
  for (int i = 0; i < 2000; ++i) {
    if (blocks.empty() || random() % 3) {
      size_t bytes = 1 + random() % (random() % 8 ? 9000 : 3000000);
      Block *block = memory.allocate(bytes, d.defaultStream());
      char *at = static_cast<char *>(Allocator::data(block));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 512, 0u);
      auto next = live.lower_bound(at);
      if (next != live.end()) {
        EXPECT_LE(at + bytes, next->first);
      }
      if (next != live.begin()) {
        EXPECT_LE(std::prev(next)->first + std::prev(next)->second, at);
      }
      live[at] = bytes;
      blocks.push_back(block);
    } else {
      size_t which = random() % blocks.size();
      live.erase(static_cast<char *>(Allocator::data(blocks[which])));
      memory.release(blocks[which]);
      blocks[which] = blocks.back();
      blocks.pop_back();
    }
  }
  int64_t requested = 0;
  for (auto &[at, bytes] : live)
    requested += int64_t(bytes);
  EXPECT_EQ(memory.stats().requestedBytes[0].current - before.requestedBytes[0].current, requested);
  for (Block *block : blocks)
    memory.release(block);
  EXPECT_EQ(memory.stats().allocatedBytes[0].current, before.allocatedBytes[0].current);
  memory.emptyCache();
  EXPECT_EQ(memory.reserved(), size_t(before.reservedBytes[0].current));
}

TEST(Allocator, LimitGivesAMessageThatSaysHowMuchThereIs) {
  Device &d = device(1);
  Allocator &memory = d.allocator();
  memory.emptyCache();
  size_t old = memory.limit();
  memory.setLimit(memory.reserved() + (32 << 20));
  Block *kept = memory.allocate(24 << 20, d.defaultStream());
  try {
    memory.allocate(16 << 20, d.defaultStream());
    FAIL();
  } catch (const OutOfMemory &e) {
    std::string text = e.what();
    EXPECT_NE(text.find("NPU out of memory. Tried to allocate 16.00 MiB. NPU 1 has a total "
                        "capacity of 32.00 MiB of "
                        "which 8.00 MiB is free."),
              std::string::npos)
        << text;
  }
  memory.release(kept);
  Block *now =
      memory.allocate(30 << 20, d.defaultStream()); // the cached segment is given back for it
  memory.release(now);
  EXPECT_THROW(memory.setLimit(1), DeviceError);
  memory.setLimit(old);
  EXPECT_EQ(memory.allocate(0, d.defaultStream()), nullptr);
}

} // namespace
