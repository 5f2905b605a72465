//===- Error.h - how the device runtime fails -----------------------------===//
#pragma once

#include "npu_runtime/Export.h"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace npu {

/// Any failure of the device: illegal use, or work that failed after its launch had returned.
class NPU_API DeviceError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The device has no room for a request, also after the cache was given back.
class NPU_API OutOfMemory : public DeviceError {
public:
  using DeviceError::DeviceError;
};

/// While a host thread waits for the device it must not hold what device work may need (the Python
/// lock). The hooks run around each such wait: `enter` returns a token that `leave` gets back. Both
/// may be null.
struct WaitHooks {
  void *(*enter)() = nullptr;
  void (*leave)(void *token) = nullptr;
};
NPU_API void setWaitHooks(WaitHooks hooks);

/// Scope of one wait on the host.
class NPU_API HostWait {
public:
  HostWait();
  ~HostWait();
  HostWait(const HostWait &) = delete;
  HostWait &operator=(const HostWait &) = delete;

private:
  void *token_ = nullptr;
};

} // namespace npu
