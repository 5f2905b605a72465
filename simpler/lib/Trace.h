//===- Trace.h - events of one executor -----------------------------------===//
//
// A ring per executor, written without synchronisation by its thread and read
// when the worker's runs are over. A full ring overwrites the oldest events and
// counts them. Exporters (Chrome JSON, swimlane, PMU rows) read the same events.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TRACE_H
#define SIMPLER_TRACE_H

#include "PerfCounters.h"
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

/// What a thread did between kernels (spec 11.1).
struct PhaseEvent {
  enum Kind : uint8_t { Complete, AsyncPoll, Dispatch, DummyTask, PredicatedSkip };
  uint64_t begin, end; // ticks
  uint32_t tasks, hits, misses;
  Kind kind;
};

/// What a recording holds beside the kernels' times.
struct TraceDetail {
  bool phases = false, counters = false;
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
  /// The same, with what the host counted meanwhile.
  void add(const TraceEvent &event, const PerfValues &counted) {
    counted_[count_ & (capacity_ - 1)] = counted;
    add(event);
  }
  void add(const PhaseEvent &phase) { phases_[phaseCount_++ & (capacity_ - 1)] = phase; }
  /// Before recording starts. Throws std::bad_alloc.
  void reset(TraceDetail detail) {
    count_ = phaseCount_ = 0;
    if (detail.counters && !counted_)
      counted_.reset(new PerfValues[capacity_]());
    if (detail.phases && !phases_)
      phases_.reset(new PhaseEvent[capacity_]());
    detail_ = detail;
  }
  bool phases() const { return detail_.phases; }
  bool counters() const { return detail_.counters; }
  uint64_t dropped() const { return count_ > capacity_ ? count_ - capacity_ : 0; }
  template <typename F> void forEach(F &&visit) const {
    for (uint64_t i = dropped(); i < count_; ++i)
      visit(events_[i & (capacity_ - 1)]);
  }
  template <typename F> void forEachCounted(F &&visit) const {
    for (uint64_t i = dropped(); i < count_; ++i)
      visit(events_[i & (capacity_ - 1)],
            detail_.counters ? counted_[i & (capacity_ - 1)] : PerfValues{});
  }
  template <typename F> void forEachPhase(F &&visit) const {
    for (uint64_t i = phaseCount_ > capacity_ ? phaseCount_ - capacity_ : 0; i < phaseCount_; ++i)
      visit(phases_[i & (capacity_ - 1)]);
  }

private:
  uint64_t capacity_; // power of two
  uint64_t count_ = 0;
  std::unique_ptr<TraceEvent[]> events_;
  TraceDetail detail_;
  std::unique_ptr<PerfValues[]> counted_; // beside events_
  uint64_t phaseCount_ = 0;
  std::unique_ptr<PhaseEvent[]> phases_;
};

} // namespace simpler

#endif // SIMPLER_TRACE_H
