//===- WatchdogTest.cpp - what cannot go on ends, what is slow does not ---===//
#include "FaultPoint.h"
#include "Log.h"
#include "RunOrchestration.h"
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void expectOne(int64_t *args) { // complete when the counter (argument 1) is 1
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  CompletionList *list = local->async.list;
  list->tokens[list->count++] = {reinterpret_cast<uintptr_t>(data<int32_t>(args, 1)), 1, 0, 0, 0};
}
void raise(int64_t *args) { __atomic_fetch_add(data<int32_t>(args, 0), 1, __ATOMIC_RELEASE); }
void raiseSlowly(int64_t *args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(args[1]));
  raise(args);
}
const SimplerKernel kExpect{expectOne, "expect", "exchange.cpp", 12, SIMPLER_AIV};
const SimplerKernel kRaise{raise, "raise", "exchange.cpp", 30, SIMPLER_AIV};
const SimplerKernel kRaiseSlowly{raiseSlowly, "raise_slowly", "exchange.cpp", 40, SIMPLER_AIV};
const SimplerKernel kTouch{[](int64_t *args) { ++*data<int32_t>(args, 0); }, "touch", "touch.cpp",
                           5, SIMPLER_AIV};

/// Too long to run where it is submitted.
const SimplerKernel kLong{[](int64_t *) { linger(200); }, "long", "long.cpp", 9, SIMPLER_AIV};

bool says(const char *text) {
  bool found = std::strstr(simpler_last_error(), text) != nullptr;
  EXPECT_TRUE(found) << "no \"" << text << "\" in:\n" << simpler_last_error();
  return found;
}

void expectWorks(SimplerWorker *worker) {
  std::vector<int32_t> x(1);
  EXPECT_EQ(0, run(worker, [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              for (int i = 0; i < 10; ++i)
                submit(r, &kTouch, {inout(t)});
            }));
  EXPECT_EQ(10, x[0]);
}

class Watchdog : public ::testing::TestWithParam<int> {
protected:
  WorkerPtr worker = makeWorker(GetParam());
  std::vector<int32_t> x = std::vector<int32_t>(4), counter = std::vector<int32_t>(2);
  ChipTensor tx = tensorOf(x), tc = tensorOf(counter);
};

TEST_P(Watchdog, ACounterThatNobodyRaises) {
  EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor second = part(tc, {1}, {1});
              submit(r, &kExpect, {inout(tx), noDep(second)});
              ChipTensor half = part(tx, {2}, {2});
              submit(r, &kTouch, {inout(half)});
            }));
  says("no task can run any more and 2 are not complete");
  says("task t0 'expect' (exchange.cpp:12) waits for the counter at ");
  says("(byte 4 of tensor argument 1): it is 0, must be 1");
  says(
      "task t1 'touch' (touch.cpp:5) waits for task t0 'expect' (exchange.cpp:12): tensor argument "
      "0, bytes 8 to 16 of its allocation, is argument 0 there");
  EXPECT_EQ(0, x[2]);
  expectWorks(worker.get());
}

TEST_P(Watchdog, ACycleThroughACounterAndAManualDependency) {
  EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, run(worker.get(), [&](SimplerRun *r) {
              uint64_t first = submit(r, &kExpect, {inout(tx), noDep(tc)});
              SimplerLaunch after{};
              after.block_num = 1;
              after.deps = &first;
              after.num_deps = 1;
              submit(r, &kRaise, {noDep(tc)}, {}, &after);
            }));
  says("task t1 'raise' (exchange.cpp:30) waits for task t0 'expect' (exchange.cpp:12)");
  says("cycle: task t0 'expect' (exchange.cpp:12) waits for the counter, which task t1 'raise' "
       "(exchange.cpp:30) may raise");
  EXPECT_EQ(0, counter[0]);
  expectWorks(worker.get());
}

TEST_P(Watchdog, AReadOfWhatIsNeverWritten) {
  EXPECT_EQ(SIMPLER_TENSOR_WAIT_TIMEOUT, run(worker.get(), [&](SimplerRun *r) {
              submit(r, &kExpect, {inout(tx), noDep(tc)});
              int64_t at[1] = {0};
              simpler_get(r, &tx, at, 1);
              submit(r, &kRaise, {noDep(tc)});
            }));
  says(
      "the orchestration waits for task t0 'expect' (exchange.cpp:12) to read or write an element");
  expectWorks(worker.get());
}

TEST_P(Watchdog, ANodeOfAReplayedGraph) {
  struct Body {
    SimplerRun *run;
    ChipTensor *x, *c;
  } body{nullptr, &tx, &tc};
  auto submitBody = [](void *context) {
    auto *b = static_cast<Body *>(context);
    submit(b->run, &kExpect, {inout(*b->x), noDep(*b->c)});
    submit(b->run, &kTouch, {inout(*b->x)});
  };
  const ChipTensor *tensors[2] = {&tx, &tc};
  const uint8_t tags[2] = {SIMPLER_ARG_INOUT, SIMPLER_ARG_NO_DEP};
  auto program = [&](SimplerRun *r) {
    body.run = r;
    simpler_submit_graph(r, 5, submitBody, &body, tensors, tags, 2, nullptr, 0);
    submit(r, &kTouch, {inout(tx)});
  };
  counter[0] = 1;
  ASSERT_EQ(0, run(worker.get(), program));
  counter[0] = 0;
  EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, run(worker.get(), program));
  says("'expect' (exchange.cpp:12) waits for the counter");
  says("'touch' (touch.cpp:5) waits for task t1 'expect'");
  counter[0] = 1;
  x.assign(4, 0);
  ASSERT_EQ(0, run(worker.get(), program));
  EXPECT_EQ(2, x[0]);
}

TEST_P(Watchdog, ARunStartedByAKernel) {
  static SimplerWorker *inner;
  static ChipTensor *x, *c;
  inner = worker.get();
  x = &tx;
  c = &tc;
  static int32_t status;
  static const SimplerKernel kCalls{
      [](int64_t *) {
        status = run(inner, [](SimplerRun *r) { submit(r, &kExpect, {inout(*x), noDep(*c)}); });
      },
      "calls", nullptr, 0, SIMPLER_AIV};
  EXPECT_EQ(0, run(worker.get(), [&](SimplerRun *r) { submit(r, &kCalls, {}); }));
  EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, status);
  expectWorks(worker.get());
}

TEST_P(Watchdog, ASlowKernelIsNoStall) {
  EXPECT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              submit(r, &kExpect, {inout(tx), noDep(tc)});
              submit(r, &kRaiseSlowly, {noDep(tc)}, {2000});
              submit(r, &kTouch, {inout(tx)});
            }));
  EXPECT_EQ(1, x[0]);
}

/// The runtime must not lose a task. When it has, the run ends all the same, and says so.
TEST_P(Watchdog, ATaskThatTheRuntimeHasLost) {
  for (bool reads : {false, true}) {
    EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, run(worker.get(), [&](SimplerRun *r) {
                int64_t at[1] = {0};
                simpler::Task *lost = nullptr;
                while (!lost) {
                  submit(r, &kLong, {inout(tx)});
                  lost = r->executor().steal();
                  if (!lost) // another thread was faster: the next one must not wait for this one
                    simpler_get(r, &tx, at, 1);
                }
                submit(r, &kTouch, {inout(tx)});
                if (reads)
                  simpler_get(r, &tx, at, 1);
              }));
    says("internal error of the runtime: all threads rest, but ");
    says(" 'touch' (touch.cpp:5) waits for task t");
    says(" 'long' (long.cpp:9): 0 predecessors are left, 1 tickets, block 0 of 1");
  }
  expectWorks(worker.get());
}

INSTANTIATE_TEST_SUITE_P(Threads, Watchdog, ::testing::Values(1, 2, 4));

TEST(WatchdogOfAll, AnotherWorkerMayRaiseIt) {
  WorkerPtr one = makeWorker(2), other = makeWorker(2);
  std::vector<int32_t> x(1), counter(1);
  ChipTensor tx = tensorOf(x), tc = tensorOf(counter);
  static std::atomic<bool> begun;
  begun = false;
  static const SimplerKernel kBegins{[](int64_t *args) {
                                       begun = true;
                                       raiseSlowly(args);
                                     },
                                     "begins", nullptr, 0, SIMPLER_AIV};
  std::thread thread([&] {
    EXPECT_EQ(0, run(other.get(), [&](SimplerRun *r) { submit(r, &kBegins, {noDep(tc)}, {800}); }));
  });
  // A thread that has not come that far could raise the counter too late: nothing announces it.
  while (!begun)
    std::this_thread::yield();
  EXPECT_EQ(0, run(one.get(), [&](SimplerRun *r) {
              submit(r, &kExpect, {inout(tx), noDep(tc)});
              submit(r, &kTouch, {inout(tx)});
            }));
  thread.join();
  EXPECT_EQ(1, x[0]);
}

/// Each gang fits, all together do not: every block spins until all of its gang are there.
TEST(WatchdogOfAll, GangsThatCannotAllRunTogetherTakeTurns) {
  WorkerPtr worker = makeWorker(2, "a2a3sim");
  static std::atomic<int> arrived[12];
  static std::atomic<int> width;
  static const SimplerKernel kSpin{[](int64_t *args) {
                                     auto &mine = arrived[args[0]];
                                     ++mine;
                                     while (mine < width)
                                       ;
                                   },
                                   "spin", nullptr, 0, SIMPLER_AIV};
  for (auto &count : arrived)
    count = 0;
  EXPECT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              SimplerLaunch gang{};
              width = gang.block_num = simpler_available_aivs(r);
              gang.sync_start = 1;
              for (uint64_t i = 0; i < 12; ++i)
                submit(r, &kSpin, {}, {i}, &gang);
            }));
  for (auto &count : arrived)
    EXPECT_EQ(width, count);
}

class SharedCounter : public ::testing::Test {
protected:
  void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ~SharedCounter() override { munmap(memory, 4096); }
  int32_t waitFor(SimplerWorker *worker) {
    uint32_t shape[1] = {1};
    ChipTensor tc = make_tensor_external(memory, shape, 1, DataType::INT32);
    std::vector<int32_t> x(1);
    ChipTensor tx = tensorOf(x);
    return run(worker, [&](SimplerRun *r) { submit(r, &kExpect, {inout(tx), noDep(tc)}); });
  }
};

TEST_F(SharedCounter, IsLeftToTheOtherProcess) {
  pid_t child = fork();
  if (child == 0) {
    usleep(700000);
    __atomic_store_n(static_cast<int32_t *>(memory), 1, __ATOMIC_RELEASE);
    _exit(0);
  }
  WorkerPtr worker = makeWorker(2);
  EXPECT_EQ(0, waitFor(worker.get()));
  waitpid(child, nullptr, 0);
}

TEST_F(SharedCounter, WaitsAsLongAsTheUserSays) {
  WorkerPtr worker = makeWorker(2);
  setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "300", 1);
  EXPECT_EQ(SIMPLER_SCHEDULER_TIMEOUT, waitFor(worker.get()));
  unsetenv("SIMPLER_SCHEDULER_TIMEOUT_MS");
  says("nothing has raised a counter in shared memory for 300 ms");
  expectWorks(worker.get());
}

//===-- Rest --------------------------------------------------------------===//

/// Stops the device's other thread where it is about to sleep and where it has woken up.
struct RestStops {
  static inline std::atomic<int> arrived, allowed;
  static inline std::thread::id own;
  RestStops() {
    arrived = allowed = 0;
    own = std::this_thread::get_id();
    simpler::faultHook = [](simpler::FaultPoint point) {
      if (point != simpler::FaultPoint::Rest || std::this_thread::get_id() == own)
        return false;
      int ticket = ++arrived;
      while (allowed < ticket)
        std::this_thread::yield();
      return false;
    };
  }
  ~RestStops() {
    simpler::faultHook = nullptr;
    allowed = 1000000;
  }
  void await(int count) {
    while (arrived < count)
      std::this_thread::yield();
  }
};

TEST(WatchdogRest, AThreadThatIsCalledIsNotAtRest) {
  WorkerPtr worker = makeWorker(2);
  simpler::Device &device = simpler::deviceOf(worker.get());
  auto still = [&] {
    bool proven = false;
    EXPECT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
                proven = device.provenStill(r->executor()).has_value();
              }));
    return proven;
  };
  RestStops stops;
  device.wakeOne(); // starts the thread
  stops.await(1);   // it finds nothing, and is about to sleep
  EXPECT_TRUE(still());
  device.wakeOne();
  EXPECT_FALSE(still()) << "called before it sleeps";
  stops.allowed = 1;
  stops.await(2);
  EXPECT_FALSE(still()) << "woken up";
  stops.allowed = 2;
  stops.await(3); // looked, found nothing, is about to sleep again
  EXPECT_TRUE(still());
}

} // namespace
