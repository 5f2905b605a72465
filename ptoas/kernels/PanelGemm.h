//===- PanelGemm.h - the register-blocked product for vector units --------===//
//
// C is cut into panels of two vectors width and strips of up to maxRows rows; a strip x
// panel lives in registers while k runs. b is read through a packed panel that stays in
// the first-level cache for all strips; row-major FP32 is copied there by the first
// strip as it computes, everything else is packed just before. a is broadcast straight
// from its memory wherever that is possible (see aIsUsable).
//
// Sums: one chain per element, ((bias + c) + a0 b0) + a1 b1 ..., in the order of k, each
// step one FMA. Blocking k stores and reloads the chain unchanged, so results do not
// depend on strides, blocking, the vector width, or where a caller cuts k.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_KERNELS_PANELGEMM_H
#define PTOAS_KERNELS_PANELGEMM_H

#include "Pack.h"

namespace {

/// Calls f(integral constant) for 0..N-1, unrolled.
template <int I> struct Index {
  static constexpr int value = I;
};
template <int N, int I = 0, class Fn>
__attribute__((always_inline)) inline void unroll(const Fn &f) {
  if constexpr (I < N) {
    f(Index<I>{});
    unroll<N, I + 1>(f);
  }
}

/// FP32: dot is one FMA. `Acc` is the vector of sums, `Operand` that of b.
template <class V> struct DotF32 {
  using Lanes = V;
  using Acc = typename V::F;
  using Operand = typename V::F;
  using Out = float;
  static constexpr bool rowCorrection = false;
  static Acc zero() { return V::zeroF(); }
  static Acc splat(const Out *p) { return V::splatF(p); }
  static Acc add(Acc a, Acc b) { return V::addF(a, b); }
  static Acc loadC(const Out *p, typename V::Mask m) { return V::loadF(p, m); }
  static void storeC(Out *p, Acc v, typename V::Mask m) { V::storeF(p, v, m); }
  static Operand loadB(const char *p) { return V::loadF(p); }
  static Operand loadB(const char *p, typename V::Mask m) { return V::loadF(p, m); }
  static void storeB(char *p, Operand v) { V::storeF(p, v); }
  static Operand splatA(const char *p) { return V::splatF(p); }
  static Acc dot(Acc acc, Operand a, Operand b) { return V::fmaF(acc, a, b); }
};

/// Pairs of int16 with INT32 sums.
template <class V> struct DotI16 {
  using Lanes = V;
  using Acc = typename V::I;
  using Operand = typename V::I;
  using Out = int32_t;
  static constexpr bool rowCorrection = false;
  static Acc zero() { return V::zeroI(); }
  static Acc splat(const Out *p) { return V::splatI(p); }
  static Acc add(Acc a, Acc b) { return V::addI(a, b); }
  static Acc loadC(const Out *p, typename V::Mask m) { return V::loadI(p, m); }
  static void storeC(Out *p, Acc v, typename V::Mask m) { V::storeI(p, v, m); }
  static Operand loadB(const char *p) { return V::loadI(p); }
  static Operand loadB(const char *p, typename V::Mask m) { return V::loadI(p, m); }
  static void storeB(char *p, Operand v) { V::storeI(p, v); }
  static Operand splatA(const char *p) { return V::splatI(p); }
  static Acc dot(Acc acc, Operand a, Operand b) { return V::maddI(acc, a, b); }
};

/// One strip x panel. Byte strides.
template <class D> struct Strip {
  const char *a;
  int64_t aRowStride; // groups of a row are neighbours
  const char *b;
  int64_t bStep;
  char *packed; // where the first strip leaves b, panelBytes apart
  typename D::Out *c;
  int64_t cRowStride; // elements
  int64_t columns;    // valid ones of this panel
  int64_t groups;
  const typename D::Out *bias;       // null: none
  const typename D::Out *correction; // one per row, null: none
  bool load;                         // sums start from c
  const char *ahead;                 // lines to bring to the second-level cache, one per group
  int64_t aheadStep;
};

template <class D, int Rows, int Vectors, bool FirstUse> void runStrip(const Strip<D> &s) {
  using V = typename D::Lanes;
  constexpr int W = V::lanes;
  typename V::Mask mask[Vectors];
  unroll<Vectors>([&](auto v) { mask[v.value] = V::mask(s.columns - v.value * W); });
  typename D::Acc acc[Rows][Vectors];
  {
    typename D::Acc start[Vectors];
    unroll<Vectors>([&](auto v) {
      start[v.value] = s.bias ? D::loadC(s.bias + v.value * W, mask[v.value]) : D::zero();
    });
    unroll<Rows>(
        [&](auto i) { unroll<Vectors>([&](auto v) { acc[i.value][v.value] = start[v.value]; }); });
    if (s.load)
      unroll<Rows>([&](auto i) {
        const typename D::Out *c = s.c + i.value * s.cRowStride;
        unroll<Vectors>([&](auto v) {
          auto old = D::loadC(c + v.value * W, mask[v.value]);
          acc[i.value][v.value] = s.bias ? D::add(old, start[v.value]) : old;
        });
      });
    if constexpr (D::rowCorrection)
      if (s.correction)
        unroll<Rows>([&](auto i) {
          unroll<Vectors>([&](auto v) {
            acc[i.value][v.value] = D::add(acc[i.value][v.value], D::splat(s.correction + i.value));
          });
        });
  }
  // Additions compete with FMAs for ports, so there are few: rows are addressed as base + {0, 1,
  // 2, 3} strides, and the bases step once in four groups. The empty asm hides how the bases are
  // related; the compiler would derive each address from the one before, a chain as long as the
  // arithmetic itself.
  constexpr int Bases = (Rows + 3) / 4;
  const char *a[Bases];
  unroll<Bases>([&](auto i) { a[i.value] = s.a + 4 * i.value * s.aRowStride; });
  int64_t row = s.aRowStride, row3 = 3 * row;
  __asm__("" : "+r"(row), "+r"(row3));
  const int64_t bStep = FirstUse ? s.bStep : Vectors * W * 4;
  const char *b = s.b, *ahead = s.ahead;
  int64_t aheadStep = s.aheadStep, aheadStep3 = 3 * aheadStep;
  __asm__("" : "+r"(aheadStep), "+r"(aheadStep3));
  [[maybe_unused]] char *packed = s.packed;
  auto groups = [&](auto count) __attribute__((always_inline)) {
    constexpr int Count = decltype(count)::value;
    unroll<Count>([&](auto u) {
      if constexpr (!FirstUse && Count == 4)
        __builtin_prefetch(ahead + (u.value == 3 ? aheadStep3 : u.value * aheadStep), 0, 2);
      typename D::Operand bv[Vectors];
      unroll<Vectors>([&](auto v) {
        if constexpr (FirstUse) {
          bv[v.value] = D::loadB(b + v.value * W * 4, mask[v.value]);
          D::storeB(packed + (u.value * Vectors + v.value) * W * 4, bv[v.value]);
        } else {
          bv[v.value] = D::loadB(b + (u.value * Vectors + v.value) * W * 4);
        }
      });
      unroll<Rows>([&](auto i) {
        const char *p =
            a[i.value / 4] + (i.value % 4 == 3 ? row3 : i.value % 4 * row) + u.value * 4;
        typename D::Operand av = D::splatA(p);
        unroll<Vectors>([&](auto v) {
          acc[i.value][v.value] = D::dot(acc[i.value][v.value], av, bv[v.value]);
        });
      });
      if constexpr (FirstUse)
        b += bStep;
    });
    unroll<Bases>([&](auto i) {
      a[i.value] += 4 * Count;
      __asm__("" : "+r"(a[i.value]));
    });
    if constexpr (!FirstUse && Count == 4)
      ahead += 4 * aheadStep;
    if constexpr (FirstUse)
      packed += Count * Vectors * W * 4;
    else
      b += Count * bStep;
  };
  int64_t rest = s.groups;
  for (; rest >= 4; rest -= 4)
    groups(Index<4>{});
  for (; rest > 0; --rest)
    groups(Index<1>{});
  unroll<Rows>([&](auto i) {
    typename D::Out *c = s.c + i.value * s.cRowStride;
    unroll<Vectors>(
        [&](auto v) { D::storeC(c + v.value * W, acc[i.value][v.value], mask[v.value]); });
  });
}

/// Strips by [rows / 2]: one row, or an even number of them. Odd heights would double the code
/// for the last row of odd operands.
template <class D> using StripFn = void (*)(const Strip<D> &);
template <class D, int Vectors, bool FirstUse> struct StripTable {
  static constexpr int size = D::Lanes::maxRows / 2 + 1;
  StripFn<D> fn[size];
  constexpr StripTable() : fn() { fill<0>(); }
  template <int I> constexpr void fill() {
    if constexpr (I < size) {
      fn[I] = runStrip < D, I == 0 ? 1 : 2 * I, Vectors, FirstUse > ;
      fill<I + 1>();
    }
  }
};
template <class D, bool FirstUse> const StripFn<D> *strips(bool oneVector) {
  static constexpr StripTable<D, 1, FirstUse> narrow;
  static constexpr StripTable<D, 2, FirstUse> wide;
  return oneVector ? narrow.fn : wide.fn;
}

template <class D, class FA, class FB, class Args> void panelGemm(const Args &x) {
  using V = typename D::Lanes;
  using In = typename FA::In;
  using Out = typename D::Out;
  constexpr int W = V::lanes, G = FA::group, NR = 2 * W;
  constexpr int64_t blockGroups = 256, blockRows = 504; // 504 = 36 strips of 14, 84 of 6
  if (x.m <= 0 || x.n <= 0)
    return;

  const int64_t maxGroups = min64(ceilDiv(x.k, G), blockGroups);
  const int64_t maxRows = min64(x.m, blockRows);
  // One more line than a power of two keeps packed rows out of each other's cache sets.
  const int64_t aRowBytes = roundUp(maxGroups, W) * 4 + 64;
  const int64_t panelBytes = maxGroups * NR * 4;
  const int64_t aBytes = aRowBytes * roundUp(maxRows, W);
  char *panel = pto::kernels::packingScratch(size_t(panelBytes + aBytes + maxRows * 4));
  char *aPacked = panel + panelBytes;
  Out *correction = reinterpret_cast<Out *>(aPacked + aBytes);

  for (int64_t m0 = 0; m0 < x.m; m0 += blockRows) {
    const int64_t rows = min64(blockRows, x.m - m0);
    int64_t k0 = 0;
    do { // at least once: k may be 0
      const int64_t depth = min64(blockGroups * G, x.k - k0), groups = ceilDiv(depth, G);
      const In *a = x.a + m0 * x.aRowStride + k0 * x.aColStride;
      Strip<D> s;
      s.groups = groups;
      s.a = reinterpret_cast<const char *>(a);
      s.aRowStride = x.aRowStride * int64_t(sizeof(In));
      if (!FA::isDword || x.aColStride != 1 || depth % G != 0) {
        packRows<V, FA>(a, x.aRowStride, x.aColStride, rows, depth, aPacked, aRowBytes);
        s.a = aPacked;
        s.aRowStride = aRowBytes;
      }
      if constexpr (D::rowCorrection) {
        D::correct(s.a, s.aRowStride, rows, groups, correction);
        s.correction = correction;
      }
      s.cRowStride = x.cRowStride;
      s.load = x.accumulate || k0 > 0;
      s.packed = panel;
      const char *aBlock = s.a;
      const int64_t pairs = rows / 2, evenStrips = ceilDiv(pairs, V::maxRows / 2);
      for (int64_t n0 = 0; n0 < x.n; n0 += NR) {
        s.columns = min64(NR, x.n - n0);
        s.bias = x.bias && k0 == 0 ? x.bias + n0 : nullptr;
        const bool oneVector = s.columns <= W;
        const int64_t width = oneVector ? W : NR;
        const auto *b = x.b + k0 * x.bRowStride + n0 * x.bColStride;
        const bool packOnFirstUse = FB::isDword && G == 1 && x.bColStride == 1;
        if (packOnFirstUse) {
          s.b = reinterpret_cast<const char *>(b);
          s.bStep = x.bRowStride * 4;
        } else {
          for (int64_t j = 0; j < s.columns; j += W)
            packNeighbours<V, FB>(b + j * x.bColStride, x.bRowStride, x.bColStride, depth,
                                  min64(W, s.columns - j), panel + j * 4, width * 4);
          s.b = panel;
        }
        auto *run = strips<D, false>(oneVector);
        // The next panel of a b that is part of a larger matrix is not in the cache yet, and rows
        // that far apart defeat the hardware's prefetchers. Behind the last panel: what a caller
        // that goes on along k will want. Rows 4 KiB apart gain nothing (measured).
        const char *next = nullptr;
        const int64_t bRowBytes = x.bRowStride * int64_t(sizeof(In));
        if (packOnFirstUse && x.bRowStride > x.n && bRowBytes % 4096 != 0)
          next = reinterpret_cast<const char *>(n0 + NR < x.n ? b + NR
                                                              : x.b + (k0 + depth) * x.bRowStride);
        // Strips of equal height, so that the last one is not a slow sliver.
        for (int64_t strip = 0, i = 0; i < rows; ++strip) {
          const int64_t half = strip == evenStrips // the last row of an odd number
                                   ? 0
                                   : pairs / evenStrips + (strip < pairs % evenStrips);
          s.a = aBlock + i * s.aRowStride;
          s.c = x.c + (m0 + i) * x.cRowStride + n0;
          if constexpr (D::rowCorrection)
            s.correction = correction + i;
          const bool fetches = next && strip >= 1 && strip <= NR * 4 / 64;
          s.ahead = fetches ? next + (strip - 1) * 64 : panel;
          s.aheadStep = fetches ? bRowBytes : 0;
          if (packOnFirstUse && strip == 0) {
            if constexpr (FB::isDword && G == 1)
              strips<D, true>(oneVector)[half](s);
            s.b = panel;
          } else {
            run[half](s);
          }
          i += half ? 2 * half : 1;
        }
      }
      k0 += depth;
    } while (k0 < x.k);
  }
}

} // namespace
#endif // PTOAS_KERNELS_PANELGEMM_H
