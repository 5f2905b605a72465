//===- NPUStream.h - streams for C++ extensions ---------------------------===//
#pragma once

#include "npu_runtime/Device.h"

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

using aclrtStream = void *;

namespace c10_npu {

/// A stream of the NPU; a value that names it.
class NPUStream {
public:
  enum Unchecked { UNCHECKED };
  explicit NPUStream(c10::Stream stream) : stream_(stream) {
    TORCH_CHECK(stream_.device_type() == c10::DeviceType::PrivateUse1, "NPUStream: ", stream,
                " is no NPU stream");
  }
  NPUStream(Unchecked, c10::Stream stream) : stream_(stream) {}

  bool operator==(const NPUStream &other) const noexcept { return unwrap() == other.unwrap(); }
  bool operator!=(const NPUStream &other) const noexcept { return unwrap() != other.unwrap(); }
  operator aclrtStream() const { return stream(); }
  operator c10::Stream() const { return unwrap(); }

  c10::DeviceType device_type() const { return c10::DeviceType::PrivateUse1; }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }
  c10::Stream unwrap() const { return stream_; }

  bool query() const { return stream_.query(); }
  void synchronize() const { stream_.synchronize(); }
  bool isSyncLaunchStream() const { return native().isSyncLaunch(); }

  /// The raw handle (a npu::Stream). Drains the task queue, so that work launched before is in the
  /// stream.
  aclrtStream stream() const { return stream(/*need_empty=*/true); }
  /// With false: without draining; right inside a closure of OpCommand::RunOpApiV2.
  aclrtStream stream(bool need_empty) const {
    npu::Stream &own = native();
    if (need_empty && !own.isSyncLaunch())
      own.device().taskQueue(own).drain();
    return &own;
  }
  /// The runtime's stream, on which work is launched with npu::launch().
  npu::Stream &native() const { return npu::device(stream_.device_index()).stream(stream_.id()); }

  c10::StreamData3 pack3() const { return stream_.pack3(); }
  static NPUStream unpack3(c10::StreamId id, c10::DeviceIndex index, c10::DeviceType type) {
    return NPUStream(c10::Stream::unpack3(id, index, type));
  }

private:
  c10::Stream stream_;
};

inline NPUStream wrapNPUStream(npu::Stream &stream) {
  return NPUStream(NPUStream::UNCHECKED,
                   c10::Stream(c10::Stream::UNSAFE,
                               c10::Device(c10::DeviceType::PrivateUse1,
                                           c10::DeviceIndex(stream.device().index())),
                               stream.id()));
}
inline int indexOrCurrent(c10::DeviceIndex index) {
  return index < 0 ? npu::currentDevice() : index;
}

inline NPUStream getCurrentNPUStream(c10::DeviceIndex index = -1) {
  return wrapNPUStream(npu::currentStream(indexOrCurrent(index)));
}
inline NPUStream getDefaultNPUStream(c10::DeviceIndex index = -1) {
  return wrapNPUStream(npu::device(indexOrCurrent(index)).defaultStream());
}
inline NPUStream getNPUStreamFromPool(bool isHighPriority = false, c10::DeviceIndex index = -1) {
  return wrapNPUStream(npu::device(indexOrCurrent(index)).streamFromPool(isHighPriority ? -1 : 0));
}
inline void setCurrentNPUStream(NPUStream stream) { npu::setCurrentStream(stream.native()); }
inline c10::DeviceIndex current_device() { return c10::DeviceIndex(npu::currentDevice()); }
inline c10::DeviceIndex device_count() { return c10::DeviceIndex(npu::deviceCount()); }

} // namespace c10_npu

template <> struct std::hash<c10_npu::NPUStream> {
  size_t operator()(const c10_npu::NPUStream &stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};
