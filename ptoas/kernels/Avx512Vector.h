//===- Avx512Vector.h - 512-bit lanes, masks and the dword transposition --===//
#ifndef PTOAS_KERNELS_AVX512VECTOR_H
#define PTOAS_KERNELS_AVX512VECTOR_H

#include <immintrin.h>
#include <stdint.h>

namespace {

struct Avx512 {
  static constexpr int lanes = 16;
  static constexpr bool byteMasks = true;
  static constexpr int maxRows = 14; // 28 sums, 2 of b, 1 of a: 31 of 32 registers
  using F = __m512;
  using I = __m512i;
  using Mask = __mmask16;

  /// Lanes [0, n).
  static Mask mask(int64_t n) {
    return n >= lanes ? Mask(0xffff) : n <= 0 ? Mask(0) : Mask((1u << n) - 1);
  }
  static F loadF(const void *p) { return _mm512_loadu_ps(p); }
  static F loadF(const void *p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
  static void storeF(void *p, F v) { _mm512_storeu_ps(p, v); }
  static void storeF(void *p, F v, Mask m) { _mm512_mask_storeu_ps(p, m, v); }
  static F splatF(const void *p) { return _mm512_set1_ps(*static_cast<const float *>(p)); }
  static F zeroF() { return _mm512_setzero_ps(); }
  static F addF(F a, F b) { return _mm512_add_ps(a, b); }
  static F fmaF(F acc, F a, F b) { return _mm512_fmadd_ps(a, b, acc); }

  static I loadI(const void *p) { return _mm512_loadu_si512(p); }
  static I loadI(const void *p, Mask m) { return _mm512_maskz_loadu_epi32(m, p); }
  /// The first `n` <= 64 bytes, zero behind them; reads no others.
  static I loadBytes(const void *p, int64_t n) {
    return _mm512_maskz_loadu_epi8(n >= 64 ? ~__mmask64(0) : (__mmask64(1) << n) - 1, p);
  }
  static void storeI(void *p, I v) { _mm512_storeu_si512(p, v); }
  static void storeI(void *p, I v, Mask m) { _mm512_mask_storeu_epi32(p, m, v); }
  static I splatI(const void *p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }
  static I zeroI() { return _mm512_setzero_si512(); }
  static I addI(I a, I b) { return _mm512_add_epi32(a, b); }
  static I maddI(I acc, I a, I b) { return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)); }
  static F castF(I v) { return _mm512_castsi512_ps(v); }
  static I castI(F v) { return _mm512_castps_si512(v); }

  /// 16 half-precision or bfloat16 values to FP32.
  static F fromF16(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i *>(p)));
  }
  static F fromBf16(const void *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i *>(p))), 16));
  }

  static I widenI8ToI16(const void *p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i *>(p)));
  }
  static I widenI8ToI32(const void *p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i *>(p)));
  }
  /// Low halves from `lo`, high halves from the low halves of `hi`.
  static I joinI16(I lo, I hi) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, lo, _mm512_slli_epi32(hi, 16));
  }

  /// dst[i * dstStride + j] = dword i of row j, for 16 rows of 4 dwords; strides in bytes.
  /// Rows are gathered by 128-bit inserts, which leaves half of the shuffles of the usual scheme.
  static void transposeFourDwords(const char *src, int64_t srcStride, char *dst,
                                  int64_t dstStride) {
    __m512 t[4];
    for (int j = 0; j < 4; ++j) {
      const char *p = src + j * srcStride;
      auto at = [&](int64_t row) {
        return _mm_loadu_ps(reinterpret_cast<const float *>(p + row * srcStride));
      };
      __m512 v = _mm512_castps128_ps512(at(0));
      v = _mm512_insertf32x4(v, at(4), 1);
      v = _mm512_insertf32x4(v, at(8), 2);
      t[j] = _mm512_insertf32x4(v, at(12), 3);
    }
    __m512d u0 = _mm512_castps_pd(_mm512_unpacklo_ps(t[0], t[1]));
    __m512d u1 = _mm512_castps_pd(_mm512_unpackhi_ps(t[0], t[1]));
    __m512d u2 = _mm512_castps_pd(_mm512_unpacklo_ps(t[2], t[3]));
    __m512d u3 = _mm512_castps_pd(_mm512_unpackhi_ps(t[2], t[3]));
    _mm512_storeu_pd(dst, _mm512_unpacklo_pd(u0, u2));
    _mm512_storeu_pd(dst + dstStride, _mm512_unpackhi_pd(u0, u2));
    _mm512_storeu_pd(dst + 2 * dstStride, _mm512_unpacklo_pd(u1, u3));
    _mm512_storeu_pd(dst + 3 * dstStride, _mm512_unpackhi_pd(u1, u3));
  }
  /// The same for 16 rows of 16 dwords.
  static void transposeDwords(const char *src, int64_t srcStride, char *dst, int64_t dstStride) {
    for (int g = 0; g < 4; ++g)
      transposeFourDwords(src + g * 16, srcStride, dst + 4 * g * dstStride, dstStride);
  }
};

} // namespace
#endif // PTOAS_KERNELS_AVX512VECTOR_H
