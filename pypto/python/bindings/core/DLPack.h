//===- DLPack.h - the C layout of DLPack tensors --------------------------===//
//
// The part of DLPack's stable ABI (version 1) that reading tensors needs: the
// descriptor, its managed forms, and the C exchange table that a tensor type offers
// as the attribute __dlpack_c_exchange_api__.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_DLPACK_H
#define PYPTO_BINDINGS_DLPACK_H

#include <cstdint>

namespace pypto::dlpack {

enum : int32_t { DeviceCPU = 1 };
enum : uint64_t { FlagReadOnly = 1 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *shape;
  int64_t *strides; // elements; null: row-major
  uint64_t byteOffset;
};

struct Managed { // capsule "dltensor"
  Tensor tensor;
  void *context;
  void (*deleter)(Managed *);
};

struct Version {
  uint32_t major, minor;
};

struct ManagedVersioned { // capsule "dltensor_versioned"
  Version version;
  void *context;
  void (*deleter)(ManagedVersioned *);
  uint64_t flags;
  Tensor tensor;
};

struct ExchangeHeader {
  Version version;
  ExchangeHeader *previous;
};

/// Functions return 0, or -1 with a Python error set.
struct ExchangeApi { // capsule "dlpack_exchange_api"
  ExchangeHeader header;
  int (*allocate)(Tensor *, ManagedVersioned **, void *,
                  void (*)(void *, const char *, const char *));
  int (*managedFromObject)(void *object, ManagedVersioned **out);
  int (*managedToObject)(ManagedVersioned *tensor, void **out);
  /// The descriptor borrows from `object`; may be null.
  int (*tensorFromObject)(void *object, Tensor *out);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **out);
};

} // namespace pypto::dlpack
#endif // PYPTO_BINDINGS_DLPACK_H
