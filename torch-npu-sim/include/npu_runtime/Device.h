//===- Device.h - the simulated devices of this process -------------------===//
#pragma once

#include "npu_runtime/Config.h"
#include "npu_runtime/Event.h"
#include "npu_runtime/TaskQueue.h"

#include <array>
#include <vector>

namespace npu {

class Allocator;

/// One simulated device: its streams, its task queue, its memory, its error state. Never destroyed.
class NPU_API Device {
public:
  static constexpr int StreamsPerPriority = 32;
  static constexpr int Priorities = 2; // 0 normal, 1 high

  explicit Device(int index);

  int index() const { return index_; }
  Allocator &allocator() { return *allocator_; }

  Stream &defaultStream() { return *streams_[0]; }
  /// The next of the pool, round robin; `priority` < 0 asks for the high one, as CUDA spells it.
  Stream &streamFromPool(int priority);
  Stream &syncLaunchStream();
  /// Throws DeviceError for an id that no stream of this device has.
  Stream &stream(int64_t id);

  /// The queue that launches for this stream.
  TaskQueue &taskQueue(Stream &stream);

  /// Waits for the task queue and all streams. Throws the pending error, and an error if a stream
  /// is being captured.
  void synchronize();
  /// As synchronize() without throwing or looking at captures.
  void waitFinished() noexcept;
  bool idle();

  /// Keeps the first error until a wait reports it.
  void setError(std::string_view op, std::string_view message);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Throws the pending error; `acknowledge` also clears it, so that the device can be used again.
  void throwIfFailed(bool acknowledge);

  /// Number of captures under way on this device.
  std::atomic<int> captures{0};

  void stop();

private:
  Stream &create(size_t slot, int priority, StreamKind kind);

  const int index_;
  std::unique_ptr<Allocator> allocator_;
  std::mutex streamMutex_;
  // Slot 0 default, then the pools by priority, last the sync-launch stream. A slot is set once.
  std::array<std::atomic<Stream *>, 2 + StreamsPerPriority * Priorities> slots_{};
  std::array<std::unique_ptr<Stream>, 2 + StreamsPerPriority * Priorities> streams_;
  std::array<std::atomic<unsigned>, Priorities> next_{};
  std::unique_ptr<TaskQueue> queue_;
  std::array<std::unique_ptr<TaskQueue>, 2 + StreamsPerPriority * Priorities> streamQueues_;
  std::mutex errorMutex_;
  std::string error_;
  std::atomic<bool> failed_{false};
};

/// Starts the runtime on first use. Throws in a child forked after the start, and when there is no
/// device.
NPU_API void initialize();
NPU_API bool initialized() noexcept;
/// True in a process forked from one that had started the runtime.
NPU_API bool inBadFork() noexcept;
/// Waits for all devices; false if one had a pending error (which is dropped).
NPU_API bool shutdownSynchronize() noexcept;
/// Ends all threads. Memory stays readable; later launches run on their caller.
NPU_API void shutdown() noexcept;
NPU_API bool isShutdown() noexcept;

NPU_API int deviceCount() noexcept; ///< fixed once initialized
/// Throws DeviceError for an index out of range. Initializes.
NPU_API Device &device(int index);

/// Per thread: device and per device the stream. The device is 0 and the stream the default one at
/// first.
NPU_API int currentDevice() noexcept;
NPU_API void setCurrentDevice(int index);
NPU_API Stream &currentStream(int device);
NPU_API void setCurrentStream(Stream &stream);

} // namespace npu
