//===- Run.h - one execution of an orchestration --------------------------===//
//
// SimplerRun of the C interface. A run context is used for many runs, one after
// the other: its tensor map, task pool and buffers stay warm.
//
// Threads: all members belong to the orchestrator, except those under "any thread".
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_RUN_H
#define SIMPLER_RUN_H

#include "BufferPool.h"
#include "Device.h"
#include "Graph.h"
#include "Recorder.h"
#include "TaskPool.h"
#include "TensorMap.h"
#include "simpler/error_codes.h"

#include <optional>
#include <string>

namespace simpler {

/// What the caller may limit; 0 = as much as there is. Limits are budgets: the run waits for
/// running tasks to free something, and fails when that cannot help.
struct Budgets {
  uint64_t taskWindow[4] = {}; // live tasks, by ring (scope depth, at most 3)
  uint64_t heapBytes[4] = {};
  uint64_t depPool[4] = {};
  bool limited = false; // some entry is not 0
};

struct RunOptions {
  Budgets budgets;
  bool recordFirst = false; // host_build_graph: nothing starts before the orchestration has ended
  /// Of the device, when the caller became interruptible; none: when the run begins.
  std::optional<uint64_t> interrupts;
  const int32_t *cancelled = nullptr; // other threads write it
};

/// One task as the language bindings describe it.
struct Submission {
  const SimplerKernel *kernels[3] = {}; // cube, vector 0, vector 1
  const ChipTensor *const *tensors = nullptr;
  const uint8_t *tags = nullptr;
  int32_t numTensors = 0;
  const uint64_t *scalars = nullptr;
  /// Per scalar: the scalar of the graph's boundary it was copied from, or -1. Null: none was.
  const int8_t *scalarSources = nullptr;
  int32_t numScalars = 0;
  int32_t manual = -1; // whether in a MANUAL scope; -1: as the open scope says
  const SimplerLaunch *launch = nullptr;
  /// Tasks whose buffers live until this one is complete; null: those it waits for explicitly.
  const uint64_t *retains = nullptr;
  int32_t numRetains = 0;
};

/// Repeats the low `size` bytes of `pattern` over `count` elements.
void fillElements(void *memory, uint64_t count, uint64_t size, uint64_t pattern);

} // namespace simpler

struct SimplerRun {
  using Task = simpler::Task;

  SimplerRun(simpler::Device &device, simpler::Executor &executor);
  ~SimplerRun();

  // --- life of one run -------------------------------------------------------------------------
  void begin(const simpler::RunOptions &options, const simpler::Executor *outer);
  /// Waits for everything; returns 0 or an error code. The executor's rest begins later.
  int32_t end();

  // --- what orchestrations call ----------------------------------------------------------------
  uint64_t submit(const simpler::Submission &submission);
  /// A task without kernel that follows all live tasks with ids from `first` on.
  uint64_t submitBarrierAfter(uint64_t first);
  /// Runs call.body, or replays what it submitted before. The id stands for all its tasks.
  uint64_t submitGraph(const simpler::GraphCall &call);
  /// The tensor is created by the next submitted task when `byNextTask`, else by a task of its own
  /// that is complete at once. False (and an empty tensor) when the run has failed.
  bool allocate(ChipTensor &out, const uint32_t *shapes, uint32_t ndims, uint8_t dtype,
                bool manualDep, const uint64_t *init, bool byNextTask = false);
  void scopeBegin(int32_t mode, const char *site = nullptr);
  void scopeEnd();
  bool manualScope() const { return scopes_.back().mode == 1; }
  uint64_t getElement(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims);
  void setElement(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims, uint64_t bits);
  simpler::Device &device() { return device_; }
  simpler::Executor &executor() { return executor_; }
  /// Id of the next submitted task: what allocations of its outputs carry.
  uint64_t nextTaskId() const;

  /// Null unless a diagnostic is on; set right after begin, read by executors.
  simpler::Recorder *recorder = nullptr;
  uint64_t tag() const { return tag_; }

  // --- any thread ------------------------------------------------------------------------------
  [[gnu::format(printf, 3, 4)]] void fail(int32_t code, const char *format, ...);
  int32_t fatal() const { return fatal_.load(std::memory_order_acquire); }
  bool stopped() const {
    return fatal_.load(std::memory_order_relaxed) != 0 || device_.interrupts() != interruptsSeen_ ||
           __atomic_load_n(cancelled_, __ATOMIC_RELAXED);
  }
  /// Whether kernels of the task must not run any more. A run that leaves some out has failed.
  bool halts(const Task *task) {
    if (!stopped()) [[likely]]
      return false;
    leavesOut(task);
    return true;
  }
  void leavesOut(const Task *task);
  /// Takes a chain of completed tasks back.
  void giveBack(Task *first, Task *last);
  void wakeOwner();
  std::string message() const;

  // --- by the owner's executor -----------------------------------------------------------------
  void recycle(Task *task);
  /// The watchdog: fails the run when it is proven that nothing can complete it.
  void watch();
  /// Tasks are lost, the run has ended without them.
  bool abandoned() const { return abandoned_; }
  void sleepBegin() { ownerAsleep_.store(true); }
  void sleepEnd() { ownerAsleep_.store(false, std::memory_order_relaxed); }

private:
  friend class simpler::Executor;
  friend class simpler::Device;
  struct Scope {
    int32_t mode;
    const char *site;
    size_t firstBuffer;
    uint64_t tasks;
  };

  bool checkTensor(const ChipTensor *tensor, int32_t index, const simpler::Submission &submission,
                   simpler::Region &region, bool &empty);
  bool checkLaunch(const simpler::Submission &submission, int32_t lanes);
  bool addDependencies(Task *task, const simpler::Submission &submission);
  void addEdge(const simpler::TensorMap::Access &access, Task *task, int32_t argument = -1,
               bool covered = false, uint64_t creator = SIMPLER_NO_TASK);
  void recordScope(bool begin);
  void addEdge(Task *predecessor, Task *task);
  simpler::Edge *newEdge(Task *task);
  Task *findTask(uint64_t id, bool &known) const;
  bool addExplicit(Task *task, uint64_t id, int32_t position, const simpler::Submission &s);
  void retainBuffersOf(Task *task, uint64_t producer);
  void retain(Task *task, simpler::Buffer *buffer);
  bool remember(Task *task);
  void publish(Task *task);
  bool throttle(const simpler::Submission &submission);
  uint64_t evaluate(const simpler::Submission &submission);
  void leaveEvaluation(const char *why);
  void recordAllocation(const ChipTensor &made, uint64_t bytes, uint64_t count, uint64_t size,
                        const uint64_t *init, bool byNextTask);
  uint64_t runBody(const simpler::GraphCall &call, bool record);
  bool launchGraph(simpler::GraphDefinition &definition, const simpler::GraphCall &call,
                   uint64_t &id);
  bool addBoundary(Task *task, const simpler::GraphDefinition &definition,
                   const simpler::GraphCall &call);
  void recycleGraph(Task *task);
  std::string waitsFor();
  void abandon();
  void dropEdge(Task *task);
  simpler::TaskExtra *newExtra(Task *task);
  void drainReturned();
  uint64_t outstanding() const { return submitted_ - retired_; }
  bool allDone() {
    drainReturned();
    return retired_ == submitted_;
  }
  bool waitForAccesses(const ChipTensor &tensor, bool write, const char *what);
  bool elementAddress(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims,
                      const char *what, uint64_t &address);
  bool hostReadable(const ChipTensor &tensor, const char *what);
  simpler::Buffer *bufferOf(const ChipTensor &tensor, bool &stale);
  const char *describe(const simpler::Submission &submission, char *text, size_t size) const;

  simpler::Device &device_;
  simpler::Executor &executor_;
  simpler::TensorMap map_;
  simpler::TaskPool pool_;
  simpler::BufferPool buffers_;
  simpler::GraphStore graphs_{buffers_}; // gives its buffers back before they go
  simpler::RunOptions options_;

  // Live tasks beyond this make the orchestrator run tasks instead of submitting more.
  static constexpr uint64_t kLiveTaskBytes = 64u << 20;

  uint64_t tag_ = 0;      // of this run, in the top bits of its task ids
  uint64_t sequence_ = 0; // of the last task; grows over all runs of the context
  uint64_t firstSequence_ = 0;
  uint64_t submitted_ = 0; // of this run
  uint64_t retired_ = 0;   // recycled, of this run
  uint64_t liveTaskBytes_ = 0;
  std::vector<Task *> window_; // task by sequence modulo size, as long as it is live
  std::vector<Scope> scopes_;
  std::vector<simpler::Buffer *> scopeBuffers_;
  std::vector<Task *> held_; // ready, but not to start yet (recordFirst)
  bool holding_ = false;
  std::vector<simpler::TaskExtra *> spareExtras_;
  size_t extras_ = 0;                             // in all
  int32_t edgesOfTask_ = 0;                       // of the task being submitted
  uint64_t edgesTotal_ = 0, heapTotal_ = 0;       // of this run, for scope statistics
  uint64_t signals_ = 0;                          // data reads that had to wait
  simpler::GraphRecording *evaluating_ = nullptr; // collects what a graph's body submits
  const char *evaluationLeft_ = nullptr;          // why it could not collect all of it
  int32_t graphDepth_ = 0;                        // graphs within the one that is being collected
  uint64_t interruptsSeen_ = 0;
  const int32_t *cancelled_ = &kNever;
  static constexpr int32_t kNever = 0;
  uint64_t stillSince_ = 0, stillExecuted_ = 0; // nanoseconds, tasks: state of the watchdog
  bool stillReported_ = false;
  bool abandoned_ = false;
  bool waitsForData_ = false; // in get_tensor_data or set_tensor_data

  // Any thread:
  std::atomic<int32_t> fatal_{0};
  mutable std::mutex messageMutex_;
  std::string message_;
  alignas(64) simpler::Atomic<Task *> returned_{nullptr};
  simpler::Atomic<bool> ownerAsleep_{false};
  simpler::Atomic<bool> signalled_{false};
  Task signal_; // completes when the accesses a data read waits for are over
};

#endif // SIMPLER_RUN_H
