//===- Device.cpp - the simulated devices of this process -----------------===//
#include "npu_runtime/Device.h"

#include "npu_runtime/Allocator.h"
#include "npu_runtime/Graph.h"

#include <pthread.h>

namespace npu {
namespace {

constexpr size_t SyncSlot = 1 + Device::StreamsPerPriority * Device::Priorities;

struct Runtime {
  std::mutex mutex;
  std::atomic<bool> started{false}, stopped{false}, badFork{false};
  std::vector<std::unique_ptr<Device>> devices;
};

// Leaked: worker threads and tensors may outlive static destructors.
Runtime &runtime() {
  static Runtime *r = new Runtime;
  return *r;
}

thread_local int threadDevice = 0;
thread_local std::vector<Stream *> threadStreams;

} // namespace

Device::Device(int index) : index_(index), allocator_(std::make_unique<Allocator>(index)) {
  queue_ = std::make_unique<TaskQueue>(*this);
  create(0, 0, StreamKind::Default);
}

Stream &Device::create(size_t slot, int priority, StreamKind kind) {
  if (Stream *known = slots_[slot].load(std::memory_order_acquire))
    return *known;
  std::lock_guard lock(streamMutex_);
  if (!streams_[slot]) {
    streams_[slot] = std::make_unique<Stream>(*this, int64_t(slot), priority, kind);
    if (config().queuePerStream)
      streamQueues_[slot] = std::make_unique<TaskQueue>(*this);
    slots_[slot].store(streams_[slot].get(), std::memory_order_release);
  }
  return *streams_[slot];
}

Stream &Device::streamFromPool(int priority) {
  int level = priority < 0 ? 1 : 0;
  size_t next = next_[level].fetch_add(1) % StreamsPerPriority;
  return create(1 + level * StreamsPerPriority + next, level ? -1 : 0, StreamKind::Pool);
}

Stream &Device::syncLaunchStream() { return create(SyncSlot, 0, StreamKind::SyncLaunch); }

Stream &Device::stream(int64_t id) {
  if (id < 0 || id >= int64_t(slots_.size()))
    throw DeviceError("NPU stream id " + std::to_string(id) + " does not exist on device " +
                      std::to_string(index_));
  if (id == int64_t(SyncSlot))
    return syncLaunchStream();
  bool high = id > StreamsPerPriority;
  return create(size_t(id), high ? -1 : 0, id ? StreamKind::Pool : StreamKind::Default);
}

TaskQueue &Device::taskQueue(Stream &stream) {
  return config().queuePerStream ? *streamQueues_[size_t(stream.id())] : *queue_;
}

void Device::waitFinished() noexcept {
  queue_->drain();
  for (size_t i = 0; i < slots_.size(); ++i) {
    Stream *stream = slots_[i].load(std::memory_order_acquire);
    if (!stream)
      continue;
    if (streamQueues_[i])
      streamQueues_[i]->drain();
    if (!stream->capture())
      stream->waitFinished();
  }
}

bool Device::idle() {
  if (!queue_->idle())
    return false;
  for (size_t i = 0; i < slots_.size(); ++i)
    if (Stream *stream = slots_[i].load(std::memory_order_acquire))
      if (!stream->query() || (streamQueues_[i] && !streamQueues_[i]->idle()))
        return false;
  return true;
}

void Device::synchronize() {
  refuseHostCall(*this, "device synchronization");
  // The calling thread's own captured stream is part of the device in every mode.
  refuseInCapture(currentStream(index_), "device synchronization");
  waitFinished();
  throwIfFailed(/*acknowledge=*/true);
}

void Device::setError(std::string_view op, std::string_view message) {
  std::lock_guard lock(errorMutex_);
  if (failed_.load())
    return;
  error_ =
      "NPU operator '" + std::string(op) + "' failed on device " + std::to_string(index_) + ": " +
      std::string(message) +
      "\nThe operator ran after its call had returned, so the stack trace may be inaccurate; set "
      "ASCEND_LAUNCH_BLOCKING=1 to stop at the call. Work launched behind it was dropped.";
  failed_.store(true, std::memory_order_release);
}

void Device::throwIfFailed(bool acknowledge) {
  if (!failed())
    return;
  std::string text;
  if (acknowledge && Stream::running() == nullptr && !TaskQueue::onConsumer()) {
    // Everything behind the error has to be dropped before new work is let in.
    waitFinished();
    std::lock_guard lock(errorMutex_);
    text = std::move(error_);
    error_.clear();
    failed_.store(false, std::memory_order_release);
  } else {
    std::lock_guard lock(errorMutex_);
    text = error_;
  }
  if (!text.empty())
    throw DeviceError(text);
}

void Device::stop() {
  queue_->stop();
  for (auto &queue : streamQueues_)
    if (queue)
      queue->stop();
  for (auto &slot : slots_)
    if (Stream *stream = slot.load())
      stream->stop();
}

void initialize() {
  Runtime &r = runtime();
  if (r.badFork.load(std::memory_order_acquire))
    throw DeviceError("Cannot re-initialize NPU in forked subprocess. To use NPU with "
                      "multiprocessing, you must use "
                      "the 'spawn' start method");
  if (r.started.load(std::memory_order_acquire))
    return;
  std::lock_guard lock(r.mutex);
  if (r.started.load())
    return;
  config();
  int count = visibleDeviceCount();
  if (!count)
    throw DeviceError("No NPU is visible: ASCEND_RT_VISIBLE_DEVICES or PTO_NPU_COUNT hides all "
                      "simulated devices");
  for (int i = 0; i < count; ++i)
    r.devices.push_back(std::make_unique<Device>(i));
  pthread_atfork(nullptr, nullptr, [] {
    if (runtime().started.load())
      runtime().badFork.store(true);
  });
  r.started.store(true, std::memory_order_release);
}

bool initialized() noexcept {
  return runtime().started.load(std::memory_order_acquire) && !inBadFork();
}

bool inBadFork() noexcept { return runtime().badFork.load(std::memory_order_acquire); }

bool shutdownSynchronize() noexcept {
  if (!initialized() || isShutdown())
    return true;
  bool ok = true;
  for (auto &device : runtime().devices) {
    device->waitFinished();
    ok &= !device->failed();
  }
  return ok;
}

void shutdown() noexcept {
  if (!initialized() || runtime().stopped.exchange(true))
    return;
  HostWait wait;
  for (auto &device : runtime().devices)
    device->stop();
}

bool isShutdown() noexcept { return runtime().stopped.load(); }

int deviceCount() noexcept {
  return runtime().started.load(std::memory_order_acquire) ? int(runtime().devices.size())
                                                           : visibleDeviceCount();
}

Device &device(int index) {
  initialize();
  auto &devices = runtime().devices;
  if (index < 0 || index >= int(devices.size()))
    throw DeviceError("NPU device index " + std::to_string(index) + " is out of range: there are " +
                      std::to_string(devices.size()) + " device(s)");
  return *devices[size_t(index)];
}

int currentDevice() noexcept { return threadDevice; }

void setCurrentDevice(int index) {
  if (index == threadDevice)
    return;
  device(index);
  threadDevice = index;
}

Stream &currentStream(int index) {
  if (size_t(index) < threadStreams.size() && threadStreams[size_t(index)])
    return *threadStreams[size_t(index)];
  return device(index).defaultStream();
}

void setCurrentStream(Stream &stream) {
  size_t index = size_t(stream.device().index());
  if (threadStreams.size() <= index)
    threadStreams.resize(index + 1);
  threadStreams[index] = &stream;
}

} // namespace npu
