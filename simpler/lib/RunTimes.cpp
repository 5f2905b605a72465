//===- RunTimes.cpp -------------------------------------------------------===//
#include "RunTimes.h"

#include "Device.h"

#include <algorithm>

namespace simpler {

SimplerRunTimes &RunTimes::last() {
  static thread_local SimplerRunTimes times{};
  return times;
}

void RunTimes::note(uint64_t task, int32_t slot) {
  if (slot >= 0 && slot < SIMPLER_TIMING_SLOTS && task != SIMPLER_NO_TASK)
    slotOf_.emplace_back(task, static_cast<uint8_t>(slot));
}

void RunTimes::collect(Device &device, SimplerRunTimes &times) const {
  double perTick = device.nanosecondsPerTick();
  auto at = [&](uint64_t ticks) {
    return device.traceStartNanoseconds() +
           static_cast<uint64_t>(static_cast<double>(ticks - device.traceStartTicks()) * perTick);
  };
  for (uint32_t i = 0; i < device.numExecutors(); ++i)
    if (const TraceRing *ring = device.executor(i)->storedTrace())
      ring->forEach([&](const TraceEvent &event) {
        auto found = std::lower_bound(slotOf_.begin(), slotOf_.end(),
                                      std::pair<uint64_t, uint8_t>(event.taskId, 0));
        if (found == slotOf_.end() || found->first != event.taskId)
          return;
        SimplerSlotTimes &slot = times.slots[found->second];
        uint64_t begin = at(event.begin), end = at(event.end);
        slot.first = slot.blocks ? std::min(slot.first, begin) : begin;
        slot.last = std::max(slot.last, end);
        slot.busy += end - begin;
        ++slot.blocks;
      });
}

} // namespace simpler

extern "C" void simpler_callable_times(SimplerRunTimes *out) { *out = simpler::RunTimes::last(); }
