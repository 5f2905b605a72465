//===- RunLane.h - ordered runs of one device -----------------------------===//
#ifndef SIMPLER_RUN_LANE_H
#define SIMPLER_RUN_LANE_H

#include "Bindings.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace simpler::py {

/// A run on its way: arguments until it has run, then the result.
class RunState {
public:
  ~RunState();
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// False after `seconds` without an end; negative: no limit. GIL not held.
  bool wait(double seconds);
  int32_t status() const { return status_; }
  const std::string &message() const { return message_; }
  /// True when the run had not started: it will not. A started run is asked to stop.
  bool cancel();
  /// Lets go of the arguments of a run that has ended. GIL held.
  void retire();
  /// Called with no arguments when the run is done, at once if it is. GIL held.
  void onDone(nb::object callback);

private:
  friend class RunLane;
  void finish(int32_t status, std::string message);
  void announce();

  class RunLane *lane_ = nullptr;
  std::shared_ptr<Loaded> callable_;
  std::vector<ChipTensor> tensors_;
  std::vector<uint64_t> scalars_;
  CallConfig config_;
  nb::object keep_; // owners of the memory
  std::vector<nb::object> callbacks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> done_{false}, started_{false}, cancelled_{false};
  int32_t status_ = 0;
  std::string message_;
};

class RunLane {
public:
  RunLane(const std::string &platform, int32_t threads, bool hostBuildGraph);
  ~RunLane();

  void run(std::shared_ptr<Loaded> callable, TaskArgs &args, const CallConfig &config);
  std::shared_ptr<RunState> submit(std::shared_ptr<Loaded> callable, TaskArgs &args,
                                   const CallConfig &config);
  /// Runs on the calling thread after all queued runs; for node tasks. GIL not held.
  int32_t runHere(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                  const std::vector<uint64_t> &scalars, const CallConfig &config,
                  std::string &message);
  void drain();
  void interrupt();
  void traceStart() { simpler_trace_start(worker_); }
  void traceWrite(const std::string &path);
  void close();
  SimplerWorker *worker() const { return worker_; }

private:
  friend class RunState;
  /// `asked`: when the run was asked for, for the host trace.
  int32_t execute(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                  const std::vector<uint64_t> &scalars, const CallConfig &config,
                  std::string &message, uint64_t asked);
  void enter();
  void leave();
  void loop();

  SimplerWorker *worker_;
  const bool hostBuildGraph_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<RunState>> queue_;
  bool busy_ = false, closing_ = false;
  uint64_t direct_ = 0; // callers that wait to run on their own thread
  std::thread thread_;
};

/// While alive, Ctrl-C stops the worker's runs at the next task.
class InterruptScope {
public:
  explicit InterruptScope(SimplerWorker *worker);
  ~InterruptScope();

private:
  int slot_ = -1;
};

} // namespace simpler::py

#endif // SIMPLER_RUN_LANE_H
