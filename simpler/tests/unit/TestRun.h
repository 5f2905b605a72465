//===- TestRun.h - small helpers for tests that submit tasks --------------===//
#ifndef SIMPLER_TEST_RUN_H
#define SIMPLER_TEST_RUN_H

#include "simpler/c_api.h"
#include "simpler/error_codes.h"
#include "simpler/kernel_context.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

struct WorkerDeleter {
  void operator()(SimplerWorker *worker) const { simpler_worker_destroy(worker); }
};
using WorkerPtr = std::unique_ptr<SimplerWorker, WorkerDeleter>;

inline WorkerPtr makeWorker(int32_t threads = 2, const char *arch = "a2a3sim") {
  return WorkerPtr(simpler_worker_create(arch, threads));
}

/// Runs a closure as an orchestration.
inline int32_t run(SimplerWorker *worker, std::function<void(SimplerRun *)> body) {
  uint64_t word = reinterpret_cast<uintptr_t>(&body);
  return simpler_run(
      worker,
      [](SimplerRun *run, const ChipTensor *, const uint64_t *scalars) {
        (*reinterpret_cast<std::function<void(SimplerRun *)> *>(scalars[0]))(run);
      },
      nullptr, 0, &word, 1);
}

struct Arg {
  const ChipTensor *tensor;
  uint8_t tag;
};
inline Arg in(const ChipTensor &t) { return {&t, SIMPLER_ARG_INPUT}; }
inline Arg out(const ChipTensor &t) { return {&t, SIMPLER_ARG_OUTPUT_EXISTING}; }
inline Arg inout(const ChipTensor &t) { return {&t, SIMPLER_ARG_INOUT}; }
inline Arg noDep(const ChipTensor &t) { return {&t, SIMPLER_ARG_NO_DEP}; }

inline uint64_t submit(SimplerRun *run, const SimplerKernel *kernel, std::vector<Arg> args,
                       std::vector<uint64_t> scalars = {}, const SimplerLaunch *launch = nullptr) {
  std::vector<const ChipTensor *> tensors;
  std::vector<uint8_t> tags;
  for (const Arg &arg : args) {
    tensors.push_back(arg.tensor);
    tags.push_back(arg.tag);
  }
  return simpler_submit(run, kernel, tensors.data(), tags.data(),
                        static_cast<int32_t>(tensors.size()), scalars.data(),
                        static_cast<int32_t>(scalars.size()), launch);
}

template <typename T> ChipTensor tensorOf(std::vector<T> &data) {
  uint32_t shape[1] = {static_cast<uint32_t>(data.size())};
  return make_tensor_external(data.data(), shape, 1, dtype_of<T>());
}
inline ChipTensor tensor2d(float *data, uint32_t rows, uint32_t cols) {
  uint32_t shape[2] = {rows, cols};
  return make_tensor_external(data, shape, 2);
}
inline ChipTensor part(const ChipTensor &t, std::vector<uint32_t> shape, std::vector<uint32_t> at) {
  return t.view(shape.data(), at.data());
}

template <typename T> T *data(int64_t *args, int i) {
  return reinterpret_cast<ChipTensor *>(args[i])->data_as<T>();
}
inline int32_t blockOf(const int64_t *args) {
  return reinterpret_cast<const LocalContext *>(args[kLocalContextWord])->block_idx;
}
inline const ChipTensor &desc(int64_t *args, int i) {
  return *reinterpret_cast<ChipTensor *>(args[i]);
}

/// Takes a few microseconds, so that a missing edge shows.
inline void linger(int microseconds) {
  auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
  };
  for (long long end = now() + microseconds * 1000ll; now() < end;)
    ;
}

#endif // SIMPLER_TEST_RUN_H
