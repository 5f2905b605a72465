//===- Device.h - one simulated device: threads, runs, gangs --------------===//
//
// SimplerWorker of the C interface. Threads start when there is work for them: a run
// that fits its own thread never starts any.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_DEVICE_H
#define SIMPLER_DEVICE_H

#include "Executor.h"
#include "Fiber.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace simpler {

/// Scheduling metadata of an architecture (spec 1.2).
struct Geometry {
  const char *arch;
  int32_t clusters; // each: one cube core, two vector cores
  uint64_t timerHz; // unit of exported cycle counts
  int32_t vectorCores() const { return 2 * clusters; }
};

/// Geometry by name, "sim" suffix allowed; null when unknown.
const Geometry *findGeometry(const char *name);

class Gang;

/// A task whose kernel has returned, and the counters it still waits for.
struct PendingCompletion {
  Task *task;
  std::vector<CompletionToken> tokens;
};
bool reached(const CompletionToken &token);

class Device {
public:
  static constexpr uint32_t kMaxExecutors = 512;
  static constexpr uint32_t kMaxRuns = 64;
  static constexpr int32_t kMaxGangContexts = 128; // of all gangs that run

  Device(const Geometry &geometry, int32_t threads);
  ~Device();

  const Geometry &geometry() const { return geometry_; }
  int32_t threads() const { return threads_; }
  bool forked() const;

  /// A free run context bound to the calling thread's use, or null when kMaxRuns are active.
  SimplerRun *acquireRun();
  void releaseRun(SimplerRun *run);

  uint32_t numExecutors() const { return numExecutors_.load(std::memory_order_acquire); }
  Executor *executor(uint32_t i) const { return executors_[i].load(std::memory_order_acquire); }

  /// Wakes or starts one more thread, if one is left.
  void wakeOne();
  bool hasSleepers() const { return sleepers_.load(std::memory_order_relaxed) > 0; }
  /// The same, for a thread that will not look at its queue again: who begins to sleep later sees
  /// what this thread has queued.
  bool hasSleepersAfterQueueing() { return sleepers_.fetch_add(0) > 0; }
  void sleepBegin(Executor &executor);
  /// False when somebody woke the executor in between.
  bool sleepEnd(Executor &executor);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  /// What simpler_worker_lend_team() gave; null with one thread.
  SimplerTeam team() const { return team_.load(std::memory_order_relaxed); }
  void setTeam(SimplerTeam team) { team_.store(threads_ > 1 ? team : nullptr); }

  void interrupt();
  uint64_t interrupts() const { return interrupts_.load(std::memory_order_relaxed); }

  // Deferred completion
  void addPending(Task *task, const CompletionList &list);
  bool hasPending() const { return pendingCount_.load(std::memory_order_relaxed) > 0; }
  bool hasPending(const SimplerRun *run);
  /// What tasks wait for when nothing happens any more.
  struct Still {
    bool pending = false; // for some counter
    uint64_t shared = 0;  // address of one in shared memory
  };
  /// None unless it is certain that nothing will happen in any worker of the process unless the
  /// outside does something.
  std::optional<Still> provenStill(const Executor &asking);
  /// Completes tasks whose counters are reached; true when there was one.
  bool poll(Executor &executor);

  // Gangs
  /// Makes the task's gang. False when the gangs that run leave no room for all its contexts: each
  /// context may need a thread, and a gang that never gets all of them would stand still. The task
  /// is queued again when there is room. Throws when the system has no memory or threads.
  bool startGang(Task *task);
  /// Ends it, and queues gangs that have waited for room.
  void removeGang(Gang *gang, Executor &executor);
  std::unique_ptr<Fiber> acquireFiber();
  void releaseFiber(std::unique_ptr<Fiber> fiber);

  void startTrace(TraceDetail detail = {});
  /// Events stay readable.
  void stopTrace();
  /// Of the time stamps since startTrace.
  double nanosecondsPerTick() const;
  bool tracing() const { return tracing_.load(std::memory_order_relaxed); }
  int32_t writeTrace(const char *path);
  uint64_t traceStartTicks() const { return traceTicks_; }
  uint64_t traceStartNanoseconds() const { return traceNanoseconds_; }

  /// One more executor for a thread the caller provides; null when there are kMaxExecutors.
  Executor *addExecutor();

private:
  friend struct ::SimplerRun;
  void enlist();
  void unlist();
  bool mayAct(const Executor &asking, std::vector<uint64_t> &seen);
  uint64_t sharedCounter();
  void forEachPending(const SimplerRun *run,
                      const std::function<void(Task *, const CompletionToken &)> &visit);
  void startPoolThread();
  void poolLoop(Executor &executor);
  void spareLoop(Executor &executor);
  void monitorLoop();
  bool spareAtHand();
  void giveToSpare(Task *task);
  bool relieveGangs();

  const Geometry &geometry_;
  const int32_t threads_;
  const uint64_t forkGeneration_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> interrupts_{0};
  std::atomic<SimplerTeam> team_{nullptr};

  std::atomic<Executor *> executors_[kMaxExecutors] = {};
  std::atomic<uint32_t> numExecutors_{0};
  Mutex executorsMutex_;

  // Sleeping executors and pool threads not started yet.
  alignas(64) Atomic<int32_t> sleepers_{0};
  Atomic<uint64_t> sleepMask_[kMaxExecutors / 64];
  std::atomic<int32_t> unstarted_;
  std::vector<std::thread> poolThreads_;

  Mutex runsMutex_;
  std::vector<std::unique_ptr<SimplerRun>> runs_;
  std::vector<SimplerRun *> freeRuns_;
  uint32_t nextTag_ = 0;

  Mutex pendingMutex_;
  std::vector<PendingCompletion> *pending_;
  Atomic<int32_t> pendingCount_{0};

  Mutex gangsMutex_;
  std::vector<Gang *> gangs_;
  std::vector<Task *> waitingGangs_; // oldest first
  int32_t gangContexts_ = 0;
  std::atomic<int32_t> gangCount_{0};
  std::vector<std::unique_ptr<Fiber>> fibers_;

  // Spare threads carry blocks of gangs whose threads are stuck in waiting kernels.
  std::mutex spareMutex_;
  std::condition_variable spareWork_, monitorWork_;
  std::vector<Task *> spareTasks_;
  std::vector<std::thread> spareThreads_;
  uint32_t idleSpares_ = 0, startingSpares_ = 0;
  Executor *nextSpare_ = nullptr; // has no thread yet
  std::thread monitor_;

  std::mutex traceMutex_;
  std::atomic<bool> tracing_{false};
  TraceDetail traceDetail_; // under executorsMutex_
  uint64_t traceTicks_ = 0, traceNanoseconds_ = 0;
};

} // namespace simpler

#endif // SIMPLER_DEVICE_H
