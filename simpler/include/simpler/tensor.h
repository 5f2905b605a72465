//===- tensor.h - the tensor descriptor of tasks and kernels --------------===//
//
// ChipTensor is 128 bytes, aligned to 64, trivially copyable; its field names and
// offsets are a contract with kernel sources and generated code (spec 2.2).
// A descriptor owns nothing. Strides count elements and are positive.
//
// Views are checked in every build: one that leaves its tensor calls the error
// handler (inside an orchestration: the run fails with code 5) and yields an empty view.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TENSOR_H
#define SIMPLER_TENSOR_H

#include "simpler/data_type.h"
#include "simpler/task_id.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

inline constexpr uint32_t MAX_TENSOR_DIMS = 5;

enum class AddressSpace : uint8_t { HOST = 0, DEVICE = 1 };

enum class TensorArgType : int32_t {
  INPUT = 0,
  OUTPUT = 1, // allocated by the runtime
  INOUT = 2,
  OUTPUT_EXISTING = 3,
  NO_DEP = 4, // only the edge from the tensor's creator
};

enum class ArgDirection : int32_t { SCALAR = 0, IN = 1, OUT = 2, INOUT = 3 };

/// Called with a sentence when a view is impossible. Null: the text goes to stderr.
/// One per shared object; the orchestration kit points it at the run.
inline thread_local void (*simpler_view_error_handler)(const char *message) = nullptr;

inline void simpler_view_error(const char *message) {
  if (simpler_view_error_handler)
    simpler_view_error_handler(message);
  else
    std::fprintf(stderr, "simpler: %s\n", message);
}

struct alignas(64) ChipTensor {
  struct Buffer {
    uint64_t addr = 0; // base of the whole allocation
    uint64_t size = 0; // its bytes
  } buffer;
  PTO2TaskId owner_task_id;  // creating task, or invalid
  uint64_t start_offset = 0; // origin of the view, elements from buffer.addr
  int32_t version = 0;
  uint32_t ndims = 0;
  DataType dtype = DataType::FLOAT32;
  bool manual_dep = false;    // only the creator's edge is tracked
  bool is_contiguous = false; // strides are row-major of shapes
  AddressSpace address_space = AddressSpace::HOST;
  uint32_t shapes[MAX_TENSOR_DIMS] = {};
  uint64_t extent_elem_cache = 0; // 1 + sum of (shape - 1) * stride; 0 when empty
  uint32_t strides[MAX_TENSOR_DIMS] = {};
  uint8_t reserved[36] = {};

  uint64_t numel() const {
    uint64_t count = 1;
    for (uint32_t d = 0; d < ndims; ++d)
      count *= shapes[d];
    return count;
  }
  uint64_t extent_elem() const { return extent_elem_cache; }
  uint64_t nbytes() const { return numel() * get_element_size(dtype); }
  bool is_device_memory() const { return address_space == AddressSpace::DEVICE; }
  template <typename T> T *data_as() const {
    return reinterpret_cast<T *>(static_cast<uintptr_t>(buffer.addr)) + start_offset;
  }

  uint64_t compute_flat_offset(const uint32_t indices[], uint32_t count) const {
    uint64_t offset = start_offset;
    for (uint32_t d = 0; d < count && d < ndims; ++d)
      offset += static_cast<uint64_t>(indices[d]) * strides[d];
    return offset;
  }

  void init_external(void *addr, uint64_t bytes, const uint32_t extents[], uint32_t rank,
                     DataType type = DataType::FLOAT32, bool manual = false, int32_t ver = 0,
                     AddressSpace space = AddressSpace::HOST) {
    *this = ChipTensor();
    buffer.addr = reinterpret_cast<uintptr_t>(addr);
    buffer.size = bytes;
    ndims = rank < MAX_TENSOR_DIMS ? rank : MAX_TENSOR_DIMS;
    dtype = type;
    manual_dep = manual;
    version = ver;
    address_space = space;
    for (uint32_t d = 0; d < ndims; ++d)
      shapes[d] = extents[d];
    set_row_major_strides();
    update_caches();
  }
  void init_from(const ChipTensor &other) { *this = other; }
  void copy(const ChipTensor &other) { *this = other; }

  /// Window: same rank and strides. An empty window ignores `offsets`.
  ChipTensor view(const uint32_t extents[], const uint32_t offsets[], bool manual = false) const {
    ChipTensor result = *this;
    result.manual_dep = manual;
    bool empty = false;
    for (uint32_t d = 0; d < ndims; ++d) {
      result.shapes[d] = extents[d];
      empty |= extents[d] == 0;
    }
    if (!empty) {
      for (uint32_t d = 0; d < ndims; ++d) {
        if (static_cast<uint64_t>(offsets[d]) + extents[d] > shapes[d]) {
          reject("view: axis %llu: offset %llu + extent %llu leaves the tensor's extent %llu", d,
                 offsets[d], extents[d], shapes[d]);
          return result.emptied();
        }
        result.start_offset += static_cast<uint64_t>(offsets[d]) * strides[d];
      }
    }
    result.update_caches();
    return result;
  }

  /// Same elements in row-major order under another shape; needs contiguous elements.
  ChipTensor reshape(const uint32_t extents[], uint32_t rank, bool manual = false) const {
    ChipTensor result = *this;
    result.manual_dep = manual;
    if (rank == 0 || rank > MAX_TENSOR_DIMS) {
      reject("reshape: rank %llu is not in 1..5", rank);
      return result.emptied();
    }
    uint64_t count = 1;
    for (uint32_t d = 0; d < rank; ++d)
      count *= extents[d];
    if (count != numel()) {
      reject("reshape: %llu elements do not become %llu", numel(), count);
      return result.emptied();
    }
    if (!is_contiguous) {
      reject("reshape: the tensor is a strided view; only contiguous elements can be reshaped");
      return result.emptied();
    }
    result.ndims = rank;
    for (uint32_t d = 0; d < MAX_TENSOR_DIMS; ++d)
      result.shapes[d] = d < rank ? extents[d] : 0;
    result.set_row_major_strides();
    result.update_caches();
    return result;
  }

  ChipTensor transpose(uint32_t x, uint32_t y, bool manual = false) const {
    ChipTensor result = *this;
    result.manual_dep = manual;
    if (x >= ndims || y >= ndims) {
      reject("transpose: axes %llu and %llu of a tensor of rank %llu", x, y, ndims);
      return result.emptied();
    }
    result.shapes[x] = shapes[y];
    result.shapes[y] = shapes[x];
    result.strides[x] = strides[y];
    result.strides[y] = strides[x];
    result.update_caches();
    return result;
  }

  /// Axis d of the result is axis order[d] of this tensor.
  ChipTensor permute(const uint32_t order[], bool manual = false) const {
    ChipTensor result = *this;
    result.manual_dep = manual;
    uint32_t seen = 0;
    for (uint32_t d = 0; d < ndims; ++d) {
      if (order[d] >= ndims || (seen >> order[d] & 1)) {
        reject("permute: entry %llu of the order is %llu; rank is %llu", d, order[d], ndims);
        return result.emptied();
      }
      seen |= 1u << order[d];
      result.shapes[d] = shapes[order[d]];
      result.strides[d] = strides[order[d]];
    }
    result.update_caches();
    return result;
  }

  /// Elements start, start + step, … below end of one axis.
  ChipTensor slice(uint32_t dim, uint32_t start, uint32_t end, uint32_t step = 1,
                   bool manual = false) const {
    ChipTensor result = *this;
    result.manual_dep = manual;
    if (dim >= ndims || step == 0 || start > end || end > shapes[dim]) {
      reject("slice: axis %llu, [%llu, %llu) leaves the tensor, or step is 0 (extent %llu)", dim,
             start, end, dim < ndims ? shapes[dim] : 0);
      return result.emptied();
    }
    uint64_t stride = static_cast<uint64_t>(strides[dim]) * step;
    if (stride > UINT32_MAX) {
      reject("slice: stride %llu does not fit in 32 bits", stride);
      return result.emptied();
    }
    result.shapes[dim] =
        static_cast<uint32_t>((static_cast<uint64_t>(end) - start + step - 1) / step);
    result.strides[dim] = static_cast<uint32_t>(stride);
    if (result.shapes[dim] != 0)
      result.start_offset += static_cast<uint64_t>(start) * strides[dim];
    result.update_caches();
    return result;
  }

  void dump() const {
    std::fprintf(stderr, "ChipTensor %s addr=%#llx size=%llu offset=%llu [", get_dtype_name(dtype),
                 static_cast<unsigned long long>(buffer.addr),
                 static_cast<unsigned long long>(buffer.size),
                 static_cast<unsigned long long>(start_offset));
    for (uint32_t d = 0; d < ndims; ++d)
      std::fprintf(stderr, "%s%u:%u", d ? ", " : "", shapes[d], strides[d]);
    std::fprintf(stderr, "]\n");
  }

  /// Recomputes is_contiguous and extent_elem_cache after shapes or strides were written.
  void update_caches() {
    uint64_t extent = 1, packed = 1;
    bool contiguous = true, empty = false;
    for (uint32_t d = ndims; d-- > 0;) {
      empty |= shapes[d] == 0;
      contiguous &= shapes[d] == 1 || strides[d] == packed;
      extent += (static_cast<uint64_t>(shapes[d]) - (shapes[d] != 0)) * strides[d];
      packed *= shapes[d];
    }
    is_contiguous = contiguous || empty;
    extent_elem_cache = empty ? 0 : extent;
  }

private:
  void set_row_major_strides() {
    uint64_t stride = 1;
    for (uint32_t d = ndims; d-- > 0;) {
      strides[d] = static_cast<uint32_t>(stride);
      stride *= shapes[d] ? shapes[d] : 1;
    }
    for (uint32_t d = ndims; d < MAX_TENSOR_DIMS; ++d)
      strides[d] = 0;
  }
  ChipTensor emptied() const {
    ChipTensor result = *this;
    for (uint32_t d = 0; d < result.ndims; ++d)
      result.shapes[d] = 0;
    result.update_caches();
    return result;
  }
  static void reject(const char *format, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                     uint64_t d = 0) {
    char text[192];
    using U = unsigned long long;
    std::snprintf(text, sizeof(text), format, U(a), U(b), U(c), U(d));
    simpler_view_error(text);
  }
};

static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64);
static_assert(std::is_trivially_copyable_v<ChipTensor>);
static_assert(offsetof(ChipTensor, owner_task_id) == 16 &&
              offsetof(ChipTensor, start_offset) == 24);
static_assert(offsetof(ChipTensor, version) == 32 && offsetof(ChipTensor, ndims) == 36);
static_assert(offsetof(ChipTensor, dtype) == 40 && offsetof(ChipTensor, address_space) == 43);
static_assert(offsetof(ChipTensor, shapes) == 44 && offsetof(ChipTensor, extent_elem_cache) == 64);
static_assert(offsetof(ChipTensor, strides) == 72 && offsetof(ChipTensor, reserved) == 92);

inline ChipTensor make_tensor_external(void *addr, const uint32_t shapes[], uint32_t ndims,
                                       DataType dtype = DataType::FLOAT32, bool manual_dep = false,
                                       int32_t version = 0,
                                       AddressSpace space = AddressSpace::HOST) {
  uint64_t bytes = get_element_size(dtype);
  for (uint32_t d = 0; d < ndims; ++d)
    bytes *= shapes[d];
  ChipTensor result;
  result.init_external(addr, bytes, shapes, ndims, dtype, manual_dep, version, space);
  return result;
}

inline ChipTensor make_tensor_strided(void *addr, const uint32_t shapes[], const uint32_t strides[],
                                      uint32_t ndims, DataType dtype = DataType::FLOAT32,
                                      bool manual_dep = false, int32_t version = 0,
                                      AddressSpace space = AddressSpace::HOST) {
  ChipTensor result;
  result.init_external(addr, 0, shapes, ndims, dtype, manual_dep, version, space);
  for (uint32_t d = 0; d < result.ndims; ++d)
    result.strides[d] = strides[d];
  result.update_caches();
  result.buffer.size = result.extent_elem_cache * get_element_size(dtype);
  return result;
}

#endif // SIMPLER_TENSOR_H
