//===- Kernels.h - functions compiled ahead for native code ---------------===//
//
// Matrix products and irregular operations that generated code calls. Compiled
// once per instruction set; the best one for the host is bound at load time.
// No MLIR or LLVM is needed to use them: the library is libpto_kernels.so and the
// light Python module loads it.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TARGET_NATIVE_KERNELS_H
#define PTOAS_TARGET_NATIVE_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define PTO_KERNEL_API __attribute__((visibility("default")))

/// c[m,n] = (accumulate ? c : 0) + bias[n] + a[m,k] * b[k,n].
/// Element (i, j) of an operand lies at p[i * rs + j * cs] (strides in elements, any sign of order:
/// cs == 1 row-major, rs == 1 column-major). c is row-major with row stride `c_rs`. bias may be
/// null. Any m, n, k >= 0. Operands may be unaligned; c must not overlap a or b. Sums are FP32
/// (INT32). Thread-safe; packing scratch is per thread.
PTO_KERNEL_API void pto_gemm_f32(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_rs,
                                 int64_t a_cs, const float *b, int64_t b_rs, int64_t b_cs, float *c,
                                 int64_t c_rs, const float *bias, int32_t accumulate);
PTO_KERNEL_API void pto_gemm_bf16(int64_t m, int64_t n, int64_t k, const uint16_t *a, int64_t a_rs,
                                  int64_t a_cs, const uint16_t *b, int64_t b_rs, int64_t b_cs,
                                  float *c, int64_t c_rs, const float *bias, int32_t accumulate);
PTO_KERNEL_API void pto_gemm_f16(int64_t m, int64_t n, int64_t k, const uint16_t *a, int64_t a_rs,
                                 int64_t a_cs, const uint16_t *b, int64_t b_rs, int64_t b_cs,
                                 float *c, int64_t c_rs, const float *bias, int32_t accumulate);
PTO_KERNEL_API void pto_gemm_i8(int64_t m, int64_t n, int64_t k, const int8_t *a, int64_t a_rs,
                                int64_t a_cs, const int8_t *b, int64_t b_rs, int64_t b_cs,
                                int32_t *c, int64_t c_rs, const int32_t *bias, int32_t accumulate);

/// dst[j, i] = src[i, j] for rows x cols elements of `bytes` (1, 2, 4, 8) each; strides in
/// elements.
PTO_KERNEL_API void pto_transpose(int64_t rows, int64_t cols, const void *src, int64_t src_rs,
                                  void *dst, int64_t dst_rs, int32_t bytes);

/// The instruction set in use: "plain", "avx2", "avx512" or "amx"; what the host offers (CPUID,
/// XCR0), lowered by PTO_ISA=avx2|avx512|amx, chosen when the library loads.
PTO_KERNEL_API const char *pto_kernels_isa(void);

#ifdef __cplusplus
}
#endif
#endif // PTOAS_TARGET_NATIVE_KERNELS_H
