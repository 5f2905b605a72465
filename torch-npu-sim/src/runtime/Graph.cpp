//===- Graph.cpp - captured work that is replayed as one ------------------===//
#include "npu_runtime/Graph.h"

#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"

#include <algorithm>

namespace npu {

static std::atomic<uint64_t> nextId{1};

uint64_t newPoolId() { return nextId.fetch_add(1); }

void refuseInCapture(Stream &stream, std::string_view what) {
  Graph *graph = stream.capture();
  if (!graph)
    return;
  graph->invalidate(std::string(what) + " is not permitted while a stream is captured");
  throw DeviceError("NPU graph capture: " + std::string(what) +
                    " is not permitted while a stream is captured; the capture is invalid now");
}

// Captures under way, of all devices.
static std::mutex activeMutex;
static std::vector<std::pair<Device *, Graph *>> active;

void refuseHostCall(Device &device, std::string_view what) {
  if (!device.captures.load(std::memory_order_acquire))
    return;
  bool refused = false;
  {
    std::lock_guard lock(activeMutex);
    for (auto &[owner, graph] : active)
      if (owner == &device && graph->forbidsHostCalls()) {
        graph->invalidate(std::string(what) + " is not permitted while a stream is captured");
        refused = true;
      }
  }
  if (refused)
    throw DeviceError("NPU graph capture: " + std::string(what) +
                      " is not permitted while a stream is captured; the capture is invalid now "
                      "(capture_error_mode='thread_local' or 'relaxed' permits it)");
}

Graph::~Graph() {
  if (state_ == State::Capturing) {
    leave();
    state_ = State::Finished;
  }
  reset();
}

void Graph::begin(Stream &stream, uint64_t pool, CaptureMode mode) {
  if (config().taskQueueMode == 2)
    throw DeviceError("NPU graph capture does not work with TASK_QUEUE_ENABLE=2; use 0 or 1");
  if (state_ != State::Empty)
    throw DeviceError("This NPUGraph instance already owns a captured graph. To capture a new "
                      "graph, create a new "
                      "instance or call reset()");
  if (stream.isDefault())
    throw DeviceError(
        "NPU graphs must be captured on a non-default stream. (However, after capture, it's ok to "
        "replay them on the default stream.)");
  if (stream.capture())
    throw DeviceError("NPU graph capture: the stream is already being captured");
  stream.device().taskQueue(stream).drain();
  id_ = nextId.fetch_add(1);
  pool_ = pool ? pool : newPoolId();
  stream.device().allocator().retainPool(pool_);
  nodes_ = std::make_shared<std::vector<Node>>();
  broken_.clear();
  origin_ = &stream;
  streams_ = {&stream};
  mode_ = mode;
  thread_ = std::this_thread::get_id();
  state_ = State::Capturing;
  {
    std::lock_guard lock(activeMutex);
    active.emplace_back(&stream.device(), this);
  }
  stream.device().captures.fetch_add(1);
  stream.setCapture(this);
}

void Graph::leave() {
  {
    std::lock_guard lock(activeMutex);
    std::erase_if(active, [this](const auto &entry) { return entry.second == this; });
  }
  for (Stream *stream : streams_)
    stream->setCapture(nullptr);
  streams_.clear();
  origin_->device().captures.fetch_sub(1);
}

void Graph::end(Stream &stream) {
  if (state_ != State::Capturing)
    throw DeviceError("NPU graph capture: capture_end without capture_begin");
  if (&stream != origin_)
    throw DeviceError("NPU graph capture must end on the same stream it began on.");
  stream.device().taskQueue(stream).drain();
  leave();
  if (!broken_.empty()) {
    std::string why = std::move(broken_);
    state_ = State::Finished;
    reset();
    throw DeviceError("NPU graph capture failed: " + why);
  }
  state_ = State::Finished;
}

void Graph::append(std::string_view name, Work work) {
  std::lock_guard lock(mutex_);
  nodes_->push_back({std::string(name), std::move(work)});
}

void Graph::join(Stream &stream) {
  std::lock_guard lock(mutex_);
  if (state_ != State::Capturing || stream.capture() == this)
    return;
  if (stream.capture())
    throw DeviceError("NPU graph capture: a stream that is captured by another graph cannot join");
  streams_.push_back(&stream);
  stream.setCapture(this);
}

void Graph::invalidate(std::string_view reason) {
  std::lock_guard lock(mutex_);
  if (broken_.empty())
    broken_ = reason;
}

void Graph::replay(Stream &stream) {
  if (state_ != State::Finished)
    throw DeviceError("Called NPUGraph.replay() without a preceding successful capture.");
  if (&stream.device() != &origin_->device())
    throw DeviceError("NPU graph replay: the graph was captured on device " +
                      std::to_string(origin_->device().index()) +
                      ", the current stream is of device " +
                      std::to_string(stream.device().index()));
  auto runAll = [nodes = nodes_] {
    Stream *on = Stream::running();
    for (const Node &node : *nodes) {
      try {
        if (on && workObserver.load(std::memory_order_relaxed)) [[unlikely]] {
          Observed observed(*on, node.name, 0);
          node.work();
          continue;
        }
        node.work();
      } catch (const std::exception &e) {
        throw DeviceError("graph node '" + node.name + "': " + e.what());
      }
    }
  };
  // Replays come one after the other, on whatever streams: they share the graph's memory.
  const bool captured = stream.capture();
  if (!captured && replayStream_ && replayStream_ != &stream)
    lastReplay_.wait(stream);
  enqueueLaunch(stream, "graph_replay", std::move(runAll), /*forceQueue=*/true, /*always=*/false);
  if (!captured) {
    lastReplay_.record(stream);
    replayStream_ = &stream;
  }
  finishLaunch(stream);
}

void Graph::waitForReplays() {
  if (!lastReplay_.recorded())
    return;
  try {
    lastReplay_.synchronize();
  } catch (const DeviceError &e) {
    origin_->device().setError("graph_replay", e.what());
  }
}

void Graph::replaceNodes(size_t first, size_t count, const Graph &part) {
  if (state_ != State::Finished || part.state_ != State::Finished)
    throw DeviceError("NPU graph update: the capture is not finished");
  if (first > nodes_->size() || count > nodes_->size() - first)
    throw DeviceError("NPU graph update: nodes " + std::to_string(first) + " to " +
                      std::to_string(first + count) + " are not in a graph of " +
                      std::to_string(nodes_->size()));
  // The caller may free what the replaced nodes used; replays under way keep the old list.
  waitForReplays();
  auto after = std::make_shared<std::vector<Node>>();
  after->reserve(nodes_->size() - count + part.size());
  const auto from = nodes_->begin() + static_cast<std::ptrdiff_t>(first);
  after->insert(after->end(), nodes_->begin(), from);
  after->insert(after->end(), part.nodes_->begin(), part.nodes_->end());
  after->insert(after->end(), from + static_cast<std::ptrdiff_t>(count), nodes_->end());
  nodes_ = std::move(after);
}

void Graph::reset() {
  if (state_ != State::Finished)
    return;
  waitForReplays();
  nodes_.reset();
  origin_->device().allocator().releasePool(pool_);
  state_ = State::Empty;
  pool_ = 0;
}

uint64_t Graph::pool() const {
  if (state_ != State::Finished)
    throw DeviceError("Called NPUGraph.pool() without a preceding successful capture.");
  return pool_;
}

std::vector<std::string> Graph::nodeNames() const {
  std::vector<std::string> names;
  if (nodes_)
    for (const Node &node : *nodes_)
      names.push_back(node.name);
  return names;
}

} // namespace npu
