//===- EndlessKernel.h - Ctrl-C while a kernel runs that never ends --------===//
#ifndef PYPTO_BINDINGS_ENDLESSKERNEL_H
#define PYPTO_BINDINGS_ENDLESSKERNEL_H

namespace pypto {

/// While one lives, on the main thread, the calling thread runs native code that looks at no
/// signal. SIGINT is Python's as ever, so KeyboardInterrupt follows when the kernel returns. One
/// that does not within a second of it ends the process, by that signal and after a line on stderr.
class RunsKernel {
public:
  explicit RunsKernel(const char *name);
  ~RunsKernel();
  RunsKernel(const RunsKernel &) = delete;
  RunsKernel &operator=(const RunsKernel &) = delete;

private:
  bool isWatched;
};

} // namespace pypto
#endif // PYPTO_BINDINGS_ENDLESSKERNEL_H
