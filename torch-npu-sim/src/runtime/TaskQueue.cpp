//===- TaskQueue.cpp - the host-side launch queue -------------------------===//
#include "npu_runtime/TaskQueue.h"

#include "npu_runtime/Device.h"

namespace npu {

static thread_local bool isConsumer = false;

bool TaskQueue::onConsumer() { return isConsumer; }

TaskQueue::~TaskQueue() { stop(); }

void TaskQueue::enqueue(std::string_view name, Work launch, bool always) {
  if (!always)
    device_.throwIfFailed(/*acknowledge=*/false);
  std::unique_lock lock(mutex_);
  while (entries_.size() >= Capacity && !stopping_) {
    lock.unlock();
    {
      HostWait wait; // Ends without the mutex: it may have to take the Python lock back.
      std::unique_lock waiting(mutex_);
      notFull_.wait(waiting, [this] { return entries_.size() < Capacity || stopping_; });
    }
    lock.lock();
  }
  if (stopping_) {
    lock.unlock();
    launch();
    return;
  }
  entries_.push_back({std::string(name), std::move(launch), always});
  pending_.fetch_add(1, std::memory_order_release);
  if (!thread_.joinable())
    thread_ = std::thread([this] { consume(); });
  else
    notEmpty_.notify_one();
}

void TaskQueue::consume() {
  isConsumer = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    notEmpty_.wait(lock, [this] { return !entries_.empty() || stopping_; });
    if (entries_.empty())
      return;
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    notFull_.notify_one();
    lock.unlock();
    if (entry.always || !device_.failed()) {
      try {
        entry.launch();
      } catch (const std::exception &e) {
        device_.setError(entry.name, e.what());
      } catch (...) {
        device_.setError(entry.name, "unknown exception");
      }
    }
    entry.launch = nullptr;
    lock.lock();
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      drained_.notify_all();
  }
}

void TaskQueue::drain() {
  if (isConsumer || idle())
    return;
  HostWait wait;
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [this] { return idle(); });
}

void TaskQueue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    notEmpty_.notify_all();
    notFull_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

} // namespace npu
