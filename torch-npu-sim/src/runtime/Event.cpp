//===- Event.cpp - points in streams --------------------------------------===//
#include "npu_runtime/Event.h"

#include "npu_runtime/Device.h"
#include "npu_runtime/Graph.h"

#include <chrono>

namespace npu {

using Clock = std::chrono::steady_clock;

struct Event::State {
  std::mutex mutex;
  std::condition_variable reached;
  uint64_t recorded = 0, completed = 0;
  Clock::time_point at;
  Device *device = nullptr;
  uint64_t captureId = 0;   // graph that holds the last record, 0 if none
  Graph *capture = nullptr; // valid while a stream of the device is captured by it
  bool timing = false;

  void complete(uint64_t version) {
    std::lock_guard lock(mutex);
    if (version > completed)
      completed = version;
    if (timing)
      at = Clock::now();
    reached.notify_all();
  }
  void wait(uint64_t version) {
    std::unique_lock lock(mutex);
    reached.wait(lock, [&] { return completed >= version; });
  }
};

Event::Event(bool timing) : state_(std::make_shared<State>()) { state_->timing = timing; }

void Event::record(Stream &stream) {
  uint64_t version;
  {
    std::lock_guard lock(state_->mutex);
    state_->device = &stream.device();
    state_->capture = stream.capture();
    state_->captureId = state_->capture ? state_->capture->id() : 0;
    if (state_->capture)
      return; // Launch order is the order of the graph: the point needs no node.
    version = ++state_->recorded;
  }
  auto reach = [state = state_, version] { state->complete(version); };
  bool behindQueue = !stream.isSyncLaunch() && config().taskQueueMode && !TaskQueue::onConsumer() &&
                     Stream::running() != &stream && !stream.device().taskQueue(stream).idle();
  if (behindQueue)
    stream.device().taskQueue(stream).enqueue(
        "event_record", [&stream, reach] { stream.push("event_record", reach, /*always=*/true); },
        /*always=*/true);
  else if (!stream.tryRun("", reach))
    stream.push("event_record", reach, /*always=*/true);
}

void Event::wait(Stream &stream) const {
  uint64_t version;
  Graph *capture;
  {
    std::lock_guard lock(state_->mutex);
    version = state_->recorded;
    capture = state_->captureId ? state_->capture : nullptr;
    if (!capture && !stream.capture() && state_->completed >= version)
      return;
  }
  if (capture) {
    capture->join(stream);
    return;
  }
  if (Graph *other = stream.capture()) {
    if (!version)
      return;
    std::string why = "a captured stream waited for an event that was recorded outside the capture";
    other->invalidate(why);
    throw DeviceError("NPU graph capture: " + why);
  }
  auto block = [state = state_, version] { state->wait(version); };
  if (config().taskQueueMode && !stream.isSyncLaunch() && !TaskQueue::onConsumer() &&
      !stream.device().taskQueue(stream).idle())
    stream.device().taskQueue(stream).enqueue(
        "event_wait", [&stream, block] { stream.push("event_wait", block, /*always=*/true); },
        /*always=*/true);
  else
    stream.push("event_wait", block, /*always=*/true);
}

bool Event::query() const {
  std::lock_guard lock(state_->mutex);
  if (state_->captureId)
    throw DeviceError(
        "NPU event query: the event was last recorded in a stream that is being captured");
  return state_->completed >= state_->recorded;
}

void Event::synchronize() const {
  uint64_t version;
  Device *device;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->captureId)
      throw DeviceError(
          "NPU event synchronize: the event was last recorded in a stream that is being captured");
    version = state_->recorded;
    device = state_->device;
    if (!version)
      return;
  }
  {
    HostWait wait;
    state_->wait(version);
  }
  device->throwIfFailed(/*acknowledge=*/true);
}

bool Event::recorded() const {
  std::lock_guard lock(state_->mutex);
  return state_->recorded || state_->captureId;
}

int Event::deviceIndex() const {
  std::lock_guard lock(state_->mutex);
  return state_->device ? state_->device->index() : -1;
}

double Event::elapsedTo(const Event &end) const {
  auto moment = [](const Event &event, const char *which) {
    std::lock_guard lock(event.state_->mutex);
    if (!event.state_->timing)
      throw DeviceError(std::string("NPU event elapsed_time: the ") + which +
                        " event was created without enable_timing=True");
    if (!event.state_->recorded)
      throw DeviceError(std::string("NPU event elapsed_time: the ") + which +
                        " event has not been recorded");
    if (event.state_->completed < event.state_->recorded)
      throw DeviceError(std::string("NPU event elapsed_time: the ") + which +
                        " event has not been reached yet; synchronize it first");
    return event.state_->at;
  };
  auto from = moment(*this, "start");
  auto to = moment(end, "end");
  return std::chrono::duration<double, std::milli>(to - from).count();
}

} // namespace npu
