//===- OpCommand.cpp - the C++ surface for extensions ---------------------===//
#include "torch_npu/csrc/framework/OpCommand.h"

#include "Format.h"

#include "torch_npu/csrc/core/npu/NPUFormat.h"

#include "npu_runtime/Device.h"

namespace at_npu::native {

namespace {

void runChecked(const std::function<int()> &fn) {
  if (int code = fn())
    throw npu::DeviceError("it returned error code " + std::to_string(code));
}

/// The calling thread's device and stream, for the consumer thread.
struct Place {
  int device = npu::currentDevice();
  npu::Stream *stream = &npu::currentStream(device);

  void run(const std::function<int()> &fn) const {
    npu::setCurrentDevice(device);
    npu::setCurrentStream(*stream);
    runChecked(fn);
  }
};

} // namespace

void OpCommand::RunOpApiV2(const std::string &name, const std::function<int()> &fn, bool sync) {
  npu::initialize();
  Place place;
  npu::Stream &stream = *place.stream;
  npu::Device &device = stream.device();
  if (npu::config().taskQueueMode == 0 || stream.isSyncLaunch() || npu::TaskQueue::onConsumer()) {
    device.throwIfFailed(/*acknowledge=*/false);
    try {
      runChecked(fn);
    } catch (const std::exception &e) {
      throw npu::DeviceError("NPU operator '" + name + "' failed on device " +
                             std::to_string(device.index()) + ": " + e.what());
    }
    npu::finishLaunch(stream);
    return;
  }
  npu::TaskQueue &queue = device.taskQueue(stream);
  queue.enqueue(name, [place, fn] { place.run(fn); });
  if (sync) {
    queue.drain();
    stream.waitFinished();
    device.throwIfFailed(/*acknowledge=*/true);
  }
}

int64_t get_npu_format(const at::Tensor &self) { return npu::formatOf(self); }

std::vector<int64_t> get_npu_storage_sizes(const at::Tensor &self) {
  return npu::storageSizes(self);
}

at::Tensor empty_with_format(at::IntArrayRef sizes, const at::TensorOptions &options,
                             int64_t format, bool) {
  int device = options.device().has_index() ? options.device().index() : npu::currentDevice();
  return npu::emptyWithFormat(sizes, c10::typeMetaToScalarType(options.dtype()), device,
                              int(format));
}

at::Tensor npu_format_cast(const at::Tensor &self, int64_t acl_format) {
  return npu::castFormat(self, int(acl_format));
}

} // namespace at_npu::native
