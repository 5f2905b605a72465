//===- Storage.h - device memory under torch's storages -------------------===//
//
// The simulated device's memory is the host's, so a CPU kernel can work on a device tensor's bytes.
// Each device storage has a CPU twin over the same bytes, which the alias tensors handed to CPU
// kernels share. A private storage format (NZ) is a property of the storage.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"

#include <ATen/ATen.h>

namespace npu {

/// Format codes as aclFormat numbers them.
enum : int { FormatNchw = 0, FormatNhwc = 1, FormatNd = 2, FormatNz = 29, FormatNcdhw = 30 };

/// A storage whose bytes are not in the order of the logical strides.
struct PrivateFormat {
  int format;
  at::ScalarType dtype; ///< tensors of another type see the bare bytes
  std::vector<int64_t>
      logicalSizes; ///< sizes of the tensor that the storage was made for, contiguous
  std::vector<int64_t> physicalSizes; ///< blocked sizes of the bytes
};

class StorageImpl final : public c10::StorageImpl {
public:
  using c10::StorageImpl::StorageImpl;

  /// A CPU storage over the same bytes; it may grow them (resize), see adoptTwin(). Any thread.
  c10::intrusive_ptr<c10::StorageImpl> cpuTwin();
  /// Takes over the memory of a twin that a CPU kernel has resized.
  void adoptTwin(c10::StorageImpl &twin);
  /// Whether `storage` is the present twin.
  bool isTwin(const c10::StorageImpl *storage) const { return twin_.get() == storage; }
  void setTwin(c10::intrusive_ptr<c10::StorageImpl> twin) { twin_ = std::move(twin); }

  std::unique_ptr<PrivateFormat> format; ///< null: base format

private:
  std::mutex mutex_;
  c10::intrusive_ptr<c10::StorageImpl> twin_;
};

/// The storage of a device tensor. Throws for a storage that another library made.
StorageImpl &storageOf(const at::Tensor &tensor);
StorageImpl *storageOrNull(const at::Tensor &tensor);

/// A new storage of `bytes` bytes on the current stream of the device.
c10::intrusive_ptr<c10::StorageImpl> makeStorage(int64_t bytes, int device);
/// A device storage over memory that a CPU kernel has allocated inside a KernelScope (no copy), or
/// a copy of it if the memory is not the device's.
c10::intrusive_ptr<c10::StorageImpl> storageFromKernel(const c10::Storage &cpu, Stream &stream);

/// The allocator that torch knows for the device.
c10::DeviceAllocator &torchAllocator();
/// The runtime's block behind a DataPtr, null if the memory is not the device's.
Block *blockOf(const c10::DataPtr &ptr);

/// While it lives, CPU allocations of this thread come from the stream's device: results and
/// temporaries of kernels are device memory, counted and limited as such.
class KernelScope {
public:
  explicit KernelScope(Stream &stream);
  ~KernelScope();

private:
  Stream *outer_;
  at::AutoDispatchBelowADInplaceOrView belowAutograd_;
};

/// Turns the runtime's out-of-memory error into torch's.
template <class F> auto translateErrors(F f) {
  try {
    return f();
  } catch (const OutOfMemory &e) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, e.what());
  }
}

} // namespace npu
