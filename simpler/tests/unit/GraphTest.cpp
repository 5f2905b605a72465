//===- GraphTest.cpp - recorded bodies are replayed, and only when that is right ===//
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <atomic>
#include <cstring>
#include <random>
#include <string>

namespace {

/// Wraps around, as long chains of random tasks do.
int32_t wrapped(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }
uint64_t wide(int32_t value) { return static_cast<uint32_t>(value); }

const SimplerKernel kAdd{[](int64_t *args) { // c += a + word
                           auto *a = data<int32_t>(args, 0), *c = data<int32_t>(args, 1);
                           uint32_t n = desc(args, 1).shapes[0];
                           for (uint32_t i = 0; i < n; ++i)
                             c[i] =
                                 wrapped(wide(c[i]) + wide(a[i]) + static_cast<uint64_t>(args[2]));
                         },
                         "add", nullptr, 0, SIMPLER_AIV};
const SimplerKernel kCopy{[](int64_t *args) {
                            linger(5);
                            auto *a = data<int32_t>(args, 0), *c = data<int32_t>(args, 1);
                            for (uint32_t i = 0; i < desc(args, 1).shapes[0]; ++i)
                              c[i] = a[i];
                          },
                          "copy", nullptr, 0, SIMPLER_AIV};
const SimplerKernel kAffine{[](int64_t *args) { // x = 3 x + word
                              auto *x = data<int32_t>(args, 0);
                              for (uint32_t i = 0; i < desc(args, 0).shapes[0]; ++i)
                                x[i] = wrapped(3 * wide(x[i]) + static_cast<uint64_t>(args[1]));
                            },
                            "affine", nullptr, 0, SIMPLER_AIV};

struct Graph {
  SimplerRun *run = nullptr;
  int bodies = 0; // how often the body ran
  std::vector<const ChipTensor *> tensors;
  std::vector<uint64_t> scalars;
  std::function<void(Graph &)> body;
  const ChipTensor &operator[](size_t i) const { return *tensors[i]; }
};

uint64_t call(SimplerRun *run, Graph &graph, std::vector<Arg> args,
              std::vector<uint64_t> scalars = {}, uint64_t key = 7) {
  graph.run = run;
  graph.tensors.clear();
  std::vector<uint8_t> tags;
  for (const Arg &arg : args) {
    graph.tensors.push_back(arg.tensor);
    tags.push_back(arg.tag);
  }
  graph.scalars = scalars;
  return simpler_submit_graph(
      run, key,
      [](void *context) {
        auto *graph = static_cast<Graph *>(context);
        ++graph->bodies;
        graph->body(*graph);
      },
      &graph, graph.tensors.data(), tags.data(), static_cast<int32_t>(tags.size()), scalars.data(),
      static_cast<int32_t>(scalars.size()));
}

void ok(int32_t status) { ASSERT_EQ(0, status) << simpler_last_error(); }

TEST(Graph, TheBodyRunsOnceAndEveryReplayDoesItsWork) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(8, 1);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) {
    submit(g.run, &kAffine, {inout(g[0])}, {1});
    submit(g.run, &kAffine, {inout(g[0])}, {2});
  };
  std::vector<int32_t> expected(8, 1);
  for (int round = 0; round < 3; ++round)
    ok(run(worker.get(), [&](SimplerRun *r) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_NE(SIMPLER_NO_TASK, call(r, graph, {inout(t)}));
        for (int32_t &value : expected)
          value = static_cast<int32_t>(9u * static_cast<uint32_t>(value) + 5);
      }
    }));
  EXPECT_EQ(1, graph.bodies);
  EXPECT_EQ(expected, x);
}

TEST(Graph, ArgumentsMayMove) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(40, 0);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) {
    ChipTensor low = part(g[0], {2}, {0}), high = part(g[0], {2}, {2});
    submit(g.run, &kAffine, {inout(low)}, {1});
    submit(g.run, &kAdd, {in(low), inout(high)}, {10});
  };
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (uint32_t i = 0; i < 10; ++i) {
      ChipTensor view = part(t, {4}, {4 * i});
      call(r, graph, {inout(view)});
    }
  }));
  EXPECT_EQ(2, graph.bodies); // the second call at another place confirms that only places differ
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(i % 4 < 2 ? 1 : 11, x[i]) << i;
}

TEST(Graph, ScalarsThatDifferAreNeverFrozen) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 0);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) { // derived, and deciding what is submitted
    for (uint64_t i = 0; i < g.scalars[1]; ++i)
      submit(g.run, &kAffine, {inout(g[0])}, {g.scalars[0] * 2 + i});
  };
  std::vector<std::pair<int, int>> calls = {{1, 1}, {2, 1}, {2, 1}, {2, 3}, {5, 3},
                                            {5, 3}, {2, 1}, {0, 0}, {0, 0}};
  int32_t expected = 0;
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (auto [a, n] : calls) {
      call(r, graph, {inout(t)}, {uint64_t(a), uint64_t(n)});
      for (int i = 0; i < n; ++i)
        expected = 3 * expected + a * 2 + i;
    }
  }));
  EXPECT_EQ(std::vector<int32_t>(4, expected), x);
  EXPECT_EQ(5, graph.bodies); // (1,1) (2,1) (2,3) (5,3) and (0,0); the others were known
}

TEST(Graph, OtherShapesAndOtherOverlapRunTheBody) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(16, 1), y(16, 1);
  Graph graph;
  graph.body = [](Graph &g) { // order matters when the two tensors overlap
    submit(g.run, &kCopy, {in(g[0]), out(g[1])});
    submit(g.run, &kAffine, {inout(g[0])}, {1});
    submit(g.run, &kAdd, {in(g[1]), inout(g[0])}, {0});
  };
  auto model = [](std::vector<int32_t> &m, uint32_t a, uint32_t b, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i)
      m[b + i] = m[a + i];
    for (uint32_t i = 0; i < n; ++i)
      m[a + i] = 3 * m[a + i] + 1;
    for (uint32_t i = 0; i < n; ++i)
      m[a + i] += m[b + i];
  };
  ChipTensor tx = tensorOf(x);
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (auto [a, b, n] : std::vector<std::array<uint32_t, 3>>{{0, 8, 4},
                                                               {4, 12, 4},
                                                               {0, 8, 4},
                                                               {4, 8, 4},
                                                               {8, 6, 4},
                                                               {8, 10, 4},
                                                               {2, 0, 4},
                                                               {0, 8, 2},
                                                               {2, 8, 2},
                                                               {6, 4, 4}}) {
      ChipTensor first = part(tx, {n}, {a}), second = part(tx, {n}, {b});
      call(r, graph, {inout(first), inout(second)});
      model(y, a, b, n);
    }
  }));
  EXPECT_EQ(y, x);
  EXPECT_LT(graph.bodies, 10);
}

TEST(Graph, OverlapInsideTheBodyIsHonoured) {
  WorkerPtr worker = makeWorker(4);
  std::vector<int32_t> x(8, 1), scratch(8, 0);
  ChipTensor t = tensorOf(x), s = tensorOf(scratch);
  Graph graph;
  graph.body = [](Graph &g) {
    for (uint32_t i = 0; i < 4; ++i) { // reads, then a write over what was read
      ChipTensor a = part(g[0], {2}, {2 * i}), b = part(g[1], {2}, {2 * i});
      submit(g.run, &kCopy, {in(a), out(b)});
    }
    submit(g.run, &kAffine, {inout(g[0])}, {1});
    submit(g.run, &kAdd, {in(g[1]), inout(g[0])}, {0});
  };
  std::vector<int32_t> expected(8, 1);
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int i = 0; i < 8; ++i) {
      call(r, graph, {inout(t), inout(s)});
      for (int32_t &v : expected)
        v = 4 * v + 1;
    }
  }));
  EXPECT_EQ(expected, x);
  EXPECT_EQ(1, graph.bodies);
}

TEST(Graph, InternalTensorsBelongToTheCall) {
  WorkerPtr worker = makeWorker(3);
  std::vector<int32_t> x(64, 0);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) {
    uint32_t shape[1] = {8};
    uint64_t five = 5;
    ChipTensor first, second;
    simpler_alloc(g.run, &first, shape, 1, static_cast<uint8_t>(DataType::INT32), 0, &five);
    simpler_scope_begin(g.run, 0);
    simpler_alloc(g.run, &second, shape, 1, static_cast<uint8_t>(DataType::INT32), 0, nullptr);
    submit(g.run, &kCopy, {in(first), out(second)});
    submit(g.run, &kAffine, {inout(first)}, {0}); // spoils it: the next call must find 5 again
    submit(g.run, &kAdd, {in(second), inout(g[0])}, {1});
    simpler_scope_end(g.run);
  };
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int round = 0; round < 5; ++round)
      for (uint32_t i = 0; i < 8; ++i) { // independent: several calls are live at once
        ChipTensor view = part(t, {8}, {8 * i});
        call(r, graph, {inout(view)});
      }
  }));
  EXPECT_EQ(std::vector<int32_t>(64, 30), x);
  EXPECT_EQ(2, graph.bodies);
}

TEST(Graph, ReadingDataInTheBodyRunsItEachTime) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 1);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) {
    submit(g.run, &kAffine, {inout(g[0])}, {0});
    int64_t at[1] = {0};
    uint64_t seen = simpler_get(g.run, &g[0], at, 1);
    submit(g.run, &kAffine, {inout(g[0])}, {seen});
  };
  int32_t expected = 1;
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int i = 0; i < 4; ++i) {
      call(r, graph, {inout(t)});
      expected = 3 * (3 * expected) + 3 * expected;
    }
  }));
  EXPECT_EQ(4, graph.bodies);
  EXPECT_EQ(std::vector<int32_t>(4, expected), x);
}

TEST(Graph, ForeignTensorsAndAddressesAsScalarsRunTheBodyEachTime) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 0), foreign(4, 7);
  ChipTensor t = tensorOf(x), f = tensorOf(foreign);
  Graph other, address;
  other.body = [&](Graph &g) { submit(g.run, &kAdd, {in(f), inout(g[0])}, {0}); };
  static const SimplerKernel kThrough{
      [](int64_t *args) { ++*reinterpret_cast<int32_t *>(args[1]); }, "through", nullptr, 0,
      SIMPLER_AIV};
  address.body = [](Graph &g) {
    submit(g.run, &kThrough, {inout(g[0])}, {reinterpret_cast<uintptr_t>(g[0].data_as<int32_t>())});
  };
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (uint32_t i = 0; i < 4; ++i) {
      call(r, other, {inout(t)}, {}, 1);
      ChipTensor one = part(t, {1}, {i});
      call(r, address, {inout(one)}, {}, 2);
    }
  }));
  EXPECT_EQ(std::vector<int32_t>(4, 29), x);
  EXPECT_EQ(4, other.bodies);
  EXPECT_EQ(4, address.bodies);
}

TEST(Graph, MoreVariantsThanAreKept) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(64, 0);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) { submit(g.run, &kAffine, {inout(g[0])}, {1}); };
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int round = 0; round < 2; ++round)
      for (uint32_t n = 1; n <= 64; ++n) {
        ChipTensor view = part(t, {n}, {0});
        call(r, graph, {inout(view)});
      }
    for (uint64_t key = 100; key < 300; ++key) // more graphs than a run remembers
      call(r, graph, {inout(t)}, {}, key);
  }));
  std::vector<uint32_t> expected(64, 0);
  for (uint32_t i = 0; i < 64; ++i)
    for (int k = 0; k < 2 * (64 - static_cast<int>(i)) + 200; ++k)
      expected[i] = 3 * expected[i] + 1;
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(expected[i], static_cast<uint32_t>(x[i])) << i;
}

TEST(Graph, MoreNodesThanARecordingHolds) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(1, 0);
  ChipTensor t = tensorOf(x);
  static const SimplerKernel kCount{[](int64_t *args) { ++*data<int32_t>(args, 0); }, "count",
                                    nullptr, 0, SIMPLER_AIV};
  Graph graph;
  graph.body = [](Graph &g) {
    for (int i = 0; i < 70000; ++i)
      submit(g.run, &kCount, {inout(g[0])});
  };
  ok(run(worker.get(), [&](SimplerRun *r) {
    call(r, graph, {inout(t)});
    call(r, graph, {inout(t)});
  }));
  EXPECT_EQ(140000, x[0]);
  EXPECT_EQ(2, graph.bodies);
}

TEST(Graph, AnErrorInAReplayEndsTheRunAndTheGraphStaysUsable) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 0);
  ChipTensor t = tensorOf(x);
  static std::atomic<bool> broken;
  static const SimplerKernel kFragile{[](int64_t *args) {
                                        if (broken)
                                          throw std::runtime_error("lost a tile");
                                        ++*data<int32_t>(args, 0);
                                      },
                                      "fragile", nullptr, 0, SIMPLER_AIV};
  Graph graph;
  graph.body = [](Graph &g) {
    for (int i = 0; i < 20; ++i)
      submit(g.run, &kFragile, {inout(g[0])});
  };
  auto program = [&](SimplerRun *r) {
    for (int i = 0; i < 3; ++i)
      call(r, graph, {inout(t)});
  };
  broken = false;
  ok(run(worker.get(), program));
  broken = true;
  EXPECT_EQ(SIMPLER_KERNEL_FAILED, run(worker.get(), program));
  EXPECT_NE(std::string::npos, std::string(simpler_last_error()).find("'fragile'"));
  EXPECT_EQ(60, x[0]);
  broken = false;
  ok(run(worker.get(), program));
  EXPECT_EQ(120, x[0]);
  EXPECT_EQ(1, graph.bodies);
}

TEST(Graph, AnErrorInTheBodyIsReportedAsWithoutAGraph) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 0);
  ChipTensor t = tensorOf(x);
  Graph graph;
  graph.body = [](Graph &g) {
    ChipTensor beyond = g[0];
    beyond.start_offset = 3;
    submit(g.run, &kAffine, {inout(beyond)}, {0});
  };
  EXPECT_EQ(SIMPLER_INVALID_ARGS,
            run(worker.get(), [&](SimplerRun *r) { call(r, graph, {inout(t)}); }));
  EXPECT_NE(std::string::npos,
            std::string(simpler_last_error()).find("task r1t0 'affine': tensor argument 0"))
      << simpler_last_error();
  graph.body = [](Graph &g) { submit(g.run, &kAffine, {inout(g[0])}, {4}); };
  ok(run(worker.get(), [&](SimplerRun *r) { call(r, graph, {inout(t)}); }));
  EXPECT_EQ(std::vector<int32_t>(4, 4), x);
}

TEST(Graph, LaunchesPredicatesAndDependenciesAreReplayed) {
  for (int threads : {1, 2, 4}) {
    WorkerPtr worker = makeWorker(threads);
    std::vector<int32_t> x(16, 0), flag(1, 0);
    ChipTensor t = tensorOf(x), f = tensorOf(flag);
    static const SimplerKernel kIndex{[](int64_t *args) {
                                        auto *local = reinterpret_cast<LocalContext *>(args[48]);
                                        data<int32_t>(args, 0)[local->block_idx] +=
                                            local->block_idx + 1;
                                      },
                                      "index", nullptr, 0, SIMPLER_AIV};
    static std::atomic<int> arrived;
    static const SimplerKernel kMeet{[](int64_t *args) { // no block leaves before all are there
                                       auto *global = reinterpret_cast<GlobalContext *>(args[49]);
                                       int goal = (++arrived + 7) / 8 * 8;
                                       while (arrived < goal)
                                         global->yield();
                                     },
                                     "meet", nullptr, 0, SIMPLER_AIV};
    Graph graph;
    graph.body = [](Graph &g) {
      SimplerLaunch wide{};
      wide.block_num = 16;
      uint64_t first = submit(g.run, &kIndex, {inout(g[0])}, {}, &wide);
      SimplerLaunch gang{};
      gang.block_num = 8;
      gang.sync_start = 1;
      gang.deps = &first;
      gang.num_deps = 1;
      uint64_t met = submit(g.run, &kMeet, {noDep(g[0])}, {}, &gang);
      SimplerLaunch guarded{};
      guarded.block_num = 1;
      guarded.predicate_op = SIMPLER_PRED_EQ;
      guarded.predicate_tensor = &g[1];
      guarded.predicate_target = 1;
      guarded.deps = &met;
      guarded.num_deps = 1;
      submit(g.run, &kAffine, {inout(g[0])}, {1}, &guarded);
      SimplerLaunch none{};
      submit(g.run, &kAffine, {inout(g[0])}, {1}, &none); // no block
      submit(g.run, nullptr, {inout(g[0])});
    };
    std::vector<int32_t> expected(16, 0);
    arrived = 0;
    for (int round = 0; round < 6; ++round) {
      flag[0] = round % 2;
      ok(run(worker.get(), [&](SimplerRun *r) {
        for (int i = 0; i < 2; ++i)
          call(r, graph, {inout(t), in(f)});
      }));
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 16; ++k)
          expected[k] = flag[0] ? 3 * (expected[k] + k + 1) + 1 : expected[k] + k + 1;
    }
    EXPECT_EQ(expected, x);
    EXPECT_EQ(6 * 2 * 8, arrived);
    EXPECT_EQ(1, graph.bodies);
  }
}

TEST(Graph, DeferredCompletionHoldsSuccessors) {
  WorkerPtr worker = makeWorker();
  static int32_t counter, calls;    // the raising task of a call may come first
  static std::vector<int32_t> seen; // of the counter, by the successors, which are a chain
  static const SimplerKernel kExpect{[](int64_t *args) {
                                       auto *local = reinterpret_cast<LocalContext *>(args[48]);
                                       local->async.list->tokens[local->async.list->count++] = {
                                           reinterpret_cast<uintptr_t>(&counter),
                                           static_cast<uint32_t>(++calls), 0, 0, 0};
                                     },
                                     "expect", nullptr, 0, SIMPLER_AIV};
  static const SimplerKernel kRaise{[](int64_t *) {
                                      linger(5);
                                      __atomic_fetch_add(&counter, 1, __ATOMIC_RELEASE);
                                    },
                                    "raise", nullptr, 0, SIMPLER_AIV};
  static const SimplerKernel kAfter{
      [](int64_t *) { seen.push_back(__atomic_load_n(&counter, __ATOMIC_ACQUIRE)); }, "after",
      nullptr, 0, SIMPLER_AIV};
  std::vector<int32_t> x(4), y(4);
  ChipTensor t = tensorOf(x), u = tensorOf(y);
  Graph graph;
  graph.body = [](Graph &g) {
    submit(g.run, &kExpect, {inout(g[0])});
    submit(g.run, &kRaise, {inout(g[1])});
    submit(g.run, &kAfter, {inout(g[0])});
  };
  counter = calls = 0;
  seen.clear();
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int i = 0; i < 50; ++i)
      call(r, graph, {inout(t), inout(u)});
  }));
  ASSERT_EQ(50u, seen.size());
  for (size_t i = 0; i < seen.size(); ++i) // the raising task of a later call may have come first
    EXPECT_GE(seen[i], static_cast<int32_t>(i) + 1);
}

TEST(Graph, AGraphInAGraphBelongsToTheOuterOne) {
  WorkerPtr worker = makeWorker();
  std::vector<int32_t> x(4, 0);
  ChipTensor t = tensorOf(x);
  Graph outer;
  static int inner;
  inner = 0;
  outer.body = [](Graph &g) {
    for (uint64_t i = 0; i < 2; ++i) {
      Graph within;
      within.body = [](Graph &w) {
        ++inner;
        submit(w.run, &kAffine, {inout(w[0])}, {w.scalars[0]});
      };
      uint64_t id = call(g.run, within, {inout(g[0])}, {i + 1}, 99);
      SimplerLaunch after{};
      after.block_num = 1;
      after.deps = &id;
      after.num_deps = 1;
      submit(g.run, &kAffine, {inout(g[0])}, {0}, &after);
    }
  };
  int32_t expected = 0;
  ok(run(worker.get(), [&](SimplerRun *r) {
    for (int i = 0; i < 3; ++i) {
      call(r, outer, {inout(t)});
      expected = 3 * (3 * expected + 1);
      expected = 3 * (3 * expected + 2);
    }
  }));
  EXPECT_EQ(1, outer.bodies);
  EXPECT_EQ(2, inner);
  EXPECT_EQ(std::vector<int32_t>(4, expected), x);
}

TEST(Graph, TheIdStandsForAllTasks) {
  WorkerPtr worker = makeWorker(3);
  std::vector<int32_t> x(4, 0), y(4, 0);
  ChipTensor t = tensorOf(x), u = tensorOf(y);
  Graph graph;
  graph.body = [](Graph &g) {
    submit(g.run, &kCopy, {in(g[0]), out(g[1])});
    submit(g.run, &kAffine, {inout(g[0])}, {1});
  };
  static const int32_t *seen;
  seen = x.data();
  // No tensor of the task names x: only the graph's id orders the look behind the graph.
  static const SimplerKernel kLook{[](int64_t *args) { *data<int32_t>(args, 0) = seen[0]; }, "look",
                                   nullptr, 0, SIMPLER_AIV};
  std::vector<int32_t> looked(1, 0), values;
  ChipTensor v = tensorOf(looked);
  ok(run(worker.get(), [&](SimplerRun *r) {
    uint64_t before = SIMPLER_NO_TASK;
    for (int i = 0; i < 6; ++i) {
      SimplerLaunch launch{};
      launch.block_num = 1;
      uint64_t ids[2] = {call(r, graph, {inout(t), inout(u)}), before};
      launch.deps = ids;
      launch.num_deps = 2;
      before = submit(r, &kLook, {out(v)}, {}, &launch);
      submit(r, nullptr, {}, {}, &launch);
      // The next graph must not write what this look reads: wait for the look.
      values.push_back(static_cast<int32_t>(simpler_get(r, &v, std::vector<int64_t>{0}.data(), 1)));
    }
  }));
  int32_t expected = 0;
  for (size_t i = 0; i < 6; ++i) {
    expected = 3 * expected + 1;
    EXPECT_EQ(expected, values[i]) << i;
  }
}

uint32_t below(std::mt19937 &random, uint32_t limit) {
  return static_cast<uint32_t>(random() % limit);
}

/// Bodies of random tasks over two arguments and temporaries, replayed at random places among plain
/// tasks, against the same calls without graphs on one thread.
TEST(Graph, RandomProgramsGiveThePlainResult) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto program = [&](SimplerWorker *worker, bool graphs) {
      std::vector<int32_t> memory(96);
      for (size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<int32_t>(i);
      ChipTensor whole = tensorOf(memory);
      Graph graph;
      graph.body = [&](Graph &g) {
        std::mt19937 random(seed + 1000);
        uint32_t eight[1] = {8};
        ChipTensor made;
        uint64_t start = 3;
        simpler_alloc(g.run, &made, eight, 1, static_cast<uint8_t>(DataType::INT32), 0, &start);
        const ChipTensor *pool[3] = {&g[0], &g[1], &made};
        for (int k = 0; k < 12; ++k) {
          uint32_t n = 1 + below(random, 4);
          ChipTensor a = part(*pool[random() % 3], {n}, {below(random, 8 - n + 1)});
          ChipTensor b = part(*pool[random() % 3], {n}, {below(random, 8 - n + 1)});
          if (random() % 3 == 0)
            submit(g.run, &kAffine, {inout(b)}, {g.scalars[0] + k});
          else if (random() % 2)
            submit(g.run, &kCopy, {in(a), out(b)});
          else
            submit(g.run, &kAdd, {in(a), inout(b)}, {random() % 5});
        }
      };
      for (int round = 0; round < 2; ++round) {
        std::mt19937 random(seed);
        int32_t status = run(worker, [&](SimplerRun *r) {
          for (int i = 0; i < 12; ++i) {
            ChipTensor a = part(whole, {8}, {below(random, 89)}),
                       b = part(whole, {8}, {below(random, 89)});
            uint64_t word = random() % 2;
            if (random() % 4 == 0)
              submit(r, &kAffine, {inout(a)}, {word});
            if (graphs) {
              call(r, graph, {inout(a), inout(b)}, {word});
            } else {
              graph.run = r;
              graph.tensors = {&a, &b};
              graph.scalars = {word};
              simpler_scope_begin(r, 0);
              graph.body(graph);
              simpler_scope_end(r);
            }
          }
        });
        EXPECT_EQ(0, status) << simpler_last_error();
      }
      return memory;
    };
    WorkerPtr one = makeWorker(1), many = makeWorker(1 + seed % 4);
    ASSERT_EQ(program(one.get(), false), program(many.get(), true)) << "seed " << seed;
  }
}

} // namespace
