//===- NPUEvent.h - events for C++ extensions -----------------------------===//
#pragma once

#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

class NPUEvent {
public:
  explicit NPUEvent(bool enable_timing = false) : event_(enable_timing) {}
  void record() { record(getCurrentNPUStream()); }
  void record(const NPUStream &stream) { event_.record(stream.native()); }
  void block(const NPUStream &stream) { event_.wait(stream.native()); }
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  bool isCreated() const { return event_.recorded(); }
  float elapsed_time(const NPUEvent &end) const { return float(event_.elapsedTo(end.event_)); }

private:
  npu::Event event_;
};

} // namespace c10_npu
