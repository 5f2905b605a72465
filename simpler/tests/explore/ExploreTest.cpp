//===- ExploreTest.cpp - many interleavings of the scheduler's protocol ---===//
//
// The runtime's own code, built with a yield point at every access of a shared word, runs
// on simulated threads: fibers of one thread, switched by a seeded generator. A seed is a
// schedule; a failure prints it and repeats. What is explored: ready, steal, complete, release,
// hand back, sleep and wake, with three orchestrators still submitting to one device: each also
// runs tasks of the others' runs, and may have to leave while it does. Kernels run programs of
// their own, complete when a counter is raised, throw, and cancel their run. The watchdog looks at
// every sleep, without patience: it may find a standstill only where nobody raises a counter.
// Interleavings are sequentially consistent; weaker orders are the thread sanitizer's part.
//
//===----------------------------------------------------------------------===//
#include "Fiber.h"
#include "Log.h"
#include "PipeState.h"
#include "Run.h"
#include "RunOrchestration.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <stdexcept>

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

constexpr int kOrchestrators = 3, kHelpers = 2, kThreads = kOrchestrators + kHelpers, kCells = 4;

struct Program {
  enum Kind {
    Plain,
    Nests,  // runs a program of its own
    Raises, // raises the counter; uses no cells
    Waits,  // complete when the counter has its value
    Throws,
    Cancels,
  };
  struct Step {
    Kind kind;
    int read, write, blocks;
    uint32_t salt;
  };
  std::vector<Step> steps;
  int repeats;
  uint32_t cells[kCells] = {};
  bool open[kCells] = {}; // written by a step that waits for the counter
  int32_t counter = 0, awaited = 0, cancelled = 0;
  int executed = 0, early = 0, nestedFailed = 0;

  explicit Program(std::mt19937_64 &random) {
    auto add = [&](Kind kind) {
      int blocks = kind == Plain && random() % 4 == 0 ? 2 : 1;
      steps.push_back({kind, static_cast<int>(random() % kCells),
                       static_cast<int>(random() % kCells), blocks,
                       static_cast<uint32_t>(random())});
    };
    repeats = random() % 4 == 0 ? 2 : 1;
    bool waits = random() % 3 == 0, nests = random() % 3 == 0;
    int count = 3 + static_cast<int>(random() % 6);
    if (waits && random() % 8 != 0) { // else nobody raises it
      add(Raises);
      add(Raises);
    }
    awaited = 1 + static_cast<int>(random() % 2);
    for (int i = 0; i < count; ++i) {
      add(waits && random() % 3 == 0 ? Waits : nests && random() % 3 == 0 ? Nests : Plain);
      if (random() % 64 == 0)
        add(random() % 2 ? Throws : Cancels);
    }
  }
  bool has(Kind kind) const {
    return std::any_of(steps.begin(), steps.end(), [&](const Step &s) { return s.kind == kind; });
  }
  /// What its run may return.
  std::set<int32_t> outcomes() const {
    bool still = has(Waits) && !has(Raises);
    std::set<int32_t> all;
    if (!still && !has(Throws))
      all.insert(0);
    if (still)
      all.insert({SIMPLER_SCHEDULER_TIMEOUT, SIMPLER_TENSOR_WAIT_TIMEOUT});
    if (has(Throws))
      all.insert(SIMPLER_KERNEL_FAILED);
    if (has(Cancels))
      all.insert(SIMPLER_INTERRUPTED);
    return all;
  }
  int calls() const {
    int sum = 0;
    for (const Step &step : steps)
      sum += step.blocks * repeats;
    return sum;
  }

  void apply(const Step &step, int block, uint32_t nested = 0) {
    ++executed;
    if (step.kind == Raises) {
      ++counter;
      return;
    }
    early += (open[step.read] || open[step.write]) && counter < awaited;
    if (block == 0)
      cells[step.write] = cells[step.write] * 31 + cells[step.read] + step.salt + nested;
    open[step.write] |= step.kind == Waits;
  }
};

/// A task of the program that a kernel runs.
struct Nested {
  static constexpr int kTasks = 3;
  uint32_t cells[2] = {};
  static void task(uint32_t *cells, uint64_t i) {
    cells[i % 2] = cells[i % 2] * 31 + static_cast<uint32_t>(i);
  }
  static uint32_t result() {
    Nested alone;
    for (uint64_t i = 0; i < kTasks; ++i)
      task(alone.cells, i);
    return alone.cells[0] + alone.cells[1];
  }
};

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

void submitOne(SimplerRun &run, const SimplerKernel &kernel,
               std::vector<const ChipTensor *> tensors, const void *context, uint64_t index,
               int blocks) {
  uint8_t tags[2] = {SIMPLER_ARG_INOUT, SIMPLER_ARG_INPUT};
  uint64_t scalars[2] = {reinterpret_cast<uint64_t>(context), index};
  SimplerLaunch launch{};
  launch.block_num = blocks;
  Submission submission;
  submission.kernels[1] = &kernel;
  submission.tensors = tensors.data();
  submission.tags = tags;
  submission.numTensors = static_cast<int32_t>(tensors.size());
  submission.scalars = scalars;
  submission.numScalars = 2;
  submission.launch = &launch;
  run.submit(submission);
}

const SimplerKernel kNested{[](int64_t *args) {
                              exploreYield();
                              Nested::task(reinterpret_cast<uint32_t *>(args[1]),
                                           static_cast<uint64_t>(args[2]));
                              exploreYield();
                            },
                            "nested", nullptr, 0, SIMPLER_AIV};

uint32_t runNested(Program &program) {
  Nested nested;
  std::string error;
  int32_t status = runOrchestration(
      world->device, RunOptions(),
      [&](SimplerRun &run) {
        uint32_t one[1] = {1};
        for (uint64_t i = 0; i < Nested::kTasks; ++i) {
          ChipTensor cell = make_tensor_external(&nested.cells[i % 2], one, 1, DataType::UINT32);
          submitOne(run, kNested, {&cell}, nested.cells, i, 1);
        }
      },
      error);
  program.nestedFailed += status != 0;
  return nested.cells[0] + nested.cells[1];
}

void runStep(const int64_t *args, const int64_t *scalars) {
  exploreYield(); // time passes between the claim and the work
  auto *local = reinterpret_cast<LocalContext *>(args[kLocalContextWord]);
  auto *program = reinterpret_cast<Program *>(scalars[0]);
  const Program::Step &step = program->steps[static_cast<size_t>(scalars[1])];
  program->apply(step, local->block_idx, step.kind == Program::Nests ? runNested(*program) : 0);
  if (step.kind == Program::Waits) {
    CompletionList *list = local->async.list;
    list->tokens[list->count++] = {reinterpret_cast<uint64_t>(&program->counter),
                                   static_cast<uint32_t>(program->awaited), 0, 0, 0};
  }
  if (step.kind == Program::Cancels)
    program->cancelled = 1;
  exploreYield();
  if (step.kind == Program::Throws)
    throw std::runtime_error("a kernel that throws");
}
const SimplerKernel kStep{[](int64_t *args) { runStep(args, args + 2); }, "step", nullptr, 0,
                          SIMPLER_AIV};
const SimplerKernel kRaise{[](int64_t *args) { runStep(args, args); }, "raise", nullptr, 0,
                           SIMPLER_AIV};

void submitSteps(SimplerRun &run, Program *program, bool reads) {
  uint32_t shape[1] = {kCells}, one[1] = {1};
  ChipTensor all = make_tensor_external(program->cells, shape, 1, DataType::UINT32);
  for (size_t i = 0; i < program->steps.size(); ++i) {
    const Program::Step &step = program->steps[i];
    if (step.kind == Program::Raises) {
      submitOne(run, kRaise, {}, program, i, 1);
      continue;
    }
    uint32_t from[1] = {static_cast<uint32_t>(step.read)},
             to[1] = {static_cast<uint32_t>(step.write)};
    ChipTensor in = all.view(one, from), out = all.view(one, to);
    submitOne(run, kStep, {&out, &in}, program, i, step.blocks);
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

void submitGraph(SimplerRun &run, Program *program, uint64_t key) {
  uint32_t shape[1] = {kCells};
  ChipTensor all = make_tensor_external(program->cells, shape, 1, DataType::UINT32);
  const ChipTensor *boundary[1] = {&all};
  const uint8_t tags[1] = {SIMPLER_ARG_INOUT};
  GraphBody body{run, program};
  GraphCall call;
  call.id = key;
  call.body = [](void *context) {
    auto *graph = static_cast<GraphBody *>(context);
    submitSteps(graph->run, graph->program, false);
  };
  call.context = &body;
  call.tensors = boundary;
  call.tags = tags;
  call.numTensors = 1;
  run.submitGraph(call);
}

void orchestrate(void *argument) {
  auto &self = *static_cast<Orchestrator *>(argument);
  RunOptions options;
  options.cancelled = &self.program->cancelled;
  self.status = runOrchestration(
      world->device, options,
      [&](SimplerRun &run) {
        // As single tasks, or as a recorded graph: its nodes have another protocol.
        static uint64_t graphs = 0;
        uint64_t key = (*world->random)() % 2 ? ++graphs : 0;
        for (int i = 0; i < self.program->repeats; ++i)
          if (key)
            submitGraph(run, self.program, key);
          else
            submitSteps(run, self.program, true);
      },
      self.error);
  if (--world->left == 0)
    for (Executor *helper : world->helpers)
      helper->parking().unpark();
}

void help(void *argument) {
  auto *executor = static_cast<Executor *>(argument);
  Executor::setCurrent(executor);
  executor->restEnd();
  executor->workUntil(nullptr, [] { return world->left == 0; });
  executor->restBegin();
}

void check(const Program &sequential, const Program &parallel, const Orchestrator &orchestrator) {
  ASSERT_TRUE(sequential.outcomes().count(orchestrator.status))
      << orchestrator.status << ": " << orchestrator.error;
  ASSERT_LE(parallel.executed, parallel.calls());
  ASSERT_EQ(0, parallel.early) << "a task ran before the one it follows was complete";
  if (orchestrator.status != 0)
    return;
  ASSERT_EQ(0, parallel.nestedFailed);
  ASSERT_EQ(parallel.calls(), parallel.executed);
  for (int cell = 0; cell < kCells; ++cell)
    ASSERT_EQ(sequential.cells[cell], parallel.cells[cell]) << "cell " << cell;
}

/// Runs one schedule. A program that succeeds has made each kernel call once, with the values of
/// program order; one that fails does so for a reason it has.
void explore(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<Program> parallel;
  for (int i = 0; i < kOrchestrators; ++i)
    parallel.emplace_back(random);
  std::vector<Program> sequential = parallel;
  for (Program &program : sequential)
    for (int i = 0; i < program.repeats; ++i)
      for (const Program::Step &step : program.steps)
        for (int block = 0; block < step.blocks; ++block)
          program.apply(step, block, step.kind == Program::Nests ? Nested::result() : 0);
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
  // Now and then one has no core for a while.
  size_t stalled = kThreads, turns = 0;
  steps = 0;
  schedule = &random;
  while (left > 0) {
    if (turns > 0)
      --turns;
    else if (random() % 64 == 0)
      stalled = random() % kThreads, turns = random() % 400;
    auto pick = static_cast<size_t>(random() % kThreads);
    if (finished[pick] || (turns > 0 && pick == stalled))
      continue;
    Executor::setCurrent(nullptr); // of a thread that has just begun
    setCallPlace({});
    if (world->fibers[pick].resume()) {
      finished[pick] = true;
      --left;
    }
    if (steps > 2000000) {
      schedule = nullptr;
      FAIL() << "no end after " << steps << " steps; " << left << " simulated threads are left";
    }
  }
  schedule = nullptr;
  for (size_t i = 0; i < kOrchestrators; ++i) {
    SCOPED_TRACE("program " + std::to_string(i));
    check(sequential[i], parallel[i], world->orchestrators[i]);
  }
}

TEST(Explore, ManySchedules) {
  setLogThreshold(60); // what fails on purpose would say so
  World theWorld;
  world = &theWorld;
  uint64_t first = 1, count = 10000;
  if (const char *seed = std::getenv("SIMPLER_EXPLORE_SEED")) {
    first = std::strtoull(seed, nullptr, 10);
    count = 1;
  }
  if (const char *seeds = std::getenv("SIMPLER_EXPLORE_COUNT"))
    count = std::strtoull(seeds, nullptr, 10);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    explore(seed);
  // The schedules were worth something: tasks did travel.
  if (count > 1) {
    for (Executor *helper : theWorld.helpers)
      EXPECT_GT(helper->executed(), count / 2);
  }
  world = nullptr;
}

} // namespace
