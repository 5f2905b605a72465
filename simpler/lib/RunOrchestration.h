//===- RunOrchestration.h - one run from start to end ---------------------===//
#ifndef SIMPLER_RUN_ORCHESTRATION_H
#define SIMPLER_RUN_ORCHESTRATION_H

#include "Run.h"

namespace simpler {

/// While alive, impossible views made by this thread fail the run.
class ViewErrors {
public:
  explicit ViewErrors(SimplerRun *run);
  ~ViewErrors();

private:
  SimplerRun *outerRun_;
  void (*outerHandler_)(const char *);
};

/// Calls body(run) on this thread, waits for its tasks and returns 0 or the error code, with the
/// text in `error`.
int32_t runOrchestration(Device &device, const RunOptions &options,
                         void (*body)(SimplerRun &, void *), void *context, std::string &error);

template <typename Body>
int32_t runOrchestration(Device &device, const RunOptions &options, Body &&body,
                         std::string &error) {
  using Type = std::remove_reference_t<Body>;
  return runOrchestration(
      device, options, [](SimplerRun &run, void *context) { (*static_cast<Type *>(context))(run); },
      &body, error);
}

} // namespace simpler

#endif // SIMPLER_RUN_ORCHESTRATION_H
