//===- SubmitTest.cpp - what one run does, feature by feature -------------===//
#include "Log.h"
#include "RunOrchestration.h"
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

// x[i] = x[i] * a + b, slowly
void affine(int64_t *args) {
  int32_t *x = data<int32_t>(args, 0);
  linger(3);
  for (uint64_t i = 0; i < desc(args, 0).numel(); ++i)
    x[i] = x[i] * static_cast<int32_t>(args[1]) + static_cast<int32_t>(args[2]);
}
// out = in + k
void addTo(int64_t *args) {
  linger(3);
  for (uint64_t i = 0; i < desc(args, 0).numel(); ++i)
    data<int32_t>(args, 1)[i] = data<int32_t>(args, 0)[i] + static_cast<int32_t>(args[2]);
}
void nothing(int64_t *) {}
const SimplerKernel kAffine{affine, "affine", "affine.cpp", 7, SIMPLER_AIV};
const SimplerKernel kAddTo{addTo, "addTo", nullptr, 0, SIMPLER_AIV};
const SimplerKernel kNothing{nothing, "nothing", nullptr, 0, SIMPLER_AIV};

class Submit : public testing::TestWithParam<int> {
protected:
  WorkerPtr worker = makeWorker(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Threads, Submit, testing::Values(1, 2, 4));

TEST_P(Submit, ChainOnOneTensorIsSequential) {
  std::vector<int32_t> x{1, 2, 3};
  int32_t expected[3] = {1, 2, 3};
  for (int i = 0; i < 500; ++i)
    for (int32_t &e : expected)
      e = static_cast<int32_t>(static_cast<uint32_t>(e) * (i % 3) + i);
  ASSERT_EQ(0, run(worker.get(),
                   [&](SimplerRun *r) {
                     ChipTensor t = tensorOf(x);
                     for (uint64_t i = 0; i < 500; ++i)
                       submit(r, &kAffine, {inout(t)}, {i % 3, i});
                   }))
      << simpler_last_error();
  EXPECT_EQ(std::vector<int32_t>(expected, expected + 3), x);
}

TEST_P(Submit, WriterWaitsForReaders) {
  std::vector<int32_t> x(8, 1), y(8 * 64);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor tx = tensorOf(x), ty = tensorOf(y);
              for (uint32_t i = 0; i < 64; ++i) {
                ChipTensor row = part(ty, {8}, {8 * i});
                submit(r, &kAddTo, {in(tx), out(row)}, {100});
                submit(r, &kAffine, {out(tx)}, {1, 1});
              }
            }));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(101 + i, y[8 * i + 3]);
  EXPECT_EQ(65, x[0]);
}

TEST_P(Submit, AliasThroughAnotherBaseAddress) {
  std::vector<int32_t> x(64, 5), y(16);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor whole = tensorOf(x);
              uint32_t shape[1] = {16};
              ChipTensor middle = make_tensor_external(x.data() + 20, shape, 1, DataType::INT32);
              ChipTensor ty = tensorOf(y);
              submit(r, &kAffine, {inout(whole)}, {2, 0});
              submit(r, &kAffine, {inout(middle)}, {1, 7});
              ChipTensor window = part(whole, {16}, {20});
              submit(r, &kAddTo, {in(window), out(ty)}, {0});
            }));
  EXPECT_EQ(std::vector<int32_t>(16, 17), y);
}

TEST_P(Submit, IntermediatesLiveUntilTheirUsersAreDone) {
  std::vector<int32_t> x(100, 1), y(100);
  ASSERT_EQ(0, run(worker.get(),
                   [&](SimplerRun *r) {
                     ChipTensor tx = tensorOf(x), ty = tensorOf(y);
                     for (int round = 0; round < 50; ++round) {
                       simpler_scope_begin(r, 0);
                       ChipTensor a, b;
                       uint32_t shape[1] = {100};
                       simpler_alloc(r, &a, shape, 1, uint8_t(DataType::INT32), 0, nullptr);
                       simpler_alloc(r, &b, shape, 1, uint8_t(DataType::INT32), 0, nullptr);
                       submit(r, &kAddTo, {in(tx), out(a)}, {1});
                       submit(r, &kAddTo, {in(a), out(b)}, {1});
                       submit(r, &kAddTo, {in(b), out(ty)}, {1});
                       simpler_scope_end(r);
                       submit(r, &kAddTo, {in(ty), out(tx)}, {0});
                     }
                   }))
      << simpler_last_error();
  EXPECT_EQ(std::vector<int32_t>(100, 151), y);
}

TEST_P(Submit, ReadsAndWritesFromTheOrchestration) {
  std::vector<int32_t> x{3, 4};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              int64_t at[1] = {1};
              for (int i = 0; i < 20; ++i) {
                submit(r, &kAffine, {inout(t)}, {1, 2});
                uint64_t seen = simpler_get(r, &t, at, 1);
                ASSERT_EQ(uint64_t(4 + 3 * i + 2), seen);
                simpler_set(r, &t, at, 1, seen + 1);
              }
            }));
  EXPECT_EQ(43, x[0]);
  EXPECT_EQ(64, x[1]);
}

void blockIndex(int64_t *args) {
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  data<int32_t>(args, 0)[local->block_idx] += 10 * local->block_idx + local->block_num;
}
const SimplerKernel kBlockIndex{blockIndex, "blockIndex", nullptr, 0, SIMPLER_AIV};

TEST_P(Submit, SpmdRunsEachBlockOnce) {
  std::vector<int32_t> x(1000);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              SimplerLaunch launch{};
              for (int32_t width : {1000, 0, 1, 7, 999}) {
                launch.block_num = width;
                EXPECT_NE(SIMPLER_NO_TASK, submit(r, &kBlockIndex, {inout(t)}, {}, &launch));
              }
            }));
  EXPECT_EQ(1000 + 1 + 7 + 999, x[0]);
  EXPECT_EQ(3 * 60 + 1000 + 7 + 999, x[6]);
  EXPECT_EQ(9990 + 1000, x[999]);
}

// A barrier between all blocks, by waiting without giving the thread back.
void barrier(int64_t *args) {
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  auto *global = reinterpret_cast<GlobalContext *>(args[kGlobalContextWord]);
  int32_t *arrived = data<int32_t>(args, 0);
  __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < local->block_num)
    if (args[1])
      global->yield();
}
const SimplerKernel kBarrier{barrier, "barrier", nullptr, 0, SIMPLER_AIV};

TEST_P(Submit, SyncStartBlocksMeet) {
  for (uint64_t yields : {1, 0}) {
    std::vector<int32_t> x(20);
    ASSERT_EQ(0, run(worker.get(),
                     [&](SimplerRun *r) {
                       ChipTensor t = tensorOf(x);
                       SimplerLaunch launch{};
                       launch.sync_start = 1;
                       launch.block_num = 8;
                       for (uint32_t i = 0; i < (yields ? 20 : 2); ++i) {
                         ChipTensor cell = part(t, {1}, {i});
                         submit(r, &kBarrier, {inout(cell)}, {yields}, &launch);
                       }
                     }))
        << simpler_last_error();
    EXPECT_EQ(8, x[0]);
    EXPECT_EQ(8, x[1]);
  }
}

TEST_P(Submit, PredicateComparesAsSignedInteger) {
  std::vector<int32_t> x{-3, 5}, ticks(12);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor tx = tensorOf(x), tt = tensorOf(ticks);
              for (uint8_t op = SIMPLER_PRED_EQ; op <= SIMPLER_PRED_LE; ++op)
                for (uint32_t i = 0; i < 2; ++i) {
                  SimplerLaunch launch{};
                  launch.block_num = 1;
                  launch.predicate_op = op;
                  launch.predicate_tensor = &tx;
                  launch.predicate_index[0] = i;
                  launch.predicate_target = -3;
                  ChipTensor cell = part(tt, {1}, {(op - 1u) * 2 + i});
                  submit(r, &kAffine, {inout(cell)}, {1, 1}, &launch);
                }
            }));
  EXPECT_EQ((std::vector<int32_t>{1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0}), ticks);
}

TEST_P(Submit, PredicateSeesItsOperandsWriter) {
  std::vector<int32_t> flag{0}, x{0};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor tf = tensorOf(flag), tx = tensorOf(x);
              SimplerLaunch launch{};
              launch.block_num = 1;
              launch.predicate_op = SIMPLER_PRED_EQ;
              launch.predicate_tensor = &tf;
              for (int i = 0; i < 40; ++i) {
                submit(r, &kAffine, {inout(tf)}, {1, 1}); // flag = i + 1
                launch.predicate_target = i + 1;
                submit(r, &kAffine, {inout(tx)}, {1, 1}, &launch);
              }
            }));
  EXPECT_EQ(40, x[0]);
}

TEST_P(Submit, ManualScopeTracksOnlyExplicitEdges) {
  std::vector<int32_t> x{1};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              simpler_scope_begin(r, 1);
              uint64_t last = SIMPLER_NO_TASK;
              for (uint64_t i = 0; i < 100; ++i) {
                SimplerLaunch launch{};
                launch.block_num = 1;
                launch.num_deps = 1;
                launch.deps = &last;
                last = submit(r, &kAffine, {inout(t)}, {1, i}, &launch);
              }
              simpler_scope_end(r);
              SimplerLaunch launch{};
              launch.block_num = 1;
              launch.num_deps = 1;
              launch.deps = &last;
              submit(r, &kAffine, {inout(t)}, {2, 0}, &launch);
            }));
  EXPECT_EQ(2 * 4951, x[0]);
}

TEST_P(Submit, BarrierTaskJoinsManyPredecessors) {
  std::vector<int32_t> x(300), sum{0};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x), s = tensorOf(sum);
              simpler_scope_begin(r, 1);
              std::vector<uint64_t> ids;
              for (uint32_t i = 0; i < 300; ++i) {
                ChipTensor cell = part(t, {1}, {i});
                ids.push_back(submit(r, &kAffine, {inout(cell)}, {1, i}));
              }
              SimplerLaunch launch{};
              launch.block_num = 1;
              launch.num_deps = 300;
              launch.deps = ids.data();
              uint64_t barrier = submit(r, nullptr, {}, {}, &launch);
              launch.num_deps = 1;
              launch.deps = &barrier;
              ChipTensor last = part(t, {1}, {299});
              submit(r, &kAddTo, {in(last), out(s)}, {0}, &launch);
              simpler_scope_end(r);
            }));
  EXPECT_EQ(299, sum[0]);
}

void expectCounter(int64_t *args) {
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  CompletionList *list = local->async.list;
  list->tokens[list->count++] = {reinterpret_cast<uintptr_t>(data<int32_t>(args, 1)), 3, 0, 0, 0};
}
void deliver(int64_t *args) {
  linger(200);
  data<int32_t>(args, 0)[args[2]] = 7;
  __atomic_fetch_add(data<int32_t>(args, 1), 1, __ATOMIC_ACQ_REL);
}
const SimplerKernel kExpect{expectCounter, "expect", nullptr, 0, SIMPLER_AIV};
const SimplerKernel kDeliver{deliver, "deliver", nullptr, 0, SIMPLER_AIV};

TEST_P(Submit, DeferredCompletionHoldsConsumersBack) {
  std::vector<int32_t> box(3), counter(1), y(3);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor tb = tensorOf(box), tc = tensorOf(counter), ty = tensorOf(y);
              submit(r, &kExpect, {inout(tb), noDep(tc)});
              for (uint64_t i = 0; i < 3; ++i)
                submit(r, &kDeliver, {noDep(tb), noDep(tc)}, {i});
              submit(r, &kAddTo, {in(tb), out(ty)}, {0});
            }));
  EXPECT_EQ(std::vector<int32_t>(3, 7), y);
}

TEST_P(Submit, CounterThatNobodyRaisesEndsTheRun) {
  std::vector<int32_t> box(3), counter(1), y(3);
  EXPECT_EQ(100, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor tb = tensorOf(box), tc = tensorOf(counter), ty = tensorOf(y);
              submit(r, &kExpect, {inout(tb), noDep(tc)});
              submit(r, &kAddTo, {in(tb), out(ty)}, {0});
            }));
  EXPECT_NE(nullptr, std::strstr(simpler_last_error(), "task t0 'expect' waits for the counter"))
      << simpler_last_error();
  EXPECT_NE(nullptr, std::strstr(simpler_last_error(), "it is 0, must be 3"));
  EXPECT_EQ(std::vector<int32_t>(3, 0), y);
}

TEST_P(Submit, ManyMoreTasksThanMemoryForThem) {
  std::vector<int64_t> sums(64);
  static std::atomic<int64_t> executed;
  executed = 0;
  static const SimplerKernel count{[](int64_t *) { executed.fetch_add(1); }, "count", nullptr, 0,
                                   SIMPLER_AIV};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(sums);
              for (uint32_t i = 0; i < 200000; ++i) {
                ChipTensor cell = part(t, {1}, {i % 64});
                submit(r, &count, {inout(cell)});
              }
            }));
  EXPECT_EQ(200000, executed);
}

//===-- Errors ------------------------------------------------------------===//

void expectFailure(SimplerWorker *worker, int32_t code, const char *text,
                   std::function<void(SimplerRun *)> body) {
  EXPECT_EQ(code, run(worker, std::move(body)));
  EXPECT_NE(nullptr, std::strstr(simpler_last_error(), text)) << simpler_last_error();
  // The worker still works.
  std::vector<int32_t> x{1};
  EXPECT_EQ(0, run(worker, [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              submit(r, &kAffine, {inout(t)}, {2, 1});
            }));
  EXPECT_EQ(3, x[0]);
}

TEST_P(Submit, ErrorsNameTaskAndArgument) {
  std::vector<int32_t> x(10);
  ChipTensor t = tensorOf(x);
  expectFailure(worker.get(), 5,
                "task t1 'affine' (affine.cpp:7): tensor argument 0 (inout) "
                "reaches byte 48 of an allocation of 40 bytes",
                [&](SimplerRun *r) {
                  submit(r, &kNothing, {});
                  ChipTensor beyond = t;
                  beyond.start_offset = 2;
                  submit(r, &kAffine, {inout(beyond)}, {1, 1});
                });
  expectFailure(worker.get(), 5, "null descriptor",
                [&](SimplerRun *r) { submit(r, &kNothing, {Arg{nullptr, SIMPLER_ARG_INPUT}}); });
  expectFailure(worker.get(), 5, "33 tensors",
                [&](SimplerRun *r) { submit(r, &kNothing, std::vector<Arg>(33, in(t))); });
  expectFailure(worker.get(), 5, "rank outside", [&](SimplerRun *r) {
    ChipTensor bad = t;
    bad.ndims = 6;
    submit(r, &kNothing, {in(bad)});
  });
  expectFailure(worker.get(), 5, "element type", [&](SimplerRun *r) {
    ChipTensor bad = t;
    bad.dtype = static_cast<DataType>(99);
    submit(r, &kNothing, {in(bad)});
  });
  expectFailure(worker.get(), 5, "no task of this run", [&](SimplerRun *r) {
    uint64_t foreign = 77;
    SimplerLaunch launch{};
    launch.block_num = 1;
    launch.num_deps = 1;
    launch.deps = &foreign;
    submit(r, &kNothing, {}, {}, &launch);
  });
  expectFailure(worker.get(), 5, "view: axis 0: offset 5 + extent 6", [&](SimplerRun *r) {
    ChipTensor result;
    int64_t shape[1] = {6}, at[1] = {5};
    simpler_view(r, &result, &t, shape, at);
  });
  expectFailure(worker.get(), 5, "index 10 of axis 0", [&](SimplerRun *r) {
    int64_t at[1] = {10};
    simpler_get(r, &t, at, 1);
  });
  expectFailure(worker.get(), 5, "scope that has ended", [&](SimplerRun *r) {
    ChipTensor a;
    uint32_t shape[1] = {4};
    simpler_scope_begin(r, 0);
    simpler_alloc(r, &a, shape, 1, uint8_t(DataType::INT32), 0, nullptr);
    simpler_scope_end(r);
    submit(r, &kNothing, {in(a)});
  });
  expectFailure(worker.get(), 5, "still open", [&](SimplerRun *r) { simpler_scope_begin(r, 0); });
  expectFailure(worker.get(), 5, "not begun", [&](SimplerRun *r) { simpler_scope_end(r); });
  expectFailure(worker.get(), 7, "a2a3sim has 16 vector cores", [&](SimplerRun *r) {
    SimplerLaunch launch{};
    launch.block_num = 17;
    launch.sync_start = 1;
    submit(r, &kNothing, {}, {}, &launch);
  });
  expectFailure(worker.get(), 9, "enough", [&](SimplerRun *r) { simpler_fail(r, 9, "enough"); });
  expectFailure(worker.get(), 2, "2^47 bytes", [&](SimplerRun *r) {
    ChipTensor a;
    uint32_t shape[3] = {1u << 20, 1u << 20, 1u << 20};
    simpler_alloc(r, &a, shape, 3, 0, 0, nullptr);
  });
}

TEST_P(Submit, TaskIdsOfAnotherRunAreRefused) {
  uint64_t id = 0;
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) { id = submit(r, &kNothing, {}); }));
  expectFailure(worker.get(), 5, "no task of this run", [&](SimplerRun *r) {
    submit(r, &kNothing, {});
    submit(r, &kNothing, {});
    SimplerLaunch launch{};
    launch.block_num = 1;
    launch.num_deps = 1;
    launch.deps = &id;
    submit(r, &kNothing, {}, {}, &launch);
  });
}

TEST_P(Submit, KernelExceptionFailsTheRun) {
  static const SimplerKernel throws{[](int64_t *) { throw std::runtime_error("broken tile"); },
                                    "throws", "t.cpp", 3, SIMPLER_AIV};
  std::vector<int32_t> x{0};
  expectFailure(worker.get(), 200, "task t0 'throws' (t.cpp:3) threw an exception: broken tile",
                [&](SimplerRun *r) {
                  ChipTensor t = tensorOf(x);
                  submit(r, &throws, {inout(t)});
                  for (int i = 0; i < 100; ++i)
                    submit(r, &kAffine, {inout(t)}, {1, 1});
                });
  EXPECT_EQ(0, x[0]) << "successors of a failed task must not run";
}

TEST_P(Submit, AnInterruptBeforeTheRunBeginsIsNotLost) {
  static int touched;
  touched = 0;
  static const SimplerKernel touch{[](int64_t *) { ++touched; }, "touch", nullptr, 0, SIMPLER_AIV};
  auto orchestration = [](SimplerRun *r, const ChipTensor *, const uint64_t *) {
    submit(r, &touch, {});
  };
  uint64_t before = simpler_worker_interrupts(worker.get());
  simpler_worker_interrupt(worker.get());
  EXPECT_EQ(SIMPLER_INTERRUPTED,
            simpler_run_since(worker.get(), before, orchestration, nullptr, 0, nullptr, 0));
  EXPECT_EQ(0, touched);
  before = simpler_worker_interrupts(worker.get());
  EXPECT_EQ(0, simpler_run_since(worker.get(), before, orchestration, nullptr, 0, nullptr, 0));
  EXPECT_EQ(1, touched);
}

TEST_P(Submit, ARunIsCancelledByItsOwnWord) {
  static int32_t cancelled;
  static int touched;
  cancelled = touched = 0;
  static const SimplerKernel cancels{
      [](int64_t *) { __atomic_store_n(&cancelled, 1, __ATOMIC_SEQ_CST); }, "cancels", nullptr, 0,
      SIMPLER_AIV};
  static const SimplerKernel touch{[](int64_t *) { ++touched; }, "touch", nullptr, 0, SIMPLER_AIV};
  std::vector<int32_t> x(1);
  std::string error;
  simpler::RunOptions options;
  options.cancelled = &cancelled;
  auto body = [&](SimplerRun &r) {
    ChipTensor t = tensorOf(x);
    if (!cancelled)
      submit(&r, &cancels, {inout(t)});
    submit(&r, &touch, {inout(t)});
  };
  for (int i = 0; i < 2; ++i) { // in the midst of a run, and before it began
    EXPECT_EQ(SIMPLER_INTERRUPTED,
              simpler::runOrchestration(simpler::deviceOf(worker.get()), options, body, error));
    EXPECT_NE(std::string::npos, error.find("interrupted")) << error;
    EXPECT_EQ(0, touched);
  }
  options.cancelled = nullptr;
  EXPECT_EQ(0, simpler::runOrchestration(simpler::deviceOf(worker.get()), options, body, error))
      << error;
  EXPECT_EQ(1, touched);
}

TEST_P(Submit, InterruptStopsAtTheNextTask) {
  std::vector<int32_t> x{0};
  static SimplerWorker *target;
  target = worker.get();
  static const SimplerKernel interrupts{[](int64_t *args) {
                                          if (++*data<int32_t>(args, 0) == 5)
                                            simpler_worker_interrupt(target);
                                        },
                                        "interrupts", nullptr, 0, SIMPLER_AIV};
  expectFailure(worker.get(), 201, "interrupted", [&](SimplerRun *r) {
    ChipTensor t = tensorOf(x);
    for (int i = 0; i < 100; ++i)
      submit(r, &interrupts, {inout(t)});
  });
  EXPECT_EQ(5, x[0]);
}

TEST_P(Submit, KernelMayCallBack) {
  static SimplerWorker *target;
  target = worker.get();
  static const SimplerKernel nested{[](int64_t *args) {
                                      ChipTensor t = desc(args, 0);
                                      run(target, [&](SimplerRun *r) {
                                        for (int i = 0; i < 10; ++i)
                                          submit(r, &kAffine, {inout(t)}, {1, 1});
                                      });
                                    },
                                    "nested", nullptr, 0, SIMPLER_AIV};
  std::vector<int32_t> x(4);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              ChipTensor t = tensorOf(x);
              for (uint32_t i = 0; i < 4; ++i) {
                ChipTensor cell = part(t, {1}, {i});
                submit(r, &nested, {inout(cell)});
                submit(r, &nested, {inout(cell)});
              }
            }));
  EXPECT_EQ(std::vector<int32_t>(4, 20), x);
}

TEST(Worker, RunsInRunsEndWhereTheWorkerHasNoMoreContexts) {
  static SimplerWorker *target;
  static int deepest, refused;
  WorkerPtr worker = makeWorker(2);
  target = worker.get();
  deepest = refused = 0;
  static const SimplerKernel recurse{[](int64_t *args) {
                                       int64_t depth = args[0];
                                       int32_t status = run(target, [&](SimplerRun *r) {
                                         deepest = std::max(deepest, static_cast<int>(depth));
                                         submit(r, &recurse, {},
                                                {static_cast<uint64_t>(depth + 1)});
                                       });
                                       refused += status == SIMPLER_BUSY;
                                     },
                                     "recurse", nullptr, 0, SIMPLER_AIV};
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) { submit(r, &recurse, {}, {1}); }));
  EXPECT_EQ(63, deepest);
  EXPECT_EQ(1, refused);
}

/// The first kernel on one thread does not return before the others have run all that does not
/// depend on it.
TEST(Worker, AThreadThatIsMuchSlowerHoldsNobodyUp) {
  constexpr int kCells = 40, kRounds = 10;
  WorkerPtr worker = makeWorker(3);
  static std::atomic<std::thread::id> slow;
  static std::atomic<int> all;
  static int onSlow, doneMeanwhile;
  slow = std::this_thread::get_id();
  all = onSlow = doneMeanwhile = 0;
  static const SimplerKernel uneven{[](int64_t *args) {
                                      int32_t &round = *data<int32_t>(args, 0);
                                      if (std::this_thread::get_id() == slow.load() && !onSlow++) {
                                        // A runtime that leaves tasks behind fails, if late.
                                        for (int i = 0; i < 60000; ++i) {
                                          doneMeanwhile = all - round;
                                          if (doneMeanwhile == (kCells - 1) * kRounds)
                                            break;
                                          usleep(1000);
                                        }
                                      } else {
                                        usleep(200);
                                      }
                                      ++round;
                                      ++all;
                                    },
                                    "uneven", nullptr, 0, SIMPLER_AIV};
  std::vector<int32_t> x(kCells);
  ChipTensor t = tensorOf(x);
  ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
              for (int round = 0; round < kRounds; ++round)
                for (uint32_t i = 0; i < kCells; ++i) {
                  ChipTensor cell = part(t, {1}, {i});
                  submit(r, &uneven, {inout(cell)});
                }
            }));
  EXPECT_EQ(std::vector<int32_t>(kCells, kRounds), x);
  EXPECT_EQ(kCells * kRounds, all);
  if (onSlow) { // or the others were faster with everything
    EXPECT_EQ((kCells - 1) * kRounds, doneMeanwhile);
  }
}

TEST(Worker, SeveralCallersShareOne) {
  WorkerPtr worker = makeWorker(2);
  std::vector<std::thread> threads;
  std::vector<std::vector<int32_t>> x(4, std::vector<int32_t>{0});
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 20; ++round)
        EXPECT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
                    ChipTensor t = tensorOf(x[k]);
                    for (int i = 0; i < 50; ++i)
                      submit(r, &kAffine, {inout(t)}, {1, 1});
                  }));
    });
  for (auto &thread : threads)
    thread.join();
  for (auto &v : x)
    EXPECT_EQ(1000, v[0]);
}

TEST(Worker, UnknownPlatformIsRefused) {
  EXPECT_EQ(nullptr, simpler_worker_create("a9", 1));
  EXPECT_NE(nullptr, std::strstr(simpler_last_error(), "unknown platform 'a9'"));
  EXPECT_EQ(nullptr, simpler_worker_create("a5", -1));
}

TEST(Worker, CreateAndCloseManyTimes) {
  for (int i = 0; i < 200; ++i) {
    WorkerPtr worker = makeWorker(3);
    std::vector<int32_t> x(64);
    ASSERT_EQ(0, run(worker.get(), [&](SimplerRun *r) {
                ChipTensor t = tensorOf(x);
                for (uint32_t k = 0; k < 64; ++k) {
                  ChipTensor cell = part(t, {1}, {k});
                  submit(r, &kAffine, {inout(cell)}, {1, 1});
                }
              }));
    ASSERT_EQ(std::vector<int32_t>(64, 1), x);
  }
}

} // namespace
