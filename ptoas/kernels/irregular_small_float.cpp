//===- irregular_small_float.cpp - floats of eight and four bits ----------===//
#include "SmallFloat.h"
#include <algorithm>

using namespace ptoas::kernels;

/// dst = src over dst's valid region; one of them at least holds small floats.
PTO_RUNTIME void pto_convert_small(const Tile *dst, const Tile *src, int32_t mode,
                                   int32_t saturate) {
  int64_t rows = std::min(dst->validRows, src->validRows);
  int64_t cols = std::min(dst->validCols, src->validCols);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      storeElement(dst, r, c, loadElement(src, r, c), mode, saturate);
}

/// `rows` x `cols` small floats of `type` as FP32, row by row, `outStride` elements apart.
PTO_RUNTIME void pto_widen_small(float *out, int64_t outStride, const char *data, int64_t rowStride,
                                 int64_t colStride, int64_t rows, int64_t cols, int32_t type) {
  float table[256];
  for (int i = 0; i < (isPacked(type) ? 16 : 256); ++i)
    table[i] = float(decodeSmall(unsigned(i), type));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      int64_t i = r * rowStride + c * colStride;
      out[r * outStride + c] = table[isPacked(type) ? loadPacked(data, i) : uint8_t(data[i])];
    }
}

/// Four-bit values from one place to another; starts and strides count values.
PTO_RUNTIME void pto_copy_packed(char *dst, int64_t dstStart, int64_t dstRow, int64_t dstCol,
                                 const char *src, int64_t srcStart, int64_t srcRow, int64_t srcCol,
                                 int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t to = dstStart + r * dstRow, from = srcStart + r * srcRow, c = 0;
    if (dstCol == 1 && srcCol == 1 && !(to & 1) && !(from & 1)) {
      c = cols > 0 ? cols & ~int64_t(1) : 0;
      std::memmove(dst + to / 2, src + from / 2, c / 2);
    }
    for (; c < cols; ++c)
      storePacked(dst, to + c * dstCol, loadPacked(src, from + c * srcCol));
  }
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

/// Where the value of group `g` of line `line` lies: in a matrix of one value for each group, or,
/// when the tile is one row, one line of groups behind the other.
static void storeGroup(const Tile *tile, bool byColumn, int64_t line, int64_t lines, int64_t g,
                       int64_t groups, double value) {
  int64_t r = byColumn ? g : line, c = byColumn ? line : g;
  if (tile->rows == 1) {
    c += r * (byColumn ? lines : groups);
    r = 0;
  }
  if (r < tile->rows && c < tile->cols)
    storeElement(tile, r, c, value, 0, true);
}

/// Groups of 32 along the columns (or rows) of src with one power of two each (pto-isa 6.13, OCP):
/// E = exponent(max |x|) - `headroom`, stored with bias 127 and not below 0; dst = src * 2^-E.
PTO_RUNTIME void pto_quantise_groups(const Tile *dst, const Tile *exps, const Tile *maxima,
                                     const Tile *factors, const Tile *src, int32_t headroom,
                                     int32_t alongRows) {
  constexpr int64_t group = 32;
  int64_t lines = alongRows ? src->validCols : src->validRows;
  int64_t length = alongRows ? src->validRows : src->validCols;
  int64_t groups = (length + group - 1) / group;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t g = 0; g < groups; ++g) {
      int64_t end = std::min(length, (g + 1) * group);
      auto element = [&](int64_t i) {
        return float(alongRows ? loadElement(src, i, line) : loadElement(src, line, i));
      };
      // As bits, so that a NaN is the largest.
      uint32_t largest = 0;
      for (int64_t i = g * group; i < end; ++i) {
        float x = std::fabs(element(i));
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        largest = std::max(largest, bits);
      }
      int stored = std::max(int(largest >> 23) - headroom, 0);
      double factor = std::ldexp(1.0, 127 - stored);
      float maximum;
      std::memcpy(&maximum, &largest, 4);
      storeGroup(exps, alongRows, line, lines, g, groups, stored);
      storeGroup(maxima, alongRows, line, lines, g, groups, maximum);
      storeGroup(factors, alongRows, line, lines, g, groups, factor);
      for (int64_t i = g * group; i < end; ++i)
        storeElement(dst, alongRows ? i : line, alongRows ? line : i, element(i) * factor, 1, true);
    }
}
