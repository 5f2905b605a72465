//===- GemmPlain.cpp - every kernel in portable C++ -----------------------===//
//
// What hosts without AVX2 run; the meaning of the others in the fewest words.
//
//===----------------------------------------------------------------------===//
#include "KernelTable.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace pto::kernels {

static float fromF32(float v) { return v; }
static float fromBf16(uint16_t v) { return std::bit_cast<float>(uint32_t(v) << 16); }
static float fromF16(uint16_t v) {
  const int exponent = v >> 10 & 31, fraction = v & 1023;
  const float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                          : exponent     ? std::ldexp(float(fraction + 1024), exponent - 25)
                                         : std::ldexp(float(fraction), -24);
  return v >> 15 ? -magnitude : magnitude;
}
static uint32_t fromI8(int8_t v) { return uint32_t(int32_t(v)); }

// Integer sums wrap: they are formed as unsigned numbers.
static float multiplyAdd(float a, float b, float sum) { return std::fma(a, b, sum); }
static uint32_t multiplyAdd(uint32_t a, uint32_t b, uint32_t sum) { return a * b + sum; }

template <auto Convert, class In, class Out> static void gemm(const Gemm<In, Out> &x) {
  using Sum = decltype(Convert(In()));
  for (int64_t i = 0; i < x.m; ++i)
    for (int64_t j = 0; j < x.n; ++j) {
      Out &c = x.c[i * x.cRowStride + j];
      Sum sum = x.accumulate ? Sum(c) : Sum(0);
      if (x.bias)
        sum += Sum(x.bias[j]);
      for (int64_t p = 0; p < x.k; ++p)
        sum = multiplyAdd(Convert(x.a[i * x.aRowStride + p * x.aColStride]),
                          Convert(x.b[p * x.bRowStride + j * x.bColStride]), sum);
      c = Out(sum);
    }
}

template <int Bytes> static void transpose(const Transpose &x) {
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j)
      std::memcpy(x.dst + (j * x.dstStride + i) * Bytes, x.src + (i * x.srcStride + j) * Bytes,
                  Bytes);
}

void usePlain(KernelTable &table) {
  table = {gemm<fromF32, float, float>,
           gemm<fromBf16, uint16_t, float>,
           gemm<fromF16, uint16_t, float>,
           gemm<fromI8, int8_t, int32_t>,
           {transpose<1>, transpose<2>, transpose<4>, transpose<8>}};
}

} // namespace pto::kernels
