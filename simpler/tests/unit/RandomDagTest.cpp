//===- RandomDagTest.cpp - random programs against their sequential run ---===//
//
// A program is a list of tasks over strided views of a few allocations. Each task mixes
// what it reads into what it writes, so that any two conflicting tasks that change
// places change the bytes. The parallel run must leave exactly the bytes of the
// sequential one.
//
//===----------------------------------------------------------------------===//
#include "TestRun.h"

#include <random>

namespace {

struct Step {
  std::vector<ChipTensor> tensors;
  std::vector<uint8_t> tags;
  uint64_t salt;
  int pause;
};

template <typename F> void forEachElement(const ChipTensor &t, F &&visit) {
  uint64_t count = t.numel();
  uint32_t index[MAX_TENSOR_DIMS] = {};
  uint64_t at = t.start_offset;
  for (uint64_t i = 0; i < count; ++i) {
    visit(reinterpret_cast<uint32_t *>(t.buffer.addr)[at]);
    for (uint32_t d = t.ndims; d-- > 0;) {
      at += t.strides[d];
      if (++index[d] < t.shapes[d])
        break;
      at -= static_cast<uint64_t>(t.strides[d]) * t.shapes[d];
      index[d] = 0;
    }
  }
}

void apply(const Step &step) {
  uint64_t hash = step.salt;
  for (size_t i = 0; i < step.tensors.size(); ++i)
    if (step.tags[i] != SIMPLER_ARG_OUTPUT_EXISTING)
      forEachElement(step.tensors[i], [&](uint32_t &e) { hash = (hash ^ e) * 0x100000001b3ull; });
  if (step.pause)
    linger(step.pause);
  for (size_t i = 0; i < step.tensors.size(); ++i)
    if (step.tags[i] != SIMPLER_ARG_INPUT)
      forEachElement(step.tensors[i], [&](uint32_t &e) {
        hash = hash * 6364136223846793005ull + 1442695040888963407ull;
        e = static_cast<uint32_t>(hash >> 32);
      });
}

void stepKernel(int64_t *args) {
  uint64_t count =
      static_cast<uint64_t>(args[0 + reinterpret_cast<ChipTensor *>(args[0])->reserved[0]]);
  apply(*reinterpret_cast<const Step *>(count));
}
const SimplerKernel kStep{stepKernel, "step", nullptr, 0, SIMPLER_AIV};

class Program {
public:
  explicit Program(uint64_t seed) : random_(seed) {
    for (auto &memory : memory_)
      memory.assign(kElements, 1);
    int count = 20 + static_cast<int>(pick(150));
    int pauseStyle = static_cast<int>(pick(3));
    for (int i = 0; i < count; ++i) {
      Step step;
      step.salt = random_();
      step.pause = pauseStyle == 0   ? 0
                   : pauseStyle == 1 ? static_cast<int>(pick(8))
                                     : (i % 7 == 0) * 40;
      int tensors = 1 + static_cast<int>(pick(5));
      for (int k = 0; k < tensors; ++k) {
        step.tensors.push_back(view());
        step.tags.push_back(std::array<uint8_t, 3>{0, 2, 3}[pick(3)]);
        // Of two overlapping arguments of one task, none may be written: the result would depend
        // on the order inside the kernel, which `apply` fixes, so that is fine here.
      }
      steps_.push_back(step);
    }
  }

  void sequential() {
    for (const Step &step : steps_)
      apply(step);
  }
  int32_t parallel(SimplerWorker *worker) {
    return run(worker, [&](SimplerRun *r) {
      for (const Step &step : steps_) {
        std::vector<ChipTensor> tensors = step.tensors;
        tensors[0].reserved[0] = static_cast<uint8_t>(tensors.size()); // where the scalar is
        std::vector<Arg> args;
        for (size_t i = 0; i < tensors.size(); ++i)
          args.push_back({&tensors[i], step.tags[i]});
        submit(r, &kStep, args, {reinterpret_cast<uintptr_t>(&step)});
      }
    });
  }
  uint64_t hash() const {
    uint64_t h = 1469598103934665603ull;
    for (const auto &memory : memory_)
      for (uint32_t e : memory)
        h = (h ^ e) * 1099511628211ull;
    return h;
  }

private:
  uint64_t pick(uint64_t bound) { return random_() % bound; }

  ChipTensor view() {
    auto &memory = memory_[pick(2)];
    // Sometimes with another base address inside the same allocation.
    uint32_t base = pick(4) ? 0 : static_cast<uint32_t>(pick(3)) * 96;
    uint32_t rows = pick(2) ? 24 : 16, cols = (kElements - base) / rows;
    uint32_t shape[2] = {rows, cols};
    ChipTensor whole = make_tensor_external(memory.data() + base, shape, 2, DataType::INT32);
    switch (pick(6)) {
    case 0:
      return whole;
    case 1: { // rows
      uint32_t n = 1 + static_cast<uint32_t>(pick(6));
      return part(whole, {n, cols}, {static_cast<uint32_t>(pick(rows - n + 1)), 0});
    }
    case 2: { // columns, perhaps transposed
      uint32_t n = 1 + static_cast<uint32_t>(pick(5));
      ChipTensor t = part(whole, {rows, n}, {0, static_cast<uint32_t>(pick(cols - n + 1))});
      return pick(2) ? t.transpose(0, 1) : t;
    }
    case 3: { // tile
      uint32_t n = 1 + static_cast<uint32_t>(pick(4)), m = 1 + static_cast<uint32_t>(pick(4));
      return part(
          whole, {n, m},
          {static_cast<uint32_t>(pick(rows - n + 1)), static_cast<uint32_t>(pick(cols - m + 1))});
    }
    case 4: { // stepped
      uint32_t axis = static_cast<uint32_t>(pick(2));
      uint32_t step = 2 + static_cast<uint32_t>(pick(3));
      return whole.slice(axis, static_cast<uint32_t>(pick(step)), whole.shapes[axis], step);
    }
    default: { // flat piece
      uint32_t flat[1] = {rows * cols};
      ChipTensor t = whole.reshape(flat, 1);
      uint32_t n = 1 + static_cast<uint32_t>(pick(40));
      return part(t, {n}, {static_cast<uint32_t>(pick(rows * cols - n))});
    }
    }
  }

  static constexpr uint32_t kElements = 24 * 48;
  std::mt19937_64 random_;
  std::vector<uint32_t> memory_[2];
  std::vector<Step> steps_;
};

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr uint64_t kSeeds = 25; // instrumented code is many times slower
#else
constexpr uint64_t kSeeds = 150;
#endif
#else
constexpr uint64_t kSeeds = 150;
#endif

TEST(RandomDag, EqualsTheSequentialRun) {
  WorkerPtr workers[] = {makeWorker(1), makeWorker(2), makeWorker(5)};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Program reference(seed);
    reference.sequential();
    for (auto &worker : workers) {
      Program program(seed);
      ASSERT_EQ(0, program.parallel(worker.get())) << simpler_last_error();
      ASSERT_EQ(reference.hash(), program.hash()) << "seed " << seed;
    }
  }
}

} // namespace
