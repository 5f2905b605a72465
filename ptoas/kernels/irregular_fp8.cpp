//===- irregular_fp8.cpp - eight-bit floats -------------------------------===//
#include "irregular_tile.h"
#include <cmath>
#include <limits>

using namespace ptoas::kernels;

namespace {
struct Format {
  int mantissa, bias;
  double largest;
  bool hasInfinity;
};
// E4M3FN: no infinity, one NaN of each sign. E5M2: as IEEE has it.
constexpr Format e4m3{3, 7, 448.0, false}, e5m2{2, 15, 57344.0, true};

const Format &formatOf(int64_t type) { return type == F8E4M3 ? e4m3 : e5m2; }

double decode(uint8_t bits, const Format &format) {
  int exponent = (bits & 0x7f) >> format.mantissa;
  int fraction = bits & ((1 << format.mantissa) - 1);
  double sign = bits & 0x80 ? -1.0 : 1.0;
  if (format.hasInfinity && exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (!format.hasInfinity && (bits & 0x7f) == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  double value = exponent ? std::ldexp((1 << format.mantissa) + fraction,
                                       exponent - format.bias - format.mantissa)
                          : std::ldexp(fraction, 1 - format.bias - format.mantissa);
  return sign * value;
}

// The numbers of RoundMode: 0 none, 1 rint, 2 round (half away), 3 floor, 4 ceil, 5 trunc, 6 odd, 7
// rint.
double roundBy(double value, int mode) {
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

uint8_t encode(double value, const Format &format, int mode, bool saturate) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  uint8_t largest = format.hasInfinity ? 0x7b : 0x7e;
  uint8_t nan = format.hasInfinity ? 0x7e : 0x7f, above = format.hasInfinity ? 0x7c : 0x7f;
  if (std::isnan(value))
    return sign | nan;
  if (std::isinf(value))
    return sign | (saturate ? largest : above);
  if (value == 0)
    return sign;
  int exponent = std::ilogb(value);
  int lowest = 1 - format.bias;
  int scale = (exponent < lowest ? lowest : exponent) - format.mantissa;
  double steps = roundBy(std::ldexp(value, -scale), mode);
  double rounded = std::ldexp(std::fabs(steps), scale);
  if (rounded > format.largest)
    return sign | (saturate ? largest : above);
  if (rounded == 0)
    return sign;
  exponent = std::ilogb(rounded);
  if (exponent < lowest)
    return sign | uint8_t(std::ldexp(rounded, format.mantissa - lowest));
  int fraction = int(std::ldexp(rounded, format.mantissa - exponent)) - (1 << format.mantissa);
  return sign | uint8_t((exponent + format.bias) << format.mantissa | fraction);
}

bool isEightBits(int64_t type) { return type == F8E4M3 || type == F8E5M2; }
} // namespace

/// dst = src over dst's valid region; one of them at least holds eight-bit floats.
PTO_RUNTIME void pto_convert_fp8(const Tile *dst, const Tile *src, int32_t mode, int32_t saturate) {
  for (int64_t r = 0; r < dst->validRows; ++r)
    for (int64_t c = 0; c < dst->validCols; ++c) {
      const char *from = src->at(r, c);
      double value = isEightBits(src->type) ? decode(uint8_t(*from), formatOf(src->type))
                                            : loadNumber(from, src->type);
      if (isEightBits(dst->type))
        *dst->at(r, c) = char(encode(value, formatOf(dst->type), mode, saturate));
      else
        storeNumber(dst->at(r, c), dst->type, value);
    }
}

/// `rows` x `cols` eight-bit floats as FP32, row by row, `outStride` elements apart.
PTO_RUNTIME void pto_widen_fp8(float *out, int64_t outStride, const uint8_t *data,
                               int64_t rowStride, int64_t colStride, int64_t rows, int64_t cols,
                               int32_t isE5M2) {
  float table[256];
  for (int i = 0; i < 256; ++i)
    table[i] = float(decode(uint8_t(i), isE5M2 ? e5m2 : e4m3));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      out[r * outStride + c] = table[data[r * rowStride + c * colStride]];
}

/// Multiplies groups of 32 along the columns (or the rows) with 2^(scale - 127); 255 is not a
/// number.
PTO_RUNTIME void pto_scale_groups(float *data, int64_t stride, int64_t rows, int64_t cols,
                                  const uint8_t *scales, int64_t rowStride, int64_t colStride,
                                  int32_t alongRows) {
  constexpr int64_t group = 32;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      int64_t i = alongRows ? r / group : r, j = alongRows ? c : c / group;
      uint8_t bits = scales[i * rowStride + j * colStride];
      float scale =
          bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
      data[r * stride + c] *= scale;
    }
}
