//===- KernelTable.h - one set of functions per instruction set -----------===//
//
// Each file that is compiled for an instruction set fills the entries it is best
// at; Dispatch.cpp picks one implementation of each function when the library loads.
// Files compiled with wider instruction sets include no C++ library header that has
// inline functions: the linker might keep their copy for everyone.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_KERNELS_KERNELTABLE_H
#define PTOAS_KERNELS_KERNELTABLE_H

#include <stddef.h>
#include <stdint.h>

namespace pto::kernels {

/// Arguments of a product; strides in elements. The meaning is that of pto_gemm_* in Kernels.h.
template <class In, class Out> struct Gemm {
  int64_t m, n, k;
  const In *a;
  int64_t aRowStride, aColStride;
  const In *b;
  int64_t bRowStride, bColStride;
  Out *c;
  int64_t cRowStride;
  const Out *bias;
  bool accumulate;
};
using GemmF32 = Gemm<float, float>;
using GemmHalf = Gemm<uint16_t, float>;
using GemmI8 = Gemm<int8_t, int32_t>;

struct Transpose {
  int64_t rows, cols;
  const char *src;
  int64_t srcStride; // elements
  char *dst;
  int64_t dstStride;
};

struct KernelTable {
  void (*gemmF32)(const GemmF32 &);
  void (*gemmBf16)(const GemmHalf &);
  void (*gemmF16)(const GemmHalf &);
  void (*gemmI8)(const GemmI8 &);
  void (*transpose[4])(const Transpose &); // by log2 of the element's bytes
};

// Each overwrites the entries for which it has something better.
void usePlain(KernelTable &);
void useAvx2(KernelTable &);
void useAvx2Transpose(KernelTable &);
void useAvx512(KernelTable &);
void useAvx512Vnni(KernelTable &);
void useAvx512Bf16(KernelTable &);
void useAmx(KernelTable &); // bf16 and int8

/// Scratch of the running kernel function: 64-byte aligned, per thread, kept between calls and
/// valid until the next call on this thread. Never held across a call of another kernel.
char *packingScratch(size_t bytes);

} // namespace pto::kernels
#endif // PTOAS_KERNELS_KERNELTABLE_H
