//===- EndlessKernel.cpp - Ctrl-C while a kernel runs that never ends ------===//
//
// A kernel cannot be stopped from outside: its stack holds no point at which it may be left. So a
// thread waits for SIGINT, gives the kernel a second to return, and ends the process if it does
// not.
//
//===----------------------------------------------------------------------===//
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "EndlessKernel.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace {
std::atomic<unsigned> calls{0}; // begun and ended; odd while a kernel runs
std::atomic<const char *> running{""};
std::atomic<pid_t> watchedProcess{0};
sem_t pressed;
struct sigaction previous;
volatile std::sig_atomic_t isHandling = 0;

void onInterrupt(int signal, siginfo_t *info, void *context) {
  if (isHandling) {
    // Another handler that was put in front of this one has come back to it: Python's own, whom
    // neither knows any more, is told directly.
    PyErr_SetInterruptEx(signal);
    return;
  }
  isHandling = 1;
  if (calls.load(std::memory_order_relaxed) % 2)
    sem_post(&pressed);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
  isHandling = 0;
}

void endUnlessReturned() {
  using namespace std::chrono_literals;
  while (true) {
    while (sem_wait(&pressed) != 0)
      ;
    unsigned call = calls.load();
    if (call % 2 == 0)
      continue;
    for (int i = 0; i < 50 && calls.load() == call; ++i)
      std::this_thread::sleep_for(20ms);
    if (calls.load() != call)
      continue;
    std::string text = "kernel '";
    text += running.load();
    text += "' did not return within a second of Ctrl-C: the process ends\n";
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    std::signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
  }
}

/// Puts the handler in front of the one that is installed. Programs that ignore SIGINT, or leave it
/// to end the process, keep that.
bool watch() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0)
    return false;
  bool isOurs = (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == onInterrupt;
  if (!(current.sa_flags & SA_SIGINFO) &&
      (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN))
    return false;
  // A forked child has the handler, but not the thread.
  if (pid_t self = getpid(); watchedProcess.exchange(self) != self) {
    sem_init(&pressed, 0, 0);
    calls = 0;
    // Signals are for the threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread; // not std::thread: this is compiled without exceptions
    auto body = [](void *) -> void * {
      endUnlessReturned();
      return nullptr;
    };
    bool isStarted = pthread_create(&thread, nullptr, body, nullptr) == 0;
    if (isStarted)
      pthread_detach(thread);
    else
      watchedProcess = 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!isStarted)
      return false;
  }
  if (isOurs)
    return true;
  previous = current;
  struct sigaction ours = current;
  ours.sa_sigaction = onInterrupt;
  ours.sa_flags |= SA_SIGINFO;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}
} // namespace

pypto::RunsKernel::RunsKernel(const char *name) {
  // Python handles signals on its main thread only: the others do not keep it from doing so.
  isWatched = getpid() == gettid() && watch();
  if (!isWatched)
    return;
  running = name;
  calls.fetch_add(1);
}

pypto::RunsKernel::~RunsKernel() {
  if (isWatched)
    calls.fetch_add(1);
}
