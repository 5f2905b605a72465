//===- Team.cpp - torch's threads for kernels -----------------------------===//
//
// torch splits its operators by OpenMP regions. Its threads spin for some milliseconds after each:
// threads of our own would have to share the cores with them. at::parallel_for cannot be used,
// because its header needs the compiler and the runtime that torch was built with; the function
// that such code calls is part of every OpenMP runtime's interface.
//
//===----------------------------------------------------------------------===//
#include "Pch.h"

#include "Kernel.h"

#include <ATen/Parallel.h>
#include <pthread.h>

extern "C" {
// Of the runtime that torch has loaded; null if torch was built without OpenMP.
[[gnu::weak]] void GOMP_parallel(void (*body)(void *), void *context, unsigned threads,
                                 unsigned flags);
[[gnu::weak]] int omp_get_thread_num(void);
[[gnu::weak]] int omp_get_num_threads(void);
}

namespace pypto::torch_ops {
namespace {

// A child has none of the threads that the runtime believes in.
std::atomic<bool> forked{false};
// From the time the module is loaded: torch may have used its threads before any kernel is
// compiled.
const int watching = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });

int32_t runInTeam(void (*body)(void *, int32_t, int32_t), void *context) {
  // As at::parallel_for.
  at::internal::lazy_init_num_threads();
  if (forked.load(std::memory_order_relaxed) || at::in_parallel_region() ||
      at::get_num_threads() < 2)
    return 0;
  struct Region {
    void (*body)(void *, int32_t, int32_t);
    void *context;
  } region{body, context};
  auto member = [](void *context) {
    auto &region = *static_cast<Region *>(context);
    int index = omp_get_thread_num();
    at::internal::ThreadIdGuard guard(index);
    region.body(region.context, index, omp_get_num_threads());
  };
  // The number of threads stays torch's: the runtime keeps its threads only if it does not change.
  GOMP_parallel(member, &region, /*threads=*/0, /*flags=*/0);
  return 1;
}

} // namespace

SimplerTeam torchTeam() {
  if (!GOMP_parallel || !omp_get_thread_num || !omp_get_num_threads)
    return nullptr;
  return watching == 0 ? runInTeam : nullptr;
}

} // namespace pypto::torch_ops
