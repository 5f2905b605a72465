//===- StressTest.cpp - threads, streams, memory at once ------------------===//
//
// Eight threads with four streams each write patterns into blocks, copy them between streams behind
// events and check them. The default takes part of a second; NPU_STRESS_SECONDS makes it longer.
//
//===----------------------------------------------------------------------===//
#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace npu;

namespace {

void worker(unsigned seed, std::chrono::steady_clock::time_point until, std::atomic<size_t> &wrong,
            std::atomic<size_t> &steps) {
  std::mt19937 random(seed);
  Device &d = device(int(seed % 2));
  Allocator &memory = d.allocator();
  Stream *streams[4];
  for (Stream *&s : streams)
    s = &d.streamFromPool(int(random() % 2) - 1);
  for (int step = 0; step < 50 || std::chrono::steady_clock::now() < until; ++step) {
    Stream &a = *streams[random() % 4], &b = *streams[random() % 4];
    size_t words = 1 + random() % 2000;
    unsigned pattern = random();
    Block *source = memory.allocate(words * 4, a), *target = memory.allocate(words * 4, b);
    auto *from = static_cast<unsigned *>(Allocator::data(source)),
         *to = static_cast<unsigned *>(Allocator::data(target));
    if (random() % 4 == 0)
      a.push("delay", [] { std::this_thread::yield(); });
    launch(a, "fill", [=] { std::fill_n(from, words, pattern); });
    Event ready;
    ready.record(a);
    ready.wait(b);
    if (random() % 2)
      d.taskQueue(b).enqueue(
          "op", [=, &b] { launch(b, "copy", [=] { std::memcpy(to, from, words * 4); }); });
    else
      launch(b, "copy", [=] { std::memcpy(to, from, words * 4); });
    memory.recordStream(source, b);
    memory.release(source);
    launch(b, "check", [=, &wrong] {
      for (size_t i = 0; i < words; ++i)
        if (to[i] != pattern) {
          ++wrong;
          break;
        }
    });
    memory.release(target);
    ++steps;
    if (random() % 64 == 0)
      b.synchronize();
  }
  for (Stream *s : streams)
    s->synchronize();
}

TEST(Stress, ThreadsStreamsCopiesAndFrees) {
  double seconds = 0.5;
  if (const char *text = std::getenv("NPU_STRESS_SECONDS"))
    seconds = std::atof(text);
  auto until =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  std::atomic<size_t> wrong{0}, steps{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { worker(i + 1, until, wrong, steps); });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_GE(steps.load(), 8 * 50u);
  for (int i : {0, 1}) {
    device(i).synchronize();
    device(i).allocator().emptyCache();
    EXPECT_EQ(device(i).allocator().stats().active[0].current, 0);
  }
}

} // namespace
