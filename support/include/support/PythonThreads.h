//===- PythonThreads.h - the GIL while the interpreter ends ---------------===//
//
// Before Python 3.14 a thread that asks for the GIL while the interpreter ends is unwound by
// pthread_exit(). The unwinding runs destructors, which must not touch Python now, and at the first
// function that is noexcept (each destructor, each binding) it becomes std::terminate. Here such a
// thread stands still instead, as it does in Python 3.14, and goes with the process.
//
// Header only, for extensions compiled with exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_SUPPORT_PYTHON_THREADS_H
#define PTO_SUPPORT_PYTHON_THREADS_H

#include <Python.h>

#include <exception>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace pto::python {

[[noreturn]] inline void standStill() noexcept {
  for (;;)
    pause();
}

/// Calls what may need the GIL. The unwinding of the thread is caught in the frame where it begins,
/// and never goes on.
template <typename Function> decltype(auto) untilTheEnd(Function &&function) {
  try {
    return std::forward<Function>(function)();
  } catch (...) {
    if (Py_IsInitialized())
      throw;
    standStill();
  }
}

inline void restoreThread(PyThreadState *state) {
  untilTheEnd([=] { PyEval_RestoreThread(state); });
}

/// The scope does not hold the GIL.
class GilRelease {
public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { restoreThread(state_); }
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  PyThreadState *state_;
};

/// The scope holds the GIL, on any thread. Only while Py_IsInitialized(): ask before.
class GilAcquire {
public:
  GilAcquire() : state_(untilTheEnd([] { return PyGILState_Ensure(); })) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire &) = delete;
  GilAcquire &operator=(const GilAcquire &) = delete;

private:
  PyGILState_STATE state_;
};

/// For foreign code that takes the GIL in a destructor (torch, pybind11): a thread other than the
/// main one that is to terminate the process while the interpreter ends stands still instead.
inline void keepProcessFromTerminating() {
  static std::terminate_handler previous;
  static const bool once = [] {
    previous = std::set_terminate([] {
      if (!Py_IsInitialized() && syscall(SYS_gettid) != getpid())
        standStill();
      previous();
    });
    return true;
  }();
  (void)once;
}

} // namespace pto::python

#endif // PTO_SUPPORT_PYTHON_THREADS_H
