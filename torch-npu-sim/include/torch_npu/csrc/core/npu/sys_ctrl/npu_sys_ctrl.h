//===- npu_sys_ctrl.h - whether the framework is alive --------------------===//
#pragma once

#include "npu_runtime/Device.h"

namespace c10_npu {

class NpuSysCtrl {
public:
  static NpuSysCtrl &GetInstance() {
    static NpuSysCtrl instance;
    return instance;
  }
  /// True from the first use of a device until its shutdown.
  bool GetInitFlag() { return npu::initialized() && !npu::isShutdown(); }
};

} // namespace c10_npu
