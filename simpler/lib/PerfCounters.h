//===- PerfCounters.h - what the host counts while a kernel runs ----------===//
//
// Hardware counters of the calling thread by perf_event_open, where the machine and its settings
// allow them; the thread's CPU time and page faults, which every Linux has. One system call per
// reading and source: for runs with enable_pmu only.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_PERF_COUNTERS_H
#define SIMPLER_PERF_COUNTERS_H

#include <cstdint>

namespace simpler {

struct PerfValues {
  static constexpr uint32_t kHardware = 4; // cycles, instructions, cache misses, branch misses
  uint64_t hardware[kHardware];
  uint64_t cpuNanoseconds, pageFaults;

  PerfValues operator-(const PerfValues &before) const;
};

class PerfCounters {
public:
  /// Of the calling thread, opened at its first use and closed when it ends.
  static PerfCounters &ofThread();
  ~PerfCounters();

  PerfValues read() const;
  /// Bit i: hardware counter i exists on this machine.
  static uint32_t available();

private:
  PerfCounters();
  int files_[PerfValues::kHardware];
};

} // namespace simpler

#endif // SIMPLER_PERF_COUNTERS_H
