//===- Fiber.h - a stack that can be left and entered again ---------------===//
//
// Blocks that must co-run get a fiber each, so that one thread can carry many of
// them: a block that waits yields, and its thread resumes another one. A fiber may be resumed
// by any thread, one at a time. Boost.Context switches; sanitizers are told.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_FIBER_H
#define SIMPLER_FIBER_H

#include <cstddef>

namespace simpler {

class Fiber {
public:
  using Entry = void (*)(void *argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;

  /// False when no stack could be mapped.
  bool ok() const { return stack_ != nullptr; }
  /// Prepares the fiber to run entry(argument) at the next resume. It must be fresh or finished.
  void prepare(Entry entry, void *argument);
  /// Runs until the fiber yields or its entry returns; true when it returned.
  bool resume();
  /// Leaves the current fiber; false when the caller does not run on one.
  static bool yield();

  static constexpr size_t kStackBytes = 1 << 20; // reserved; committed as touched

private:
  struct Switch;
  friend struct Switch;
  void *stack_ = nullptr; // lowest mapped page is a guard
  void *context_ = nullptr;
  void *resumer_ = nullptr;
  Entry entry_ = nullptr;
  void *argument_ = nullptr;
  bool finished_ = true;
  [[maybe_unused]] void *sanitizer_ = nullptr;        // TSan's fiber
  [[maybe_unused]] void *sanitizerResumer_ = nullptr; // TSan's fiber of the resuming thread
  [[maybe_unused]] void *fakeStack_ = nullptr;        // ASan
  [[maybe_unused]] const void *resumerBottom_ = nullptr;
  [[maybe_unused]] size_t resumerSize_ = 0;
};

} // namespace simpler

#endif // SIMPLER_FIBER_H
