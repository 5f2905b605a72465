//===- Clock.h - cheap time stamps ----------------------------------------===//
#ifndef SIMPLER_CLOCK_H
#define SIMPLER_CLOCK_H

#include <cstdint>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace simpler {

/// Monotonic, same on all cores; unit: see ticksPerMicrosecond.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
#endif
}

inline uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

inline void cpuRelax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace simpler

#endif // SIMPLER_CLOCK_H
