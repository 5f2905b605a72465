//===- Monitor.cpp - spare threads for gangs that stand still -------------===//
//
// A kernel may wait for another block of its gang in a loop that never yields. Its thread
// is then lost until that block has run. While gangs are active the monitor
// looks at them several thousand times a second; one that took no step since the last
// look and has contexts without a thread gets as many spare threads as it needs.
//
//===----------------------------------------------------------------------===//
#include "FaultPoint.h"
#include "Gang.h"
#include "Run.h"

#include <algorithm>
#include <chrono>

namespace simpler {

static constexpr auto kLook = std::chrono::microseconds(200);
static constexpr uint32_t kMaxSpares = 128;

void Device::monitorLoop() {
  for (;;) {
    {
      std::unique_lock lock(spareMutex_);
      monitorWork_.wait(lock, [this] { return stopping() || gangCount_.load() > 0; });
      if (!stopping())
        monitorWork_.wait_for(lock, kLook);
      if (stopping())
        return;
    }
    relieveGangs();
  }
}

bool Device::relieveGangs() {
  std::lock_guard lock(gangsMutex_);
  bool relieved = false;
  for (Gang *gang : gangs_) {
    uint64_t steps = gang->steps();
    if (steps != gang->stepsSeen) {
      gang->stepsSeen = steps;
      continue;
    }
    for (uint32_t left = std::min(gang->waiting(), kMaxSpares); left > 0; --left) {
      if (!spareAtHand() || !gang->tryAddTicket())
        break;
      giveToSpare(gang->task());
      relieved = true;
    }
  }
  return relieved;
}

/// Whether a spare thread will take one more ticket; starts one if need be. A ticket without a
/// thread would keep its task from completing.
bool Device::spareAtHand() try {
  std::lock_guard lock(spareMutex_);
  makeRoom(spareTasks_);
  if (idleSpares_ + startingSpares_ > spareTasks_.size())
    return true;
  if (spareThreads_.size() == kMaxSpares)
    return false; // looked at again when one is idle
  if (!nextSpare_ && !(nextSpare_ = addExecutor()))
    return false;
  makeRoom(spareThreads_);
  mayRefuseThread();
  spareThreads_.emplace_back([this, executor = nextSpare_] { spareLoop(*executor); });
  nextSpare_ = nullptr;
  ++startingSpares_;
  return true;
} catch (const std::exception &) {
  return false; // no memory or threads now: the monitor asks again
}

void Device::giveToSpare(Task *task) {
  std::lock_guard lock(spareMutex_);
  spareTasks_.push_back(task);
  spareWork_.notify_one();
}

void Device::spareLoop(Executor &executor) {
  Executor::setCurrent(&executor);
  for (bool first = true;; first = false) {
    Task *task;
    {
      std::unique_lock lock(spareMutex_);
      if (first)
        --startingSpares_;
      ++idleSpares_;
      spareWork_.wait(lock, [this] { return stopping() || !spareTasks_.empty(); });
      --idleSpares_;
      executor.restEnd(); // while the task is still in the list
      if (spareTasks_.empty())
        return;
      task = spareTasks_.back();
      spareTasks_.pop_back();
    }
    executor.execute(task);
    // What the gang released is ours now; others may steal it meanwhile.
    for (;;) {
      if (executor.next_) {
        Task *next = executor.next_;
        executor.next_ = nullptr;
        executor.execute(next);
      } else if (Task *next = executor.ready_.pop()) {
        executor.execute(next);
      } else {
        executor.flush(); // may release what follows a graph
        if (!executor.next_)
          break;
      }
    }
    executor.leave();
    executor.restBegin();
  }
}

} // namespace simpler
