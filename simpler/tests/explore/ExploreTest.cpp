//===- ExploreTest.cpp - many interleavings of the scheduler's protocol ---===//
//
// The runtime's own code, built with a yield point at every access of a shared word, runs
// on simulated threads: fibers of one thread, switched by a seeded generator. A seed is a
// schedule; a failure prints it and repeats. What is explored: ready, steal, complete, release,
// hand back, sleep and wake, with two orchestrators still submitting to one device: each also runs
// tasks of the other's run, and may have to leave while it does. Interleavings are sequentially
// consistent; weaker orders are the thread sanitizer's part.
//
//===----------------------------------------------------------------------===//
#include "Fiber.h"
#include "PipeState.h"
#include "Run.h"
#include "RunOrchestration.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

using namespace simpler;

namespace {

std::mt19937_64 *schedule = nullptr; // null: no yielding
uint64_t steps = 0;

} // namespace

void simpler::exploreYield() {
  if (!schedule)
    return;
  ++steps;
  if ((*schedule)() % 3 == 0) {
    // What each real thread has of its own.
    Executor *executor = Executor::current();
    CallPlace place = callPlace();
    Fiber::yield();
    setCallPlace(place);
    Executor::setCurrent(executor);
  }
}

namespace {

constexpr int kOrchestrators = 2, kHelpers = 2, kThreads = kOrchestrators + kHelpers, kCells = 4;

struct Program {
  struct Step {
    int read, write, blocks;
    uint32_t salt;
  };
  std::vector<Step> steps;
  uint32_t cells[kCells] = {};
  int executed = 0;

  explicit Program(std::mt19937_64 &random) {
    int count = 3 + static_cast<int>(random() % 8);
    for (int i = 0; i < count; ++i)
      steps.push_back({static_cast<int>(random() % kCells), static_cast<int>(random() % kCells),
                       random() % 4 == 0 ? 2 : 1, static_cast<uint32_t>(random())});
  }
  void apply(const Step &step, int block) {
    ++executed;
    if (block == 0)
      cells[step.write] = cells[step.write] * 31 + cells[step.read] + step.salt;
  }
};

void stepKernel(int64_t *args) {
  exploreYield(); // time passes between the claim and the work
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  auto *program = reinterpret_cast<Program *>(args[2]);
  program->apply(program->steps[static_cast<size_t>(args[3])], local->block_idx);
  exploreYield();
}
const SimplerKernel kStep{stepKernel, "step", nullptr, 0, SIMPLER_AIV};

struct Orchestrator {
  Program *program = nullptr;
  int32_t status = -1;
  std::string error;
};

struct World {
  Device device{*findGeometry("a2a3sim"), 1};
  Orchestrator orchestrators[kOrchestrators];
  Executor *helpers[kHelpers];
  Fiber fibers[kThreads];
  int left = 0; // orchestrators at work
  std::mt19937_64 *random = nullptr;

  World() {
    for (auto &helper : helpers)
      helper = device.addExecutor();
  }
};
World *world = nullptr;

void submitSteps(SimplerRun &run, Program *program, bool reads) {
  uint32_t shape[1] = {kCells}, one[1] = {1};
  ChipTensor all = make_tensor_external(program->cells, shape, 1, DataType::UINT32);
  for (size_t i = 0; i < program->steps.size(); ++i) {
    const Program::Step &step = program->steps[i];
    uint32_t from[1] = {static_cast<uint32_t>(step.read)},
             to[1] = {static_cast<uint32_t>(step.write)};
    ChipTensor in = all.view(one, from), out = all.view(one, to);
    const ChipTensor *tensors[2] = {&in, &out};
    uint8_t tags[2] = {SIMPLER_ARG_INPUT, SIMPLER_ARG_INOUT};
    uint64_t scalars[2] = {reinterpret_cast<uint64_t>(program), i};
    SimplerLaunch launch{};
    launch.block_num = step.blocks;
    Submission submission;
    submission.kernels[1] = &kStep;
    submission.tensors = tensors;
    submission.tags = tags;
    submission.numTensors = 2;
    submission.scalars = scalars;
    submission.numScalars = 2;
    submission.launch = &launch;
    run.submit(submission);
    if (reads && (*world->random)() % 5 == 0) {
      int64_t index[1] = {0};
      run.getElement(out, index, 1);
    }
  }
}

struct GraphBody {
  SimplerRun &run;
  Program *program;
};

void orchestrate(void *argument) {
  auto &self = *static_cast<Orchestrator *>(argument);
  self.status = runOrchestration(
      world->device, RunOptions(),
      [&](SimplerRun &run) {
        if ((*world->random)() % 2) {
          submitSteps(run, self.program, true);
          return;
        }
        // The same as a recorded graph: its nodes have another protocol.
        uint32_t shape[1] = {kCells};
        ChipTensor all = make_tensor_external(self.program->cells, shape, 1, DataType::UINT32);
        const ChipTensor *boundary[1] = {&all};
        const uint8_t tags[1] = {SIMPLER_ARG_INOUT};
        static uint64_t key = 0;
        GraphBody body{run, self.program};
        GraphCall call;
        call.id = ++key;
        call.body = [](void *context) {
          auto *graph = static_cast<GraphBody *>(context);
          submitSteps(graph->run, graph->program, false);
        };
        call.context = &body;
        call.tensors = boundary;
        call.tags = tags;
        call.numTensors = 1;
        run.submitGraph(call);
      },
      self.error);
  if (--world->left == 0)
    for (Executor *helper : world->helpers)
      helper->parking().unpark();
}

void help(void *argument) {
  auto *executor = static_cast<Executor *>(argument);
  Executor::setCurrent(executor);
  executor->workUntil(nullptr, [] { return world->left == 0; });
}

/// Runs one schedule; the number of kernel calls must be right and the cells as in program order.
void explore(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Program> parallel;
  for (int i = 0; i < kOrchestrators; ++i)
    parallel.emplace_back(random);
  std::vector<Program> sequential = parallel;
  for (Program &program : sequential)
    for (const Program::Step &step : program.steps)
      for (int block = 0; block < step.blocks; ++block)
        program.apply(step, block);
  world->random = &random;
  world->left = kOrchestrators;
  for (int i = 0; i < kOrchestrators; ++i) {
    world->orchestrators[i].program = &parallel[static_cast<size_t>(i)];
    world->fibers[i].prepare(orchestrate, &world->orchestrators[i]);
  }
  for (int i = 0; i < kHelpers; ++i)
    world->fibers[kOrchestrators + i].prepare(help, world->helpers[i]);
  bool finished[kThreads] = {};
  int left = kThreads;
  steps = 0;
  schedule = &random;
  while (left > 0) {
    auto pick = static_cast<size_t>(random() % kThreads);
    if (finished[pick])
      continue;
    Executor::setCurrent(nullptr); // of a thread that has just begun
    if (world->fibers[pick].resume()) {
      finished[pick] = true;
      --left;
    }
    if (steps > 2000000) {
      schedule = nullptr;
      FAIL() << "seed " << seed << ": no end after " << steps << " steps; " << left
             << " simulated threads are left";
    }
  }
  schedule = nullptr;
  for (size_t i = 0; i < kOrchestrators; ++i) {
    const Orchestrator &orchestrator = world->orchestrators[i];
    ASSERT_EQ(0, orchestrator.status) << "seed " << seed << ": " << orchestrator.error;
    ASSERT_EQ(sequential[i].executed, parallel[i].executed) << "seed " << seed;
    for (int cell = 0; cell < kCells; ++cell)
      ASSERT_EQ(sequential[i].cells[cell], parallel[i].cells[cell])
          << "seed " << seed << " cell " << cell;
  }
}

TEST(Explore, TenThousandSchedules) {
  World theWorld;
  world = &theWorld;
  uint64_t first = 1, count = 10000;
  if (const char *seed = std::getenv("SIMPLER_EXPLORE_SEED")) {
    first = std::strtoull(seed, nullptr, 10);
    count = 1;
  }
  for (uint64_t seed = first; seed < first + count && !HasFatalFailure(); ++seed)
    explore(seed);
  // The schedules were worth something: tasks did travel.
  if (count > 1) {
    for (Executor *helper : theWorld.helpers)
      EXPECT_GT(helper->executed(), count / 2);
  }
  world = nullptr;
}

} // namespace
