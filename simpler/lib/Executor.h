//===- Executor.h - one thread's part of the scheduler --------------------===//
//
// Runs tasks, releases their successors, steals when it has none. Pool threads,
// spare threads and the threads that run orchestrations each have one. The deque may be
// stolen from by all; everything else belongs to the executor's thread.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_EXECUTOR_H
#define SIMPLER_EXECUTOR_H

#include "Clock.h"
#include "Deque.h"
#include "Parking.h"
#include "Task.h"
#include "Trace.h"
#include "simpler/kernel_context.h"

namespace simpler {

class Device;

class alignas(64) Executor {
public:
  Executor(Device &device, uint32_t index);

  /// Queues a ready task for this thread or a thief.
  void makeReady(Task *task) {
    if (!ready_.push(task)) [[unlikely]] {
      execute(task); // no memory to queue it
      return;
    }
    offerWork(0);
  }
  /// Queues a task the orchestrator has just submitted; one alone wakes nobody, since this thread
  /// will run it.
  void submit(Task *task) {
    if (!ready_.push(task)) [[unlikely]] {
      execute(task);
      return;
    }
    if (ready_.size() > 1)
      offerWork(1);
  }
  /// Runs a task and the cheap ones it releases, on the spot.
  void runInline(Task *task);
  /// The next task this executor should run, or null. `eager`: steal even what looks too cheap.
  Task *take(bool eager);
  void execute(Task *task);

  /// Works until done() holds; sleeps when there is nothing to do. `run` is the run this thread
  /// owns, null for pool threads.
  template <typename Done> void workUntil(SimplerRun *run, Done &&done) {
    auto call = [](void *context) -> bool { return (*static_cast<Done *>(context))(); };
    workUntil(run, Condition{call, const_cast<void *>(static_cast<const void *>(&done))});
  }

  /// Hands completed tasks of other threads' runs back to them.
  void flush();
  /// This thread looks for work no longer, or not for a while. Nothing stays with it.
  void leave();

  uint32_t index() const { return index_; }
  Parking &parking() { return parking_; }
  int64_t backlog() const { return ready_.size(); }
  /// What others may steal.
  int64_t offered() const { return alone_.load(std::memory_order_relaxed) ? 0 : backlog(); }
  /// Odd while this thread does nothing and will not by itself: it sleeps, is not in use, or waits
  /// for a run it has started from a kernel. Grows with each change. For the watchdog.
  uint64_t rest() const { return rest_.load(); }
  /// Asleep, but already told to wake up.
  bool called() const { return parked_.load() && parking_.permitted(); }
  void restBegin() { rest_.fetch_add(1); }
  void restEnd() { rest_.fetch_add(1); }
  uint64_t executed() const { return executed_.load(std::memory_order_relaxed); }
  /// Recent upper estimate of ticks per queued task.
  uint64_t cost() const { return cost_.load(std::memory_order_relaxed); }
  /// Whether handing the task to another core would cost more than running it here.
  bool isCheap(const Task *task) const {
    return task->kind != TaskKind::Kernel || (task->blocks == 1 && !task->has(Task::kCoRun) &&
                                              kernelCost(task->kernel[0]) < kInlineTicks);
  }
  /// Whether all cores should execute the blocks of the task at once, on the threads that the
  /// program has lent to the worker.
  bool suitsTeam(const Task *task) const;
  /// Whether the task runs where it is submitted, rather than being queued for another thread.
  bool staysHere(const Task *task) const { return isCheap(task) || suitsTeam(task); }
  Task *steal() { return ready_.steal(); }
  /// Counts off nodes of graphs that this thread has completed.
  void finishNodes();

  void setTrace(std::unique_ptr<TraceRing> ring);
  /// Events recorded so far, also after recording stopped.
  TraceRing *storedTrace() const { return traceStorage_.get(); }
  void pauseTrace() {
    trace_.store(nullptr, std::memory_order_release);
    phaseTrace_.store(nullptr, std::memory_order_release);
  }
  void resumeTrace() {
    TraceRing *ring = traceStorage_.get();
    trace_.store(ring, std::memory_order_release);
    phaseTrace_.store(ring->phases() ? ring : nullptr, std::memory_order_release);
  }
  /// Null unless the scheduler's own phases are recorded.
  TraceRing *phaseTrace() const { return phaseTrace_.load(std::memory_order_acquire); }
  TraceRing *trace() const { return trace_.load(std::memory_order_acquire); }
  /// The run whose orchestration this thread executes; its tasks are recycled on the spot. `outer`:
  /// of the kernel or orchestration that runs it. A thread that waits for a run takes other tasks,
  /// which may run programs in turn: where that goes too deep, nothing is given to others, so that
  /// there is nothing to wait for.
  void own(SimplerRun *run, const Executor *outer) {
    owned_ = run;
    depth_ = outer ? outer->depth_ + 1 : 0;
    alone_.store(depth_ > kMaxNesting, std::memory_order_relaxed);
  }
  void disown();

  static Executor *current();
  static void setCurrent(Executor *executor);

private:
  friend class Device;
  friend class Gang;

#ifdef SIMPLER_EXPLORE // every task travels, every queue is offered
  static constexpr uint64_t kInlineTicks = 0, kOfferTicks = 0;
  static constexpr uint32_t kMaxNesting = 1;
#else
  static constexpr uint32_t kMaxNesting = 4;
  // About 0.5 us: below, handing a task to another core costs more than running it.
  static constexpr uint64_t kInlineTicks = 1500;
  // About 4 us of queued work: worth a wake-up.
  static constexpr uint64_t kOfferTicks = 10000;
#endif
  // About 8 us in all blocks: several times what a team costs whose threads are awake.
  static constexpr uint64_t kTeamTicks = 20000;
  static constexpr uint64_t kUnknownCost = 1ull << 40;
  static constexpr uint32_t kFlushAt = 16;

  struct Condition {
    bool (*holds)(void *);
    void *context;
    bool operator()() const { return holds(context); }
  };
  void workUntil(SimplerRun *run, Condition done);
  Task *spin(Condition done);
  void sleep(SimplerRun *run, Condition done);
  bool visibleBacklog(uint64_t *executedByOthers = nullptr) const;

  void offerWork(int64_t spare);
  void executeBlocks(Task *task);
  bool executeInTeam(Task *task);
  bool skips(Task *task);
  void dropTicket(Task *task);
  void complete(Task *task);
  void completeTask(Task *task);
  bool pollPending();
  void completeNode(Task *task);
  void executeGraph(Task *graph);
  void expandGraph(Task *graph, uint32_t done, Task *open);
  void release(Task *task);
  void invoke(Task *task, int32_t block, int32_t lane);
  void invokeCounted(Task *task, int32_t block, int32_t lane, TraceRing &trace);
  struct KernelCost {
    const SimplerKernel *kernel = nullptr;
    uint64_t ticks = 0;
  };
  static constexpr size_t kKernelCosts = 64;
  static size_t costSlot(const SimplerKernel *kernel) {
    return (reinterpret_cast<uintptr_t>(kernel) * 0x9e3779b97f4a7c15ull) >> 58;
  }
  uint64_t kernelCost(const SimplerKernel *kernel) const {
    const KernelCost &entry = costs_[costSlot(kernel)];
    return entry.kernel == kernel ? entry.ticks : kUnknownCost;
  }
  void measured(const SimplerKernel *kernel, uint64_t elapsed);

  Device &device_;
  const uint32_t index_;
  Deque<Task> ready_;
  Task *next_ = nullptr; // just released by the task that ended here: its data is in the cache
  SimplerRun *owned_ = nullptr;
  uint32_t depth_ = 0;            // runs on this thread that wait for the owned one
  SimplerRun *doneRun_ = nullptr; // run of the completed tasks below
  Task *doneFirst_ = nullptr, *doneLast_ = nullptr;
  uint32_t doneCount_ = 0;
  GraphInstance *doneGraph_ = nullptr; // graph of the completed nodes that are not counted off yet
  uint32_t doneNodes_ = 0;
  uint64_t teamDebt_ = 0; // ticks for which the team is not asked
  uint32_t sample_ = 0;
  uint32_t random_;
  Atomic<bool> alone_{false};
  std::atomic<uint64_t> executed_{0};
  Atomic<uint64_t> rest_{1};
  Atomic<bool> parked_{false};
  KernelCost costs_[kKernelCosts]; // what kernels took here, direct mapped
  std::atomic<uint64_t> cost_{kUnknownCost};
  std::atomic<TraceRing *> trace_{nullptr}, phaseTrace_{nullptr};
  std::unique_ptr<TraceRing> traceStorage_;
  int64_t pollPause_ = 0; // microseconds; grows while deferred counters do not move
  Parking parking_;
};

} // namespace simpler

#endif // SIMPLER_EXECUTOR_H
