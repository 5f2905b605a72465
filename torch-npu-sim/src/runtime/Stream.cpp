//===- Stream.cpp - ordered queues of device work -------------------------===//
#include "npu_runtime/Stream.h"

#include "npu_runtime/Device.h"
#include "npu_runtime/Graph.h"

#include <chrono>

namespace npu {
namespace {

thread_local Stream *runningStream = nullptr;
WaitHooks waitHooks;

/// What a caught exception says.
std::string currentMessage() {
  try {
    throw;
  } catch (const std::exception &e) {
    return e.what();
  } catch (...) {
    return "unknown exception";
  }
}

} // namespace

std::atomic<WorkObserver *> workObserver{nullptr};

static int64_t systemNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Observed::begin(Stream &stream, std::string_view name, uint64_t connection) {
  if (name.empty()) {
    observer_ = nullptr;
    return;
  }
  stream_ = &stream;
  name_ = name;
  connection_ = connection == Unknown ? observer_->launching() : connection;
  begin_ = systemNanoseconds();
}

void Observed::end() { observer_->ran(*stream_, name_, connection_, begin_, systemNanoseconds()); }

void setWaitHooks(WaitHooks hooks) { waitHooks = hooks; }

HostWait::HostWait() {
  if (waitHooks.enter)
    token_ = waitHooks.enter();
}

HostWait::~HostWait() {
  if (waitHooks.leave)
    waitHooks.leave(token_);
}

Stream::Stream(Device &device, int64_t id, int priority, StreamKind kind)
    : device_(device), id_(id), priority_(priority), kind_(kind) {}

Stream::~Stream() { stop(); }

Stream *Stream::running() { return runningStream; }

Stream *Stream::exchangeRunning(Stream *stream) { return std::exchange(runningStream, stream); }

bool Stream::tryBegin() {
  if (runningStream == this)
    return true; // Work launched by work is part of it.
  if (capture())
    return false;
  std::lock_guard lock(mutex_);
  if (busy_ || !tasks_.empty() || (config().forceAsync && !stopping_))
    return false;
  busy_ = true;
  ++submitted_;
  return true;
}

void Stream::end() {
  std::lock_guard lock(mutex_);
  busy_ = false;
  ++completed_;
  if (!tasks_.empty() || stopping_)
    workReady_.notify_one();
  if (waiters_)
    finished_.notify_all();
}

void Stream::push(std::string_view name, Work work, bool always) {
  if (Graph *graph = capture()) {
    graph->append(name, std::move(work));
    return;
  }
  if (runningStream == this) {
    work();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    if (!stopping_) {
      ++submitted_;
      WorkObserver *observer = workObserver.load(std::memory_order_acquire);
      tasks_.push_back(
          {std::move(work), std::string(name), always, observer ? observer->launching() : 0});
      if (!thread_.joinable())
        thread_ = std::thread([this] { this->work(); });
      else if (!busy_)
        workReady_.notify_one();
      return;
    }
    ++submitted_;
  }
  struct Count {
    Stream &stream;
    ~Count() {
      std::lock_guard lock(stream.mutex_);
      ++stream.completed_;
      stream.finished_.notify_all();
    }
  } count{*this};
  work(); // After shutdown there is nobody else.
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    workReady_.wait(lock, [this] { return !busy_ && (!tasks_.empty() || stopping_); });
    if (tasks_.empty())
      return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    if (task.always || !device_.failed()) {
      runningStream = this;
      try {
        Observed observed(*this, task.always ? std::string_view() : task.name, task.connection);
        task.work();
      } catch (...) {
        device_.setError(task.name, currentMessage());
      }
      runningStream = nullptr;
    }
    task.work = nullptr; // What the work holds goes before anybody hears that it is done.
    lock.lock();
    busy_ = false;
    ++completed_;
    if (waiters_)
      finished_.notify_all();
  }
}

bool Stream::query() const {
  std::lock_guard lock(mutex_);
  return !busy_ && tasks_.empty();
}

void Stream::waitFinished() {
  if (runningStream == this)
    return;
  {
    std::lock_guard lock(mutex_);
    if (!busy_ && tasks_.empty())
      return;
  }
  uint64_t target;
  {
    std::lock_guard lock(mutex_);
    target = submitted_;
  }
  waitPast(target);
}

uint64_t Stream::runningTicket() const {
  std::lock_guard lock(mutex_);
  return completed_ + 1;
}

void Stream::waitPast(uint64_t ticket) {
  HostWait wait;
  std::unique_lock lock(mutex_);
  ++waiters_;
  finished_.wait(lock, [&] { return completed_ >= ticket; });
  --waiters_;
}

void Stream::synchronize() {
  refuseInCapture(*this, "stream synchronization");
  if (!isSyncLaunch())
    device_.taskQueue(*this).drain();
  waitFinished();
  device_.throwIfFailed(/*acknowledge=*/true);
}

void Stream::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    workReady_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

bool mustQueue(Stream &stream) {
  Device &device = stream.device();
  if (device.failed())
    device.throwIfFailed(/*acknowledge=*/false);
  if (config().taskQueueMode == 0 || stream.isSyncLaunch() || TaskQueue::onConsumer() ||
      Stream::running() == &stream)
    return false;
  return !device.taskQueue(stream).idle();
}

void enqueueLaunch(Stream &stream, std::string_view name, Work work, bool forceQueue, bool always) {
  if (mustQueue(stream)) {
    auto launchIt = [&stream, name = std::string(name), work = std::move(work), always] {
      stream.push(name, work, always);
    };
    stream.device().taskQueue(stream).enqueue(name, std::move(launchIt), always);
  } else if (forceQueue) {
    stream.push(name, std::move(work), always);
  } else {
    stream.run(name, std::move(work));
  }
}

void finishLaunch(Stream &stream) {
  if (config().launchBlocking && !stream.capture() && Stream::running() != &stream) {
    stream.waitFinished();
    stream.device().throwIfFailed(/*acknowledge=*/true);
  }
}

void launchAndWaitQueued(Stream &stream, std::string_view name, const std::function<void()> &work) {
  refuseInCapture(stream, "operator '" + std::string(name) + "', which the host has to wait for,");
  struct Outcome {
    std::mutex mutex;
    std::condition_variable done;
    bool finished = false;
    uint64_t ticket = 0;
    std::exception_ptr error;
  };
  auto outcome = std::make_shared<Outcome>();
  auto once = [outcome, &work, &stream] {
    std::exception_ptr error;
    if (!stream.device().failed()) {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
    }
    uint64_t ticket = stream.runningTicket();
    std::lock_guard lock(outcome->mutex);
    outcome->ticket = ticket;
    outcome->finished = true;
    outcome->error = error;
    outcome->done.notify_all();
  };
  enqueueLaunch(stream, name, once, /*forceQueue=*/true, /*always=*/true);
  {
    HostWait wait;
    std::unique_lock lock(outcome->mutex);
    outcome->done.wait(lock, [&] { return outcome->finished; });
  }
  if (Stream::running() != &stream)
    stream.waitPast(outcome->ticket);
  if (outcome->error)
    std::rethrow_exception(outcome->error);
  stream.device().throwIfFailed(/*acknowledge=*/true);
}

} // namespace npu
