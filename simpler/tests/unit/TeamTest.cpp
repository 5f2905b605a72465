//===- TeamTest.cpp - launches on threads that the program lends ----------===//
#include "Team.h"
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace {

using simpler::TeamBlocks;

constexpr int32_t kBlocks = 16;

std::atomic<int> asked, members;
std::atomic<bool> refuse, late;

/// Two threads, made for each launch.
int32_t twoThreads(void (*body)(void *, int32_t, int32_t), void *context) {
  ++asked;
  if (refuse)
    return 0;
  std::thread other([=] {
    body(context, 1, 2);
    ++members;
  });
  body(context, 0, 2);
  if (late)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  other.join();
  return 1;
}

/// Counts each block; long enough for a team.
const SimplerKernel kCount{[](int64_t *args) {
                             linger(20);
                             ++reinterpret_cast<std::atomic<int> *>(args[0])[blockOf(args)];
                           },
                           "count", nullptr, 0, SIMPLER_AIV};

struct Counts {
  std::atomic<int> of[kBlocks] = {};
  bool all(int expected) const {
    return std::all_of(std::begin(of), std::end(of), [&](int count) { return count == expected; });
  }
};

void launch(SimplerRun *run, const SimplerKernel &kernel, void *scalar, int32_t blocks = kBlocks) {
  SimplerLaunch options{};
  options.block_num = blocks;
  submit(run, &kernel, {}, {reinterpret_cast<uintptr_t>(scalar)}, &options);
}

class Team : public testing::Test {
protected:
  void SetUp() override {
    asked = members = 0;
    refuse = late = false;
  }
};

TEST_F(Team, BlocksAreDealtInRangesAndTakenFromWhoIsLate) {
  TeamBlocks blocks(7, 8);
  std::vector<int32_t> first, second;
  blocks.work(1, 2, [&](int32_t block) {
    second.push_back(block);
    if (block == 4) // the other member comes in the meantime, and takes what is left
      blocks.work(0, 2, [&](int32_t other) { first.push_back(other); });
  });
  EXPECT_EQ(second, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(first, (std::vector<int32_t>{0, 1, 2, 5, 6}));
}

TEST_F(Team, MembersBeyondTheLimitOrTheBlocksGetNothing) {
  for (int32_t limit : {2, 64}) {
    TeamBlocks blocks(3, limit);
    int count = 0;
    blocks.work(limit == 2 ? 2 : 3, 8, [&](int32_t) { ++count; });
    EXPECT_EQ(count, 0);
    blocks.work(1, 8, [&](int32_t) { ++count; });
    EXPECT_EQ(count, 3);
  }
}

TEST_F(Team, RunsEachBlockOnceOnTheLentThreads) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  Counts counts;
  for (int call = 1; call <= 20; ++call) {
    ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
    ASSERT_TRUE(counts.all(call));
  }
  EXPECT_GT(asked, 0);
  EXPECT_EQ(members, asked);
}

TEST_F(Team, ANewKernelAndOneBlockStayWithTheWorker) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  Counts counts;
  ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
  for (int call = 0; call < 5; ++call)
    ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of, 1); }), 0);
  EXPECT_EQ(asked, 0);
}

TEST_F(Team, AWorkerOfOneThreadAndOneWithoutTeamNeverAsk) {
  for (int32_t threads : {1, 2}) {
    WorkerPtr worker = makeWorker(threads);
    simpler_worker_lend_team(worker.get(), twoThreads);
    if (threads == 2)
      simpler_worker_lend_team(worker.get(), nullptr);
    Counts counts;
    for (int call = 0; call < 3; ++call)
      ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
    EXPECT_TRUE(counts.all(3));
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(Team, ARefusalLeavesTheLaunchToTheWorker) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  refuse = true;
  Counts counts;
  for (int call = 1; call <= 5; ++call) {
    ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
    ASSERT_TRUE(counts.all(call));
  }
  EXPECT_GT(asked, 0);
}

// Each launch appends to what the one before has written: mixed with tasks of one block.
TEST_F(Team, LaunchesAndOtherTasksKeepTheirOrder) {
  static const SimplerKernel twiceAndOne{[](int64_t *args) {
                                           linger(20);
                                           auto block = static_cast<uint64_t>(blockOf(args));
                                           data<uint32_t>(args, 0)[block] =
                                               data<uint32_t>(args, 0)[block] * 2 + 1;
                                         },
                                         "twiceAndOne", nullptr, 0, SIMPLER_AIV};
  static const SimplerKernel rotate{[](int64_t *args) {
                                      auto *x = data<uint32_t>(args, 0);
                                      std::rotate(x, x + 1, x + kBlocks);
                                    },
                                    "rotate", nullptr, 0, SIMPLER_AIV};
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  std::vector<uint32_t> x(kBlocks), expected(kBlocks);
  std::iota(x.begin(), x.end(), 0u);
  expected = x;
  for (int call = 0; call < 30; ++call) {
    for (uint32_t &e : expected)
      e = e * 2 + 1;
    std::rotate(expected.begin(), expected.begin() + 1, expected.end());
  }
  SimplerLaunch wide{};
  wide.block_num = kBlocks;
  ASSERT_EQ(run(worker.get(),
                [&](SimplerRun *r) {
                  ChipTensor t = tensorOf(x);
                  for (int call = 0; call < 30; ++call) {
                    submit(r, &twiceAndOne, {inout(t)}, {}, &wide);
                    submit(r, &rotate, {inout(t)});
                  }
                }),
            0)
      << simpler_last_error();
  EXPECT_EQ(x, expected);
  EXPECT_GT(asked, 0);
}

TEST_F(Team, AnExceptionOnAnyMemberFailsTheRun) {
  static const SimplerKernel fails{[](int64_t *args) {
                                     linger(20);
                                     if (args[0] && blockOf(args) == kBlocks - 1)
                                       throw std::runtime_error("no more");
                                   },
                                   "fails", nullptr, 0, SIMPLER_AIV};
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  int yes = 1;
  ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, fails, nullptr); }), 0);
  ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, fails, &yes); }),
            SIMPLER_KERNEL_FAILED);
  EXPECT_NE(std::string(simpler_last_error()).find("'fails' threw an exception: no more"),
            std::string::npos)
      << simpler_last_error();
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, fails, nullptr); }), 0);
}

TEST_F(Team, OneWhoseThreadsComeLateIsNotAskedEachTime) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  late = true;
  Counts counts;
  for (int call = 1; call <= 20; ++call) {
    ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
    ASSERT_TRUE(counts.all(call));
  }
  EXPECT_GT(asked, 0);
  EXPECT_LT(asked, 19);
}

TEST_F(Team, SeveralCallersAskAtOnce) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  auto caller = [&] {
    Counts counts;
    for (int call = 1; call <= 10; ++call) {
      EXPECT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
      EXPECT_TRUE(counts.all(call));
    }
  };
  std::thread other(caller);
  caller();
  other.join();
}

TEST_F(Team, ATracedRunStaysWithTheWorker) {
  WorkerPtr worker = makeWorker();
  simpler_worker_lend_team(worker.get(), twoThreads);
  simpler_trace_start(worker.get());
  Counts counts;
  for (int call = 1; call <= 3; ++call)
    ASSERT_EQ(run(worker.get(), [&](SimplerRun *r) { launch(r, kCount, counts.of); }), 0);
  EXPECT_TRUE(counts.all(3));
  EXPECT_EQ(asked, 0);
}

} // namespace
