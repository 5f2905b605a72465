//===- Storage.cpp - device memory under torch's storages -----------------===//
#include "Storage.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/flat_hash_map.h>

#include <typeinfo>

namespace npu {
namespace {

/// Tells torch's memory profiler that `bytes` came (or, negative, went).
void report(Block *block, int sign) {
  c10::reportMemoryUsageToProfiler(
      npu::Allocator::data(block), sign * int64_t(npu::Allocator::requested(block)), 0, 0,
      {c10::kPrivateUse1, c10::DeviceIndex(npu::Allocator::device(block))});
}

void releaseBlock(void *context) {
  if (inBadFork())
    return; // The child has the memory, but not the threads that would order its reuse.
  auto *block = static_cast<Block *>(context);
  report(block, -1);
  npu::device(npu::Allocator::device(block)).allocator().release(block);
}

c10::DataPtr allocateOn(size_t bytes, Stream &stream, c10::Device as) {
  if (!bytes)
    return {nullptr, as};
  Allocator &memory = stream.device().allocator();
  Block *block = translateErrors([&] { return memory.allocate(bytes, stream); });
  report(block, 1);
  return {Allocator::data(block), block, &releaseBlock, as};
}

c10::Device deviceOf(int index) { return {c10::kPrivateUse1, c10::DeviceIndex(index)}; }

void fillStat(c10::CachingAllocator::StatArray &to, const Stat3 &from) {
  for (size_t i = 0; i < 3; ++i) {
    to[i].current = from[i].current;
    to[i].peak = from[i].peak;
    to[i].allocated = from[i].allocated;
    to[i].freed = from[i].freed;
  }
}

class TorchAllocator final : public c10::DeviceAllocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    initialize();
    Stream &stream = currentStream(currentDevice());
    return allocateOn(bytes, stream, deviceOf(currentDevice()));
  }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    launch(currentStream(currentDevice()), "copy_data", [=] { std::memcpy(to, from, bytes); });
  }
  bool initialized() override { return npu::initialized(); }
  void emptyCache(c10::MempoolId_t = {0, 0}) override {
    for (int i = 0; npu::initialized() && i < deviceCount(); ++i)
      npu::device(i).allocator().emptyCache();
  }
  void recordStream(const c10::DataPtr &ptr, c10::Stream stream) override {
    Block *block = blockOf(ptr);
    if (!block)
      return;
    TORCH_CHECK(stream.device_type() == c10::kPrivateUse1, "record_stream: ", stream,
                " is not an NPU stream");
    Device &owner = npu::device(npu::Allocator::device(block));
    owner.allocator().recordStream(block, npu::device(stream.device_index()).stream(stream.id()));
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    MemoryStats s = npu::device(index).allocator().stats();
    c10::CachingDeviceAllocator::DeviceStats out;
    fillStat(out.allocation, s.allocations);
    fillStat(out.segment, s.segments);
    fillStat(out.active, s.active);
    fillStat(out.inactive_split, s.inactiveSplit);
    fillStat(out.allocated_bytes, s.allocatedBytes);
    fillStat(out.reserved_bytes, s.reservedBytes);
    fillStat(out.active_bytes, s.activeBytes);
    fillStat(out.inactive_split_bytes, s.inactiveSplitBytes);
    fillStat(out.requested_bytes, s.requestedBytes);
    out.num_alloc_retries = s.retries;
    out.num_ooms = s.outOfMemory;
    out.num_device_alloc = s.deviceAllocs;
    out.num_device_free = s.deviceFrees;
    return out;
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    npu::device(index).allocator().resetAccumulated();
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    npu::device(index).allocator().resetPeak();
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    npu::Allocator &memory = npu::device(index).allocator();
    size_t total = memory.limit();
    return {total - std::min(total, memory.reserved()), total};
  }
};

thread_local Stream *kernelStream = nullptr;

/// Blocks that CPU kernels hold. Libraries below torch (oneDNN) free memory by address alone, so
/// the context of such a DataPtr is the address, and the block is found here.
class KernelBlocks {
public:
  void add(void *data, Block *block) {
    std::lock_guard lock(mutex_);
    blocks_[data] = block;
  }
  Block *remove(void *data) {
    std::lock_guard lock(mutex_);
    auto found = blocks_.find(data);
    if (found == blocks_.end())
      return nullptr;
    Block *block = found->second;
    blocks_.erase(found);
    return block;
  }

private:
  std::mutex mutex_;
  ska::flat_hash_map<void *, Block *> blocks_;
};

KernelBlocks &kernelBlocks() {
  static auto *blocks = new KernelBlocks;
  return *blocks;
}

c10::Allocator *hostAllocator = nullptr;

/// Frees what a CPU kernel allocated, wherever that was.
void releaseKernelMemory(void *data) {
  if (inBadFork())
    return;
  if (Block *block = kernelBlocks().remove(data))
    npu::device(npu::Allocator::device(block)).allocator().release(block);
  else if (data)
    hostAllocator->raw_deleter()(data);
}

c10::DataPtr allocateForKernel(size_t bytes, Stream &stream) {
  if (!bytes)
    return {nullptr, c10::kCPU};
  Block *block = translateErrors(
      [&] { return stream.device().allocator().allocate(bytes, stream, /*inKernel=*/true); });
  void *data = npu::Allocator::data(block);
  kernelBlocks().add(data, block);
  return {data, data, &releaseKernelMemory, c10::kCPU};
}

/// torch's CPU allocator, except inside a KernelScope.
class KernelAwareCpuAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    return kernelStream ? allocateForKernel(bytes, *kernelStream) : hostAllocator->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &releaseKernelMemory; }
  bool is_simple_data_ptr(const c10::DataPtr &ptr) const override {
    return hostAllocator->is_simple_data_ptr(ptr);
  }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

/// Lets a CPU kernel resize a twin: the new bytes are device memory too.
class TwinAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    Stream &stream = kernelStream ? *kernelStream : currentStream(currentDevice());
    return allocateForKernel(bytes, stream);
  }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

TwinAllocator *twinAllocator() {
  static auto *allocator = new TwinAllocator;
  return allocator;
}

c10::intrusive_ptr<c10::StorageImpl> createStorage(c10::StorageImpl::use_byte_size_t,
                                                   c10::SymInt bytes, c10::DataPtr ptr,
                                                   c10::Allocator *allocator, bool resizable) {
  if (!ptr)
    ptr = bytes.is_heap_allocated() ? allocator->allocate(0)
                                    : allocator->allocate(size_t(bytes.as_int_unchecked()));
  return c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(), std::move(bytes),
                                          std::move(ptr), allocator, resizable);
}

const bool registered = [] {
  c10::SetAllocator(c10::kPrivateUse1, &torchAllocator());
  c10::SetStorageImplCreate(c10::kPrivateUse1, &createStorage);
  hostAllocator = c10::GetCPUAllocator();
  c10::SetCPUAllocator(new KernelAwareCpuAllocator, /*priority=*/10);
  return true;
}();

} // namespace

c10::DeviceAllocator &torchAllocator() {
  static auto *allocator = new TorchAllocator;
  return *allocator;
}

Block *blockOf(const c10::DataPtr &ptr) {
  return ptr.get_deleter() == &releaseBlock ? static_cast<Block *>(ptr.get_context()) : nullptr;
}

/// Moves the memory of a kernel's CPU storage to a device pointer; null if it is not the device's.
/// The CPU storage keeps a bare pointer to it.
static c10::DataPtr takeFromKernel(c10::StorageImpl &cpu, c10::Device device) {
  void *data = const_cast<void *>(cpu.data());
  if (cpu.data_ptr().get_deleter() != &releaseKernelMemory)
    return {nullptr, device};
  Block *block = kernelBlocks().remove(data);
  if (!block)
    return {nullptr, device};
  cpu.set_data_ptr(c10::DataPtr(data, c10::kCPU)).release_context();
  report(block, 1);
  return {data, block, &releaseBlock, device};
}

c10::intrusive_ptr<c10::StorageImpl> StorageImpl::cpuTwin() {
  std::lock_guard lock(mutex_);
  if (!twin_ || twin_->data() != data() || twin_->nbytes() != nbytes()) {
    c10::DataPtr bytes(const_cast<void *>(data()), c10::kCPU);
    twin_ = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                                  int64_t(nbytes()), std::move(bytes),
                                                  twinAllocator(), /*resizable=*/true);
  }
  return twin_;
}

void StorageImpl::adoptTwin(c10::StorageImpl &twin) {
  std::lock_guard lock(mutex_);
  if (twin.data() == data()) {
    set_nbytes(twin.nbytes());
    return;
  }
  set_data_ptr_noswap(takeFromKernel(twin, device()));
  set_nbytes(twin.nbytes());
}

StorageImpl *storageOrNull(const at::Tensor &tensor) {
  c10::StorageImpl *impl = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  return impl && typeid(*impl) == typeid(StorageImpl) ? static_cast<StorageImpl *>(impl) : nullptr;
}

StorageImpl &storageOf(const at::Tensor &tensor) {
  auto *storage = storageOrNull(tensor);
  TORCH_CHECK(storage, "the storage of this NPU tensor was not made by the simulated device");
  return *storage;
}

c10::intrusive_ptr<c10::StorageImpl> makeStorage(int64_t bytes, int device) {
  Stream &stream = currentStream(device);
  c10::DataPtr ptr = allocateOn(size_t(bytes), stream, deviceOf(device));
  return c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                          std::move(ptr), &torchAllocator(), /*resizable=*/true);
}

c10::intrusive_ptr<c10::StorageImpl> storageFromKernel(const c10::Storage &cpu, Stream &stream) {
  c10::StorageImpl *source = cpu.unsafeGetStorageImpl();
  c10::Device device = deviceOf(stream.device().index());
  int64_t bytes = int64_t(source->nbytes());
  c10::DataPtr ptr = takeFromKernel(*source, device);
  if (!ptr && bytes) {
    ptr = allocateOn(size_t(bytes), stream, device);
    std::memcpy(ptr.get(), source->data(), size_t(bytes));
  }
  return c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                          std::move(ptr), &torchAllocator(), /*resizable=*/true);
}

KernelScope::KernelScope(Stream &stream) : outer_(kernelStream) { kernelStream = &stream; }

KernelScope::~KernelScope() { kernelStream = outer_; }

} // namespace npu
