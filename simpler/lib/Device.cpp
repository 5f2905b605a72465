//===- Device.cpp - threads, sleeping and waking, deferred completion -----===//
#include "FaultPoint.h"
#include "Gang.h"
#include "KernelCall.h"
#include "Run.h"

#include <algorithm>
#include <bit>
#include <pthread.h>

namespace simpler {

// Threads do not survive fork: a worker made before it is unusable in the child.
static std::atomic<uint64_t> forkGeneration{0};
static void countFork() { forkGeneration.fetch_add(1); }
static uint64_t watchForks() {
  static int registered = pthread_atfork(nullptr, nullptr, countFork);
  (void)registered;
  return forkGeneration.load();
}

Device::Device(const Geometry &geometry, int32_t threads)
    : geometry_(geometry), threads_(threads), forkGeneration_(watchForks()),
      unstarted_(threads - 1), pending_(new std::vector<PendingCompletion>) {
  sleepers_.store(threads - 1);
  runs_.reserve(kMaxRuns);
  freeRuns_.reserve(kMaxRuns); // giving a run back must not fail
  fibers_.reserve(kMaxGangContexts);
  enlist();
}

bool Device::forked() const {
  return forkGeneration.load(std::memory_order_relaxed) != forkGeneration_;
}

Device::~Device() {
  if (!forked())
    unlist();
  if (forked()) {
    // The threads exist in the parent only; joining or even destroying them here is impossible.
    for (auto &thread : poolThreads_)
      new std::thread(std::move(thread));
    for (auto &thread : spareThreads_)
      new std::thread(std::move(thread));
    new std::thread(std::move(monitor_));
    delete pending_;
    return;
  }
  stopping_.store(true);
  for (uint32_t i = 0; i < numExecutors(); ++i)
    if (Executor *executor = this->executor(i))
      executor->parking().unpark();
  {
    std::lock_guard lock(spareMutex_);
    spareWork_.notify_all();
    monitorWork_.notify_all();
  }
  for (auto &thread : poolThreads_)
    thread.join();
  for (auto &thread : spareThreads_)
    thread.join();
  if (monitor_.joinable())
    monitor_.join();
  runs_.clear();
  for (uint32_t i = 0; i < numExecutors(); ++i)
    delete executor(i);
  delete pending_;
}

Executor *Device::addExecutor() {
  std::lock_guard lock(executorsMutex_);
  uint32_t index = numExecutors_.load(std::memory_order_relaxed);
  if (index == kMaxExecutors)
    return nullptr;
  auto *executor = new Executor(*this, index);
  if (tracing()) {
    auto ring = std::make_unique<TraceRing>();
    ring->reset(traceDetail_);
    executor->setTrace(std::move(ring));
  }
  executors_[index].store(executor, std::memory_order_release);
  numExecutors_.store(index + 1, std::memory_order_release);
  return executor;
}

//===-- Runs --------------------------------------------------------------===//

SimplerRun *Device::acquireRun() {
  std::lock_guard lock(runsMutex_);
  SimplerRun *run;
  if (!freeRuns_.empty()) {
    run = freeRuns_.back();
    freeRuns_.pop_back();
  } else {
    if (runs_.size() == kMaxRuns)
      return nullptr;
    Executor *executor = addExecutor();
    if (!executor)
      return nullptr;
    runs_.push_back(std::make_unique<SimplerRun>(*this, *executor));
    run = runs_.back().get();
  }
  nextTag_ = nextTag_ % 0xfffffe + 1;
  run->tag_ = static_cast<uint64_t>(nextTag_) << 40;
  return run;
}

void Device::releaseRun(SimplerRun *run) {
  std::lock_guard lock(runsMutex_);
  freeRuns_.push_back(run);
}

void Device::interrupt() { interrupts_.fetch_add(1); }

//===-- Sleeping and waking -----------------------------------------------===//

void Device::sleepBegin(Executor &executor) {
  sleepMask_[executor.index() / 64].fetch_or(1ull << executor.index() % 64);
  sleepers_.fetch_add(1);
}

bool Device::sleepEnd(Executor &executor) {
  uint64_t bit = 1ull << executor.index() % 64;
  if (sleepMask_[executor.index() / 64].fetch_and(~bit) & bit) {
    sleepers_.fetch_sub(1);
    return true;
  }
  return false;
}

void Device::wakeOne() {
  for (uint32_t word = 0; word < kMaxExecutors / 64; ++word) {
    uint64_t mask = sleepMask_[word].load(std::memory_order_relaxed);
    while (mask) {
      int bit = std::countr_zero(mask);
      mask &= mask - 1;
      if (sleepMask_[word].fetch_and(~(1ull << bit)) >> bit & 1) {
        sleepers_.fetch_sub(1);
        executor(word * 64 + bit)->parking().unpark();
        return;
      }
    }
  }
  int32_t left = unstarted_.load(std::memory_order_relaxed);
  while (left > 0)
    if (unstarted_.compare_exchange_weak(left, left - 1)) {
      sleepers_.fetch_sub(1);
      startPoolThread();
      return;
    }
}

void Device::startPoolThread() {
  try {
    Executor *executor = addExecutor();
    if (!executor)
      return;
    std::lock_guard lock(executorsMutex_);
    makeRoom(poolThreads_);
    mayRefuseThread();
    poolThreads_.emplace_back([this, executor] { poolLoop(*executor); });
  } catch (const std::exception &) {
    // The system gives no more threads or memory: the run goes on with those it has.
  }
}

void Device::poolLoop(Executor &executor) {
  Executor::setCurrent(&executor);
  executor.restEnd();
  executor.workUntil(nullptr, [this] { return stopping(); });
  executor.restBegin();
}

//===-- Deferred completion -----------------------------------------------===//

void Device::addPending(Task *task, const CompletionList &list) {
  try {
    std::lock_guard lock(pendingMutex_);
    pending_->push_back({task, {list.tokens, list.tokens + list.count}});
    task->tickets.fetch_add(1); // nobody completes the entry before the lock is free
    pendingCount_.fetch_add(1);
  } catch (const std::bad_alloc &) {
    task->run->fail(SIMPLER_HEAP_RING_DEADLOCK,
                    "task %s: the system has no memory for its completion conditions",
                    taskName(task).text);
  }
}

bool reached(const CompletionToken &token) {
  auto *counter = reinterpret_cast<const int32_t *>(static_cast<uintptr_t>(token.addr));
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE) >= static_cast<int32_t>(token.expected_value);
}

bool Device::poll(Executor &executor) {
  std::unique_lock lock(pendingMutex_, std::try_to_lock);
  if (!lock)
    return false;
  std::vector<Task *> ready;
  try {
    ready.reserve(pending_->size());
  } catch (const std::bad_alloc &) {
    return false; // at another time
  }
  std::erase_if(*pending_, [&](PendingCompletion &pending) {
    std::erase_if(pending.tokens, reached);
    if (!pending.tokens.empty() && !pending.task->run->halts(pending.task))
      return false;
    ready.push_back(pending.task);
    return true;
  });
  pendingCount_.fetch_sub(static_cast<int32_t>(ready.size()));
  lock.unlock();
  for (Task *task : ready)
    executor.dropTicket(task);
  return !ready.empty();
}

//===-- Gangs and fibers --------------------------------------------------===//

static int32_t contextsOf(const Task *task) {
  int64_t all = static_cast<int64_t>(task->blocks) * task->lanes;
  return static_cast<int32_t>(std::min<int64_t>(all, Device::kMaxGangContexts));
}

bool Device::startGang(Task *task) {
  auto gang = std::make_unique<Gang>(task);
  std::lock_guard lock(gangsMutex_);
  int32_t contexts = contextsOf(task);
  if (gangContexts_ > 0 &&
      (gangContexts_ + contexts > kMaxGangContexts || !waitingGangs_.empty()) &&
      !task->extra->admitted) {
    waitingGangs_.push_back(task); // throws before anything has changed
    return false;
  }
  makeRoom(gangs_);
  if (!monitor_.joinable()) {
    mayRefuseThread();
    monitor_ = std::thread([this] { monitorLoop(); });
  }
  if (!task->extra->admitted)
    gangContexts_ += contexts;
  task->extra->gang = gang.release();
  gangs_.push_back(task->extra->gang);
  gangCount_.fetch_add(1);
  std::lock_guard spare(spareMutex_);
  monitorWork_.notify_one();
  return true;
}

void Device::removeGang(Gang *gang, Executor &executor) {
  Task *next = nullptr;
  {
    std::lock_guard lock(gangsMutex_);
    std::erase(gangs_, gang);
    gangCount_.fetch_sub(1);
    gangContexts_ -= contextsOf(gang->task());
    if (!waitingGangs_.empty() &&
        gangContexts_ + contextsOf(waitingGangs_[0]) <= kMaxGangContexts) {
      next = waitingGangs_[0];
      waitingGangs_.erase(waitingGangs_.begin());
      gangContexts_ += contextsOf(next);
      next->extra->admitted = true;
    }
  }
  if (next)
    executor.makeReady(next);
}

std::unique_ptr<Fiber> Device::acquireFiber() {
  {
    std::lock_guard lock(gangsMutex_);
    if (!fibers_.empty()) {
      auto fiber = std::move(fibers_.back());
      fibers_.pop_back();
      return fiber;
    }
  }
  std::unique_ptr<Fiber> fiber(new (std::nothrow) Fiber);
  return fiber && fiber->ok() ? std::move(fiber) : nullptr;
}

void Device::releaseFiber(std::unique_ptr<Fiber> fiber) {
  std::lock_guard lock(gangsMutex_);
  if (fibers_.size() < fibers_.capacity())
    fibers_.push_back(std::move(fiber));
}

} // namespace simpler
