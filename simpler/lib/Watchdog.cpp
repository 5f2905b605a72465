//===- Watchdog.cpp - proof that nothing can run, and who waits for whom --===//
//
// A run that is not complete while nothing happens has one of two reasons: something is slow, or
// nothing can run any more. No clock can tell them apart; the state of the threads can. Every
// executor counts when it goes to rest and when it rises. When all of the process are at rest at
// one moment, no queue holds a task and no counter that a task waits for has its value, then no
// thread of the runtime will ever raise one. The rest of the world may: a counter in shared memory
// is left to it. One in private memory is raised by tasks, or by a thread of the program within
// kPatience.
//
//===----------------------------------------------------------------------===//
#include "KernelCall.h"
#include "Log.h"
#include "Run.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <map>

using namespace simpler;

// Runs that threads of the program are just about to start need time to appear.
#ifdef SIMPLER_EXPLORE // all that simulated threads start is there: the proof must stand at any
                       // moment
static constexpr uint64_t kPatience = 0;
#else
static constexpr uint64_t kPatience = 200'000'000; // nanoseconds
#endif

//===-- The proof ---------------------------------------------------------===//

namespace {
struct Devices {
  Mutex mutex;
  std::vector<Device *> all;
};
Devices &devices() {
  static Devices *list = new Devices; // workers may outlive static destructors
  return *list;
}
} // namespace

void Device::enlist() {
  std::lock_guard lock(devices().mutex);
  devices().all.push_back(this);
}

void Device::unlist() {
  std::lock_guard lock(devices().mutex);
  std::erase(devices().all, this);
}

/// Whether something of this device may still happen by itself. Collects what was seen.
bool Device::mayAct(const Executor &asking, std::vector<uint64_t> &seen) {
  for (uint32_t i = 0, count = numExecutors(); i < count; ++i) {
    Executor *other = executor(i);
    if (!other)
      continue;
    if (other->offered() > 0)
      return true;
    if (other == &asking) {
      // What it waits for may have come after its last look.
      if (other->parking().permitted())
        return true;
      continue;
    }
    uint64_t rest = other->rest();
    if (rest % 2 == 0 || other->called())
      return true;
    seen.push_back(rest);
  }
  {
    std::lock_guard lock(spareMutex_);
    if (!spareTasks_.empty())
      return true;
  }
  std::lock_guard lock(pendingMutex_);
  return std::any_of(pending_->begin(), pending_->end(), [](const PendingCompletion &pending) {
    return std::all_of(pending.tokens.begin(), pending.tokens.end(), reached) ||
           pending.task->run->stopped();
  });
}

/// Lies the word in memory that other processes may write?
static bool inSharedMemory(uint64_t address) {
  FILE *maps = std::fopen("/proc/self/maps", "r");
  if (!maps)
    return false;
  char line[512], flags[8];
  bool shared = false;
  uint64_t low, high;
  while (std::fgets(line, sizeof(line), maps))
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &low, &high, flags) == 3 &&
        address >= low && address < high)
      shared = flags[3] == 's';
  std::fclose(maps);
  return shared;
}

uint64_t Device::sharedCounter() {
  std::lock_guard lock(pendingMutex_);
  for (const PendingCompletion &pending : *pending_)
    for (const CompletionToken &token : pending.tokens)
      if (!reached(token) && inSharedMemory(token.addr))
        return token.addr;
  return 0;
}

bool Device::hasPending(const SimplerRun *run) {
  std::lock_guard lock(pendingMutex_);
  return std::any_of(pending_->begin(), pending_->end(),
                     [&](const PendingCompletion &pending) { return pending.task->run == run; });
}

std::optional<Device::Still> Device::provenStill(const Executor &asking) {
  std::lock_guard lock(devices().mutex);
  std::vector<uint64_t> before, after;
  for (Device *device : devices().all)
    if (!device->forked() && device->mayAct(asking, before))
      return std::nullopt;
  for (Device *device : devices().all)
    if (!device->forked() && device->mayAct(asking, after))
      return std::nullopt;
  if (before != after) // somebody rose in between
    return std::nullopt;
  Still still;
  for (Device *device : devices().all)
    if (!device->forked()) {
      still.pending |= device->hasPending();
      if (!still.shared)
        still.shared = device->sharedCounter();
    }
  return still;
}

static uint64_t outsideLimit() {
  if (const char *text = std::getenv("SIMPLER_SCHEDULER_TIMEOUT_MS"))
    return std::strtoull(text, nullptr, 10) * 1000000;
  return 0;
}

void SimplerRun::watch() try {
  uint64_t executed = 0, now = nanoseconds();
  for (uint32_t i = 0; i < device_.numExecutors(); ++i)
    if (Executor *other = device_.executor(i))
      executed += other->executed();
  if (executed != stillExecuted_ || stillSince_ == 0) {
    stillSince_ = now;
    stillExecuted_ = executed;
    stillReported_ = false;
    return;
  }
  uint64_t since = now - stillSince_;
  if (since < kPatience)
    return;
  std::optional<Device::Still> still = device_.provenStill(executor_);
  if (!still)
    return;
  if (!still->pending) {
    abandon();
    return;
  }
  // A run without one has a kernel that waits for another run: that one fails, this one goes on.
  if (fatal() || !device_.hasPending(this))
    return;
  if (still->shared) { // another process may raise it: how long to wait is the user's to say
    uint64_t limit = outsideLimit();
    if (limit && since >= limit) {
      fail(SIMPLER_SCHEDULER_TIMEOUT,
           "nothing has raised a counter in shared memory for %" PRIu64
           " ms (SIMPLER_SCHEDULER_TIMEOUT_MS):\n%s",
           limit / 1000000, waitsFor().c_str());
    } else if (!stillReported_ && since >= 10'000'000'000) {
      stillReported_ = true;
      logMessage(30, ("the run waits for another process:\n" + waitsFor()).c_str());
    }
    return;
  }
  int32_t code = waitsForData_ ? SIMPLER_TENSOR_WAIT_TIMEOUT : SIMPLER_SCHEDULER_TIMEOUT;
  std::string text = waitsFor();
  fail(code, "%sno task can run any more and %" PRIu64 " are not complete:\n%s",
       waitsForData_ ? "an element of a tensor is read that nobody will write: " : "",
       outstanding(), text.c_str());
  logMessage(40, message().c_str());
} catch (const std::bad_alloc &) {
  // Looked at again at the next wake-up.
}

//===-- Who waits for whom ------------------------------------------------===//

namespace {

/// Lines of the waits-for graph of one run. All threads are at rest.
class WaitsFor {
public:
  static constexpr size_t kLines = 24;

  void counter(Task *task, const CompletionToken &token) {
    int32_t value;
    std::memcpy(&value, reinterpret_cast<const void *>(static_cast<uintptr_t>(token.addr)), 4);
    char text[400];
    std::snprintf(text, sizeof(text),
                  "  task %s waits for the counter at %#" PRIx64 "%s: it is %d, must be %d",
                  taskName(task).text, token.addr, argumentAt(task, token.addr).c_str(), value,
                  static_cast<int32_t>(token.expected_value));
    add(text);
    counters_.push_back({task, token.addr});
    open_.emplace(task, true);
  }

  void edge(Task *waiting, Task *holder) {
    char text[600];
    std::snprintf(text, sizeof(text), "  task %s waits for task %s: %s", taskName(waiting).text,
                  taskName(holder).text, reason(waiting, holder).c_str());
    add(text);
    waits_[waiting].push_back(holder);
  }

  /// Who could raise a counter, but waits for the task that waits for it.
  void cycles() {
    for (auto &[task, address] : counters_)
      for (auto &[waiting, holders] : waits_) {
        std::string argument = argumentAt(waiting, address);
        if (argument.empty() || !reaches(waiting, task, 0))
          continue;
        add("  cycle: task " + std::string(taskName(task).text) +
            " waits for the counter, which task " + taskName(waiting).text +
            " may raise (it has it as an argument), but that waits for the former");
      }
  }

  std::string text() const {
    std::string all;
    for (size_t i = 0; i < lines_.size() && i < kLines; ++i)
      all += (i ? "\n" : "") + lines_[i];
    if (lines_.size() > kLines)
      all += "\n  … and " + std::to_string(lines_.size() - kLines) + " more";
    return all;
  }
  void add(std::string line) { lines_.push_back(std::move(line)); }

private:
  static std::string argumentAt(Task *task, uint64_t address) {
    for (uint32_t i = 0; i < task->numTensors; ++i) {
      const ChipTensor &t = task->tensors()[i];
      if (t.buffer.addr && address >= t.buffer.addr && address < t.buffer.addr + t.buffer.size)
        return " (byte " + std::to_string(address - t.buffer.addr) + " of tensor argument " +
               std::to_string(i) + ")";
    }
    return {};
  }

  static std::string reason(Task *waiting, Task *holder) {
    for (uint32_t i = 0; i < waiting->numTensors; ++i)
      for (uint32_t j = 0; j < holder->numTensors; ++j) {
        Region a, b;
        const ChipTensor &t = waiting->tensors()[i];
        if (!makeRegion(t, a) || !makeRegion(holder->tensors()[j], b) || !overlaps(a, b))
          continue;
        uint64_t low = std::max(a.lo, b.lo), high = std::min(a.hi, b.hi);
        return "tensor argument " + std::to_string(i) + ", bytes " +
               std::to_string(low - t.buffer.addr) + " to " + std::to_string(high - t.buffer.addr) +
               " of its allocation, is argument " + std::to_string(j) + " there";
      }
    return "an explicit dependency";
  }

  bool reaches(Task *from, Task *to, int depth) const {
    if (from == to)
      return true;
    auto found = waits_.find(from);
    if (found == waits_.end() || depth > 64)
      return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](Task *next) { return reaches(next, to, depth + 1); });
  }

  std::vector<std::string> lines_;
  std::vector<std::pair<Task *, uint64_t>> counters_;
  std::map<Task *, std::vector<Task *>> waits_;
  std::map<Task *, bool> open_;
};

} // namespace

void Device::forEachPending(const SimplerRun *run,
                            const std::function<void(Task *, const CompletionToken &)> &visit) {
  for (const PendingCompletion &pending : *pending_)
    if (pending.task->run == run)
      for (const CompletionToken &token : pending.tokens)
        visit(pending.task, token);
}

/// Call when all threads are at rest. Completions stay out while it looks.
std::string SimplerRun::waitsFor() {
  std::lock_guard lock(device_.pendingMutex_);
  WaitsFor graph;
  std::vector<Task *> nodes; // open nodes of graphs: what follows a pending one
  device_.forEachPending(this, [&](Task *task, const CompletionToken &token) {
    graph.counter(task, token);
    if (task->has(Task::kNode) && std::find(nodes.begin(), nodes.end(), task) == nodes.end())
      nodes.push_back(task);
  });
  for (size_t i = 0; i < nodes.size() && i < 1000; ++i)
    for (uint32_t s = 0; s < nodes[i]->node.numSuccessors; ++s) {
      Task *after = nodes[i]->node.successors[s];
      graph.edge(after, nodes[i]);
      if (std::find(nodes.begin(), nodes.end(), after) == nodes.end())
        nodes.push_back(after);
    }
  std::vector<Task *> live;
  for (Task *task : window_)
    if (task && task->sequence >= firstSequence_ && !task->complete())
      live.push_back(task);
  std::sort(live.begin(), live.end(),
            [](const Task *a, const Task *b) { return a->sequence < b->sequence; });
  for (Task *holder : live)
    for (Edge *edge = holder->successors.load(); edge; edge = edge->next)
      if (edge->successor != &signal_)
        graph.edge(edge->successor, holder);
      else
        graph.add("  the orchestration waits for task " + std::string(taskName(holder).text) +
                  " to read or write an element");
  graph.cycles();
  return graph.text();
}

/// Must not happen: the runtime has lost a task, or the news of its end. The run ends here, and its
/// context is never used again, since somebody may still hold a task of it.
void SimplerRun::abandon() {
  std::string text = "internal error of the runtime: all threads rest, but " +
                     std::to_string(outstanding()) + " task(s) of " + std::to_string(submitted_) +
                     " are not complete, and nothing is left that could complete them:\n" +
                     waitsFor();
  size_t lines = 0;
  for (Task *task : window_)
    if (task && task->sequence >= firstSequence_ && task->sequence <= sequence_ &&
        !task->complete() && ++lines <= WaitsFor::kLines) {
      char state[400];
      std::snprintf(state, sizeof(state),
                    "\n  task %s: %d predecessors are left, %d tickets, block %d of %d",
                    taskName(task).text, task->fanIn.load(), task->tickets.load(),
                    task->nextBlock.load(), task->blocks);
      text += state;
    }
  logMessage(40, text.c_str());
  fail(SIMPLER_SCHEDULER_TIMEOUT, "%s", text.c_str());
  abandoned_ = true;
}
