//===- Executor.cpp - running, releasing, stealing, sleeping --------------===//
#include "FaultPoint.h"
#include "Gang.h"
#include "Graph.h"
#include "KernelCall.h"
#include "Run.h"

#include <utility>

namespace simpler {

static thread_local Executor *currentExecutor = nullptr;
[[gnu::noinline]] Executor *Executor::current() { return currentExecutor; }
[[gnu::noinline]] void Executor::setCurrent(Executor *executor) { currentExecutor = executor; }

Executor::Executor(Device &device, uint32_t index)
    : device_(device), index_(index), random_(index * 2654435761u + 1) {}

void Executor::setTrace(std::unique_ptr<TraceRing> ring) {
  traceStorage_ = std::move(ring);
  resumeTrace();
}

//===-- Running -----------------------------------------------------------===//

void Executor::execute(Task *task) {
  if (doneNodes_ && !(task->has(Task::kNode) && task->instance == doneGraph_)) [[unlikely]] {
    finishNodes();
    if (next_) // what follows the graph does not wait for this task
      makeReady(std::exchange(next_, nullptr));
  }
  if (doneCount_ && task->run != doneRun_) [[unlikely]]
    flush();
  // What is queued behind a long task should not wait for it.
  if (device_.hasSleepers())
    offerWork(0);
  if (task->has(Task::kDumped) && task->nextBlock.load(std::memory_order_relaxed) == 0) [[unlikely]]
    task->run->recorder->dump(task, true);
  if (task->kind == TaskKind::Kernel) {
    if (task->has(Task::kCoRun) && task->extra->gang) {
      Gang::participate(*this, task); // an invitation to a gang that has begun
      return;
    }
    if (skips(task)) {
      if (TraceRing *phases = phaseTrace()) [[unlikely]]
        phases->add(PhaseEvent{ticks(), ticks(), 1, 0, 0, PhaseEvent::PredicatedSkip});
      task->nextBlock.store(task->blocks, std::memory_order_relaxed);
    } else if (task->has(Task::kCoRun)) {
      Gang::participate(*this, task);
      return;
    } else if (task->blocks > 1) {
      executeBlocks(task);
      return;
    } else {
      invoke(task, 0, 0);
    }
  } else if (task->kind == TaskKind::Graph) {
    executeGraph(task);
    return;
  } else if (TraceRing *phases = phaseTrace()) [[unlikely]] {
    phases->add(PhaseEvent{ticks(), ticks(), 1, 0, 0, PhaseEvent::DummyTask});
  }
  dropTicket(task);
}

void Executor::runInline(Task *task) {
  while (task) {
    execute(task);
    if (!next_)
      finishNodes(); // may release what follows a graph
    task = next_;
    next_ = nullptr;
    if (task && !staysHere(task)) {
      makeReady(task);
      task = nullptr;
    }
  }
  finishNodes();
  if (next_)
    makeReady(std::exchange(next_, nullptr));
}

/// Every executor that holds a ticket claims blocks one by one; the last to leave completes the
/// task. An extra ticket in the deque invites a thief.
void Executor::executeBlocks(Task *task) {
  if (suitsTeam(task) && executeInTeam(task))
    return;
  bool invited = false;
  int32_t block;
  while ((block = task->nextBlock.fetch_add(1, std::memory_order_relaxed)) < task->blocks) {
    if (!invited && block + 1 < task->blocks) {
      invited = true;
      task->tickets.fetch_add(1, std::memory_order_relaxed);
      makeReady(task);
    }
    if (!task->run->halts(task))
      invoke(task, block, 0);
  }
  dropTicket(task);
}

/// True when the task's kernels must not run.
bool Executor::skips(Task *task) {
  if (task->run->halts(task))
    return true;
  if (!task->has(Task::kPredicated))
    return false;
  // Decided once: further tickets of a launch must not ask again, its blocks may write the operand.
  task->flags &= ~Task::kPredicated;
  return !predicateHolds(task->extra->predicate);
}

static TraceEvent eventOf(const Task *task, int32_t block, int32_t lane, uint64_t begin,
                          uint64_t end) {
  return {begin,
          end,
          task->id,
          task->kernel[lane],
          block,
          task->blocks,
          static_cast<uint8_t>(task->subBlock(lane)),
          static_cast<uint8_t>(task->onCube(lane) ? SIMPLER_AIC : SIMPLER_AIV)};
}

void Executor::invoke(Task *task, int32_t block, int32_t lane) {
  TraceRing *trace = this->trace();
  if (trace && trace->counters()) [[unlikely]] {
    invokeCounted(task, block, lane, *trace);
    return;
  }
  bool timed = (sample_++ & 7) == 0 || kernelCost(task->kernel[lane]) > 4 * kInlineTicks;
  uint64_t begin = timed || trace ? ticks() : 0;
  CompletionList list; // not initialised: the call does what it needs
  const CompletionList *conditions = callKernel(task, block, lane, &list);
  if (timed || trace) {
    uint64_t end = ticks();
    if (trace)
      trace->add(eventOf(task, block, lane, begin, end));
    if (timed)
      measured(task->kernel[lane], end - begin);
  }
  if (conditions) [[unlikely]]
    device_.addPending(task, *conditions);
}

/// With what the host counts meanwhile.
[[gnu::noinline]] void Executor::invokeCounted(Task *task, int32_t block, int32_t lane,
                                               TraceRing &trace) {
  PerfCounters &counters = PerfCounters::ofThread();
  CompletionList list;
  PerfValues before = counters.read();
  uint64_t begin = ticks();
  const CompletionList *conditions = callKernel(task, block, lane, &list);
  uint64_t end = ticks();
  trace.add(eventOf(task, block, lane, begin, end), counters.read() - before);
  measured(task->kernel[lane], end - begin);
  if (conditions)
    device_.addPending(task, *conditions);
}

/// One sample changes an estimate by a factor of 8 at most: a thread that lost its core for some
/// milliseconds must not make a kernel look expensive for long.
void Executor::measured(const SimplerKernel *kernel, uint64_t elapsed) {
  KernelCost &entry = costs_[costSlot(kernel)];
  if (entry.kernel != kernel)
    entry = {kernel, elapsed};
  else if (elapsed > entry.ticks)
    entry.ticks = elapsed < entry.ticks * 8 + 8 ? elapsed : entry.ticks * 8 + 8;
  else
    entry.ticks -= (entry.ticks - elapsed + 7) / 8;
  if (entry.ticks < kInlineTicks)
    return; // runs where it is submitted, says nothing about the queue
  // Falls slowly: cheap tasks among expensive ones must not stop others from helping.
  uint64_t old = cost(), decayed = old == kUnknownCost ? 0 : old - old / 64;
  cost_.store(entry.ticks > decayed ? entry.ticks : decayed, std::memory_order_relaxed);
}

void Executor::dropTicket(Task *task) {
  // One ticket and one reader: nobody else can add any.
  if (task->tickets.load(std::memory_order_acquire) == 1 ||
      task->tickets.fetch_sub(1, std::memory_order_acq_rel) == 1)
    complete(task);
}

void Executor::complete(Task *task) {
  TraceRing *phases = phaseTrace();
  if (!phases) [[likely]] {
    completeTask(task);
    return;
  }
  uint64_t begin = ticks();
  completeTask(task);
  phases->add(PhaseEvent{begin, ticks(), 1, 0, 0, PhaseEvent::Complete});
}

void Executor::completeTask(Task *task) {
  executed_.store(executed() + 1, std::memory_order_relaxed);
  if (task->has(Task::kCoRun) && task->extra->gang) [[unlikely]]
    device_.removeGang(task->extra->gang, *this);
  if (task->has(Task::kNode)) {
    completeNode(task);
    return;
  }
  if (task->has(Task::kDumped)) [[unlikely]]
    task->run->recorder->dump(task, false);
  Edge *edge = task->successors.exchange(Task::closed(), std::memory_order_acq_rel);
  while (edge) {
    Edge *following = edge->next; // the edge lives in the successor, which may run at once
    Task *successor = edge->successor;
    if (successor->fanIn.load(std::memory_order_acquire) == 1 ||
        successor->fanIn.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release(successor);
    edge = following;
  }
  SimplerRun *run = task->run;
  if (run == owned_) {
    run->recycle(task);
    return;
  }
  if (doneCount_ == 0) {
    doneRun_ = run;
    doneLast_ = task;
    task->freeNext = nullptr;
  } else if (doneRun_ != run) {
    flush();
    doneRun_ = run;
    doneLast_ = task;
    task->freeNext = nullptr;
  } else {
    task->freeNext = doneFirst_;
  }
  doneFirst_ = task;
  if (++doneCount_ == kFlushAt)
    flush();
}

/// All predecessors of the task are complete.
void Executor::release(Task *task) {
  if (task->kind == TaskKind::Signal) {
    SimplerRun *run = task->run;
    run->signalled_.store(true);
    run->wakeOwner();
    return;
  }
  if (!next_)
    next_ = task;
  else
    makeReady(task);
}

void Executor::flush() {
  finishNodes();
  if (doneCount_ == 0)
    return;
  SimplerRun *run = doneRun_;
  Task *first = doneFirst_, *last = doneLast_;
  doneCount_ = 0;
  doneRun_ = nullptr;
  run->giveBack(first, last);
}

//===-- Finding work ------------------------------------------------------===//

void Executor::offerWork(int64_t spare) {
  int64_t queued = offered() - spare;
  if (queued > 0 && device_.hasSleepers() && static_cast<uint64_t>(queued) * cost() > kOfferTicks)
    device_.wakeOne();
}

bool Executor::pollPending() {
  TraceRing *phases = phaseTrace();
  uint64_t begin = phases ? ticks() : 0;
  bool found = device_.poll(*this);
  if (phases) [[unlikely]]
    phases->add(PhaseEvent{begin, ticks(), found, found, !found, PhaseEvent::AsyncPoll});
  return found;
}

Task *Executor::take(bool eager) {
  if (Task *task = next_) {
    next_ = nullptr;
    return task;
  }
  if (device_.hasPending() && pollPending()) {
    if (Task *task = next_) {
      next_ = nullptr;
      return task;
    }
  }
  if (Task *task = ready_.pop())
    return task;
  uint32_t count = device_.numExecutors();
  random_ = random_ * 1664525 + 1013904223;
  uint32_t start = (random_ >> 8) % (count ? count : 1);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = start + i < count ? start + i : start + i - count;
    Executor *victim = device_.executor(at);
    if (!victim || victim == this)
      continue;
    int64_t queued = victim->offered();
    if (queued == 0 || (!eager && static_cast<uint64_t>(queued) * victim->cost() < kOfferTicks))
      continue;
    if (Task *task = victim->steal())
      return task;
  }
  return nullptr;
}

bool Executor::visibleBacklog(uint64_t *executedByOthers) const {
  bool backlog = false;
  uint64_t sum = 0;
  for (uint32_t i = 0, count = device_.numExecutors(); i < count; ++i) {
    Executor *other = device_.executor(i);
    if (!other || other == this)
      continue;
    backlog |= other->offered() > 0;
    sum += other->executed();
  }
  if (executedByOthers)
    *executedByOthers = sum;
  return backlog;
}

/// Looks for work for about 20 us. Cheap tasks are left to the thread that queued them, unless it
/// makes no progress.
Task *Executor::spin(Condition done) {
  uint64_t before = 0, after = 0;
  visibleBacklog(&before);
#ifdef SIMPLER_EXPLORE
  constexpr int kLooks = 2;
#else
  constexpr int kLooks = 100;
#endif
  for (int i = 0; i < kLooks; ++i) {
    for (int pause = 0; pause < 4; ++pause)
      cpuRelax();
    if (done())
      return nullptr;
    if (Task *task = take(false))
      return task;
  }
  if (visibleBacklog(&after) && before == after)
    return take(true);
  return nullptr;
}

void Executor::workUntil(SimplerRun *run, Condition done) {
  while (!done() && !(run && run->abandoned())) {
    TraceRing *phases = phaseTrace();
    uint64_t begin = phases ? ticks() : 0;
    Task *task = take(false);
    if (!task) {
      flush();
      task = spin(done);
    }
    if (phases && phases == phaseTrace()) [[unlikely]]
      phases->add(PhaseEvent{begin, ticks(), task != nullptr, task != nullptr, task == nullptr,
                             PhaseEvent::Dispatch});
    if (task) {
      pollPause_ = 0;
      execute(task);
    } else if (!done()) {
      sleep(run, done);
    }
  }
  leave();
}

/// Tasks of other runs that this thread has completed go back, those it has released or queued are
/// left where a thread that is awake finds them.
void Executor::leave() {
  flush();
  while (next_) {
    makeReady(std::exchange(next_, nullptr));
    flush(); // without memory for the queue the task ran here
  }
  // Who sleeps may have been passed over because this thread was awake, or was called in its place;
  // and somebody must look at the counters.
  if ((offered() > 0 || device_.hasPending() || visibleBacklog()) &&
      device_.hasSleepersAfterQueueing() && !device_.stopping())
    device_.wakeOne();
}

void Executor::disown() {
  owned_ = nullptr;
  if (alone_.load(std::memory_order_relaxed)) { // tasks of other runs may be left
    alone_.store(false, std::memory_order_relaxed);
    leave();
  }
}

void Executor::sleep(SimplerRun *run, Condition done) {
  flush(); // looking for work may have completed tasks whose counters were reached
  if (next_)
    return; // and that may have released another
  device_.sleepBegin(*this);
  if (run)
    run->sleepBegin();
  // From here on wake-ups are kept by the parking permit: look once more, then sleep.
  if (!done()) {
    int64_t limit = 0;
    if (device_.hasPending())
      limit = pollPause_ = pollPause_ < 50 ? 50 : (pollPause_ < 1000 ? pollPause_ * 2 : 1000);
    else if (visibleBacklog())
      limit = 200;
    else if (run)
      limit = 1000000; // a look now and then costs nothing
    if (run)
      run->watch();
    // The watchdog must not take a thread that was told to wake up for one at rest: it sees the
    // permit from the first moment of the rest to the last.
    parked_.store(true);
    restBegin();
    refused(FaultPoint::Rest);
    parking_.park(limit);
    refused(FaultPoint::Rest);
    restEnd();
    parked_.store(false);
    parking_.takePermit();
  }
  if (run)
    run->sleepEnd();
  device_.sleepEnd(*this);
}

} // namespace simpler
