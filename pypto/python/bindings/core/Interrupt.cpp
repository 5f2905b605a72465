//===- Interrupt.cpp - workers, and Ctrl-C while they run -----------------===//
#include "Interrupt.h"
#include "Fault.h"
#include "support/Knobs.h"
#include "support/Trace.h"

#include <atomic>
#include <csignal>
#include <pthread.h>

namespace pypto::core {
namespace {

// Runs of several threads may be active; the handler stops the workers of all of them.
std::atomic<int> activeRuns{0};
std::atomic<SimplerWorker *> workers[2]; // a2a3, a5
struct sigaction previous;
std::atomic<bool> inChild{false}; // of a fork, which has none of its parent's threads

void onInterrupt(int signal, siginfo_t *info, void *context) {
  if (activeRuns.load(std::memory_order_relaxed) > 0)
    for (auto &worker : workers)
      if (SimplerWorker *running = worker.load(std::memory_order_relaxed))
        simpler_worker_interrupt(running);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    previous.sa_handler(signal);
}

/// Puts the handler in front of the one that is installed. Programs that ignore SIGINT, or leave it
/// to end the process, keep that.
void install() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0)
    return;
  if (current.sa_flags & SA_SIGINFO
          ? current.sa_sigaction == onInterrupt
          : current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)
    return;
  previous = current;
  struct sigaction ours = current;
  ours.sa_sigaction = onInterrupt;
  ours.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &ours, nullptr);
}

} // namespace

SimplerWorker *workerOf(const std::string &arch) {
  const bool a5 = arch == "a5";
  std::atomic<SimplerWorker *> &slot = workers[a5];
  SimplerWorker *worker = slot.load(std::memory_order_relaxed);
  if (worker)
    return worker;
  keepFaults();
  static int watched = pthread_atfork(nullptr, nullptr, [] {
    for (auto &parents : workers)
      parents = nullptr; // stays allocated: its threads cannot be joined here
    activeRuns = 0;
    inChild = true;
  });
  (void)watched;
  worker = a5 || inChild ? simpler_worker_create(a5 ? "a5" : "a2a3sim",
                                                 static_cast<int32_t>(pto::knobs::SimplerThreads()))
                         : simpler_worker_default();
  slot.store(worker);
  if (worker && pto::trace::enabled())
    simpler_trace_start(worker);
  return worker;
}

Interruptible::Interruptible(SimplerWorker *worker) {
  // Python code may have set its own handler since the last run: look each time (0.1 us).
  install();
  activeRuns.fetch_add(1);
  before_ = simpler_worker_interrupts(worker);
}

Interruptible::~Interruptible() { activeRuns.fetch_sub(1, std::memory_order_relaxed); }

} // namespace pypto::core
