//===- data_type.h - element types of tensors -----------------------------===//
//
// The numeric values are part of the binary interface (spec 2.1): kernels,
// orchestrations and the runtime exchange them as one byte.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_DATA_TYPE_H
#define SIMPLER_DATA_TYPE_H

#include <cstdint>
#include <cstring>
#include <type_traits>

enum class DataType : uint8_t {
  FLOAT32 = 0,
  FLOAT16 = 1,
  INT32 = 2,
  INT16 = 3,
  INT8 = 4,
  UINT8 = 5,
  BFLOAT16 = 6,
  INT64 = 7,
  UINT64 = 8,
  UINT16 = 9,
  UINT32 = 10,
  BOOL = 11,
  FP8E4M3FN = 12,
  FP8E8M0 = 13,
  FP4E2M1 = 14, // two values in one byte; the byte is the addressable element
};

inline constexpr int kNumDataTypes = 15;

/// Bytes of one addressable element; 0 for a value that is no element type.
constexpr uint64_t get_element_size(DataType type) {
  constexpr uint8_t sizes[kNumDataTypes] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1};
  auto index = static_cast<uint8_t>(type);
  return index < kNumDataTypes ? sizes[index] : 0;
}

constexpr const char *get_dtype_name(DataType type) {
  constexpr const char *names[kNumDataTypes] = {
      "FLOAT32", "FLOAT16", "INT32",  "INT16", "INT8",      "UINT8",   "BFLOAT16", "INT64",
      "UINT64",  "UINT16",  "UINT32", "BOOL",  "FP8E4M3FN", "FP8E8M0", "FP4E2M1"};
  auto index = static_cast<uint8_t>(type);
  return index < kNumDataTypes ? names[index] : "UNKNOWN";
}

/// The bytes of `value` in the low end of a zeroed word; signed integers are not sign-extended.
template <typename T> inline uint64_t to_u64(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T> inline T from_u64(uint64_t bits) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// The element type that stores a C++ type.
template <typename T> constexpr DataType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DataType::FLOAT32;
  else if constexpr (std::is_same_v<T, bool>)
    return DataType::BOOL;
  else {
    static_assert(std::is_integral_v<T>, "dtype_of: no element type stores this C++ type");
    constexpr bool isSigned = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return isSigned ? DataType::INT8 : DataType::UINT8;
    else if constexpr (sizeof(T) == 2)
      return isSigned ? DataType::INT16 : DataType::UINT16;
    else if constexpr (sizeof(T) == 4)
      return isSigned ? DataType::INT32 : DataType::UINT32;
    else
      return isSigned ? DataType::INT64 : DataType::UINT64;
  }
}

#endif // SIMPLER_DATA_TYPE_H
