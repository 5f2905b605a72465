//===- RunTimes.h - when a run began, and the tasks of its timing slots ---===//
//
// A program may give tasks one of 16 timing slots. Their times come from the executors' event
// rings, so that tasks without a slot, and runs that nobody times, pay nothing.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_RUN_TIMES_H
#define SIMPLER_RUN_TIMES_H

#include "simpler/callable_api.h"

#include <utility>
#include <vector>

namespace simpler {

class Device;

class RunTimes {
public:
  /// Of the run that the calling thread executed last.
  static SimplerRunTimes &last();

  /// By the orchestrator: the task belongs to a slot (others are ignored).
  void note(uint64_t task, int32_t slot);
  bool any() const { return !slotOf_.empty(); }
  /// Adds the events of the noted tasks to the slots of `times`. The run is over.
  void collect(Device &device, SimplerRunTimes &times) const;

private:
  std::vector<std::pair<uint64_t, uint8_t>> slotOf_; // ascending ids
};

} // namespace simpler

#endif // SIMPLER_RUN_TIMES_H
