//===- Dispatch.cpp - choosing the kernels of this host, and the C entry --===//
//
// The choice is made once, when the library loads, from CPUID and XCR0 (what the
// operating system saves); PTO_ISA=avx2|avx512|amx lowers it.
//
//===----------------------------------------------------------------------===//
#include "KernelTable.h"
#include "ptoas/Target/Native/Kernels.h"
#include <cpuid.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

using namespace pto::kernels;

namespace {

struct Features {
  bool avx2 = false, avx512 = false, vnni = false, bf16 = false, amx = false;
};

uint64_t enabledState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

/// Linux hands out the 8 KiB tile state only to processes that ask (arch/x86/xstate).
bool requestTiles() {
  constexpr long archRequestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, archRequestPermission, tileData) == 0;
}

Features detect() {
  Features f;
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return f;
  const bool osxsave = c >> 27 & 1, avx = c >> 28 & 1, fma = c >> 12 & 1, f16c = c >> 29 & 1;
  if (!osxsave || !avx || !fma || !f16c || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return f;
  const uint64_t state = enabledState();
  const bool tileUnits = (d >> 22 & 1) && (d >> 24 & 1) && (d >> 25 & 1); // BF16, TILE, INT8
  f.avx2 = (b >> 5 & 1) && (state & 0x6) == 0x6;
  f.avx512 = f.avx2 && (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1) &&
             (state & 0xe6) == 0xe6; // F, DQ, BW, VL
  f.vnni = f.avx512 && (c >> 11 & 1);
  f.bf16 = f.avx512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
  f.amx = f.vnni && tileUnits && (state & 0x60000) == 0x60000;
  return f;
}

KernelTable kernels;
const char *isaName = "plain";

__attribute__((constructor)) void choose() {
  Features f = detect();
  if (const char *limit = std::getenv("PTO_ISA"); limit && *limit) {
    if (!std::strcmp(limit, "avx2"))
      f.avx512 = f.vnni = f.bf16 = f.amx = false;
    else if (!std::strcmp(limit, "avx512"))
      f.amx = false;
    else if (std::strcmp(limit, "amx"))
      std::fprintf(stderr, "PTO_ISA=%s is unknown: it may be avx2, avx512 or amx\n", limit);
  }
  usePlain(kernels);
  if (f.avx2) {
    useAvx2(kernels);
    useAvx2Transpose(kernels);
    isaName = "avx2";
  }
  if (f.avx512) {
    useAvx512(kernels);
    isaName = "avx512";
  }
  if (f.vnni)
    useAvx512Vnni(kernels);
  if (f.bf16)
    useAvx512Bf16(kernels);
  if (f.amx && requestTiles()) {
    useAmx(kernels);
    isaName = "amx";
  }
}

} // namespace

extern "C" {

const char *pto_kernels_isa(void) { return isaName; }

void pto_gemm_f32(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_rs, int64_t a_cs,
                  const float *b, int64_t b_rs, int64_t b_cs, float *c, int64_t c_rs,
                  const float *bias, int32_t accumulate) {
  kernels.gemmF32({m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, c, c_rs, bias, accumulate != 0});
}

void pto_gemm_bf16(int64_t m, int64_t n, int64_t k, const uint16_t *a, int64_t a_rs, int64_t a_cs,
                   const uint16_t *b, int64_t b_rs, int64_t b_cs, float *c, int64_t c_rs,
                   const float *bias, int32_t accumulate) {
  kernels.gemmBf16({m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, c, c_rs, bias, accumulate != 0});
}

void pto_gemm_f16(int64_t m, int64_t n, int64_t k, const uint16_t *a, int64_t a_rs, int64_t a_cs,
                  const uint16_t *b, int64_t b_rs, int64_t b_cs, float *c, int64_t c_rs,
                  const float *bias, int32_t accumulate) {
  kernels.gemmF16({m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, c, c_rs, bias, accumulate != 0});
}

void pto_gemm_i8(int64_t m, int64_t n, int64_t k, const int8_t *a, int64_t a_rs, int64_t a_cs,
                 const int8_t *b, int64_t b_rs, int64_t b_cs, int32_t *c, int64_t c_rs,
                 const int32_t *bias, int32_t accumulate) {
  kernels.gemmI8({m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, c, c_rs, bias, accumulate != 0});
}

void pto_transpose(int64_t rows, int64_t cols, const void *src, int64_t src_rs, void *dst,
                   int64_t dst_rs, int32_t bytes) {
  const Transpose x{rows,  cols, static_cast<const char *>(src), src_rs, static_cast<char *>(dst),
                    dst_rs};
  switch (bytes) {
  case 1:
    return kernels.transpose[0](x);
  case 2:
    return kernels.transpose[1](x);
  case 4:
    return kernels.transpose[2](x);
  case 8:
    return kernels.transpose[3](x);
  default:
    std::fprintf(stderr, "pto_transpose: elements of %d bytes are not supported\n", int(bytes));
    std::abort();
  }
}

} // extern "C"
