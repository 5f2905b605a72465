//===- NPUGuard.h - scopes of device and stream for C++ extensions --------===//
#pragma once

#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

/// The device is the thread's current one while the guard lives.
class NPUGuard {
public:
  explicit NPUGuard(c10::DeviceIndex index) : outer_(npu::currentDevice()) { set_index(index); }
  explicit NPUGuard(c10::Device device) : NPUGuard(device.index()) {
    TORCH_CHECK(device.type() == c10::DeviceType::PrivateUse1, "NPUGuard: ", device, " is no NPU");
  }
  ~NPUGuard() { npu::setCurrentDevice(outer_); }
  NPUGuard(const NPUGuard &) = delete;
  NPUGuard &operator=(const NPUGuard &) = delete;
  void set_index(c10::DeviceIndex index) {
    if (index >= 0)
      npu::setCurrentDevice(index);
  }
  c10::Device current_device() const {
    return {c10::DeviceType::PrivateUse1, c10::DeviceIndex(npu::currentDevice())};
  }

private:
  int outer_;
};

/// The stream, and its device, are current while the guard lives.
class NPUStreamGuard {
public:
  explicit NPUStreamGuard(NPUStream stream)
      : device_(stream.device_index()), outer_(npu::currentStream(stream.device_index())) {
    setCurrentNPUStream(stream);
  }
  ~NPUStreamGuard() { npu::setCurrentStream(outer_); }
  NPUStreamGuard(const NPUStreamGuard &) = delete;
  NPUStreamGuard &operator=(const NPUStreamGuard &) = delete;

private:
  NPUGuard device_;
  npu::Stream &outer_;
};

} // namespace c10_npu
