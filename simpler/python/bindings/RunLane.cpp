//===- RunLane.cpp - queueing, waiting, Ctrl-C ----------------------------===//
#include "RunLane.h"
#include "HostTrace.h"

#include <csignal>

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

InterruptScope::InterruptScope(SimplerWorker *worker) {
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
  if (keep_.is_valid() || !callbacks_.empty() || callable_) {
    nb::gil_scoped_acquire gil;
    keep_.reset();
    callbacks_.clear();
    callable_.reset();
  }
}

bool RunState::wait(double seconds) {
  std::unique_lock lock(mutex_);
  auto over = [this] { return done(); };
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
  nb::object keep;
  std::vector<nb::object> callbacks;
  {
    std::lock_guard lock(mutex_);
    keep = std::move(keep_);
    callbacks.swap(callbacks_);
  }
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire gil;
  keep.reset();
  for (auto &callback : callbacks) {
    try {
      callback();
    } catch (nb::python_error &error) {
      error.discard_as_unraisable("RunHandle callback");
    }
  }
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
  cancelled_.store(true);
  if (started_.load()) {
    lane_->interrupt();
    return false;
  }
  return true;
}

void RunState::onDone(nb::object callback) {
  {
    std::unique_lock lock(mutex_);
    if (!done()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

//===-- RunLane -----------------------------------------------------------===//

RunLane::RunLane(const std::string &platform, int32_t threads, bool hostBuildGraph)
    : worker_(simpler_worker_create(platform.c_str(), threads)), hostBuildGraph_(hostBuildGraph) {
  if (!worker_)
    throw nb::value_error(simpler_last_error());
}

RunLane::~RunLane() { close(); }

void RunLane::close() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
  if (worker_)
    simpler_worker_destroy(worker_);
  worker_ = nullptr;
}

/// Waits until no run is in progress or queued, and becomes the one in progress.
void RunLane::enter() {
  std::unique_lock lock(mutex_);
  ++direct_;
  changed_.wait(lock, [this] { return !busy_ && queue_.empty(); });
  --direct_;
  busy_ = true;
}

void RunLane::leave() {
  std::lock_guard lock(mutex_);
  busy_ = false;
  if (direct_ || !queue_.empty() || closing_)
    changed_.notify_all();
}

void RunLane::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_ && queue_.empty(); });
}

void RunLane::interrupt() { simpler_worker_interrupt(worker_); }

void RunLane::traceWrite(const std::string &path) {
  if (simpler_trace_write(worker_, path.c_str()))
    throw nb::value_error(simpler_last_error());
}

int32_t RunLane::execute(const Loaded &callable, const std::vector<ChipTensor> &tensors,
                         const std::vector<uint64_t> &scalars, const CallConfig &config,
                         std::string &message, uint64_t asked) {
  SimplerCallOptions options = config.options(hostBuildGraph_);
  options.timing = hostTraceEnabled();
  int32_t status = simpler_callable_run(worker_, callable.callable, tensors.data(),
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
                         std::string &message) {
  uint64_t asked = hostTraceEnabled() ? hostTraceNow() : 0;
  enter();
  int32_t status = execute(callable, tensors, scalars, config, message, asked);
  leave();
  return status;
}

void RunLane::run(std::shared_ptr<Loaded> callable, TaskArgs &args, const CallConfig &config) {
  std::vector<ChipTensor> tensors;
  tensors.reserve(args.tensors.size());
  for (const HostTensor &t : args.tensors)
    tensors.push_back(t.chip);
  std::string message;
  int32_t status;
  {
    nb::gil_scoped_release release;
    InterruptScope interruptible(worker_);
    status = runHere(*callable, tensors, args.scalars, config, message);
  }
  if (status == SIMPLER_INTERRUPTED && PyErr_CheckSignals() != 0)
    throw nb::python_error(); // KeyboardInterrupt
  if (status)
    raiseRunError(status, message);
}

std::shared_ptr<RunState> RunLane::submit(std::shared_ptr<Loaded> callable, TaskArgs &args,
                                          const CallConfig &config) {
  auto state = std::make_shared<RunState>();
  state->lane_ = this;
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
  std::lock_guard lock(mutex_);
  if (!thread_.joinable())
    thread_ = std::thread([this] { loop(); });
  queue_.push_back(state);
  changed_.notify_all();
  return state;
}

void RunLane::loop() {
  for (;;) {
    std::shared_ptr<RunState> state;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [this] { return (!busy_ && !queue_.empty()) || (closing_ && queue_.empty()); });
      if (queue_.empty())
        return;
      state = queue_.front();
      queue_.pop_front();
      busy_ = true;
    }
    state->started_.store(true);
    int32_t status = SIMPLER_INTERRUPTED;
    std::string message = "the run was cancelled before it started";
    if (!state->cancelled_.load()) {
      message.clear();
      status = execute(*state->callable_, state->tensors_, state->scalars_, state->config_, message,
                       hostTraceEnabled() ? hostTraceNow() : 0);
    }
    state->finish(status, std::move(message));
    leave();
    state->announce();
  }
}

} // namespace simpler::py
