// Argument words of the scenes' kernels.
#pragma once
#include <cstdint>
#include <cstring>
#include <ctime>

#include "intrinsic.h"
#include "tensor.h"

inline ChipTensor &desc(int64_t *args, int word) {
  return *reinterpret_cast<ChipTensor *>(args[word]);
}
template <typename T> T *data(int64_t *args, int word) { return desc(args, word).data_as<T>(); }
template <typename T> T scalar(int64_t *args, int word) {
  T value;
  std::memcpy(&value, &args[word], sizeof(T));
  return value;
}
// Offset of the i-th element of a view, row-major over its shape.
inline uint64_t at(const ChipTensor &t, uint64_t i) {
  uint64_t offset = 0;
  for (uint32_t d = t.ndims; d-- > 0; i /= t.shapes[d])
    offset += i % t.shapes[d] * t.strides[d];
  return offset;
}
// Slow enough for a missing edge to show.
inline void linger(int microseconds) {
  auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{1000000} * t.tv_sec + t.tv_nsec / 1000;
  };
  for (int64_t end = now() + microseconds; now() < end;)
    ;
}
