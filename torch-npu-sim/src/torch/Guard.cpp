//===- Guard.cpp - how torch sees devices, streams and events -------------===//
#include "Generator.h"
#include "Pinned.h"
#include "Storage.h"

#include "npu_runtime/Graph.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace npu {

void resizeStorage(const c10::Storage &storage, size_t bytes);

namespace {

c10::Device deviceOf(int index) { return {c10::kPrivateUse1, c10::DeviceIndex(index)}; }
c10::Stream toTorch(const Stream &stream) {
  return c10::Stream(c10::Stream::UNSAFE, deviceOf(stream.device().index()), stream.id());
}
Stream &fromTorch(const c10::Stream &stream) {
  TORCH_CHECK(stream.device_type() == c10::kPrivateUse1, stream, " is not an NPU stream");
  return npu::device(stream.device_index()).stream(stream.id());
}
int indexOr(c10::Device device) { return device.has_index() ? device.index() : currentDevice(); }

/// A host call that asks for an event or waits for it, outside the capture that may have recorded
/// it.
void refuse(const Event &event, const char *what) {
  if (int index = event.deviceIndex(); index >= 0)
    refuseHostCall(npu::device(index), what);
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kPrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device old = deviceOf(currentDevice());
    setDevice(device);
    return old;
  }
  c10::Device getDevice() const override { return deviceOf(currentDevice()); }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.type() == c10::kPrivateUse1, "expected an NPU device, got ", device);
    if (device.index() >= 0)
      setCurrentDevice(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < npu::deviceCount() && !inBadFork())
      setCurrentDevice(device.index());
  }
  c10::Stream getStream(c10::Device device) const override {
    return toTorch(currentStream(indexOr(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return toTorch(npu::device(indexOr(device)).defaultStream());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high) const override {
    return toTorch(npu::device(indexOr(device)).streamFromPool(high ? -1 : 0));
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return toTorch(npu::device(indexOr(device)).streamFromPool(priority));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    Stream &next = fromTorch(stream);
    c10::Stream old = toTorch(currentStream(stream.device_index()));
    setCurrentStream(next);
    return old;
  }
  void *getStreamNativeHandle(const c10::Stream stream) const override {
    return &fromTorch(stream);
  }
  bool isStreamCapturing(const c10::Stream &stream) const override {
    return fromTorch(stream).capture() != nullptr;
  }

  void destroyEvent(void *event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Event *>(event);
  }
  void record(void **event, const c10::Stream &stream, c10::DeviceIndex device,
              c10::EventFlag flag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "Event device index ", int(device),
                " does not match recording stream's device index ", int(stream.device_index()),
                ".");
    if (!*event)
      *event = new Event(flag == c10::EventFlag::BACKEND_DEFAULT);
    static_cast<Event *>(*event)->record(fromTorch(stream));
  }
  void block(void *event, const c10::Stream &stream) const override {
    if (event)
      static_cast<Event *>(event)->wait(fromTorch(stream));
  }
  bool queryEvent(void *event) const override {
    if (!event)
      return true;
    refuse(*static_cast<Event *>(event), "an event query");
    return static_cast<Event *>(event)->query();
  }
  void synchronizeEvent(void *event) const override {
    if (!event)
      return;
    refuse(*static_cast<Event *>(event), "event synchronization");
    static_cast<Event *>(event)->synchronize();
  }
  double elapsedTime(void *start, void *end, c10::DeviceIndex) const override {
    TORCH_CHECK(start && end, "Both events must be recorded before calculating elapsed time.");
    return static_cast<Event *>(start)->elapsedTo(*static_cast<Event *>(end));
  }

  c10::DeviceIndex deviceCount() const noexcept override {
    return c10::DeviceIndex(npu::deviceCount());
  }
  bool queryStream(const c10::Stream &stream) const override {
    Stream &own = fromTorch(stream);
    refuseInCapture(own, "a stream query");
    refuseHostCall(own.device(), "a stream query");
    return (own.isSyncLaunch() || own.device().taskQueue(own).idle()) && own.query();
  }
  void synchronizeStream(const c10::Stream &stream) const override {
    refuseInCapture(fromTorch(stream), "stream synchronization");
    refuseHostCall(fromTorch(stream).device(), "stream synchronization");
    fromTorch(stream).synchronize();
  }
  void synchronizeDevice(c10::DeviceIndex index) const override {
    npu::device(index < 0 ? currentDevice() : index).synchronize();
  }
  void recordDataPtrOnStream(const c10::DataPtr &ptr, const c10::Stream &stream) const override {
    torchAllocator().recordStream(ptr, stream);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return npu::deviceCount() > 0; }
  void init() const override { initialize(); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return initialized(); }
  c10::DeviceIndex deviceCount() const override { return c10::DeviceIndex(npu::deviceCount()); }
  void setCurrentDevice(c10::DeviceIndex device) const override { npu::setCurrentDevice(device); }
  c10::DeviceIndex getCurrentDevice() const override { return c10::DeviceIndex(currentDevice()); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    int old = currentDevice();
    npu::setCurrentDevice(device);
    return c10::DeviceIndex(old);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    int old = currentDevice();
    if (device >= 0)
      npu::setCurrentDevice(device);
    return c10::DeviceIndex(old);
  }
  const at::Generator &getDefaultGenerator(c10::DeviceIndex device) const override {
    return defaultGenerator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return makeGenerator(device);
  }
  at::Device getDeviceFromPtr(void *data) const override {
    for (int i = 0; initialized() && i < npu::deviceCount(); ++i)
      for (const auto &segment : npu::device(i).allocator().segments())
        if (data >= segment.address &&
            data < static_cast<const char *>(segment.address) + segment.bytes)
          return deviceOf(i);
    TORCH_CHECK(false, "the pointer does not belong to a simulated NPU");
  }
  bool isPinnedPtr(const void *data) const override { return isPinned(data); }
  at::Allocator *getPinnedMemoryAllocator() const override { return pinnedAllocator(); }
  void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override {
    resizeStorage(storage, bytes);
  }
};

const bool hooked = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

} // namespace
} // namespace npu
