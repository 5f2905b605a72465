//===- NPUCachingAllocator.h - device memory for C++ extensions -----------===//
#pragma once

#include "torch_npu/csrc/core/npu/NPUStream.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace c10_npu::NPUCachingAllocator {

inline c10::DeviceAllocator *get() { return c10::getDeviceAllocator(c10::DeviceType::PrivateUse1); }
/// The memory is used on `stream`: it is not reused before that stream has passed its release.
inline void recordStream(const c10::DataPtr &ptr, NPUStream stream) {
  get()->recordStream(ptr, stream.unwrap());
}
inline void emptyCache() { get()->emptyCache(); }

} // namespace c10_npu::NPUCachingAllocator
