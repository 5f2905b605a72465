//===- BenchLoops.cpp -----------------------------------------------------===//
#include "BenchLoops.h"
#include "ptoas/Target/Native/Kernels.h"
#include <chrono>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// Work per second of the fastest round; a round repeats `fn` for about 0.2 ms so that the
/// clock's own cost vanishes, and other programs on the machine spoil few rounds.
template <class Fn> double fastest(double work, double seconds, const Fn &fn) {
  fn();
  auto start = Clock::now();
  fn();
  int repeats = int(2e-4 / (secondsSince(start) + 1e-9)) + 1;
  double best = 0;
  const auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int i = 0; i < repeats; ++i)
      fn();
    const double rate = work * repeats / secondsSince(start);
    best = rate > best ? rate : best;
  } while (secondsSince(begin) < seconds);
  return best;
}

template <class In, class Out> struct Operands {
  std::vector<In> a, b;
  std::vector<Out> c;
  Operands(int64_t m, int64_t n, int64_t k) : a(size_t(m * k)), b(size_t(k * n)), c(size_t(m * n)) {
    // Any finite values: the units' speed does not depend on them, subnormals excepted.
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = value(i);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = value(i * 7);
  }
  static In value(size_t i) {
    if constexpr (sizeof(In) == 2)
      return In(0x3c00 + i % 64); // 0.0078 as bfloat16, 1 as half
    return In(int(i % 13) - 6);
  }
};

template <class In, class Out, class Gemm>
double product(Gemm gemm, int64_t m, int64_t n, int64_t k, bool bT, double seconds) {
  Operands<In, Out> x(m, n, k);
  return fastest(2e-9 * double(m) * double(n) * double(k), seconds, [&] {
    gemm(m, n, k, x.a.data(), k, 1, x.b.data(), bT ? 1 : n, bT ? k : 1, x.c.data(), n, nullptr, 0);
  });
}

template <class In, class Out, class Gemm>
double blocked(Gemm gemm, int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t bk,
               bool bT, double seconds) {
  Operands<In, Out> x(m, n, k);
  std::vector<Out> local(size_t(bm * bn));
  const int64_t bRow = bT ? 1 : n, bCol = bT ? k : 1;
  return fastest(2e-9 * double(m) * double(n) * double(k), seconds, [&] {
    for (int64_t i = 0; i < m; i += bm)
      for (int64_t j = 0; j < n; j += bn) {
        for (int64_t p = 0; p < k; p += bk)
          gemm(bm, bn, bk, &x.a[size_t(i * k + p)], k, 1, &x.b[size_t(p * bRow + j * bCol)], bRow,
               bCol, local.data(), bn, nullptr, p > 0);
        for (int64_t r = 0; r < bm; ++r)
          std::memcpy(&x.c[size_t((i + r) * n + j)], &local[size_t(r * bn)],
                      size_t(bn) * sizeof(Out));
      }
  });
}

template <class Fn> double withType(int dtype, const Fn &fn) {
  switch (dtype) {
  case 0:
    return fn(float(), float(), pto_gemm_f32);
  case 1:
    return fn(uint16_t(), float(), pto_gemm_bf16);
  case 2:
    return fn(uint16_t(), float(), pto_gemm_f16);
  default:
    return fn(int8_t(), int32_t(), pto_gemm_i8);
  }
}

constexpr int64_t peakRounds = 20000;

// 24 chains cover 4 cycles of latency on two units three times over.
#define PTO_24(op, r)                                                                              \
  op(8, r) op(9, r) op(10, r) op(11, r) op(12, r) op(13, r) op(14, r) op(15, r) op(16, r)          \
      op(17, r) op(18, r) op(19, r) op(20, r) op(21, r) op(22, r) op(23, r) op(24, r) op(25, r)    \
          op(26, r) op(27, r) op(28, r) op(29, r) op(30, r) op(31, r)
#define PTO_FMA(i, r) "vfmadd231ps %%" r "0, %%" r "1, %%" r #i "\n"
#define PTO_DOT(i, r) "vdpbf16ps %%" r "0, %%" r "1, %%" r #i "\n"
// clang-format off: the formatter's own result is not stable here
#define PTO_12_YMM                                                                                 \
  PTO_FMA(4, "ymm")                                                                                \
  PTO_FMA(5, "ymm")                                                                                \
  PTO_FMA(6, "ymm") PTO_FMA(7, "ymm") PTO_FMA(8, "ymm") PTO_FMA(9, "ymm") PTO_FMA(10, "ymm")       \
      PTO_FMA(11, "ymm") PTO_FMA(12, "ymm") PTO_FMA(13, "ymm") PTO_FMA(14, "ymm")                  \
          PTO_FMA(15, "ymm")
// clang-format on
#define PTO_LOW_VECTORS                                                                            \
  "xmm0", "xmm1", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",       \
      "xmm13", "xmm14", "xmm15"

__attribute__((target("avx512f"))) void fmas512() {
  int64_t n = peakRounds;
  __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n vpxord %%zmm1, %%zmm1, %%zmm1\n"
                   "1:\n" PTO_24(PTO_FMA, "zmm") "dec %0\n jnz 1b\n vzeroupper"
                   : "+r"(n)::PTO_LOW_VECTORS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
                     "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29",
                     "xmm30", "xmm31");
}
__attribute__((target("avx512f"))) void dots512() {
  int64_t n = peakRounds;
  __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n vpxord %%zmm1, %%zmm1, %%zmm1\n"
                   "1:\n" PTO_24(PTO_DOT, "zmm") "dec %0\n jnz 1b\n vzeroupper"
                   : "+r"(n)::PTO_LOW_VECTORS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
                     "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29",
                     "xmm30", "xmm31");
}
__attribute__((target("avx2,fma"))) void fmas256() {
  int64_t n = peakRounds;
  __asm__ volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n vpxor %%ymm1, %%ymm1, %%ymm1\n"
                   "1:\n" PTO_12_YMM "dec %0\n jnz 1b\n vzeroupper"
                   : "+r"(n)::PTO_LOW_VECTORS);
}
void tileDots() {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  int64_t n = peakRounds;
  __asm__ volatile("ldtilecfg %1\n"
                   "1:\n tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n"
                   "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n"
                   "dec %0\n jnz 1b\n tilerelease"
                   : "+r"(n)
                   : "m"(config));
}

} // namespace

double bench_product(int dtype, int64_t m, int64_t n, int64_t k, int bTransposed, double seconds) {
  return withType(dtype, [&]<class In, class Out>(In, Out, auto gemm) {
    return product<In, Out>(gemm, m, n, k, bTransposed, seconds);
  });
}

double bench_blocked(int dtype, int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t bk,
                     int bTransposed, double seconds) {
  return withType(dtype, [&]<class In, class Out>(In, Out, auto gemm) {
    return blocked<In, Out>(gemm, m, n, k, bm, bn, bk, bTransposed, seconds);
  });
}

double peak_fp32(double seconds) {
  if (!std::strcmp(pto_kernels_isa(), "plain"))
    return 0;
  if (!std::strcmp(pto_kernels_isa(), "avx2"))
    return fastest(2e-9 * 12 * 8 * peakRounds, seconds, fmas256);
  return fastest(2e-9 * 24 * 16 * peakRounds, seconds, fmas512);
}

double peak_bf16(double seconds) {
  if (!std::strcmp(pto_kernels_isa(), "amx"))
    return fastest(2e-9 * 4 * 16 * 16 * 32 * peakRounds, seconds, tileDots);
  if (!std::strcmp(pto_kernels_isa(), "avx512") && __builtin_cpu_supports("avx512bf16"))
    return fastest(2e-9 * 24 * 32 * peakRounds, seconds, dots512);
  return 0;
}
