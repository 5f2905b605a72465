//===- Device.h - where kernels run ---------------------------------------===//
//
// CPU tensors: on the calling thread. NPU tensors: on the current stream of their device, through
// the functions that pypto._torch_ops_npu installs when torch_npu is there.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_TORCH_DEVICE_H
#define PYPTO_BINDINGS_TORCH_DEVICE_H

#include "Kernel.h"

namespace pypto::torch_ops {

struct DeviceHooks {
  static constexpr const char *capsule = "pypto._torch_ops._device";

  /// Frame::run, for the module that has no code of Frame.
  void (*run)(const Frame &frame) = nullptr;

  /// Launches on the current stream of the device; the memory of `values` is not reused before the
  /// kernel has run. Errors of work that runs later are the device's.
  void (*launch)(c10::DeviceIndex device, Frame &&frame, Values values) = nullptr;
  bool (*capturing)(c10::DeviceIndex device) = nullptr;
  int (*current)() = nullptr;
  /// torch_npu's number of the tensor's storage format.
  int64_t (*format)(const at::Tensor &tensor) = nullptr;
};

/// The functions of torch_npu's device; loads them on first use. Throws without torch_npu.
const DeviceHooks &npuHooks();
DeviceHooks &hooks();

/// Stops launches: `reason` is what they say. Empty: go on.
void setAdmission(const std::string &reason);

/// Compiles if need be, checks the tensors and runs or launches the kernel. `values` are in the
/// order of the kernel's parameters. `known`: the program for them, null: it is looked up.
const Specialisation &launch(Kernel &kernel, std::span<c10::IValue> values, c10::Device device,
                             const Specialisation *known);

} // namespace pypto::torch_ops
#endif // PYPTO_BINDINGS_TORCH_DEVICE_H
