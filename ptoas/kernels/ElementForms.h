//===- ElementForms.h - how elements become the dwords of a product -------===//
//
// Every product runs on 32-bit groups along k: one FP32 value, two bfloat16 or int16, or
// four int8. A form says how groups are made from memory:
//   line(p)        `lanes` groups of contiguous elements (k runs along the memory)
//   across(p, s)   one group for each of `lanes` neighbours, elements of a group s apart
// Both read exactly the elements they name; callers use a padded copy at the edges.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_KERNELS_ELEMENTFORMS_H
#define PTOAS_KERNELS_ELEMENTFORMS_H

#include "KernelTable.h"
#include <immintrin.h>

namespace {

template <class V> struct FormF32 {
  using In = float;
  static constexpr int group = 1;
  static constexpr bool isDword = true; // memory holds the dwords already
  static typename V::I line(const In *p) { return V::loadI(p); }
  static typename V::I across(const In *p, int64_t) { return V::loadI(p); }
};

template <class V> struct FormF16 {
  using In = uint16_t;
  static constexpr int group = 1;
  static constexpr bool isDword = false;
  static typename V::I line(const In *p) { return V::castI(V::fromF16(p)); }
  static typename V::I across(const In *p, int64_t) { return line(p); }
};

template <class V> struct FormBf16AsF32 {
  using In = uint16_t;
  static constexpr int group = 1;
  static constexpr bool isDword = false;
  static typename V::I line(const In *p) { return V::castI(V::fromBf16(p)); }
  static typename V::I across(const In *p, int64_t) { return line(p); }
};

/// int8 widened to pairs of int16, for hosts without a byte dot product.
template <class V> struct FormI8AsI16 {
  using In = int8_t;
  static constexpr int group = 2;
  static constexpr bool isDword = false;
  static typename V::I line(const In *p) { return V::widenI8ToI16(p); }
  static typename V::I across(const In *p, int64_t stride) {
    return V::joinI16(V::widenI8ToI32(p), V::widenI8ToI32(p + stride));
  }
};

#ifdef __AVX512BW__
struct FormBf16Pair {
  using In = uint16_t;
  static constexpr int group = 2;
  static constexpr bool isDword = true;
  static __m512i line(const In *p) { return _mm512_loadu_si512(p); }
  static __m512i across(const In *p, int64_t stride) {
    auto words = [](const In *q) {
      return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(q)));
    };
    return _mm512_or_si512(words(p), _mm512_slli_epi32(words(p + stride), 16));
  }
};

/// `Flip` turns signed into unsigned bytes (x + 128).
template <bool Flip> struct FormI8Quad {
  using In = int8_t;
  static constexpr int group = 4;
  static constexpr bool isDword = !Flip;
  static __m512i sign(__m512i v) {
    return Flip ? _mm512_xor_si512(v, _mm512_set1_epi8(char(0x80))) : v;
  }
  static __m512i line(const In *p) { return sign(_mm512_loadu_si512(p)); }
  static __m512i across(const In *p, int64_t stride) {
    auto bytes = [](const In *q) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(q)); };
    __m128i r0 = bytes(p), r1 = bytes(p + stride);
    __m128i r2 = bytes(p + 2 * stride), r3 = bytes(p + 3 * stride);
    __m128i lo01 = _mm_unpacklo_epi8(r0, r1), hi01 = _mm_unpackhi_epi8(r0, r1);
    __m128i lo23 = _mm_unpacklo_epi8(r2, r3), hi23 = _mm_unpackhi_epi8(r2, r3);
    __m256i lo = _mm256_set_m128i(_mm_unpackhi_epi16(lo01, lo23), _mm_unpacklo_epi16(lo01, lo23));
    __m256i hi = _mm256_set_m128i(_mm_unpackhi_epi16(hi01, hi23), _mm_unpacklo_epi16(hi01, hi23));
    return sign(_mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1));
  }
};
#endif

} // namespace
#endif // PTOAS_KERNELS_ELEMENTFORMS_H
