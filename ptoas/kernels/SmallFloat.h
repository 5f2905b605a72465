//===- SmallFloat.h - floats of eight and four bits as numbers ------------===//
#ifndef PTOAS_KERNELS_SMALLFLOAT_H
#define PTOAS_KERNELS_SMALLFLOAT_H

#include "irregular_tile.h"
#include <cmath>
#include <limits>

namespace ptoas::kernels {

/// Formats with fields of fixed width. A code of -1: the format has none.
struct FieldFormat {
  int mantissa, bias;
  double largest;
  int signBit, largestCode, infinity, nan;
};
// E4M3FN: no infinity, one NaN of each sign. E5M2: as IEEE has it. Four bits: numbers only.
inline constexpr FieldFormat e4m3{3, 7, 448.0, 0x80, 0x7e, -1, 0x7f};
inline constexpr FieldFormat e5m2{2, 15, 57344.0, 0x80, 0x7b, 0x7c, 0x7e};
inline constexpr FieldFormat e2m1{1, 1, 6.0, 0x8, 0x7, -1, -1};
inline constexpr FieldFormat e1m2{2, 1, 1.75, 0x8, 0x7, -1, -1};

inline bool isSmallFloat(int64_t type) { return type >= F8E4M3 && type <= F4E1M2; }

inline const FieldFormat &fieldFormat(int64_t type) {
  switch (type) {
  case F8E4M3:
    return e4m3;
  case F8E5M2:
    return e5m2;
  case F4E2M1:
    return e2m1;
  default:
    return e1m2;
  }
}

inline double decodeFields(unsigned bits, const FieldFormat &format) {
  int low = int(bits) & (format.signBit - 1);
  double sign = int(bits) & format.signBit ? -1.0 : 1.0;
  if (format.infinity >= 0 && low >= format.infinity)
    return low == format.infinity ? sign * std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
  if (low == format.nan)
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = low >> format.mantissa, fraction = low & ((1 << format.mantissa) - 1);
  double value = exponent ? std::ldexp((1 << format.mantissa) + fraction,
                                       exponent - format.bias - format.mantissa)
                          : std::ldexp(fraction, 1 - format.bias - format.mantissa);
  return sign * value;
}

// The numbers of RoundMode: 0 none, 1 rint, 2 round (half away), 3 floor, 4 ceil, 5 trunc, 6 odd, 7
// rint.
inline double roundBy(double value, int mode) {
  switch (mode) {
  case 2:
    return std::round(value);
  case 3:
    return std::floor(value);
  case 4:
    return std::ceil(value);
  case 5:
    return std::trunc(value);
  case 6: {
    double low = std::floor(value);
    return low == value || std::fmod(low, 2.0) != 0 ? low : low + 1;
  }
  default:
    return std::nearbyint(value);
  }
}

inline uint8_t encodeFields(double value, const FieldFormat &format, int mode, bool saturate) {
  int sign = std::signbit(value) ? format.signBit : 0;
  // Above the largest number; formats without an infinity have their NaN there, four bits nothing.
  int above = format.infinity >= 0 ? format.infinity : format.nan;
  if (saturate || above < 0)
    above = format.largestCode;
  if (std::isnan(value)) // four bits have no NaN: the negative zero
    return uint8_t(format.nan >= 0 ? sign | format.nan : format.signBit);
  if (std::isinf(value))
    return uint8_t(sign | above);
  if (value == 0)
    return uint8_t(sign);
  int exponent = std::ilogb(value), lowest = 1 - format.bias;
  int scale = (exponent < lowest ? lowest : exponent) - format.mantissa;
  double rounded = std::ldexp(std::fabs(roundBy(std::ldexp(value, -scale), mode)), scale);
  if (rounded > format.largest)
    return uint8_t(sign | above);
  if (rounded == 0)
    return uint8_t(sign);
  exponent = std::ilogb(rounded);
  if (exponent < lowest)
    return uint8_t(sign | int(std::ldexp(rounded, format.mantissa - lowest)));
  int fraction = int(std::ldexp(rounded, format.mantissa - exponent)) - (1 << format.mantissa);
  return uint8_t(sign | (exponent + format.bias) << format.mantissa | fraction);
}

// HiFloat8 (Luo et al., "Ascend HiFloat8 Format for Deep Learning", 2024): behind the sign a prefix
// says how many bits the exponent has (11: 4, 10: 3, 01: 2, 001: 1, 0001: none), the exponent is a
// sign and a magnitude whose leading one is not written, the rest is mantissa. 0000: powers of two
// from 2^-22 to 2^-16; its zero with a sign is the one NaN. 2^15 is the largest number, the code
// behind it infinity.
inline constexpr int hifInfinity = 0x6f, hifLargest = 0x6e, hifNaN = 0x80;

inline double decodeHiFloat(unsigned bits) {
  double sign = bits & 0x80 ? -1.0 : 1.0;
  int low = int(bits & 0x7f);
  if (low == 0)
    return bits ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  if (low == hifInfinity)
    return sign * std::numeric_limits<double>::infinity();
  if (low < 8)
    return sign * std::ldexp(1.0, low - 23);
  int width = low >= 0x60 ? 4 : low >= 0x40 ? 3 : low >= 0x20 ? 2 : low >= 0x10 ? 1 : 0;
  int mantissa = width == 4 ? 1 : width == 3 ? 2 : 3;
  int exponent = 0;
  if (width) {
    int field = low >> mantissa & ((1 << width) - 1), top = 1 << (width - 1);
    exponent = top | (field & (top - 1));
    if (field & top)
      exponent = -exponent;
  }
  int fraction = low & ((1 << mantissa) - 1);
  return sign * std::ldexp((1 << mantissa) + fraction, exponent - mantissa);
}

inline uint8_t encodeHiFloat(double value, int mode, bool saturate) {
  int sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return hifNaN;
  int above = saturate ? hifLargest : hifInfinity;
  if (std::isinf(value))
    return uint8_t(sign | above);
  if (value == 0)
    return 0;
  // Bits of the mantissa by the exponent: fewer the further from one.
  auto mantissaOf = [](int exponent) {
    int size = exponent < 0 ? -exponent : exponent;
    return exponent < -15 ? 0 : size < 4 ? 3 : size < 8 ? 2 : 1;
  };
  int exponent = std::ilogb(value);
  exponent = exponent < -22 ? -22 : exponent;
  int scale = exponent - mantissaOf(exponent);
  double rounded = std::ldexp(std::fabs(roundBy(std::ldexp(value, -scale), mode)), scale);
  if (rounded > 32768.0)
    return uint8_t(sign | above);
  if (rounded == 0)
    return 0;
  exponent = std::ilogb(rounded);
  if (exponent < -15)
    return uint8_t(sign | (exponent + 23));
  int size = exponent < 0 ? -exponent : exponent, mantissa = mantissaOf(exponent);
  int width = size == 0 ? 0 : size < 2 ? 1 : size < 4 ? 2 : size < 8 ? 3 : 4;
  constexpr int prefixes[] = {0x08, 0x10, 0x20, 0x40, 0x60};
  int field = 0;
  if (width) {
    int top = 1 << (width - 1);
    field = (size & (top - 1)) | (exponent < 0 ? top : 0);
  }
  int fraction = int(std::ldexp(rounded, mantissa - exponent)) - (1 << mantissa);
  return uint8_t(sign | prefixes[width] | field << mantissa | fraction);
}

inline double decodeSmall(unsigned bits, int64_t type) {
  return type == HiF8 ? decodeHiFloat(bits) : decodeFields(bits, fieldFormat(type));
}
inline uint8_t encodeSmall(double value, int64_t type, int mode, bool saturate) {
  return type == HiF8 ? encodeHiFloat(value, mode, saturate)
                      : encodeFields(value, fieldFormat(type), mode, saturate);
}

/// Two four-bit values to a byte, the low half first. `i` counts values.
inline unsigned loadPacked(const char *data, int64_t i) {
  return unsigned(uint8_t(data[i >> 1]) >> (i & 1 ? 4 : 0)) & 0xf;
}
inline void storePacked(char *data, int64_t i, unsigned value) {
  uint8_t old = uint8_t(data[i >> 1]);
  data[i >> 1] = char(i & 1 ? (old & 0x0f) | value << 4 : (old & 0xf0) | value);
}

/// An element of a tile of any type.
inline double loadElement(const Tile *tile, int64_t r, int64_t c) {
  if (isPacked(tile->type))
    return decodeSmall(loadPacked(tile->data, r * tile->rowStride + c * tile->colStride),
                       tile->type);
  const char *from = tile->at(r, c);
  return isSmallFloat(tile->type) ? decodeSmall(uint8_t(*from), tile->type)
                                  : loadNumber(from, tile->type);
}
inline void storeElement(const Tile *tile, int64_t r, int64_t c, double value, int mode,
                         bool saturate) {
  if (isPacked(tile->type))
    storePacked(tile->data, r * tile->rowStride + c * tile->colStride,
                encodeSmall(value, tile->type, mode, saturate));
  else if (isSmallFloat(tile->type))
    *tile->at(r, c) = char(encodeSmall(value, tile->type, mode, saturate));
  else
    storeNumber(tile->at(r, c), tile->type, value);
}

} // namespace ptoas::kernels
#endif
