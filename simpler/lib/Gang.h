//===- Gang.h - blocks that must run at the same time ---------------------===//
//
// A launch with sync_start, or whose blocks have several lanes, is a gang: each of its
// contexts (block x lane) gets a fiber. Executors that hold a ticket start contexts and resume
// those that yielded. A kernel that waits without yielding keeps its thread; the
// device's monitor sees that the gang stands still and lends spare threads to the
// contexts that wait for one. So a gang makes progress on any number of cores.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_GANG_H
#define SIMPLER_GANG_H

#include "Device.h"
#include "PipeState.h"

namespace simpler {

class Gang {
public:
  /// Runs the task's contexts as long as there are any to run; the caller's ticket is used up.
  static void participate(Executor &executor, Task *task);

  explicit Gang(Task *task);

  Task *task() const { return task_; }
  /// Contexts that have no thread now.
  uint32_t waiting();
  /// Grows whenever a context starts, yields or ends.
  uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// A ticket for one more executor, unless the gang is already over.
  bool tryAddTicket();
  uint64_t stepsSeen = 0; // monitor only
  PipeStates pipes;

private:
  struct Context {
    Gang *gang;
    int32_t block, lane;
    std::unique_ptr<Fiber> fiber;
    CompletionList conditions;
    const CompletionList *registered = nullptr;
  };
  static void body(void *context);
  Context *nextContext(Device &device);
  bool halts();
  void suspend(Context *context);

  Task *task_;
  int32_t total_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::mutex mutex_;
  std::vector<Context *> suspended_; // oldest first
  std::atomic<uint64_t> steps_{0};
};

} // namespace simpler

#endif // SIMPLER_GANG_H
