//===- GemmAvx512Vnni.cpp - int8 products with AVX512-VNNI ----------------===//
//
// VPDPBUSD multiplies unsigned by signed bytes. b is packed as b + 128 (unsigned), a stays
// signed, and the surplus, 128 * (sum of a's row), is taken from the sums beforehand.
// INT32 sums wrap, so the detour is exact.
//
//===----------------------------------------------------------------------===//
#include "Avx512Vector.h"
#include "PanelGemm.h"

namespace {
struct DotI8 : DotI16<Avx512> {
  static constexpr bool rowCorrection = true;
  static Acc dot(Acc acc, Operand a, Operand b) { return _mm512_dpbusd_epi32(acc, b, a); }

  /// out[i] = -128 * sum of the bytes of row i, taken in `groups` dwords.
  static void correct(const char *a, int64_t rowStride, int64_t rows, int64_t groups,
                      int32_t *out) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (int64_t i = 0; i < rows; ++i, a += rowStride) {
      __m512i sum = _mm512_setzero_si512();
      for (int64_t g = 0; g < groups; g += 16)
        sum = _mm512_dpbusd_epi32(sum, ones, Avx512::loadI(a + g * 4, Avx512::mask(groups - g)));
      out[i] = int32_t(uint32_t(_mm512_reduce_add_epi32(sum)) * uint32_t(-128));
    }
  }
};
} // namespace

void pto::kernels::useAvx512Vnni(KernelTable &table) {
  table.gemmI8 = [](const GemmI8 &x) { panelGemm<DotI8, FormI8Quad<false>, FormI8Quad<true>>(x); };
}
