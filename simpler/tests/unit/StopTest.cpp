//===- StopTest.cpp - runs that are stopped halfway -----------------------===//
#include "Log.h"
#include "RunOrchestration.h"
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <atomic>
#include <cstring>

namespace {

int32_t cancelled;
std::atomic<int> arrived;

void cancel() { __atomic_store_n(&cancelled, 1, __ATOMIC_SEQ_CST); }
void yield(const int64_t *args) {
  reinterpret_cast<const GlobalContext *>(args[kGlobalContextWord])->yield();
}

class Stop : public ::testing::TestWithParam<int> {
protected:
  WorkerPtr worker = makeWorker(GetParam());
  std::string error;

  void SetUp() override { cancelled = arrived = 0; }
  /// Runs one launch; the run ends as soon as `cancelled` is set.
  int32_t launch(const SimplerKernel &kernel, int32_t blocks, bool together = false) {
    SimplerLaunch options{};
    options.block_num = blocks;
    options.sync_start = together;
    simpler::RunOptions stoppable;
    stoppable.cancelled = &cancelled;
    return simpler::runOrchestration(
        simpler::deviceOf(worker.get()), stoppable,
        [&](SimplerRun &run) { submit(&run, &kernel, {}, {}, &options); }, error);
  }
};

TEST_P(Stop, ALaunchThatLeavesBlocksOutHasNotSucceeded) {
  static const SimplerKernel kernel{[](int64_t *) {
                                      ++arrived;
                                      cancel();
                                    },
                                    "cancels", nullptr, 0, SIMPLER_AIV};
  EXPECT_EQ(SIMPLER_INTERRUPTED, launch(kernel, 1000));
  EXPECT_LT(arrived, 1000);
  EXPECT_NE(std::string::npos, error.find("before task t0 'cancels' was complete")) << error;
}

TEST_P(Stop, ATaskWhoseCounterIsNotAwaitedHasNotSucceeded) {
  static int32_t counter;
  counter = 0;
  static const SimplerKernel kernel{
      [](int64_t *args) {
        cancel();
        CompletionList *list =
            reinterpret_cast<LocalContext *>(args[kLocalContextWord])->async.list;
        list->tokens[list->count++] = {reinterpret_cast<uintptr_t>(&counter), 1, 0, 0, 0};
      },
      "expects", nullptr, 0, SIMPLER_AIV};
  EXPECT_EQ(SIMPLER_INTERRUPTED, launch(kernel, 1)) << error;
}

TEST_P(Stop, BlocksThatWaitInALoopGetTheOthers) {
  static const SimplerKernel kernel{[](int64_t *args) {
                                      if (blockOf(args) == 0)
                                        cancel();
                                      ++arrived;
                                      while (arrived < 8)
                                        ;
                                    },
                                    "spins", nullptr, 0, SIMPLER_AIV};
  EXPECT_EQ(0, launch(kernel, 8, true)) << error; // nothing was left out
  EXPECT_EQ(8, arrived);
}

TEST_P(Stop, BlocksThatYieldForEverAreAbandoned) {
  static const SimplerKernel kernel{[](int64_t *args) {
                                      if (++arrived == 8)
                                        cancel();
                                      for (;;)
                                        yield(args);
                                    },
                                    "yields", nullptr, 0, SIMPLER_AIV};
  EXPECT_EQ(SIMPLER_INTERRUPTED, launch(kernel, 8, true));
  EXPECT_EQ(8, arrived);
}

INSTANTIATE_TEST_SUITE_P(Threads, Stop, ::testing::Values(1, 2, 4));

} // namespace
