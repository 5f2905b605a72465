//===- Stream.h - ordered queues of device work ---------------------------===//
//
// A stream executes its work in launch order. Work launched on an idle stream runs on the launching
// thread (no hand-over, no wake-up); otherwise it is queued for the stream's own thread, which is
// created on first need. The two cannot be told apart by order, only by time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Error.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace npu {

class Device;
class Graph;
class Stream;

/// May run more than once (graph replay), so it owns copies of all it needs.
using Work = std::function<void()>;

/// Sees what streams execute. All functions may be called by several threads at once.
class NPU_API WorkObserver {
public:
  virtual ~WorkObserver() = default;
  /// On the launching thread: what connects its call with the work.
  virtual uint64_t launching() = 0;
  /// Nanoseconds of the system clock; `connection` is what launching() gave. Work without a name
  /// (marks of events) is not shown.
  virtual void ran(Stream &stream, std::string_view name, uint64_t connection, int64_t begin,
                   int64_t end) = 0;
};
/// The observer, or null. It must outlive all work that began while it was set.
NPU_API extern std::atomic<WorkObserver *> workObserver;

/// Scope of one piece of work as the observer sees it.
class NPU_API Observed {
public:
  Observed(Stream &stream, std::string_view name) : Observed(stream, name, Unknown) {}
  Observed(Stream &stream, std::string_view name, uint64_t connection)
      : observer_(workObserver.load(std::memory_order_acquire)) {
    if (observer_) [[unlikely]]
      begin(stream, name, connection);
  }
  ~Observed() {
    if (observer_) [[unlikely]]
      end();
  }
  Observed(const Observed &) = delete;
  Observed &operator=(const Observed &) = delete;

  static constexpr uint64_t Unknown = UINT64_MAX; ///< asks the observer

private:
  void begin(Stream &stream, std::string_view name, uint64_t connection);
  void end();

  WorkObserver *observer_;
  Stream *stream_ = nullptr;
  std::string name_;
  uint64_t connection_ = 0;
  int64_t begin_ = 0;
};

enum class StreamKind { Default, Pool, SyncLaunch };

class NPU_API Stream {
public:
  Stream(Device &device, int64_t id, int priority, StreamKind kind);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return device_; }
  int64_t id() const { return id_; }
  int priority() const { return priority_; }
  /// A sync-launch stream goes round the device's task queue.
  bool isSyncLaunch() const { return kind_ == StreamKind::SyncLaunch; }
  bool isDefault() const { return kind_ == StreamKind::Default; }

  /// Executes work behind all earlier work: here if the stream is idle, else on the stream's
  /// thread. An exception of work that runs here goes to the caller; of queued work, to the
  /// device's error state. While the stream is captured the work becomes a graph node instead. Does
  /// not look at the task queue: see launch().
  template <class F> void run(std::string_view name, F &&work) {
    if (!tryBegin()) {
      push(name, Work(std::forward<F>(work)));
      return;
    }
    Finish finish{*this, exchangeRunning(this)};
    Observed observed(*this, finish.outer == this ? std::string_view() : name);
    work();
  }

  /// Runs work here if the stream is idle and not captured; false, without effect, if not.
  template <class F> bool tryRun(std::string_view name, F &&work) {
    if (!tryBegin())
      return false;
    Finish finish{*this, exchangeRunning(this)};
    Observed observed(*this, finish.outer == this ? std::string_view() : name);
    work();
    return true;
  }

  /// Queues work for the stream's thread even if the stream is idle. `always`: runs although an
  /// earlier one failed.
  void push(std::string_view name, Work work, bool always = false);

  /// Whether all work launched so far has finished, the running one included.
  bool query() const;
  /// Blocks until all work launched so far has finished. Throws the device's pending error.
  void synchronize();
  /// As synchronize(), leaves the error in place.
  void waitFinished();

  /// From work that runs on this stream: its number, for waitPast().
  uint64_t runningTicket() const;
  /// Blocks until the work with this number has finished.
  void waitPast(uint64_t ticket);

  /// The graph that captures this stream, or null.
  Graph *capture() const { return capture_.load(std::memory_order_acquire); }
  void setCapture(Graph *graph) { capture_.store(graph, std::memory_order_release); }

  /// The stream whose work the calling thread executes now, or null.
  static Stream *running();

  /// Finishes queued work and ends the thread. Called once, at shutdown.
  void stop();

private:
  struct Task {
    Work work;
    std::string name;
    bool always;
    uint64_t connection;
  };
  struct Finish {
    Stream &stream;
    Stream *outer;
    ~Finish() {
      exchangeRunning(outer);
      if (outer != &stream)
        stream.end();
    }
  };
  bool tryBegin();
  void end();
  void work();
  static Stream *exchangeRunning(Stream *stream);

  Device &device_;
  const int64_t id_;
  const int priority_;
  const StreamKind kind_;
  std::atomic<Graph *> capture_{nullptr};

  mutable std::mutex mutex_;
  std::condition_variable workReady_, finished_;
  std::deque<Task> tasks_;
  uint64_t submitted_ = 0, completed_ = 0; // work items, running one included in submitted_
  bool busy_ = false, stopping_ = false;
  int waiters_ = 0;
  std::thread thread_;
};

/// Launches work on a stream the way an operator does: behind what waits in the device's task
/// queue, then run(). Throws a pending error of the device.
NPU_API bool mustQueue(Stream &stream);
NPU_API void enqueueLaunch(Stream &stream, std::string_view name, Work work, bool forceQueue,
                           bool always);
NPU_API void finishLaunch(Stream &stream);

template <class F> void launch(Stream &stream, std::string_view name, F &&work) {
  if (mustQueue(stream)) {
    enqueueLaunch(stream, name, Work(std::forward<F>(work)), /*forceQueue=*/false,
                  /*always=*/false);
    return;
  }
  stream.run(name, std::forward<F>(work));
  finishLaunch(stream);
}

/// As launch() if the work can run on the caller now; false, without effect, if it would have to
/// wait.
template <class F> bool tryLaunch(Stream &stream, std::string_view name, F &&work) {
  if (mustQueue(stream) || !stream.tryRun(name, std::forward<F>(work)))
    return false;
  finishLaunch(stream);
  return true;
}

/// Launches work and blocks the host until it is done. Its exception goes to the caller, not to the
/// device. Refuses in a capture. `work` runs exactly once, before the call returns.
NPU_API void launchAndWaitQueued(Stream &stream, std::string_view name,
                                 const std::function<void()> &work);
template <class F> void launchAndWait(Stream &stream, std::string_view name, F &&work) {
  if (!tryLaunch(stream, name, work))
    launchAndWaitQueued(stream, name, std::ref(work));
}

} // namespace npu
