//===- Interrupt.h - workers, and Ctrl-C while they run -------------------===//
#ifndef PYPTO_BINDINGS_INTERRUPT_H
#define PYPTO_BINDINGS_INTERRUPT_H

#include "simpler/c_api.h"
#include <string>

namespace pypto::core {

/// The worker that runs programs of an architecture ("a2a3", "a5"); made on first use and kept.
/// A forked child gets its own. Needs the GIL. Null when threads cannot be started.
SimplerWorker *workerOf(const std::string &arch);

/// While one lives, SIGINT also asks the worker to stop, so that `simpler_run` returns and Python
/// can raise KeyboardInterrupt. Python's own handler runs too.
class Interruptible {
public:
  explicit Interruptible(SimplerWorker *worker);
  ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;
  /// The worker's interrupts before, for simpler_run_since.
  uint64_t before() const { return before_; }

private:
  uint64_t before_;
};

} // namespace pypto::core
#endif // PYPTO_BINDINGS_INTERRUPT_H
