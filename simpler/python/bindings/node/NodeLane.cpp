//===- NodeLane.cpp - life of the children, runs, the reactor -------------===//
#include "NodeLane.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace simpler::py {

using Clock = std::chrono::steady_clock;

static constexpr size_t kMaxLiveTasks = 4096;

//===-- Start -------------------------------------------------------------===//

NodeLane::NodeLane(int32_t devices, int32_t subWorkers, uint64_t heapBytes, double graceSeconds)
    : heap_(std::make_shared<SharedHeap>(heapBytes)), owner_(getpid()), grace_(graceSeconds),
      devices_(devices) {
  if (heap_->error())
    throw std::runtime_error(heap_->error());
  for (int32_t i = 0; i < devices + subWorkers; ++i) {
    Child &child = children_.emplace_back();
    child.device = i < devices ? i : -1;
    child.name =
        i < devices ? "device " + std::to_string(i) : "sub-worker " + std::to_string(i - devices);
    char *block = heap_->allocate(sizeof(Mailbox));
    if (!block)
      throw std::runtime_error("the shared heap is too small for the mailboxes of " +
                               std::to_string(devices + subWorkers) +
                               " children; give a larger heap_ring_size");
    child.mailbox = new (block) Mailbox;
  }
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sharedMappings(0, [&](uint64_t lo, uint64_t hi, uint64_t offset, const std::string &file) {
    inherited_.push_back({lo, hi, offset, file});
  });
}

NodeLane::~NodeLane() {
  if (getpid() != owner_) { // a copy in a forked process: nothing of it is ours
    reactor_.release();
    return;
  }
  close();
}

void NodeLane::openChannel(int32_t index) {
  Child &child = children_.at(static_cast<size_t>(index));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("no channel to ") + child.name + ": " +
                             std::strerror(errno));
  child.socket = ends[0];
  child.remote = ends[1];
}

void NodeLane::forked(int32_t index, pid_t pid) {
  Child &child = children_.at(static_cast<size_t>(index));
  child.pid = pid;
  ::close(child.remote); // with our copy open, its end would never be seen
  child.remote = -1;
}

std::pair<int, Mailbox *> NodeLane::childOf(int32_t index) {
  for (Child &child : children_)
    if (child.socket >= 0) {
      ::close(child.socket);
      child.socket = -1;
    }
  ::close(wake_);
  const Child &own = children_.at(static_cast<size_t>(index));
  return {own.remote, own.mailbox};
}

std::string NodeLane::start(double seconds) {
  for (Child &child : children_)
    fcntl(child.socket, F_SETFL, fcntl(child.socket, F_GETFL) | O_NONBLOCK);
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  reactor_ = std::make_unique<std::thread>([self = self()] {
    self->react();
    if (self->closedByReactor_)
      self->finishClosing();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Lock lock(mutex_);
  auto all_answered = [&] {
    return std::all_of(children_.begin(), children_.end(),
                       [](const Child &c) { return c.ready || c.dead; });
  };
  bool answered = changed_.wait_for(lock, std::chrono::duration<double>(seconds), all_answered);
  for (const Child &child : children_)
    if (child.dead || !answered)
      if (!child.ready)
        return child.name + (child.dead ? " " + child.death
                                        : " has not answered within " +
                                              std::to_string(static_cast<int>(seconds)) +
                                              " s (startup_timeout_s)");
  return "";
}

std::vector<pid_t> NodeLane::pids() const {
  std::lock_guard lock(mutex_);
  std::vector<pid_t> result;
  for (const Child &child : children_)
    result.push_back(child.dead ? -1 : child.pid);
  return result;
}

//===-- Callables ---------------------------------------------------------===//

void NodeLane::define(uint64_t callable, std::string contents) {
  std::lock_guard lock(mutex_);
  callables_[callable] = std::move(contents);
}

void NodeLane::forget(uint64_t callable) {
  std::lock_guard lock(mutex_);
  callables_.erase(callable);
  for (Child &child : children_)
    if (child.known.erase(callable))
      child.pending.push_back({NoteKind::Forget, 0, callable, 0, 0});
}

//===-- Runs --------------------------------------------------------------===//

std::shared_ptr<NodeRun> NodeLane::beginRun() {
  auto run = std::make_shared<NodeRun>();
  std::lock_guard lock(mutex_);
  runs_.insert(run);
  return run;
}

void NodeLane::sealRun(const std::shared_ptr<NodeRun> &run, const std::string &error) {
  Lock lock(mutex_);
  run->sealed = true;
  if (!error.empty())
    fail(*run, SIMPLER_EXPLICIT_ORCH_FATAL, error);
  dispatch(lock); // tasks of a failed run leave the graph
  finishIfDone(run);
  announce(lock);
}

void NodeLane::submit(const std::shared_ptr<NodeRun> &run, std::vector<NodeMember> members) {
  auto task = std::make_unique<NodeTask>();
  task->run = run;
  task->members = std::move(members);
  std::string problem = NodeGraph::problem(*task);
  if (!problem.empty())
    throw std::invalid_argument("task '" + task->members[0].name + "': " + problem);
  GilRelease release; // running tasks may need it before this one finds room
  Lock lock(mutex_);
  if (run->sealed)
    throw std::invalid_argument("tasks are submitted by the program of a run, which is over");
  changed_.wait(lock, [&] { return graph_.size() < kMaxLiveTasks || run->failed(); });
  if (run->failed())
    return; // reported at the end
  ++run->open;
  graph_.add(std::move(task));
  dispatch(lock);
  announce(lock);
}

bool NodeLane::wait(NodeRun &run, double seconds) {
  Lock lock(mutex_);
  auto over = [&] { return run.done.load(); };
  if (seconds < 0) {
    changed_.wait(lock, over);
    return true;
  }
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), over);
}

void NodeLane::retire(NodeRun &run) {
  std::vector<nb::object> keep; // dropped after the lock: what it frees may call back
  {
    std::lock_guard lock(mutex_);
    if (run.done)
      keep.swap(run.keep);
  }
}

bool NodeLane::cancel(const std::shared_ptr<NodeRun> &run) {
  Lock lock(mutex_);
  if (run->done)
    return false;
  fail(*run, SIMPLER_INTERRUPTED,
       run->started ? "the run was cancelled" : "the run was cancelled before it started");
  bool none = run->started == 0;
  dispatch(lock);
  finishIfDone(run);
  announce(lock);
  return none;
}

void NodeLane::cancelAll() {
  std::set<std::shared_ptr<NodeRun>> runs;
  {
    std::lock_guard lock(mutex_);
    runs = runs_;
  }
  for (const auto &run : runs)
    cancel(run);
}

void NodeLane::onDone(const std::shared_ptr<NodeRun> &run, nb::object callback) {
  {
    std::lock_guard lock(mutex_);
    if (!run->done) {
      run->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

bool NodeLane::waitIdle(double seconds) {
  Lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return runs_.empty(); });
}

bool NodeLane::waitQuiet(uint64_t lo, uint64_t hi, double seconds) {
  Lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return graph_.isQuiet(lo, hi); });
}

void NodeLane::fail(NodeRun &run, int32_t status, const std::string &text) {
  if (run.failed())
    return;
  run.status = status;
  run.message = text;
  run.failedAt = Clock::now();
  if (closed_)
    return;
  askToStop(run);
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake_, &one, sizeof(one)); // a deadline is new
  changed_.notify_all();
}

void NodeLane::askToStop(NodeRun &run) {
  for (Child &child : children_)
    if (child.task && child.task->run.get() == &run && !child.dead) {
      child.mailbox->interrupt.store(child.running);
      ::kill(child.pid, SIGUSR1);
    }
}

/// The task and what it held leave the graph.
void NodeLane::complete(NodeTask *task) {
  std::shared_ptr<NodeRun> run = task->run;
  graph_.remove(task);
  --run->open;
  finishIfDone(run);
  changed_.notify_all();
}

void NodeLane::finishIfDone(const std::shared_ptr<NodeRun> &run) {
  if (!run->sealed || run->open || run->done)
    return;
  for (char *block : run->blocks)
    heap_->free(block);
  run->blocks.clear();
  runs_.erase(run);
  finished_.push_back(run);
  run->done = true;
  changed_.notify_all();
}

NodeRun::~NodeRun() {
  if (keep.empty() && callbacks.empty())
    return;
  if (!Py_IsInitialized()) { // the objects went with the interpreter
    new std::vector<nb::object>(std::move(keep));
    new std::vector<nb::object>(std::move(callbacks));
    return;
  }
  GilAcquire gil;
  keep.clear();
  callbacks.clear();
}

/// Lets go of arguments and calls back, without the lock.
void NodeLane::announce(Lock &lock) {
  while (!finished_.empty()) {
    auto runs = std::move(finished_);
    finished_.clear();
    lock.unlock();
    if (Py_IsInitialized()) {
      GilAcquire gil;
      for (const auto &run : runs) {
        std::vector<nb::object> keep, callbacks;
        {
          std::lock_guard again(mutex_);
          keep.swap(run->keep);
          callbacks.swap(run->callbacks);
        }
        keep.clear();
        for (const nb::object &callback : callbacks)
          callBack(callback);
      }
      runs.clear();
    }
    lock.lock();
  }
}

//===-- The reactor -------------------------------------------------------===//

/// A signal that arrives between a child's last look at its signals and its next system call does
/// not end that call: a child that has not stopped is asked again.
static constexpr int64_t kAskAgainMs = 50;

/// Milliseconds until a child that does not stop is asked again or ended; -1: none is waited for.
int NodeLane::patience() const {
  int64_t least = -1;
  for (const Child &child : children_)
    if (child.task && !child.dead && child.task->run->failed()) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(child.task->run->failedAt +
                                                                        grace_ - Clock::now());
      int64_t wait = std::clamp<int64_t>(left.count() + 1, 0, kAskAgainMs);
      least = least < 0 ? wait : std::min(least, wait);
    }
  return static_cast<int>(least);
}

void NodeLane::loseStuck() {
  for (Child &child : children_) {
    if (!child.task || child.dead || !child.task->run->failed())
      continue;
    if (Clock::now() >= child.task->run->failedAt + grace_) {
      ::kill(child.pid, SIGKILL);
    } else {
      child.mailbox->interrupt.store(child.running);
      ::kill(child.pid, SIGUSR1);
    }
  }
}

void NodeLane::react() {
  std::vector<pollfd> watched;
  for (;;) {
    int timeout;
    {
      Lock lock(mutex_);
      if (closing_)
        return;
      loseStuck();
      timeout = patience();
      watched.assign(1, {wake_, POLLIN, 0});
      for (const Child &child : children_)
        watched.push_back({child.dead ? -1 : child.socket, POLLIN, 0});
    }
    if (poll(watched.data(), watched.size(), timeout == 0 ? 100 : timeout) < 0 && errno != EINTR)
      return;
    if (watched[0].revents) {
      uint64_t count;
      [[maybe_unused]] ssize_t got = read(wake_, &count, sizeof(count));
    }
    for (size_t i = 0; i < children_.size(); ++i)
      if (watched[i + 1].revents)
        hear(children_[i]);
  }
}

/// Until no thread prepares a task for the child.
void NodeLane::settle(Child &child, Lock &lock) {
  changed_.wait(lock, [&] { return !child.sending; });
}

void NodeLane::hear(Child &child) {
  for (;;) {
    Note note;
    int got = receiveNote(child.socket, note);
    if (got < 0)
      return;
    Lock lock(mutex_);
    settle(child, lock);
    if (closing_)
      return;
    if (got == 0) {
      bury(child, lock);
      return;
    }
    std::string text(child.mailbox->reply, std::min<uint64_t>(note.bytes, Mailbox::kReplyBytes));
    if (note.kind == NoteKind::Hello) {
      child.ready = note.status == 0;
      child.dead = note.status != 0;
      child.death = text;
      changed_.notify_all();
    } else if (note.kind == NoteKind::Done && child.task && note.id == child.running) {
      if (note.status == 0) {
        // The child stays ours until `ended`; large copies are made without the lock.
        lock.unlock();
        copyBack(child);
        lock.lock();
      }
      ended(child, note.status, text);
    }
    dispatch(lock);
    announce(lock);
  }
}

void NodeLane::bury(Child &child, Lock &lock) {
  if (child.dead)
    return;
  child.dead = true;
  int status = 0;
  pid_t got = 0;
  for (int i = 0; i < 2000 && (got = waitpid(child.pid, &status, WNOHANG)) == 0; ++i) {
    if (i == 1000) // closed its socket and lives on
      ::kill(child.pid, SIGKILL);
    usleep(1000);
  }
  if (got > 0 && WIFSIGNALED(status)) {
    const char *name = sigabbrev_np(WTERMSIG(status));
    child.death = "was killed by signal " + std::to_string(WTERMSIG(status)) + " (SIG" +
                  (name ? name : "?") + ")";
  } else if (got > 0 && WIFEXITED(status)) {
    child.death = "exited with status " + std::to_string(WEXITSTATUS(status));
  } else {
    child.death = "is gone";
  }
  if (got != 0)
    child.pid = -1;
  if (child.task)
    ended(child, SIMPLER_WORKER_LOST, "the process " + child.death);
  changed_.notify_all();
  dispatch(lock);
  announce(lock);
}

/// The child's task has ended, well or not.
void NodeLane::ended(Child &child, int32_t status, const std::string &text) {
  NodeTask *task = child.task;
  if (status) {
    std::string who = child.name;
    if (child.pid > 0)
      who += " (pid " + std::to_string(child.pid) + ")";
    fail(*task->run, status,
         who + ", task t" + std::to_string(task->id) + " '" + task->members[child.member].name +
             "': " + text);
  }
  child.task = nullptr;
  child.running = 0;
  for (char *block : child.contents)
    heap_->free(block);
  child.contents.clear();
  child.copied.clear();
  if (child.spill)
    heap_->free(child.spill);
  child.spill = nullptr;
  constexpr uint64_t kKeptStage = 64 << 20;
  if (child.stageBytes > kKeptStage) {
    heap_->free(child.stage);
    child.stage = nullptr;
    child.stageBytes = 0;
  }
  if (--task->open == 0)
    complete(task);
}

//===-- The end -----------------------------------------------------------===//

bool NodeLane::reap(Child &child, double seconds) {
  auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (child.pid > 0) {
    int status;
    if (waitpid(child.pid, &status, WNOHANG) != 0) {
      child.pid = -1;
      return true;
    }
    if (Clock::now() >= deadline)
      return false;
    usleep(500);
  }
  return true;
}

void NodeLane::close() {
  if (getpid() != owner_)
    return;
  {
    Lock lock(mutex_);
    if (closed_)
      return;
    closed_ = closing_ = true;
    changed_.notify_all();
    for (Child &child : children_)
      if (!child.dead && child.socket >= 0 && child.pid > 0)
        sendNote(child.socket, {NoteKind::Stop, 0, 0, 0, 0});
    uint64_t one = 1;
    [[maybe_unused]] ssize_t written = write(wake_, &one, sizeof(one));
  }
  if (reactor_ && reactor_->get_id() == std::this_thread::get_id()) {
    reactor_->detach(); // a callback let go of the node: the rest comes after it
    closedByReactor_ = true;
    return;
  }
  if (reactor_)
    reactor_->join();
  finishClosing();
}

void NodeLane::finishClosing() {
  for (Child &child : children_)
    if (!reap(child, child.task ? 0.2 : 5)) {
      ::kill(child.pid, SIGKILL);
      reap(child, 60);
    }
  for (Child &child : children_)
    for (int *end : {&child.socket, &child.remote})
      if (*end >= 0) {
        ::close(*end);
        *end = -1;
      }
  ::close(wake_);
  // Only a node that is dropped in the midst of a run has any left.
  Lock lock(mutex_);
  for (const auto &run : runs_) {
    fail(*run, SIMPLER_WORKER_LOST, "the worker was closed while the run was in progress");
    run->done = true;
    finished_.push_back(run);
  }
  runs_.clear();
  changed_.notify_all();
  announce(lock);
}

} // namespace simpler::py
