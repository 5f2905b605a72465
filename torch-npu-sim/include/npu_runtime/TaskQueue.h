//===- TaskQueue.h - the host-side launch queue in front of the streams ---===//
//
// With TASK_QUEUE_ENABLE=1 operators that come through OpCommand are not launched by the calling
// thread but by one consumer per device, in order, from a bounded ring.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Stream.h"

namespace npu {

class NPU_API TaskQueue {
public:
  static constexpr size_t Capacity = 4096; ///< entries; a full queue blocks the producer

  explicit TaskQueue(Device &device) : device_(device) {}
  ~TaskQueue();

  /// Appends a launch. Blocks while the ring is full. Throws the device's pending error.
  /// A failure of `launch` (an exception) becomes the device's error under `name`, and the
  /// entries behind it are dropped until the error is reported by a wait.
  void enqueue(std::string_view name, Work launch, bool always = false);
  /// Blocks until all entries have been launched. On the consumer itself it returns at once. Does
  /// not throw.
  void drain();
  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  void stop();

  /// Whether the calling thread is a consumer.
  static bool onConsumer();

private:
  struct Entry {
    std::string name;
    Work launch;
    bool always;
  };
  void consume();

  Device &device_;
  mutable std::mutex mutex_;
  std::condition_variable notEmpty_, notFull_, drained_;
  std::deque<Entry> entries_;
  std::atomic<size_t> pending_{0}; // waiting entries and the one under way
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace npu
