//===- Avx2Vector.h - 256-bit lanes, masks and the dword transposition ----===//
#ifndef PTOAS_KERNELS_AVX2VECTOR_H
#define PTOAS_KERNELS_AVX2VECTOR_H

#include <immintrin.h>
#include <stdint.h>

namespace {

struct Avx2 {
  static constexpr int lanes = 8;
  static constexpr bool byteMasks = false;
  static constexpr int maxRows = 6; // 12 sums, 2 of b, 1 of a: 15 of 16 registers
  using F = __m256;
  using I = __m256i;
  using Mask = __m256i;

  /// Lanes [0, n).
  static Mask mask(int64_t n) {
    int32_t limit = n > lanes ? lanes : n < 0 ? 0 : int32_t(n);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(limit), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static F loadF(const void *p) { return _mm256_loadu_ps(static_cast<const float *>(p)); }
  static F loadF(const void *p, Mask m) {
    return _mm256_maskload_ps(static_cast<const float *>(p), m);
  }
  static void storeF(void *p, F v) { _mm256_storeu_ps(static_cast<float *>(p), v); }
  static void storeF(void *p, F v, Mask m) { _mm256_maskstore_ps(static_cast<float *>(p), m, v); }
  static F splatF(const void *p) { return _mm256_broadcast_ss(static_cast<const float *>(p)); }
  static F zeroF() { return _mm256_setzero_ps(); }
  static F addF(F a, F b) { return _mm256_add_ps(a, b); }
  static F fmaF(F acc, F a, F b) { return _mm256_fmadd_ps(a, b, acc); }

  static I loadI(const void *p) { return _mm256_loadu_si256(static_cast<const __m256i *>(p)); }
  static I loadI(const void *p, Mask m) {
    return _mm256_maskload_epi32(static_cast<const int *>(p), m);
  }
  static void storeI(void *p, I v) { _mm256_storeu_si256(static_cast<__m256i *>(p), v); }
  static void storeI(void *p, I v, Mask m) { _mm256_maskstore_epi32(static_cast<int *>(p), m, v); }
  static I splatI(const void *p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
  }
  static I zeroI() { return _mm256_setzero_si256(); }
  static I addI(I a, I b) { return _mm256_add_epi32(a, b); }
  static I maddI(I acc, I a, I b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
  static F castF(I v) { return _mm256_castsi256_ps(v); }
  static I castI(F v) { return _mm256_castps_si256(v); }

  /// 8 half-precision or bfloat16 values to FP32.
  static F fromF16(const void *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(p)));
  }
  static F fromBf16(const void *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i *>(p))), 16));
  }

  static I widenI8ToI16(const void *p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i *>(p)));
  }
  static I widenI8ToI32(const void *p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i *>(p)));
  }
  /// Low halves from `lo`, high halves from the low halves of `hi`.
  static I joinI16(I lo, I hi) { return _mm256_blend_epi16(lo, _mm256_slli_epi32(hi, 16), 0xaa); }

  /// dst[i * dstStride + j] = dword i of row j, for 8 rows of 8 dwords; strides in bytes.
  static void transposeDwords(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    for (int g = 0; g < 2; ++g) {
      __m256 t[4];
      for (int j = 0; j < 4; ++j) {
        const char *p = src + j * srcStride + g * 16;
        t[j] = _mm256_insertf128_ps(
            _mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float *>(p))),
            _mm_loadu_ps(reinterpret_cast<const float *>(p + 4 * srcStride)), 1);
      }
      __m256d u0 = _mm256_castps_pd(_mm256_unpacklo_ps(t[0], t[1]));
      __m256d u1 = _mm256_castps_pd(_mm256_unpackhi_ps(t[0], t[1]));
      __m256d u2 = _mm256_castps_pd(_mm256_unpacklo_ps(t[2], t[3]));
      __m256d u3 = _mm256_castps_pd(_mm256_unpackhi_ps(t[2], t[3]));
      char *d = dst + 4 * g * dstStride;
      auto put = [&](int row, __m256d v) {
        _mm256_storeu_pd(reinterpret_cast<double *>(d + row * dstStride), v);
      };
      put(0, _mm256_unpacklo_pd(u0, u2));
      put(1, _mm256_unpackhi_pd(u0, u2));
      put(2, _mm256_unpacklo_pd(u1, u3));
      put(3, _mm256_unpackhi_pd(u1, u3));
    }
  }
};

} // namespace
#endif // PTOAS_KERNELS_AVX2VECTOR_H
