//===- GemmAvx2.cpp - products on AVX2, FMA and F16C -------------------===//
#include "Avx2Vector.h"
#include "PanelGemm.h"

namespace pto::kernels {

static void gemmF32(const GemmF32 &x) { panelGemm<DotF32<Avx2>, FormF32<Avx2>, FormF32<Avx2>>(x); }
static void gemmF16(const GemmHalf &x) { panelGemm<DotF32<Avx2>, FormF16<Avx2>, FormF16<Avx2>>(x); }
static void gemmBf16(const GemmHalf &x) {
  panelGemm<DotF32<Avx2>, FormBf16AsF32<Avx2>, FormBf16AsF32<Avx2>>(x);
}
static void gemmI8(const GemmI8 &x) {
  panelGemm<DotI16<Avx2>, FormI8AsI16<Avx2>, FormI8AsI16<Avx2>>(x);
}

void useAvx2(KernelTable &table) {
  table.gemmF32 = gemmF32;
  table.gemmF16 = gemmF16;
  table.gemmBf16 = gemmBf16;
  table.gemmI8 = gemmI8;
}

} // namespace pto::kernels
