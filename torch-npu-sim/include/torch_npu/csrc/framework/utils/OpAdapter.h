//===- OpAdapter.h - the include that extensions use for operators --------===//
#pragma once

#include "torch_npu/csrc/core/npu/NPUFormat.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

namespace torch_npu::utils {
/// The device type "npu".
inline c10::DeviceType get_npu_device_type() { return c10::DeviceType::PrivateUse1; }
} // namespace torch_npu::utils
