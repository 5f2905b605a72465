//===- irregular_tile.h - tiles as generated code describes them ----------===//
#ifndef PTOAS_KERNELS_IRREGULAR_TILE_H
#define PTOAS_KERNELS_IRREGULAR_TILE_H

#include <cstdint>
#include <cstring>

#define PTO_RUNTIME extern "C" __attribute__((visibility("default")))

namespace ptoas::kernels {

/// Numbers are part of the interface with generated code (lib/Target/Native/Elem.h).
enum ElementType : int64_t {
  F16,
  BF16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2,
  HiF8,
  F4E2M1,
  F4E1M2
};

/// Two elements to a byte, the low half first.
inline bool isPacked(int64_t type) { return type == F4E2M1 || type == F4E1M2; }

inline unsigned elementBytes(int64_t type) {
  constexpr unsigned bytes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 1, 1, 1};
  return bytes[type];
}

/// A tile, or a window of global memory. Strides in elements. Packed elements are not addressed
/// with `at` (SmallFloat.h).
struct Tile {
  char *data;
  int64_t rowStride, colStride;
  int64_t rows, cols; // capacity
  int64_t validRows, validCols;
  int64_t type;

  unsigned bytes() const { return elementBytes(type); }
  char *at(int64_t r, int64_t c) const {
    return data + (r * rowStride + c * colStride) * int64_t(bytes());
  }
  template <typename T> T &ref(int64_t r, int64_t c) const {
    return *reinterpret_cast<T *>(at(r, c));
  }
  /// Element by its linear index in the physical tile; null outside.
  char *flat(int64_t i) const {
    return i < 0 || i >= rows * cols ? nullptr : at(i / cols, i % cols);
  }
};

inline float halfToFloat(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return float(h);
}
inline uint16_t floatToHalf(float value) {
  _Float16 h = _Float16(value);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
inline float brainToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float f;
  std::memcpy(&f, &wide, 4);
  return f;
}
/// Nearest even; NaN stays NaN.
inline uint16_t floatToBrain(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value != value)
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Any element as a double; exact but for 64-bit integers beyond 2^53.
inline double loadNumber(const void *p, int64_t type) {
  switch (type) {
  case F16: {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return halfToFloat(v);
  }
  case BF16: {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return brainToFloat(v);
  }
  case F32: {
    float v;
    std::memcpy(&v, p, 4);
    return v;
  }
  case F64: {
    double v;
    std::memcpy(&v, p, 8);
    return v;
  }
  case I8:
    return *static_cast<const int8_t *>(p);
  case U8:
    return *static_cast<const uint8_t *>(p);
  case I16: {
    int16_t v;
    std::memcpy(&v, p, 2);
    return v;
  }
  case U16: {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return v;
  }
  case I32: {
    int32_t v;
    std::memcpy(&v, p, 4);
    return v;
  }
  case U32: {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
  }
  case I64: {
    int64_t v;
    std::memcpy(&v, p, 8);
    return double(v);
  }
  default: {
    uint64_t v;
    std::memcpy(&v, p, 8);
    return double(v);
  }
  }
}

inline int64_t loadInteger(const void *p, int64_t type) {
  switch (elementBytes(type)) {
  case 1:
    return type == I8 ? int64_t(*static_cast<const int8_t *>(p)) : *static_cast<const uint8_t *>(p);
  case 2: {
    uint16_t v;
    std::memcpy(&v, p, 2);
    return type == I16 ? int64_t(int16_t(v)) : v;
  }
  case 4: {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return type == I32 ? int64_t(int32_t(v)) : v;
  }
  default: {
    int64_t v;
    std::memcpy(&v, p, 8);
    return v;
  }
  }
}

/// Integers wrap, floats round to nearest even.
inline void storeNumber(void *p, int64_t type, double value) {
  switch (type) {
  case F16: {
    uint16_t v = floatToHalf(float(value));
    std::memcpy(p, &v, 2);
    return;
  }
  case BF16: {
    uint16_t v = floatToBrain(float(value));
    std::memcpy(p, &v, 2);
    return;
  }
  case F32: {
    float v = float(value);
    std::memcpy(p, &v, 4);
    return;
  }
  case F64:
    std::memcpy(p, &value, 8);
    return;
  default: {
    int64_t v = int64_t(value);
    std::memcpy(p, &v, elementBytes(type));
    return;
  }
  }
}

} // namespace ptoas::kernels
#endif
