//===- Parking.cpp - futex wait and wake ----------------------------------===//
#include "Parking.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace simpler {

#ifdef SIMPLER_EXPLORE
// Simulated threads share one real thread: sleeping is letting the others run. A time-out may
// happen at any moment.
void Parking::park(int64_t microseconds) {
  for (int tries = 0; state_.load() != kPermit; ++tries)
    if (microseconds > 0 && tries > 300)
      return;
}
void Parking::unpark() { state_.store(kPermit); }
#else
void Parking::park(int64_t microseconds) {
  uint32_t expected = kNone;
  if (!state_.compare_exchange_strong(expected, kAsleep))
    return; // the permit was there
  timespec limit{microseconds / 1000000, microseconds % 1000000 * 1000};
  for (;;) {
    long result = syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kAsleep,
                          microseconds > 0 ? &limit : nullptr, nullptr, 0);
    if (state_.load() == kPermit)
      return;
    if (result != 0 && microseconds > 0) {
      expected = kAsleep;
      state_.compare_exchange_strong(expected, kNone); // unless a permit arrives right now
      return;
    }
  }
}

void Parking::unpark() {
  if (state_.exchange(kPermit) == kAsleep)
    syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
#endif

} // namespace simpler
