//===- OpCommand.h - launching operators from C++ extensions --------------===//
#pragma once

#include <functional>
#include <string>

namespace at_npu::native {

class OpCommand {
public:
  /// Launches `fn` as the operator `name` on the current stream's task queue and returns; with
  /// TASK_QUEUE_ENABLE=0, or `sync`, runs it before returning. The closure owns what it captures;
  /// in it the current device and stream are those of the call. A result other than 0, or an
  /// exception, is the device's error under `name` and comes up at the next launch or wait. A full
  /// queue blocks.
  static void RunOpApiV2(const std::string &name, const std::function<int()> &fn,
                         bool sync = false);
};

} // namespace at_npu::native
