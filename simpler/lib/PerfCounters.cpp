//===- PerfCounters.cpp - perf_event_open, thread clock, getrusage --------===//
#include "PerfCounters.h"

#include <atomic>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace simpler {

static std::atomic<uint32_t> existing{0};

static int openCounter(uint64_t what) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = what;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

PerfCounters::PerfCounters() {
  constexpr uint64_t kinds[PerfValues::kHardware] = {
      PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES,
      PERF_COUNT_HW_BRANCH_MISSES};
  uint32_t found = 0;
  for (uint32_t i = 0; i < PerfValues::kHardware; ++i) {
    files_[i] = openCounter(kinds[i]);
    found |= static_cast<uint32_t>(files_[i] >= 0) << i;
  }
  existing.fetch_or(found);
}

PerfCounters::~PerfCounters() {
  for (int file : files_)
    if (file >= 0)
      close(file);
}

PerfCounters &PerfCounters::ofThread() {
  static thread_local PerfCounters counters;
  return counters;
}

uint32_t PerfCounters::available() { return existing.load(); }

PerfValues PerfCounters::read() const {
  PerfValues values{};
  for (uint32_t i = 0; i < PerfValues::kHardware; ++i)
    if (files_[i] >= 0 && ::read(files_[i], &values.hardware[i], 8) != 8)
      values.hardware[i] = 0;
  timespec cpu;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  values.cpuNanoseconds = static_cast<uint64_t>(cpu.tv_sec) * 1000000000 + cpu.tv_nsec;
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) == 0)
    values.pageFaults = static_cast<uint64_t>(usage.ru_minflt + usage.ru_majflt);
  return values;
}

PerfValues PerfValues::operator-(const PerfValues &before) const {
  PerfValues difference{};
  for (uint32_t i = 0; i < kHardware; ++i)
    difference.hardware[i] = hardware[i] - before.hardware[i];
  difference.cpuNanoseconds = cpuNanoseconds - before.cpuNanoseconds;
  difference.pageFaults = pageFaults - before.pageFaults;
  return difference;
}

} // namespace simpler
