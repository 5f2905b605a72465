//===- Gang.cpp - contexts of a co-running launch -------------------------===//
#include "Gang.h"
#include "KernelCall.h"
#include "Run.h"

#include <sched.h>

namespace simpler {

Gang::Gang(Task *task) : task_(task), total_(task->blocks * task->lanes), contexts_(total_) {
  suspended_.reserve(total_);
  for (int32_t i = 0; i < total_; ++i) {
    auto &context = contexts_[i] = std::make_unique<Context>();
    context->gang = this;
    context->block = i / task->lanes;
    context->lane = i % task->lanes;
  }
}

void Gang::body(void *argument) {
  auto *context = static_cast<Context *>(argument);
  context->registered =
      callKernel(context->gang->task_, context->block, context->lane, &context->conditions);
}

uint32_t Gang::waiting() {
  std::lock_guard lock(mutex_);
  int32_t started = task_->nextBlock.load(std::memory_order_relaxed);
  return static_cast<uint32_t>(suspended_.size()) + (started < total_ ? total_ - started : 0);
}

bool Gang::tryAddTicket() {
  int32_t tickets = task_->tickets.load();
  while (tickets > 0)
    if (task_->tickets.compare_exchange_weak(tickets, tickets + 1))
      return true;
  return false;
}

/// The run has stopped, and of the gang nothing starts or goes on any more: contexts that have
/// yielded would wait for ever. A context that waits in a loop without yielding ends only when
/// those are there that it may wait for; they start.
bool Gang::halts() {
  if (!task_->run->stopped()) [[likely]]
    return false;
  int32_t fresh = task_->nextBlock.load();
  while (fresh < total_) {
    if (fresh > 0 && (task_->has(Task::kTogether) || fresh % task_->lanes))
      return false;
    if (task_->nextBlock.compare_exchange_weak(fresh, total_)) {
      task_->run->leavesOut(task_);
      break;
    }
  }
  std::lock_guard lock(mutex_);
  if (!suspended_.empty())
    task_->run->leavesOut(task_);
  suspended_.clear();
  return true;
}

/// Contexts that never ran come first: a gang must be complete before any of it can pass a barrier.
Gang::Context *Gang::nextContext(Device &device) {
  for (;;) {
    if (halts())
      return nullptr;
    int32_t fresh = task_->nextBlock.load(std::memory_order_relaxed);
    if (fresh >= total_ || (fresh = task_->nextBlock.fetch_add(1)) >= total_)
      break;
    Context *context = contexts_[fresh].get();
    context->fiber = device.acquireFiber();
    if (context->fiber) {
      context->fiber->prepare(&body, context);
      return context;
    }
    task_->run->fail(SIMPLER_HEAP_RING_DEADLOCK, "task %s: no memory for the stack of block %d",
                     taskName(task_).text, context->block);
  }
  std::lock_guard lock(mutex_);
  if (suspended_.empty())
    return nullptr;
  Context *context = suspended_.front();
  suspended_.erase(suspended_.begin());
  return context;
}

void Gang::suspend(Context *context) {
  std::lock_guard lock(mutex_);
  suspended_.push_back(context);
}

void Gang::participate(Executor &executor, Task *task) {
  Device &device = executor.device_;
  if (!task->extra->gang) { // the first ticket: nobody else has seen the task yet
    try {
      if (!device.startGang(task))
        return;                        // comes back with this ticket when there is room
    } catch (const std::exception &) { // no memory, or no thread that could help it
      task->run->fail(
          SIMPLER_HEAP_RING_DEADLOCK,
          "task %s: the system has no memory or no thread for %d blocks that run together",
          taskName(task).text, task->blocks);
      executor.dropTicket(task);
      return;
    }
  }
  Gang *gang = task->extra->gang;
  bool invited = false;
  Context *last = nullptr;
  while (Context *context = gang->nextContext(device)) {
    if (!invited && task->nextBlock.load(std::memory_order_relaxed) < gang->total_) {
      invited = true;
      task->tickets.fetch_add(1);
      executor.makeReady(task);
      device.wakeOne();
    }
    if (context == last)
      sched_yield(); // alone with a waiting block: the one it waits for is on another thread
    last = context;
    gang->steps_.fetch_add(1, std::memory_order_relaxed);
    TraceRing *trace = executor.trace();
    bool counts = trace && trace->counters();
    PerfValues before{};
    if (counts)
      before = PerfCounters::ofThread().read();
    uint64_t begin = ticks();
    setCallPlace({&gang->pipes, context->block, task->subBlock(context->lane)});
    bool finished = context->fiber->resume();
    gang->steps_.fetch_add(1, std::memory_order_relaxed);
    if (trace) {
      TraceEvent event{
          begin,
          ticks(),
          task->id,
          task->kernel[context->lane],
          context->block,
          task->blocks,
          static_cast<uint8_t>(task->subBlock(context->lane)),
          static_cast<uint8_t>(task->onCube(context->lane) ? SIMPLER_AIC : SIMPLER_AIV)};
      if (counts)
        trace->add(event, PerfCounters::ofThread().read() - before);
      else
        trace->add(event);
    }
    if (!finished) {
      gang->suspend(context);
      continue;
    }
    if (context->registered)
      device.addPending(task, *context->registered);
    device.releaseFiber(std::move(context->fiber));
  }
  if (task->tickets.fetch_sub(1, std::memory_order_acq_rel) == 1)
    executor.complete(task);
}

} // namespace simpler
