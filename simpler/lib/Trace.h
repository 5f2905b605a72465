//===- Trace.h - events of one executor -----------------------------------===//
//
// A ring per executor, written without synchronisation by its thread and read
// when the worker's runs are over. A full ring overwrites the oldest events and
// counts them. Exporters (Chrome JSON, swimlane, PMU rows) read the same events.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TRACE_H
#define SIMPLER_TRACE_H

#include "simpler/c_api.h"

#include <cstdint>
#include <memory>

namespace simpler {

struct TraceEvent {
  uint64_t begin, end; // ticks
  uint64_t taskId;
  const SimplerKernel *kernel;
  int32_t block;
  int32_t blocks;
  uint8_t lane; // sub-block
  uint8_t coreType;
};

class TraceRing {
public:
  explicit TraceRing(uint64_t capacity = 1 << 16)
      : capacity_(capacity), events_(new TraceEvent[capacity]()) {} // touched: no page faults later
  void add(const TraceEvent &event) {
    uint64_t at = count_++;
    events_[at & (capacity_ - 1)] = event;
    __builtin_prefetch(&events_[(at + 8) & (capacity_ - 1)], 1);
  }
  void clear() { count_ = 0; }
  uint64_t dropped() const { return count_ > capacity_ ? count_ - capacity_ : 0; }
  template <typename F> void forEach(F &&visit) const {
    for (uint64_t i = dropped(); i < count_; ++i)
      visit(events_[i & (capacity_ - 1)]);
  }

private:
  uint64_t capacity_; // power of two
  uint64_t count_ = 0;
  std::unique_ptr<TraceEvent[]> events_;
};

} // namespace simpler

#endif // SIMPLER_TRACE_H
