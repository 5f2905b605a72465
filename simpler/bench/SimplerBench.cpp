//===- SimplerBench.cpp - figures of the task runtime ---------------------===//
//
// Each row: what, our figure, the peer's figure in the same run, the ratio, the target.
// Usage: simpler_bench [--json] [--only=section] [threads]
//
//===----------------------------------------------------------------------===//
#include "Bench.h"
#include "simpler/c_api.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <sys/resource.h>
#include <vector>

// Heap allocations of the whole program, for the steady-state count.
static std::atomic<long> allocations{0};
void *operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

using bench::best;
using bench::goal;
using bench::row;

const SimplerKernel kEmpty{[](int64_t *) {}, "empty", nullptr, 0, SIMPLER_AIV};

template <typename F> void orchestrate(SimplerWorker *worker, F &&body) {
  uint64_t word = reinterpret_cast<uintptr_t>(&body);
  int32_t status = simpler_run(
      worker,
      [](SimplerRun *run, const ChipTensor *, const uint64_t *scalars) {
        (*reinterpret_cast<std::remove_reference_t<F> *>(scalars[0]))(run);
      },
      nullptr, 0, &word, 1);
  if (status) {
    std::fprintf(stderr, "run failed with code %d: %s\n", status, simpler_last_error());
    std::exit(1);
  }
}

std::vector<ChipTensor> cells(std::vector<float> &memory, uint32_t bytesEach = 64) {
  std::vector<ChipTensor> result;
  uint32_t total[1] = {static_cast<uint32_t>(memory.size())}, one[1] = {bytesEach / 4};
  ChipTensor whole = make_tensor_external(memory.data(), total, 1);
  for (uint32_t i = 0; i < memory.size(); i += bytesEach / 4)
    result.push_back(whole.view(one, &i));
  return result;
}

void submit3(SimplerRun *run, const ChipTensor &a, const ChipTensor &b, const ChipTensor &c,
             uint8_t tagC) {
  const ChipTensor *tensors[3] = {&a, &b, &c};
  const uint8_t tags[3] = {SIMPLER_ARG_INPUT, SIMPLER_ARG_INPUT, tagC};
  simpler_submit(run, &kEmpty, tensors, tags, 3, nullptr, 0, nullptr);
}

void chains(SimplerWorker *worker, int threads) {
  constexpr int kChains = 64, kLength = 250, kTasks = kChains * kLength;
  std::vector<float> memory(16 * 3 * kChains);
  auto views = cells(memory);
  double seconds = best(25, [&] {
    orchestrate(worker, [&](SimplerRun *run) {
      for (int k = 0; k < kLength; ++k)
        for (int c = 0; c < kChains; ++c)
          submit3(run, views[3 * c], views[3 * c + 1], views[3 * c + 2], SIMPLER_ARG_INOUT);
    });
  });
  double ours = seconds / kTasks * 1e9;
  goal("chains: submit + 3 regions + run, per task", ours, 150, "ns");
  row("chains: submit + 3 regions + run, per task", ours,
      bench::ompDependChains(kChains, kLength, threads) / kTasks * 1e9, "OpenMP depend", "ns", 3);
  row("chains: submit + 3 regions + run, per task", ours,
      bench::tbbFlowGraphChains(kChains, kLength, threads) / kTasks * 1e9,
      "TBB flow graph, build + run", "ns", 1);
}

void independent(SimplerWorker *worker, int threads) {
  constexpr int kTasks = 16000;
  std::vector<float> memory(16 * 3 * 1024);
  auto views = cells(memory);
  double seconds = best(25, [&] {
    orchestrate(worker, [&](SimplerRun *run) {
      for (int i = 0; i < kTasks; ++i) {
        int at = 3 * (i % 1024);
        submit3(run, views[at], views[at + 1], views[at + 2], SIMPLER_ARG_INPUT);
      }
    });
  });
  double ours = seconds / kTasks * 1e9;
  goal("independent: submit + 3 regions + run, per task", ours, 150, "ns");
  row("independent: submit + 3 regions + run, per task", ours,
      bench::ompDependIndependent(kTasks, threads) / kTasks * 1e9, "OpenMP depend", "ns", 3);
  row("independent: submit + 3 regions + run, per task", ours,
      bench::tbbTaskGroup(kTasks, threads) / kTasks * 1e9, "TBB task_group, no dependencies", "ns",
      0.2);
}

void wave(SimplerWorker *worker, int threads) {
  constexpr int kSide = 300, kTasks = kSide * kSide;
  std::vector<float> memory((kSide + 1) * (kSide + 1) * 16);
  auto views = cells(memory);
  double seconds = best(25, [&] {
    orchestrate(worker, [&](SimplerRun *run) {
      for (int i = 1; i <= kSide; ++i)
        for (int j = 1; j <= kSide; ++j) {
          int at = i * (kSide + 1) + j;
          submit3(run, views[at - kSide - 1], views[at - 1], views[at], SIMPLER_ARG_INOUT);
        }
    });
  });
  double ours = seconds / kTasks * 1e9;
  row("300 x 300 wave: submit + 3 regions + run, per task", ours,
      bench::ompDependWave(kSide, threads) / kTasks * 1e9, "OpenMP depend", "ns", 3);
  row("300 x 300 wave: submit + 3 regions + run, per task", ours,
      bench::tbbFlowGraphWave(kSide, threads) / kTasks * 1e9, "TBB flow graph, build + run", "ns",
      1);
}

void startLatency(SimplerWorker *worker) {
  static std::chrono::steady_clock::time_point begun;
  static double sum;
  static const SimplerKernel stamp{
      [](int64_t *) {
        sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      },
      "stamp", nullptr, 0, SIMPLER_AIV};
  constexpr int kRounds = 20000;
  sum = 0;
  double whole = best(1, [&] {
    for (int i = 0; i < kRounds; ++i) {
      begun = std::chrono::steady_clock::now();
      orchestrate(worker, [&](SimplerRun *run) {
        simpler_submit(run, &stamp, nullptr, nullptr, 0, nullptr, 0, nullptr);
      });
    }
  });
  goal("run start to first task, warm", sum / kRounds * 1e6, 5, "us");
  goal("whole run of one task, warm", whole / kRounds * 1e6, 5, "us");
}

void speedUp(SimplerWorker *two) {
  SimplerWorker *one = simpler_worker_create("a2a3sim", 1);
  // A fixed amount of arithmetic, about 100 us: a thread that loses its core must still do all of
  // it.
  static volatile uint64_t work = 1;
  auto spin = [](uint64_t rounds) {
    uint64_t x = work;
    for (uint64_t i = 0; i < rounds; ++i)
      x = x * 6364136223846793005ull + 1442695040888963407ull;
    work = x;
  };
  static uint64_t rounds;
  rounds = static_cast<uint64_t>(100e-6 / best(20, [&] { spin(100000); }) * 100000);
  static const SimplerKernel busy{[](int64_t *) {
                                    uint64_t x = 1;
                                    for (uint64_t i = 0; i < rounds; ++i) {
                                      x = x * 6364136223846793005ull + 1442695040888963407ull;
                                      asm volatile("" : "+r"(x));
                                    }
                                  },
                                  "busy", nullptr, 0, SIMPLER_AIV};
  std::vector<float> memory(16 * 64);
  auto views = cells(memory);
  auto program = [&](SimplerWorker *worker) {
    return best(3, [&] {
      orchestrate(worker, [&](SimplerRun *run) {
        std::mt19937 random(3);
        for (int i = 0; i < 2000; ++i) {
          const ChipTensor *tensors[3] = {&views[random() % 64], &views[random() % 64],
                                          &views[random() % 64]};
          const uint8_t tags[3] = {SIMPLER_ARG_INPUT, SIMPLER_ARG_INPUT, SIMPLER_ARG_INOUT};
          simpler_submit(run, &busy, tensors, tags, 3, nullptr, 0, nullptr);
        }
      });
    });
  };
  double alone = program(one), both = program(two);
  goal("speed-up of 2 threads, 100 us tasks, random DAG", alone / both, 1.9, "x", true);
  simpler_worker_destroy(one);
}

/// A grid of tasks with three tensors and a scalar each, as a graph of 1024 nodes. The peer is the
/// same body submitted plainly.
void replay(SimplerWorker *worker) {
  constexpr int kSide = 32, kTasks = kSide * kSide, kCalls = 40;
  std::vector<float> memory((kSide + 1) * (kSide + 1) * 16);
  auto views = cells(memory);
  uint32_t shape[1] = {static_cast<uint32_t>(memory.size())};
  ChipTensor whole = make_tensor_external(memory.data(), shape, 1);
  struct Body {
    SimplerRun *run;
    std::vector<ChipTensor> *views;
  };
  auto body = [](void *context) {
    auto *b = static_cast<Body *>(context);
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j) {
        int at = i * (kSide + 1) + j;
        submit3(b->run, (*b->views)[at - kSide - 1], (*b->views)[at - 1], (*b->views)[at],
                SIMPLER_ARG_INOUT);
      }
  };
  const ChipTensor *boundary[1] = {&whole};
  const uint8_t tags[1] = {SIMPLER_ARG_INOUT};
  auto measure = [&](bool graph) {
    return best(25,
                [&] {
                  orchestrate(worker, [&](SimplerRun *run) {
                    Body context{run, &views};
                    for (int call = 0; call < kCalls; ++call) {
                      if (graph)
                        simpler_submit_graph(run, 1, body, &context, boundary, tags, 1, nullptr, 0);
                      else
                        body(&context);
                    }
                  });
                }) /
           (kTasks * kCalls) * 1e9;
  };
  double plain = measure(false), replayed = measure(true);
  goal("replay of a recorded graph, per task", replayed, 40, "ns");
  row("replay of a recorded graph, per task", replayed, plain, "plain submit", "ns", 1);
}

long residentKiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void million(SimplerWorker *worker) {
  std::vector<float> memory(16 * 4096);
  auto views = cells(memory);
  long before = residentKiB();
  double seconds = best(1, [&] {
    orchestrate(worker, [&](SimplerRun *run) {
      for (int i = 0; i < 1000000; ++i)
        submit3(run, views[i % 4096], views[(i + 1) % 4096], views[(i + 2) % 4096],
                SIMPLER_ARG_INOUT);
    });
  });
  goal("1,000,000 tasks with 3 edges each", seconds, 1, "s");
  goal("peak memory they add", static_cast<double>(residentKiB() - before) / 1024, 200, "MiB");
}

void steadyState(SimplerWorker *worker) {
  std::vector<float> memory(16 * 256);
  auto views = cells(memory);
  long counted = 0;
  auto body = [&](SimplerRun *run) {
    auto round = [&] {
      for (int i = 0; i < 20000; ++i) {
        simpler_scope_begin(run, 0);
        ChipTensor middle;
        uint32_t shape[1] = {16};
        simpler_alloc(run, &middle, shape, 1, 0, 0, nullptr);
        submit3(run, views[i % 250], views[i % 250 + 1], middle, SIMPLER_ARG_OUTPUT_EXISTING);
        submit3(run, middle, views[i % 250 + 2], views[i % 250 + 3], SIMPLER_ARG_INOUT);
        simpler_scope_end(run);
      }
    };
    round();
    long before = allocations.load();
    round();
    counted = allocations.load() - before;
  };
  orchestrate(worker, body);
  goal("heap allocations per task, steady state", static_cast<double>(counted) / 40000, 0, "");

  // Replays, with a tensor of the graph's own and arguments that move.
  orchestrate(worker, [&](SimplerRun *run) {
    auto graph = [](void *context) {
      auto *c = static_cast<std::pair<SimplerRun *, const ChipTensor *> *>(context);
      ChipTensor middle;
      uint32_t shape[1] = {16};
      simpler_alloc(c->first, &middle, shape, 1, 0, 0, nullptr);
      submit3(c->first, c->second[0], c->second[1], middle, SIMPLER_ARG_OUTPUT_EXISTING);
      submit3(c->first, middle, c->second[1], c->second[2], SIMPLER_ARG_INOUT);
    };
    auto round = [&] {
      for (int i = 0; i < 20000; ++i) {
        std::pair<SimplerRun *, const ChipTensor *> context{run, &views[i % 250]};
        const ChipTensor *tensors[3] = {&views[i % 250], &views[i % 250 + 1], &views[i % 250 + 2]};
        const uint8_t tags[3] = {SIMPLER_ARG_INPUT, SIMPLER_ARG_INPUT, SIMPLER_ARG_INOUT};
        simpler_submit_graph(run, 2, graph, &context, tensors, tags, 3, nullptr, 0);
      }
    };
    round();
    long before = allocations.load();
    round();
    counted = allocations.load() - before;
  });
  goal("heap allocations per replayed task, steady state", static_cast<double>(counted) / 40000, 0,
       "");
}

/// What an event adds to a task: the same program on a worker that records and one that does not,
/// by turns; the median of the differences, since both runs of a pair see the same machine.
void traceCost() {
  constexpr int kTasks = 16000, kPairs = 101;
  std::vector<float> memory(16);
  auto views = cells(memory);
  auto program = [&](SimplerWorker *w) {
    return best(1, [&] {
      orchestrate(w, [&](SimplerRun *run) {
        const ChipTensor *tensors[1] = {&views[0]};
        const uint8_t tags[1] = {SIMPLER_ARG_INPUT};
        for (int i = 0; i < kTasks; ++i)
          simpler_submit(run, &kEmpty, tensors, tags, 1, nullptr, 0, nullptr);
      });
    });
  };
  SimplerWorker *plain = simpler_worker_create("a2a3sim", 2);
  SimplerWorker *traced = simpler_worker_create("a2a3sim", 2);
  program(plain);
  program(traced);
  simpler_trace_start(traced);
  std::vector<double> differences;
  for (int i = 0; i < kPairs; ++i) {
    double first = program(i % 2 ? plain : traced), second = program(i % 2 ? traced : plain);
    differences.push_back(i % 2 ? second - first : first - second);
  }
  std::nth_element(differences.begin(), differences.begin() + kPairs / 2, differences.end());
  goal("recording one event", differences[kPairs / 2] / kTasks * 1e9, 20, "ns");
  simpler_worker_destroy(traced);
  simpler_worker_destroy(plain);
}

} // namespace

int main(int argc, char **argv) {
  int threads = 2;
  const char *only = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0)
      bench::asList = true;
    else if (std::strncmp(argv[i], "--only=", 7) == 0)
      only = argv[i] + 7;
    else
      threads = std::atoi(argv[i]);
  }
  SimplerWorker *worker = simpler_worker_create("a2a3sim", threads);
  if (!worker) {
    std::fprintf(stderr, "%s\n", simpler_last_error());
    return 1;
  }
  auto section = [&](const char *name, auto &&body) {
    if (!only || std::strcmp(only, name) == 0)
      body();
  };
  // Memory first: the peak of resident memory never falls again.
  section("million", [&] { million(worker); });
  section("start", [&] { startLatency(worker); });
  section("chains", [&] { chains(worker, threads); });
  section("independent", [&] { independent(worker, threads); });
  section("wave", [&] { wave(worker, threads); });
  section("replay", [&] { replay(worker); });
  section("speedup", [&] { speedUp(worker); });
  section("steady", [&] { steadyState(worker); });
  section("trace", [&] { traceCost(); });
  simpler_worker_destroy(worker);
  if (bench::asList)
    std::printf("\n]\n");
}
