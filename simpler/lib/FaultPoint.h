//===- FaultPoint.h - where tests let the system refuse something ---------===//
//
// Threads, memory files and objects come from the system and may be refused. Tests set the hook to
// see that each refusal ends in a code and a text; in the product it is null.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_FAULT_POINT_H
#define SIMPLER_FAULT_POINT_H

#include <atomic>
#include <system_error>

namespace simpler {

/// Rest: a thread that has nothing to do is about to sleep, or has woken up; nothing to refuse.
enum class FaultPoint { Memory, ThreadStart, MemoryFile, MemoryFileWrite, ObjectLoad, Rest };

inline std::atomic<bool (*)(FaultPoint)> faultHook{nullptr};

inline bool refused(FaultPoint point) {
  auto hook = faultHook.load(std::memory_order_relaxed);
  return hook && hook(point);
}
inline void mayRefuseThread() {
  if (refused(FaultPoint::ThreadStart))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

} // namespace simpler

#endif // SIMPLER_FAULT_POINT_H
