//===- FaultTest.cpp - what the system may refuse, it refuses once --------===//
//
// The n-th allocation, thread start, step of loading, or kernel fails, for n = 0, 1, 2, … until a
// run gets through. Each failing run must end with a code and a text, and the worker must work
// afterwards.
//
//===----------------------------------------------------------------------===//
#include "Callable.h"
#include "FaultPoint.h"
#include "TestRun.h"
#include "simpler/kernel_context.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <link.h>
#include <new>

using namespace simpler;

static thread_local long allocationsLeft = -1; // negative: all succeed

static std::atomic<bool> countsForAll{false}; // every allocation of every thread is asked for

static void *allocate(size_t size, size_t alignment) {
  if (countsForAll.load(std::memory_order_relaxed) && refused(FaultPoint::Memory))
    return nullptr;
  if (allocationsLeft == 0) {
    allocationsLeft = -1; // one failure
    return nullptr;
  }
  if (allocationsLeft > 0)
    --allocationsLeft;
  return alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                   : std::malloc(size);
}
void *operator new(size_t size) {
  if (void *memory = allocate(size, 0))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t size, const std::nothrow_t &) noexcept { return allocate(size, 0); }
void *operator new(size_t size, std::align_val_t alignment) {
  if (void *memory = allocate(size, static_cast<size_t>(alignment)))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

const SimplerKernel kIncrement{[](int64_t *args) { ++*data<int32_t>(args, 0); }, "increment",
                               nullptr, 0, SIMPLER_AIV};

int32_t runOnce(SimplerWorker *worker, std::vector<int32_t> &x) {
  static std::vector<int32_t> *cells;
  cells = &x;
  return simpler_run(
      worker,
      [](SimplerRun *r, const ChipTensor *, const uint64_t *) {
        ChipTensor t = tensorOf(*cells);
        uint32_t one[1] = {1};
        uint8_t tag = SIMPLER_ARG_INOUT;
        SimplerLaunch launch{};
        uint64_t ids[40];
        for (uint32_t i = 0; i < 200; ++i) {
          uint32_t at[1] = {i % 40};
          ChipTensor cell = t.view(one, at);
          const ChipTensor *tensors[1] = {&cell};
          launch.block_num = 1;
          launch.deps = ids;
          launch.num_deps = i >= 40 && i % 20 == 0 ? 40 : 0;
          ids[i % 40] = simpler_submit(r, &kIncrement, tensors, &tag, 1, nullptr, 0, &launch);
          ChipTensor made;
          uint32_t shape[1] = {16 + i};
          simpler_scope_begin(r, 0);
          simpler_alloc(r, &made, shape, 1, 0, 0, nullptr);
          simpler_scope_end(r);
        }
      },
      nullptr, 0, nullptr, 0);
}

TEST(Fault, EveryAllocationOfARunMayFail) {
  int failures = 0;
  for (long n = 0;; ++n) {
    ASSERT_LT(n, 5000);
    WorkerPtr worker = makeWorker(1);
    std::vector<int32_t> x(40);
    allocationsLeft = n;
    int32_t status = runOnce(worker.get(), x);
    bool injected = allocationsLeft < 0;
    allocationsLeft = -1;
    if (!injected) {
      EXPECT_EQ(0, status);
      EXPECT_EQ(std::vector<int32_t>(40, 5), x);
      break;
    }
    if (status != 0) {
      ++failures;
      EXPECT_NE(0u, std::strlen(simpler_last_error())) << n;
    }
    x.assign(40, 0);
    ASSERT_EQ(0, runOnce(worker.get(), x))
        << "after failure of allocation " << n << ": " << simpler_last_error();
    ASSERT_EQ(std::vector<int32_t>(40, 5), x) << n;
  }
  EXPECT_GT(failures, 10);
}

//===-- Every kind of refusal, in every thread ----------------------------===//

std::atomic<long> refusalsLeft{-1}; // counts down over all threads; negative: nothing is refused
FaultPoint refusedPoint = FaultPoint::Memory;
// A block that spins cannot be taken off its thread when the one it waits for never comes.
std::atomic<bool> spinsEnd{false};

bool refuse(FaultPoint point) {
  bool now = point == refusedPoint && refusalsLeft.load() >= 0 && refusalsLeft.fetch_sub(1) == 0;
  if (now)
    spinsEnd = true;
  return now;
}

std::atomic<long> kernelsLeft{-1};
void mayThrow() {
  if (kernelsLeft.load() < 0 || kernelsLeft.fetch_sub(1) != 0)
    return;
  spinsEnd = true;
  throw std::runtime_error("refused by the test");
}

/// A bit of everything: temporaries, SPMD, gangs that yield and gangs that spin, deferred
/// completion, a recorded graph.
struct Program {
  std::vector<int32_t> x = std::vector<int32_t>(64), box = std::vector<int32_t>(2);
  ChipTensor t = tensorOf(x), b = tensorOf(box);
  SimplerRun *run = nullptr;
  static inline std::atomic<int> arrived;

  static constexpr int kBlocks = 6;
  static void add(int64_t *args) {
    mayThrow();
    ++*data<int32_t>(args, 0);
  }
  static void wide(int64_t *args) {
    mayThrow();
    ++data<int32_t>(args, 0)[reinterpret_cast<LocalContext *>(args[48])->block_idx];
  }
  static void meet(int64_t *args) {
    mayThrow();
    int goal = (++arrived + kBlocks - 1) / kBlocks * kBlocks;
    while (arrived < goal && (args[0] || !spinsEnd))
      if (args[0])
        reinterpret_cast<GlobalContext *>(args[49])->yield();
  }
  static void expect(int64_t *args) {
    mayThrow();
    CompletionList *list = reinterpret_cast<LocalContext *>(args[48])->async.list;
    list->tokens[list->count++] = {reinterpret_cast<uintptr_t>(data<int32_t>(args, 0)), 1, 0, 0, 0};
  }
  static void raise(int64_t *args) {
    mayThrow();
    __atomic_store_n(data<int32_t>(args, 0), 1, __ATOMIC_RELEASE);
  }

  void submitAll() {
    static const SimplerKernel kAdd{add, "add", nullptr, 0, SIMPLER_AIV},
        kWide{wide, "wide", nullptr, 0, SIMPLER_AIV}, kMeet{meet, "meet", nullptr, 0, SIMPLER_AIV},
        kExpect{expect, "expect", nullptr, 0, SIMPLER_AIV},
        kRaise{raise, "raise", nullptr, 0, SIMPLER_AIV};
    SimplerLaunch many{};
    many.block_num = 64;
    submit(run, &kWide, {inout(t)}, {}, &many);
    uint32_t shape[1] = {16};
    ChipTensor made;
    simpler_alloc(run, &made, shape, 1, static_cast<uint8_t>(DataType::INT32), 0, nullptr);
    submit(run, &kAdd, {inout(t), out(made)});
    SimplerLaunch gang{};
    gang.block_num = kBlocks;
    gang.sync_start = 1;
    for (uint64_t yields : {1, 0})
      submit(run, &kMeet, {}, {yields}, &gang);
    ChipTensor counter = part(b, {1}, {0}), after = part(b, {1}, {1});
    submit(run, &kExpect, {noDep(counter), inout(after)});
    submit(run, &kRaise, {noDep(counter)});
    submit(run, &kAdd, {inout(after)});
    const ChipTensor *boundary[1] = {&t};
    const uint8_t tags[1] = {SIMPLER_ARG_INOUT};
    for (int i = 0; i < 2; ++i)
      simpler_submit_graph(
          run, 11,
          [](void *context) {
            auto *p = static_cast<Program *>(context);
            uint32_t eight[1] = {8};
            ChipTensor own;
            simpler_alloc(p->run, &own, eight, 1, static_cast<uint8_t>(DataType::INT32), 0,
                          nullptr);
            submit(p->run, &kAdd, {out(own)});
            submit(p->run, &kAdd, {inout(p->t), in(own)});
          },
          this, boundary, tags, 1, nullptr, 0);
  }
  int32_t operator()(SimplerWorker *worker) {
    x.assign(64, 0);
    box.assign(2, 0);
    arrived = 0;
    spinsEnd = false;
    return ::run(worker, [&](SimplerRun *r) {
      run = r;
      submitAll();
    });
  }
  bool right() const {
    return x[0] == 4 && x[1] == 1 && x[63] == 1 && box[0] == 1 && box[1] == 1 &&
           arrived == 2 * kBlocks;
  }
};

/// Runs the program with the n-th refusal, for all n, and again without.
void forEachRefusal(FaultPoint point, int threads, bool mayFail, int least) {
  refusedPoint = point;
  faultHook = refuse;
  int refusals = 0;
  for (long n = 0;; ++n) {
    ASSERT_LT(n, 3000);
    WorkerPtr worker = makeWorker(threads);
    Program program;
    refusalsLeft = n;
    int32_t status = program(worker.get());
    bool happened = refusalsLeft.exchange(-1) < 0;
    if (status == 0) {
      EXPECT_TRUE(program.right()) << n;
    } else {
      EXPECT_TRUE(mayFail) << n << ": " << simpler_last_error();
      EXPECT_NE(0u, std::strlen(simpler_last_error())) << n;
    }
    ASSERT_EQ(0, program(worker.get())) << "after refusal " << n << ": " << simpler_last_error();
    EXPECT_TRUE(program.right()) << n;
    if (!happened)
      break;
    ++refusals;
  }
  faultHook = nullptr;
  EXPECT_GE(refusals, least);
}

TEST(Fault, EveryAllocationOfAnyThreadMayFail) {
  countsForAll = true;
  forEachRefusal(FaultPoint::Memory, 2, true, 20);
  countsForAll = false;
}

TEST(Fault, EveryThreadStartMayFail) {
  for (int threads : {2, 3})
    forEachRefusal(FaultPoint::ThreadStart, threads, true, 2);
}

TEST(Fault, EveryKernelMayThrow) {
  for (long n = 0;; ++n) {
    ASSERT_LT(n, 1000);
    WorkerPtr worker = makeWorker(2);
    Program program;
    kernelsLeft = n;
    int32_t status = program(worker.get());
    bool happened = kernelsLeft.exchange(-1) < 0;
    if (!happened) {
      EXPECT_EQ(0, status);
      EXPECT_TRUE(program.right());
      EXPECT_GT(n, 80);
      break;
    }
    EXPECT_EQ(SIMPLER_KERNEL_FAILED, status) << n;
    EXPECT_NE(nullptr, std::strstr(simpler_last_error(), "refused by the test")) << n;
    ASSERT_EQ(0, program(worker.get())) << n << ": " << simpler_last_error();
    EXPECT_TRUE(program.right()) << n;
  }
}

std::vector<char> someSharedObject() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        if (std::strstr(info->dlpi_name, "libm.so"))
          *static_cast<std::string *>(out) = info->dlpi_name;
        return 0;
      },
      &path);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Fault, EveryStepOfLoadingMayFail) {
  std::vector<char> bytes = someSharedObject();
  ASSERT_FALSE(bytes.empty());
  for (auto [point, text] : {std::pair(FaultPoint::MemoryFile, "cannot be put into memory"),
                             std::pair(FaultPoint::MemoryFileWrite, "cannot be put into memory"),
                             std::pair(FaultPoint::ObjectLoad, "cannot be loaded")}) {
    refusedPoint = point;
    faultHook = refuse;
    std::string error;
    refusalsLeft = 0;
    {
      LoadedObject object;
      EXPECT_FALSE(object.load(bytes.data(), bytes.size(), "refused", error));
    }
    EXPECT_NE(std::string::npos, error.find(text)) << error;
    LoadedObject again;
    EXPECT_TRUE(again.load(bytes.data(), bytes.size(), "accepted", error)) << error;
    EXPECT_NE(nullptr, again.symbol("cos"));
    faultHook = nullptr;
  }
}

} // namespace
