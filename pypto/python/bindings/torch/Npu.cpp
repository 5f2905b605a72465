//===- Npu.cpp - pypto._torch_ops_npu: kernels on the simulated NPU --------===//
//
// Installs the launcher for NPU tensors. A module of its own, because only it needs torch_npu.
//
//===----------------------------------------------------------------------===//
#include "Pch.h"

#include "Device.h"

#include "npu_runtime/Graph.h"
#include "torch_npu/csrc/core/npu/NPUCachingAllocator.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"

namespace pypto::torch_ops {
namespace {

DeviceHooks *shared;

void launchOnStream(c10::DeviceIndex device, Frame &&frame, Values values) {
  npu::Stream &stream = npu::currentStream(device);
  c10_npu::NPUStream named = c10_npu::wrapNPUStream(stream);
  // The caching allocator orders reuse on the allocating stream; others have to be made known. It
  // returns at once for a tensor of this stream.
  for (const c10::IValue &value : values)
    if (value.isTensor())
      c10_npu::NPUCachingAllocator::recordStream(value.unsafeToTensorImpl()->storage().data_ptr(),
                                                 named);
  if (npu::tryLaunch(stream, frame.name(), [&] { shared->run(frame); }))
    return;
  auto kept = std::make_shared<Frame>(std::move(frame));
  npu::enqueueLaunch(
      stream, kept->name(), [kept] { shared->run(*kept); }, /*forceQueue=*/false,
      /*always=*/false);
  npu::finishLaunch(stream);
}

bool capturing(c10::DeviceIndex device) { return npu::currentStream(device).capture() != nullptr; }

int64_t format(const at::Tensor &tensor) { return at_npu::native::get_npu_format(tensor); }

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "pypto._torch_ops_npu",
                          "Launches kernels on the streams of torch_npu.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace
} // namespace pypto::torch_ops

PyMODINIT_FUNC PyInit__torch_ops_npu() {
  using namespace pypto::torch_ops;
  auto *hooks = static_cast<DeviceHooks *>(PyCapsule_Import(DeviceHooks::capsule, 0));
  if (!hooks)
    return nullptr;
  shared = hooks;
  hooks->capturing = capturing;
  hooks->format = format;
  hooks->current = [] { return npu::currentDevice(); };
  hooks->launch = launchOnStream;
  return PyModule_Create(&definition);
}
