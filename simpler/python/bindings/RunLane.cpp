//===- RunLane.cpp - queueing, waiting, Ctrl-C, the end -------------------===//
#include "RunLane.h"
#include "HostTrace.h"

#include <csignal>
#include <unistd.h>

namespace simpler::py {

//===-- Ctrl-C ------------------------------------------------------------===//

static constexpr int kSlots = 16;
static std::atomic<SimplerWorker *> running[kSlots];
static struct sigaction previousAction;

static void onInterrupt(int signal, siginfo_t *info, void *context) {
  for (auto &slot : running)
    if (SimplerWorker *worker = slot.load())
      simpler_worker_interrupt(worker);
  // Python's handler notes the KeyboardInterrupt for later.
  if (previousAction.sa_flags & SA_SIGINFO)
    previousAction.sa_sigaction(signal, info, context);
  else if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN)
    previousAction.sa_handler(signal);
}

static void installHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction current;
    if (sigaction(SIGINT, nullptr, &current) != 0 || current.sa_handler == SIG_DFL ||
        current.sa_handler == SIG_IGN)
      return; // the program handles Ctrl-C in another way
    previousAction = current;
    struct sigaction action{};
    action.sa_sigaction = onInterrupt;
    action.sa_flags = SA_SIGINFO | (current.sa_flags & ~SA_SIGINFO);
    action.sa_mask = current.sa_mask;
    sigaction(SIGINT, &action, nullptr);
  });
}

InterruptScope::InterruptScope(SimplerWorker *worker) : before_(simpler_worker_interrupts(worker)) {
  installHandler();
  for (int i = 0; i < kSlots && slot_ < 0; ++i) {
    SimplerWorker *none = nullptr;
    if (running[i].compare_exchange_strong(none, worker))
      slot_ = i;
  }
}

InterruptScope::~InterruptScope() {
  if (slot_ >= 0)
    running[slot_].store(nullptr);
}

//===-- RunState ----------------------------------------------------------===//

RunState::~RunState() {
  if (!keep_.is_valid() && callbacks_.empty() && !callable_)
    return;
  if (!Py_IsInitialized()) { // the objects went with the interpreter
    keep_.release();
    new std::vector<nb::object>(std::move(callbacks_));
    new std::shared_ptr<Loaded>(std::move(callable_));
    return;
  }
  GilAcquire gil;
  keep_.reset();
  callbacks_.clear();
  callable_.reset();
}

bool RunState::wait(double seconds) {
  auto over = [this] { return done(); };
  if (RunLane::current() == lane_.get()) {
    RunLane::Lock lock(lane_->mutex_);
    if (seconds != 0)
      lane_->await(lock, over);
    return done();
  }
  std::unique_lock lock(mutex_);
  if (seconds < 0) {
    changed_.wait(lock, over);
    return true;
  }
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), over);
}

void RunState::finish(int32_t status, std::string message) {
  std::lock_guard lock(mutex_);
  status_ = status;
  message_ = std::move(message);
  done_.store(true, std::memory_order_release);
  changed_.notify_all();
}

/// Lets go of the arguments and calls back; callbacks may use the worker.
void RunState::announce() {
  if (!Py_IsInitialized())
    return;
  GilAcquire gil;
  nb::object keep;
  std::vector<nb::object> callbacks;
  {
    std::lock_guard lock(mutex_);
    keep = std::move(keep_);
    callbacks.swap(callbacks_);
  }
  keep.reset();
  callable_.reset();
  for (const nb::object &callback : callbacks)
    callBack(callback);
  callbacks.clear();
}

void RunState::retire() {
  nb::object keep;
  {
    std::lock_guard lock(mutex_);
    keep = std::move(keep_);
  }
}

bool RunState::cancel() {
  if (done())
    return false;
  __atomic_store_n(&cancelled_, 1, __ATOMIC_SEQ_CST);
  return !started_.load();
}

void RunState::onDone(nb::object callback) {
  {
    std::unique_lock lock(mutex_);
    if (!done()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  pto::python::untilTheEnd([&] { callback(); });
}

void callBack(const nb::object &callback) {
  try {
    pto::python::untilTheEnd([&] { callback(); });
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("RunHandle callback");
  }
}

//===-- Life of a lane ----------------------------------------------------===//

static std::vector<std::weak_ptr<RunLane>> lanes; // under the GIL
static bool ended = false;
/// The lane whose thread this is.
static thread_local RunLane *ownLane = nullptr;

RunLane *RunLane::current() { return ownLane; }

std::shared_ptr<RunLane> RunLane::create(const std::string &platform, int32_t threads,
                                         bool hostBuildGraph) {
  auto lane = std::make_shared<RunLane>(platform, threads, hostBuildGraph);
  lane->self_ = lane;
  std::erase_if(lanes, [](const auto &other) { return other.expired(); });
  lanes.push_back(lane);
  return ownedByPython(std::move(lane));
}

RunLane::RunLane(const std::string &platform, int32_t threads, bool hostBuildGraph)
    : hostBuildGraph_(hostBuildGraph), owner_(getpid()) {
  SimplerWorker *worker = simpler_worker_create(platform.c_str(), threads);
  if (!worker)
    throw nb::value_error(simpler_last_error());
  worker_.reset(worker, simpler_worker_destroy);
}

RunLane::~RunLane() {
  if (thread_.joinable()) // of the process that has forked this one: it is not here
    new std::thread(std::move(thread_));
}

void RunLane::close() {
  if (getpid() != owner_)
    return;
  Lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  await(lock, [this] { return queue_.empty() && !busy_ && !direct_; });
  std::shared_ptr<SimplerWorker> worker = std::move(worker_);
  lock.unlock();
  endThread();
}

/// Nothing is queued, and nothing will be.
void RunLane::endThread() {
  Lock lock(mutex_);
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (!thread.joinable())
    return;
  if (ownLane == this)
    thread.detach(); // ends when the callback that closes has returned
  else
    thread.join();
}

void RunLane::endAll() {
  ended = true;
  for (const auto &weak : lanes)
    if (auto lane = weak.lock(); lane && lane->owner_ == getpid())
      lane->end();
}

void RunLane::end() {
  std::unique_ptr<nb::python_error> stopped;
  auto wait = [this] {
    GilRelease release;
    Lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(100),
                             [this] { return announced_ == submitted_; });
  };
  while (!wait())
    if (PyErr_CheckSignals() != 0) {
      if (stopped) // asked twice: what does not stop ends with the process
        throw nb::python_error();
      stopped = std::make_unique<nb::python_error>();
      cancelAll();
    }
  {
    GilRelease release;
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    endThread();
  }
  if (stopped)
    throw nb::python_error(std::move(*stopped));
}

void RunLane::cancelAll() {
  std::lock_guard lock(mutex_);
  for (const auto &state : queue_)
    state->cancel();
  if (current_)
    current_->cancel();
}

//===-- Runs --------------------------------------------------------------===//

/// Waits; on the lane's own thread, in a callback, by executing what is queued.
template <typename Over> void RunLane::await(Lock &lock, Over over) {
  auto mayHelp = [this] { return ownLane == this && !busy_ && !queue_.empty(); };
  while (!over()) {
    if (mayHelp())
      runNext(lock);
    else {
      ++waiting_;
      changed_.wait(lock, [&] { return over() || mayHelp(); });
      --waiting_;
    }
  }
}

/// Waits until no run is in progress or queued, and becomes the one in progress.
void RunLane::enter() {
  Lock lock(mutex_);
  ++direct_;
  await(lock, [this] { return !busy_ && queue_.empty(); });
  --direct_;
  if (!worker_ || closing_) {
    changed_.notify_all();
    throw std::runtime_error("Worker.run: the worker is CLOSED, it must be READY");
  }
  busy_ = true;
}

void RunLane::leave() {
  std::lock_guard lock(mutex_);
  busy_ = false;
  if (waiting_ || !queue_.empty() || closing_)
    changed_.notify_all();
}

void RunLane::drain() {
  Lock lock(mutex_);
  await(lock, [this] { return !busy_ && queue_.empty(); });
}

std::shared_ptr<SimplerWorker> RunLane::held() {
  std::lock_guard lock(mutex_);
  return worker_;
}

void RunLane::interrupt() {
  if (auto worker = held())
    simpler_worker_interrupt(worker.get());
}

void RunLane::traceStart() {
  if (auto worker = held())
    simpler_trace_start(worker.get());
}

void RunLane::traceWrite(const std::string &path) {
  auto worker = held();
  if (!worker)
    throw std::runtime_error("trace_write: the lane is closed");
  if (simpler_trace_write(worker.get(), path.c_str()))
    throw nb::value_error(simpler_last_error());
}

int32_t RunLane::execute(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                         const std::vector<uint64_t> &scalars, const CallConfig &config,
                         std::string &message, uint64_t asked, const uint64_t *interrupts,
                         const int32_t *cancelled) {
  if (config.aicpuThreads != 0 && config.aicpuThreads < 2) {
    message = "aicpu_thread_num is " + std::to_string(config.aicpuThreads) +
              "; it must be 0 (the platform's default) or at least 2";
    return SIMPLER_INVALID_ARGS;
  }
  SimplerCallOptions options = config.options(hostBuildGraph_);
  options.timing = hostTraceEnabled();
  options.interrupts = interrupts;
  options.cancelled = cancelled;
  int32_t status = simpler_callable_run(worker_.get(), callable.callable, tensors.data(),
                                        static_cast<int32_t>(tensors.size()), scalars.data(),
                                        static_cast<int32_t>(scalars.size()), &options);
  if (status)
    message = simpler_last_error();
  if (options.timing)
    writeHostTrace(callable.hash, asked);
  return status;
}

int32_t RunLane::runHere(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                         const std::vector<uint64_t> &scalars, const CallConfig &config,
                         std::string &message, const uint64_t *interrupts) {
  uint64_t asked = hostTraceEnabled() ? hostTraceNow() : 0;
  enter();
  int32_t status = execute(callable, tensors, scalars, config, message, asked, interrupts, nullptr);
  leave();
  return status;
}

void RunLane::run(std::shared_ptr<Loaded> callable, TaskArgs &args, const CallConfig &config) {
  std::vector<ChipTensor> tensors;
  tensors.reserve(args.tensors.size());
  for (const HostTensor &t : args.tensors)
    tensors.push_back(t.chip);
  auto worker = held();
  if (!worker)
    throw std::runtime_error("Worker.run: the worker is CLOSED, it must be READY");
  std::string message;
  int32_t status;
  {
    InterruptScope interruptible(worker.get());
    if (PyErr_CheckSignals() != 0) // Ctrl-C before the scope: the run would not see it
      throw nb::python_error();
    GilRelease release;
    status = runHere(*callable, tensors, args.scalars, config, message, interruptible.before());
  }
  if (status == SIMPLER_INTERRUPTED && PyErr_CheckSignals() != 0)
    throw nb::python_error(); // KeyboardInterrupt
  if (status)
    raiseRunError(status, message);
}

std::shared_ptr<RunState> RunLane::submit(std::shared_ptr<Loaded> callable, TaskArgs &args,
                                          const CallConfig &config) {
  auto state = std::make_shared<RunState>();
  state->lane_ = self_.lock();
  state->callable_ = std::move(callable);
  nb::list keep;
  for (const HostTensor &t : args.tensors) {
    state->tensors_.push_back(t.chip);
    if (t.buffer.is_valid())
      keep.append(t.buffer);
  }
  state->keep_ = keep;
  state->scalars_ = args.scalars;
  state->config_ = config;
  if (ended)
    throw std::runtime_error(
        "Worker.submit: the interpreter is ending; nobody would see the end of the run");
  std::lock_guard lock(mutex_);
  if (closing_)
    throw std::runtime_error("Worker.submit: the worker is CLOSED, it must be READY");
  if (!thread_.joinable())
    thread_ = std::thread([self = self_.lock()] { self->loop(); });
  queue_.push_back(state);
  ++submitted_;
  changed_.notify_all();
  return state;
}

void RunLane::loop() {
  ownLane = this;
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return (!busy_ && !queue_.empty()) || ((closing_ || ending_) && queue_.empty());
    });
    if (queue_.empty())
      return;
    runNext(lock);
  }
}

/// The first run of the queue, on the lane's thread.
void RunLane::runNext(Lock &lock) {
  std::shared_ptr<RunState> state = std::move(queue_.front());
  queue_.pop_front();
  busy_ = true;
  current_ = state;
  lock.unlock();
  state->started_.store(true);
  int32_t status = SIMPLER_INTERRUPTED;
  std::string message = "the run was cancelled before it started";
  if (!state->isCancelled()) {
    message.clear();
    status = execute(*state->callable_, state->tensors_, state->scalars_, state->config_, message,
                     hostTraceEnabled() ? hostTraceNow() : 0, nullptr, &state->cancelled_);
  }
  state->finish(status, std::move(message));
  lock.lock();
  current_.reset();
  lock.unlock();
  leave();
  state->announce();
  state.reset();
  lock.lock();
  ++announced_;
  changed_.notify_all();
}

} // namespace simpler::py
