//===- GemmAvx512.cpp - products on AVX-512 F/BW/DQ/VL --------------------===//
#include "Avx512Vector.h"
#include "PanelGemm.h"

namespace pto::kernels {

static void gemmF32(const GemmF32 &x) {
  panelGemm<DotF32<Avx512>, FormF32<Avx512>, FormF32<Avx512>>(x);
}
static void gemmF16(const GemmHalf &x) {
  panelGemm<DotF32<Avx512>, FormF16<Avx512>, FormF16<Avx512>>(x);
}
static void gemmBf16(const GemmHalf &x) {
  panelGemm<DotF32<Avx512>, FormBf16AsF32<Avx512>, FormBf16AsF32<Avx512>>(x);
}
static void gemmI8(const GemmI8 &x) {
  panelGemm<DotI16<Avx512>, FormI8AsI16<Avx512>, FormI8AsI16<Avx512>>(x);
}

void useAvx512(KernelTable &table) {
  table.gemmF32 = gemmF32;
  table.gemmF16 = gemmF16;
  table.gemmBf16 = gemmBf16;
  table.gemmI8 = gemmI8;
}

} // namespace pto::kernels
