//===- Data.cpp - intermediate tensors, element reads and writes ----------===//
#include "KernelCall.h"
#include "Run.h"

#include <algorithm>

using namespace simpler;

void simpler::fillElements(void *memory, uint64_t count, uint64_t size, uint64_t pattern) {
  auto fill = [&]<typename T>(T value) { std::fill_n(static_cast<T *>(memory), count, value); };
  switch (size) {
  case 1:
    fill(static_cast<uint8_t>(pattern));
    break;
  case 2:
    fill(static_cast<uint16_t>(pattern));
    break;
  case 4:
    fill(static_cast<uint32_t>(pattern));
    break;
  default:
    fill(pattern);
    break;
  }
}

bool SimplerRun::allocate(ChipTensor &out, const uint32_t *shapes, uint32_t ndims, uint8_t dtype,
                          bool manualDep, const uint64_t *init, bool byNextTask) {
  out = ChipTensor();
  if (fatal())
    return false;
  auto type = static_cast<DataType>(dtype);
  uint64_t size = get_element_size(type);
  if (ndims < 1 || ndims > MAX_TENSOR_DIMS || size == 0) {
    fail(SIMPLER_INVALID_ARGS,
         "allocation of a tensor of rank %u and element type %u; rank must be "
         "1..5, element types are 0..%d",
         ndims, dtype, kNumDataTypes - 1);
    return false;
  }
  unsigned __int128 bytes = size;
  uint64_t count = 1;
  for (uint32_t d = 0; d < ndims; ++d) {
    bytes *= shapes[d];
    if (bytes >> 47) {
      fail(SIMPLER_HEAP_RING_DEADLOCK, "allocation of a tensor of 2^47 bytes or more");
      return false;
    }
  }
  count = static_cast<uint64_t>(bytes) / size;
  uint64_t capacity = BufferPool::capacityFor(static_cast<uint64_t>(bytes));
  uint64_t ring = std::min<uint64_t>(scopes_.size() - 1, 3);
  uint64_t budget = options_.budgets.heapBytes[ring];
  if (budget && buffers_.liveBytes() + capacity > budget) {
    if (!holding_)
      executor_.workUntil(this, [&] {
        return allDone() || buffers_.liveBytes() + capacity <= budget || stopped();
      });
    if (!stopped() && buffers_.liveBytes() + capacity > budget) {
      fail(SIMPLER_HEAP_RING_DEADLOCK,
           "allocation of %llu bytes: open scopes hold %llu bytes and the heap of ring %llu is "
           "%llu; "
           "raise runtime_env.ring_heap or end scopes earlier",
           static_cast<unsigned long long>(bytes),
           static_cast<unsigned long long>(buffers_.liveBytes()),
           static_cast<unsigned long long>(ring), static_cast<unsigned long long>(budget));
      return false;
    }
  }
  makeRoom(scopeBuffers_);
  Buffer *buffer = buffers_.allocate(static_cast<uint64_t>(bytes));
  if (!buffer) {
    // Something may be on its way back.
    executor_.workUntil(this, [&] { return holding_ || allDone() || stopped(); });
    buffers_.trim(0);
    buffer = buffers_.allocate(static_cast<uint64_t>(bytes));
  }
  if (!buffer) {
    fail(SIMPLER_HEAP_RING_DEADLOCK,
         "the system has no memory for a tensor of %llu bytes (%llu bytes are live)",
         static_cast<unsigned long long>(bytes),
         static_cast<unsigned long long>(buffers_.liveBytes()));
    return false;
  }
  scopeBuffers_.push_back(buffer);
  heapTotal_ += buffer->bytes;
  buffer->creator = nextTaskId();
  if (!byNextTask)
    ++sequence_; // a task of its own, complete at once: no window entry
  out.init_external(buffer->memory(), std::max<uint64_t>(static_cast<uint64_t>(bytes), 1), shapes,
                    ndims, type, manualDep, 0, AddressSpace::DEVICE);
  out.owner_task_id.raw = buffer->creator;
  if (init)
    fillElements(buffer->memory(), count, size, *init);
  if (evaluating_) [[unlikely]]
    recordAllocation(out, static_cast<uint64_t>(bytes), count, size, init, byNextTask);
  return true;
}

bool SimplerRun::elementAddress(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims,
                                const char *what, uint64_t &address) {
  Region region;
  uint64_t size = get_element_size(tensor.dtype);
  if (tensor.ndims < 1 || tensor.ndims > MAX_TENSOR_DIMS || size == 0 || ndims != tensor.ndims) {
    fail(SIMPLER_INVALID_ARGS, "%s: %u indices for a tensor of rank %u", what, ndims, tensor.ndims);
    return false;
  }
  uint64_t offset = tensor.start_offset;
  for (uint32_t d = 0; d < ndims; ++d) {
    if (indices[d] < 0 || indices[d] >= static_cast<int64_t>(tensor.shapes[d])) {
      fail(SIMPLER_INVALID_ARGS, "%s: index %lld of axis %u is outside the extent %u", what,
           static_cast<long long>(indices[d]), d, tensor.shapes[d]);
      return false;
    }
    offset += static_cast<uint64_t>(indices[d]) * tensor.strides[d];
  }
  if (tensor.buffer.addr == 0 || (offset + 1) * size > tensor.buffer.size) {
    fail(SIMPLER_INVALID_ARGS, "%s: element at byte %llu of an allocation of %llu bytes", what,
         static_cast<unsigned long long>(offset * size),
         static_cast<unsigned long long>(tensor.buffer.size));
    return false;
  }
  address = tensor.buffer.addr + offset * size;
  return true;
}

/// Works until the tasks that write (and, for a write, read) the element's bytes are complete.
bool SimplerRun::waitForAccesses(const ChipTensor &element, bool write, const char *what) {
  leaveEvaluation("it reads or writes elements of a tensor");
  Region region;
  makeRegion(element, region);
  signal_.sequence = ++signals_ | 1ull << 63;
  signal_.edgeMark = 0;
  signal_.numEdges = 0;
  signal_.id = SIMPLER_NO_TASK;
  signal_.kernel[0] = nullptr;
  signal_.fanIn.store(Task::kUnsubmitted, std::memory_order_relaxed);
  signalled_.store(false, std::memory_order_relaxed);
  edgesOfTask_ = 0;
  bool created = element.owner_task_id.is_valid(), known;
  if (element.manual_dep) {
    if (Task *creator = created ? findTask(element.owner_task_id.raw, known) : nullptr)
      addEdge(creator, &signal_);
  } else {
    TensorMap::Record &record = map_.find(region);
    auto edge = [&](const TensorMap::Access &access, TensorMap::Record &) {
      addEdge(access, &signal_);
    };
    if (write)
      map_.beforeWrite(record, edge);
    else
      map_.beforeRead(record, edge);
  }
  int32_t open = Task::kUnsubmitted - edgesOfTask_;
  if (edgesOfTask_ > 0 && signal_.fanIn.fetch_sub(open) != open) {
    if (holding_) {
      fail(SIMPLER_TENSOR_WAIT_TIMEOUT,
           "%s: the element is made by a task of this run, and host_build_graph starts tasks only "
           "after the orchestration has ended",
           what);
    } else {
      waitsForData_ = true;
      executor_.workUntil(this, [&] { return signalled_.load(); });
      waitsForData_ = false;
    }
  }
  while (EdgeBlock *block = signal_.edgeBlocks) {
    signal_.edgeBlocks = block->next;
    pool_.recycle(block);
  }
  return !stopped();
}

/// The one-element view at `address`, for its dependencies.
static ChipTensor elementView(const ChipTensor &tensor, uint64_t address) {
  uint32_t one[1] = {1};
  ChipTensor element;
  element.init_external(reinterpret_cast<void *>(static_cast<uintptr_t>(address)), 8, one, 1,
                        tensor.dtype, tensor.manual_dep);
  element.owner_task_id = tensor.owner_task_id;
  return element;
}

uint64_t SimplerRun::getElement(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims) {
  uint64_t address, bits = 0;
  if (fatal() || !elementAddress(tensor, indices, ndims, "get_tensor_data", address) ||
      !hostReadable(tensor, "get_tensor_data") ||
      !waitForAccesses(elementView(tensor, address), false, "get_tensor_data"))
    return 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(static_cast<uintptr_t>(address)),
              get_element_size(tensor.dtype));
  return bits;
}

void SimplerRun::setElement(const ChipTensor &tensor, const int64_t *indices, uint32_t ndims,
                            uint64_t bits) {
  uint64_t address;
  if (fatal() || !elementAddress(tensor, indices, ndims, "set_tensor_data", address) ||
      !hostReadable(tensor, "set_tensor_data") ||
      !waitForAccesses(elementView(tensor, address), true, "set_tensor_data"))
    return;
  std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(address)), &bits,
              get_element_size(tensor.dtype));
}

bool SimplerRun::hostReadable(const ChipTensor &tensor, const char *what) {
  if (!options_.recordFirst || !tensor.is_device_memory() ||
      !((tensor.owner_task_id.raw ^ tag_) >> 40))
    return true;
  fail(
      SIMPLER_INVALID_ARGS,
      "%s: host_build_graph runs the orchestration on the host, where device memory cannot be read",
      what);
  return false;
}
