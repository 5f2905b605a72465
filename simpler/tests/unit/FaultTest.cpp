//===- FaultTest.cpp - every allocation of a run may fail -----------------===//
//
// The n-th allocation of the calling thread fails, for n = 0, 1, 2, … until a run gets through.
// Each failing run must end with a code and a text, and the worker must work afterwards.
//
//===----------------------------------------------------------------------===//
#include "TestRun.h"

#include <cstdlib>
#include <cstring>
#include <new>

static thread_local long allocationsLeft = -1; // negative: all succeed

static void *allocate(size_t size, size_t alignment) {
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

} // namespace
