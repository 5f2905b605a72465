//===- HostTrace.h - a line on stderr for each span of a run --------------===//
//
// Switched on by SIMPLER_HOST_STRACE=1; read by simpler_setup.tools.strace_timing. Spans: chip.run
// (from the call on), chip.run.wait (for runs before it), chip.run.runner_run, …device_wall (on the
// device), …device_wall.orch (the orchestration), …device_wall.sched (its tasks after that),
// …device_wall.slot<n>.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_HOST_TRACE_H
#define SIMPLER_BINDINGS_HOST_TRACE_H

#include <cstdint>
#include <string>

namespace simpler::py {

/// Read once from the environment.
bool hostTraceEnabled();
/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t hostTraceNow();
/// Writes the lines of the run that this thread executed last. `hash`: of its callable; `asked`:
/// when the run was asked for. Any thread.
void writeHostTrace(const std::string &hash, uint64_t asked);

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_HOST_TRACE_H
