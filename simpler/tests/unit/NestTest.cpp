//===- NestTest.cpp - kernels that run programs ---------------------------===//
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <atomic>
#include <thread>

namespace {

SimplerWorker *target;

void raise(std::atomic<int> &highest, int value) {
  for (int seen = highest; seen < value && !highest.compare_exchange_weak(seen, value);)
    ;
}

/// A thread that waits for the run of its kernel takes other tasks; that they run programs as well
/// must not fill its stack and the worker's contexts.
TEST(Nest, RunsThatWaitDoNotPileUp) {
  WorkerPtr worker = makeWorker(4);
  target = worker.get();
  static std::atomic<int> deepest, refused, executed;
  deepest = refused = executed = 0;
  static thread_local int depth = 0;
  static const SimplerKernel leaf{[](int64_t *args) {
                                    linger(static_cast<int>(args[0]));
                                    ++executed;
                                  },
                                  "leaf", nullptr, 0, SIMPLER_AIV};
  static const SimplerKernel nests{[](int64_t *) {
                                     raise(deepest, ++depth);
                                     refused += run(target, [](SimplerRun *r) {
                                                  for (uint64_t i = 0; i < 4; ++i)
                                                    submit(r, &leaf, {}, {i * 30});
                                                }) != 0;
                                     --depth;
                                   },
                                   "nests", nullptr, 0, SIMPLER_AIV};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              for (int i = 0; i < 1000; ++i)
                submit(r, &nests, {});
            }));
  EXPECT_EQ(4000, executed);
  EXPECT_EQ(0, refused);
  EXPECT_LE(deepest, 5);
}

/// A block of a gang may go on on another thread after it has yielded: not within a run.
TEST(Nest, ARunOfABlockStaysOnItsThread) {
  WorkerPtr worker = makeWorker(1);
  target = worker.get();
  static std::atomic<std::thread::id> inRun;
  static std::atomic<int> mixed, ended;
  inRun = std::thread::id();
  mixed = ended = 0;
  static const SimplerKernel yields{
      [](int64_t *args) {
        for (int i = 0; i < 10; ++i)
          reinterpret_cast<GlobalContext *>(args[kGlobalContextWord])->yield();
      },
      "yields", nullptr, 0, SIMPLER_AIV};
  static const SimplerKernel block{
      [](int64_t *args) {
        if (blockOf(args) == 0) {
          inRun = std::this_thread::get_id();
          ended += run(target, [](SimplerRun *r) { submit(r, &yields, {}); }) == 0;
          inRun = std::thread::id();
        } else {
          mixed += inRun.load() == std::this_thread::get_id();
        }
      },
      "block", nullptr, 0, SIMPLER_AIV};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              SimplerLaunch gang{};
              gang.block_num = 2;
              gang.sync_start = 1;
              submit(r, &block, {}, {}, &gang);
            }));
  EXPECT_EQ(1, ended);
  EXPECT_EQ(0, mixed);
}

} // namespace
