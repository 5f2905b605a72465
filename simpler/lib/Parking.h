//===- Parking.h - a thread sleeps until someone gives it a permit --------===//
//
// One permit at most, as in java.util.concurrent.LockSupport: unpark before park
// makes the next park return at once, so no wake-up is lost. Linux futex.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_PARKING_H
#define SIMPLER_PARKING_H

#include "Atomic.h"

#include <cstdint>

namespace simpler {

class Parking {
public:
  /// Sleeps until a permit is there, or `microseconds` > 0 have passed. The permit stays.
  void park(int64_t microseconds = 0);
  /// Takes the permit, if there is one. What it stands for is looked at afterwards.
  void takePermit() { state_.exchange(kNone); }
  /// Whether the next park returns at once.
  bool permitted() const { return state_.load() == kPermit; }
  /// Any thread; async-signal-safe.
  void unpark();

private:
  static constexpr uint32_t kNone = 0, kPermit = 1, kAsleep = 2;
  Atomic<uint32_t> state_{kNone};
};

} // namespace simpler

#endif // SIMPLER_PARKING_H
