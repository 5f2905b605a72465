//===- TransposeAvx2.cpp - blocked transposition of 1 to 8 byte elements --===//
//
// Squares of 16 x 16 (bytes), 8 x 8 (2 and 4 bytes) or 4 x 4 (8 bytes) turn in registers.
// Blocks of 64 rows keep the lines that are written in the first-level cache.
//
//===----------------------------------------------------------------------===//
#include "Avx2Vector.h"
#include "KernelTable.h"

namespace {

using pto::kernels::Transpose;

__m128i load128(const char *p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }
void store128(char *p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i *>(p), v); }

template <int Bytes> struct Square;

template <> struct Square<1> {
  static constexpr int side = 16;
  static void turn(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    __m128i x[16], y[16];
    for (int i = 0; i < 16; ++i)
      x[i] = load128(src + i * srcStride);
    // Four rounds of interleaving row i with row i + 8 rotate the index bits into place.
    auto round = [](const __m128i *from, __m128i *to) {
      for (int i = 0; i < 8; ++i) {
        to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
      }
    };
    round(x, y);
    round(y, x);
    round(x, y);
    round(y, x);
    for (int i = 0; i < 16; ++i)
      store128(dst + i * dstStride, x[i]);
  }
};

template <> struct Square<2> {
  static constexpr int side = 8;
  static void turn(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    __m128i x[8], y[8];
    for (int i = 0; i < 8; ++i)
      x[i] = load128(src + i * srcStride);
    auto round = [](const __m128i *from, __m128i *to) {
      for (int i = 0; i < 4; ++i) {
        to[2 * i] = _mm_unpacklo_epi16(from[i], from[i + 4]);
        to[2 * i + 1] = _mm_unpackhi_epi16(from[i], from[i + 4]);
      }
    };
    round(x, y);
    round(y, x);
    round(x, y);
    for (int i = 0; i < 8; ++i)
      store128(dst + i * dstStride, y[i]);
  }
};

template <> struct Square<4> {
  static constexpr int side = 8;
  static void turn(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    Avx2::transposeDwords(src, srcStride, dst, dstStride);
  }
};

template <> struct Square<8> {
  static constexpr int side = 4;
  static void turn(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    __m256d x[4];
    for (int i = 0; i < 4; ++i)
      x[i] = _mm256_loadu_pd(reinterpret_cast<const double *>(src + i * srcStride));
    const __m256d a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
    const __m256d c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
    auto put = [&](int i, __m256d v) {
      _mm256_storeu_pd(reinterpret_cast<double *>(dst + i * dstStride), v);
    };
    put(0, _mm256_permute2f128_pd(a, c, 0x20));
    put(1, _mm256_permute2f128_pd(b, d, 0x20));
    put(2, _mm256_permute2f128_pd(a, c, 0x31));
    put(3, _mm256_permute2f128_pd(b, d, 0x31));
  }
};

template <int Bytes> void transpose(const Transpose &x) {
  constexpr int64_t side = Square<Bytes>::side, band = 64;
  const int64_t srcBytes = x.srcStride * Bytes, dstBytes = x.dstStride * Bytes;
  const int64_t wholeRows = x.rows / side * side, wholeCols = x.cols / side * side;
  auto one = [&](int64_t i, int64_t j) {
    __builtin_memcpy(x.dst + j * dstBytes + i * Bytes, x.src + i * srcBytes + j * Bytes, Bytes);
  };
  for (int64_t top = 0; top < wholeRows; top += band) {
    const int64_t bottom = top + band < wholeRows ? top + band : wholeRows;
    for (int64_t j = 0; j < wholeCols; j += side)
      for (int64_t i = top; i < bottom; i += side)
        Square<Bytes>::turn(x.src + i * srcBytes + j * Bytes, srcBytes,
                            x.dst + j * dstBytes + i * Bytes, dstBytes);
  }
  for (int64_t j = wholeCols; j < x.cols; ++j)
    for (int64_t i = 0; i < wholeRows; ++i)
      one(i, j);
  for (int64_t j = 0; j < x.cols; ++j)
    for (int64_t i = wholeRows; i < x.rows; ++i)
      one(i, j);
}

} // namespace

namespace pto::kernels {
void useAvx2Transpose(KernelTable &table) {
  table.transpose[0] = transpose<1>;
  table.transpose[1] = transpose<2>;
  table.transpose[2] = transpose<4>;
  table.transpose[3] = transpose<8>;
}
} // namespace pto::kernels
