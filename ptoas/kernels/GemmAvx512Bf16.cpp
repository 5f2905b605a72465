//===- GemmAvx512Bf16.cpp - bfloat16 products with AVX512-BF16 ------------===//
//
// VDPBF16PS adds two products to each FP32 sum, rounds to nearest even and takes
// subnormal inputs and results as zero.
//
//===----------------------------------------------------------------------===//
#include "Avx512Vector.h"
#include "PanelGemm.h"

namespace {
struct DotBf16 : DotF32<Avx512> {
  using Operand = __m512i;
  static Operand loadB(const char *p) { return Avx512::loadI(p); }
  static Operand loadB(const char *p, Avx512::Mask m) { return Avx512::loadI(p, m); }
  static void storeB(char *p, Operand v) { Avx512::storeI(p, v); }
  static Operand splatA(const char *p) { return Avx512::splatI(p); }
  static Acc dot(Acc acc, Operand a, Operand b) {
    return _mm512_dpbf16_ps(acc, (__m512bh)a, (__m512bh)b);
  }
};
} // namespace

void pto::kernels::useAvx512Bf16(KernelTable &table) {
  table.gemmBf16 = [](const GemmHalf &x) { panelGemm<DotBf16, FormBf16Pair, FormBf16Pair>(x); };
}
