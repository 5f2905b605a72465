//===- Pack.h - copying operands into panels of dword groups --------------===//
//
// A panel of b is [groups][columns], a packed block of a is either [rows][groups] or
// [groups][rows]. Missing elements of the last group and missing columns become zero,
// so that the inner loops need no tails.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_KERNELS_PACK_H
#define PTOAS_KERNELS_PACK_H

#include "ElementForms.h"

namespace {

inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Copies up to 64 bytes into a zeroed buffer that has room for 64.
template <class V> void copyEdge(void *dst, const void *src, int64_t bytes) {
  if constexpr (V::byteMasks)
    V::storeI(dst, V::loadBytes(src, bytes));
  else
    __builtin_memcpy(dst, src, size_t(bytes));
}

/// Groups of `lanes` neighbours: element (i, j) of the group block lies at
/// p[i * alongStride + j], i < along (k), j < across <= lanes. Writes ceil(along / group)
/// vectors, `dstStride` bytes apart.
template <class V, class F>
void packAcross(const typename F::In *p, int64_t alongStride, int64_t along, int64_t across,
                char *dst, int64_t dstStride) {
  constexpr int G = F::group;
  int64_t full = across == V::lanes ? along / G : 0;
  for (int64_t g = 0; g < full; ++g)
    V::storeI(dst + g * dstStride, F::across(p + g * G * alongStride, alongStride));
  for (int64_t g = full; g * G < along; ++g) {
    typename F::In edge[G * V::lanes + 64] = {};
    for (int64_t i = 0; i < min64(G, along - g * G); ++i)
      copyEdge<V>(edge + i * V::lanes, p + (g * G + i) * alongStride,
                  across * int64_t(sizeof(typename F::In)));
    V::storeI(dst + g * dstStride, F::across(edge, V::lanes));
  }
}

/// As packAcross, for memory in which k is contiguous: element (i, j) lies at
/// p[i + j * acrossStride].
template <class V, class F>
void packTransposed(const typename F::In *p, int64_t acrossStride, int64_t along, int64_t across,
                    char *dst, int64_t dstStride) {
  using In = typename F::In;
  constexpr int G = F::group, perBlock = G * V::lanes;
  for (int64_t i = 0; i < along; i += perBlock, dst += V::lanes * dstStride) {
    int64_t count = min64(perBlock, along - i);
    const In *q = p + i;
    if (F::isDword && count == perBlock && across == V::lanes) {
      V::transposeDwords(reinterpret_cast<const char *>(q), acrossStride * int64_t(sizeof(In)), dst,
                         dstStride);
      continue;
    }
    alignas(64) uint32_t block[V::lanes * V::lanes];
    for (int64_t j = 0; j < V::lanes; ++j) {
      const In *row = q + j * acrossStride;
      In edge[perBlock + 64] = {};
      if (count < perBlock || j >= across) {
        if (j < across)
          copyEdge<V>(edge, row, count * int64_t(sizeof(In)));
        row = edge;
      }
      V::storeI(block + j * V::lanes, F::line(row));
    }
    if (count == perBlock) {
      V::transposeDwords(reinterpret_cast<char *>(block), V::lanes * 4, dst, dstStride);
      continue;
    }
    alignas(64) uint32_t turned[V::lanes * V::lanes];
    V::transposeDwords(reinterpret_cast<char *>(block), V::lanes * 4,
                       reinterpret_cast<char *>(turned), V::lanes * 4);
    for (int64_t g = 0; g < ceilDiv(count, G); ++g)
      V::storeI(dst + g * dstStride, V::loadI(turned + g * V::lanes));
  }
}

/// Any strides, one group at a time.
template <class V, class F>
void packScattered(const typename F::In *p, int64_t alongStride, int64_t acrossStride,
                   int64_t along, int64_t across, char *dst, int64_t dstStride) {
  constexpr int G = F::group;
  for (int64_t g = 0; g * G < along; ++g) {
    typename F::In edge[G * V::lanes] = {};
    for (int64_t i = 0; i < min64(G, along - g * G); ++i)
      for (int64_t j = 0; j < across; ++j)
        edge[i * V::lanes + j] = p[(g * G + i) * alongStride + j * acrossStride];
    V::storeI(dst + g * dstStride, F::across(edge, V::lanes));
  }
}

/// [groups][lanes] for a block of `across` <= lanes neighbours, whatever the orientation.
template <class V, class F>
void packNeighbours(const typename F::In *p, int64_t alongStride, int64_t acrossStride,
                    int64_t along, int64_t across, char *dst, int64_t dstStride) {
  if (acrossStride == 1)
    packAcross<V, F>(p, alongStride, along, across, dst, dstStride);
  else if (alongStride == 1)
    packTransposed<V, F>(p, acrossStride, along, across, dst, dstStride);
  else
    packScattered<V, F>(p, alongStride, acrossStride, along, across, dst, dstStride);
}

/// One row with contiguous k as dwords; writes whole vectors, zero behind the end.
template <class V, class F> void packLine(const typename F::In *p, int64_t along, char *dst) {
  constexpr int perVector = F::group * V::lanes;
  int64_t i = 0;
  for (; i + perVector <= along; i += perVector, dst += V::lanes * 4)
    V::storeI(dst, F::line(p + i));
  if (i < along) {
    typename F::In edge[perVector + 64] = {};
    copyEdge<V>(edge, p + i, (along - i) * int64_t(sizeof(typename F::In)));
    V::storeI(dst, F::line(edge));
  }
}

/// rows x along elements as [rows][groups], `dstStride` bytes apart. Writes whole vectors and, if k
/// is not contiguous, a multiple of `lanes` rows.
template <class V, class F>
void packRows(const typename F::In *p, int64_t rowStride, int64_t alongStride, int64_t rows,
              int64_t along, char *dst, int64_t dstStride) {
  if (alongStride == 1) {
    for (int64_t i = 0; i < rows; ++i)
      packLine<V, F>(p + i * rowStride, along, dst + i * dstStride);
    return;
  }
  constexpr int64_t perBlock = V::lanes * F::group;
  for (int64_t i = 0; i < rows; i += V::lanes)
    for (int64_t k = 0; k < along; k += perBlock) {
      char *to = dst + i * dstStride + k / F::group * 4;
      if (F::isDword && F::group == 1 && rowStride == 1 && k + perBlock <= along &&
          i + V::lanes <= rows) {
        V::transposeDwords(reinterpret_cast<const char *>(p + i + k * alongStride), alongStride * 4,
                           to, dstStride);
        continue;
      }
      alignas(64) char turned[V::lanes * V::lanes * 4] = {};
      packNeighbours<V, F>(p + i * rowStride + k * alongStride, alongStride, rowStride,
                           min64(perBlock, along - k), min64(V::lanes, rows - i), turned,
                           V::lanes * 4);
      V::transposeDwords(turned, V::lanes * 4, to, dstStride);
    }
}

} // namespace
#endif // PTOAS_KERNELS_PACK_H
