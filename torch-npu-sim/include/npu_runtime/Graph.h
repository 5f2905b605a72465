//===- Graph.h - captured work that is replayed as one --------------------===//
//
// While a stream is captured, launches become nodes and nothing runs. Streams that wait for an
// event of the capture join it. Nodes keep launch order, which respects every dependency of the
// capture.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Event.h"

#include <vector>

namespace npu {

/// Which host calls that could wait for captured work break a capture: those of every thread, of
/// the capturing thread, or none. What would wait for the captured stream itself is refused in
/// every mode.
enum class CaptureMode { Global, ThreadLocal, Relaxed };

class NPU_API Graph {
public:
  Graph() = default;
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// Starts the capture of a stream (not the default one). `pool`: memory pool of the capture, 0
  /// for a new one. Throws DeviceError if this object owns a graph, the stream is captured, or
  /// TASK_QUEUE_ENABLE is 2.
  void begin(Stream &stream, uint64_t pool, CaptureMode mode);
  /// Ends the capture; `stream` must be the one it began on. Throws if something illegal happened
  /// during the capture.
  void end(Stream &stream);
  /// Queues all nodes on the stream. Throws if no finished capture is held.
  void replay(Stream &stream);
  /// Puts the nodes of a finished capture in the place of `count` nodes from `first` on, for later
  /// replays. `part` stays the owner of the memory that they use. Waits for running replays.
  void replaceNodes(size_t first, size_t count, const Graph &part);
  /// Waits for running replays, frees the nodes and the pool. Safe in any state.
  void reset();

  uint64_t pool() const; ///< throws without a finished capture
  uint64_t id() const { return id_; }
  uint64_t memoryPool() const { return pool_; } ///< in any state, 0 without one
  size_t size() const { return nodes_ ? nodes_->size() : 0; }
  std::vector<std::string> nodeNames() const;
  bool finished() const { return state_ == State::Finished; }

  void append(std::string_view name, Work work);
  void join(Stream &stream);
  /// Marks the capture as broken; the first reason is kept for end().
  void invalidate(std::string_view reason);

  /// Whether something illegal has happened during the capture.
  bool broken() {
    std::lock_guard lock(mutex_);
    return !broken_.empty();
  }

  /// Whether a host call of this thread that may wait breaks the capture.
  bool forbidsHostCalls() const {
    return mode_ == CaptureMode::Global ||
           (mode_ == CaptureMode::ThreadLocal && thread_ == std::this_thread::get_id());
  }

private:
  enum class State { Empty, Capturing, Finished };
  struct Node {
    std::string name;
    Work work;
  };
  void leave();
  void waitForReplays(); ///< an error of theirs is left for the device's next wait

  State state_ = State::Empty;
  CaptureMode mode_ = CaptureMode::Global;
  std::thread::id thread_; // that began the capture
  uint64_t id_ = 0, pool_ = 0;
  Stream *origin_ = nullptr;
  std::vector<Stream *> streams_; // captured streams, the origin first
  std::mutex mutex_;
  std::shared_ptr<std::vector<Node>> nodes_;
  std::string broken_;
  Event lastReplay_;
  Stream *replayStream_ = nullptr; // of the last replay
};

/// Throws "not permitted while capturing" and invalidates the capture if `stream` is captured.
NPU_API void refuseInCapture(Stream &stream, std::string_view what);
/// Throws as refuseInCapture() and invalidates each capture of the device whose mode forbids
/// `what`, a call that waits for the device or asks it.
NPU_API void refuseHostCall(Device &device, std::string_view what);
/// A fresh pool id for captures that share memory.
NPU_API uint64_t newPoolId();

} // namespace npu
