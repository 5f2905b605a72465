//===- Event.h - points in streams ----------------------------------------===//
//
// An event counts its records. A wait refers to the record that was the last one when the wait was
// launched, so recording again does not move waits that are already under way.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Stream.h"

namespace npu {

class NPU_API Event {
public:
  explicit Event(bool timing = false);

  /// Marks the present end of the stream. In a captured stream it marks a point of the graph.
  void record(Stream &stream);
  /// Makes the stream wait for the last record; no effect without one. Joins the stream to the
  /// capture of the record.
  void wait(Stream &stream) const;
  /// True without a record or when the last record has been reached. Throws for a record inside a
  /// capture.
  bool query() const;
  /// Blocks the host until the last record has been reached. Throws the device's pending error.
  void synchronize() const;
  bool recorded() const;
  /// Milliseconds from this event's last record to `end`'s. Both need timing and a finished record.
  double elapsedTo(const Event &end) const;
  /// Device of the last record, -1 without one.
  int deviceIndex() const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace npu
