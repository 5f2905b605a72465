//===- RunLane.h - ordered runs of one device -----------------------------===//
#ifndef SIMPLER_RUN_LANE_H
#define SIMPLER_RUN_LANE_H

#include "Bindings.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace simpler::py {

class RunLane;

/// A run on its way: arguments until it has run, then the result.
class RunState {
public:
  ~RunState(); // on any thread
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// False after `seconds` without an end; negative: no limit. GIL not held. In a callback of the
  /// lane runs that are queued are executed instead of waited for.
  bool wait(double seconds);
  int32_t status() const { return status_; }
  const std::string &message() const { return message_; }
  /// True when the run had not started: it will not. A started run is asked to stop; no other is.
  bool cancel();
  /// Lets go of the arguments of a run that has ended. GIL held.
  void retire();
  /// Called with no arguments when the run is done, at once if it is. GIL held.
  void onDone(nb::object callback);

private:
  friend class RunLane;
  void finish(int32_t status, std::string message);
  void announce();
  bool isCancelled() const { return __atomic_load_n(&cancelled_, __ATOMIC_SEQ_CST); }

  std::shared_ptr<RunLane> lane_;
  std::shared_ptr<Loaded> callable_;
  std::vector<ChipTensor> tensors_;
  std::vector<uint64_t> scalars_;
  CallConfig config_;
  nb::object keep_; // owners of the memory
  std::vector<nb::object> callbacks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> done_{false}, started_{false};
  int32_t cancelled_ = 0; // atomic: the run reads it
  int32_t status_ = 0;
  std::string message_;
};

/// Lives as long as Python or its thread needs it; Python's own reference closes it
/// (ownedByPython).
class RunLane {
public:
  static std::shared_ptr<RunLane> create(const std::string &platform, int32_t threads,
                                         bool hostBuildGraph);
  RunLane(const std::string &platform, int32_t threads, bool hostBuildGraph);
  ~RunLane();

  void run(std::shared_ptr<Loaded> callable, TaskArgs &args, const CallConfig &config);
  std::shared_ptr<RunState> submit(std::shared_ptr<Loaded> callable, TaskArgs &args,
                                   const CallConfig &config);
  /// Runs on the calling thread after all queued runs; for node tasks. GIL not held.
  int32_t runHere(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                  const std::vector<uint64_t> &scalars, const CallConfig &config,
                  std::string &message, const uint64_t *interrupts = nullptr);
  /// GIL not held.
  void drain();
  void interrupt();
  void traceStart();
  void traceWrite(const std::string &path);
  /// Waits for all runs, calls back, and ends the device. GIL not held.
  void close();
  SimplerWorker *worker() const { return worker_.get(); }

  /// At the interpreter's exit, GIL held: submitted runs end and call back, then no thread of a
  /// lane asks for the GIL any more. Ctrl-C stops them.
  static void endAll();

private:
  friend class RunState;
  using Lock = std::unique_lock<std::mutex>;
  /// `asked`: when the run was asked for, for the host trace.
  int32_t execute(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                  const std::vector<uint64_t> &scalars, const CallConfig &config,
                  std::string &message, uint64_t asked, const uint64_t *interrupts,
                  const int32_t *cancelled);
  void enter();
  void leave();
  void loop();
  void runNext(Lock &lock);
  template <typename Over> void await(Lock &lock, Over over);
  void end();
  void cancelAll();
  void endThread();
  static RunLane *current();

  /// For callers that another thread's close must not take it from; null: closed.
  std::shared_ptr<SimplerWorker> held();

  std::weak_ptr<RunLane> self_;
  std::shared_ptr<SimplerWorker> worker_;
  const bool hostBuildGraph_;
  const int owner_; // process
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<RunState>> queue_;
  std::shared_ptr<RunState> current_; // of the lane's thread
  bool busy_ = false, closing_ = false, ending_ = false;
  uint64_t direct_ = 0;    // callers that wait to run on their own thread
  uint64_t waiting_ = 0;   // threads in await()
  uint64_t announced_ = 0; // submitted runs whose callbacks have been called
  uint64_t submitted_ = 0;
  std::thread thread_;
};

/// While alive, Ctrl-C stops the worker's runs at the next task.
class InterruptScope {
public:
  explicit InterruptScope(SimplerWorker *worker);
  ~InterruptScope();
  /// The worker's interrupts at the scope's begin, for runs that begin later.
  const uint64_t *before() const { return &before_; }

private:
  uint64_t before_;
  int slot_ = -1;
};

} // namespace simpler::py

#endif // SIMPLER_RUN_LANE_H
