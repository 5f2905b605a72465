//===- GemmAmx.cpp - bfloat16 and int8 products on AMX tiles --------------===//
//
// Blocks of 2 x 2 tiles of 16 x 16 sums. Both element types are products of dword groups
// (two bfloat16, four int8), so they differ in one instruction and in how b is packed. A
// tile of a is read straight from row-major memory: rows are 64 bytes. b is packed to panels
// of 32 columns, [groups][32], two tiles side by side; the panel that comes next is packed
// in small portions between the tile instructions of this one, which hides its cost behind
// the tile unit.
//
// TDPBF16PS rounds to nearest even and takes subnormals as zero. Tiles are configured once
// per call and released at its end: unreleased tiles would cost every context switch 8 KiB.
//
//===----------------------------------------------------------------------===//
#include "Avx512Vector.h"
#include "Pack.h"

namespace {

// Own wrappers: GCC 12's intrinsics do not tell the compiler which memory they touch.
template <int Tile> inline void tileLoad(const void *p, int64_t stride) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(Tile) : "memory");
}
template <int Tile> inline void tileStore(void *p, int64_t stride) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(Tile) : "memory");
}
template <int Tile> inline void tileZero() { __asm__ volatile("tilezero %%tmm%c0" ::"i"(Tile)); }

/// Tiles 0-3: sums [row tile * 2 + column tile]; 4, 5: a; 6, 7: b.
struct TilesOfCall {
  TilesOfCall() {
    struct alignas(64) Config {
      uint8_t palette = 1, startRow = 0, reserved[14] = {};
      uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static const Config config;
    __asm__ volatile("ldtilecfg %0" ::"m"(config));
  }
  ~TilesOfCall() { __asm__ volatile("tilerelease"); }
};

struct AmxBf16 {
  using In = uint16_t;
  using Out = float;
  using Form = FormBf16Pair;
  /// One group row of a panel: two rows of 32 bfloat16, interleaved.
  static void interleave(const In *p, int64_t stride, char *dst) {
    // Within 128-bit lanes the unpacks take the halves of a lane apart; the permutation puts
    // what belongs to the first 16 columns into all the low halves.
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    __m512i r0 = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(p));
    __m512i r1 = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(p + stride));
    _mm512_storeu_si512(dst, _mm512_unpacklo_epi16(r0, r1));
    _mm512_storeu_si512(dst + 64, _mm512_unpackhi_epi16(r0, r1));
  }
  template <int C, int A, int B> static void dot() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

struct AmxI8 {
  using In = int8_t;
  using Out = int32_t;
  using Form = FormI8Quad<false>;
  /// One group row of a panel: four rows of 32 bytes, interleaved.
  static void interleave(const In *p, int64_t stride, char *dst) {
    auto row = [&](int64_t i) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p + i * stride));
    };
    auto put = [&](int column, __m256i v) { // columns c..c+3 and c+16..c+19
      _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + column * 4), _mm256_castsi256_si128(v));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + column * 4 + 64),
                       _mm256_extracti128_si256(v, 1));
    };
    __m256i lo01 = _mm256_unpacklo_epi8(row(0), row(1)),
            hi01 = _mm256_unpackhi_epi8(row(0), row(1));
    __m256i lo23 = _mm256_unpacklo_epi8(row(2), row(3)),
            hi23 = _mm256_unpackhi_epi8(row(2), row(3));
    put(0, _mm256_unpacklo_epi16(lo01, lo23));
    put(4, _mm256_unpackhi_epi16(lo01, lo23));
    put(8, _mm256_unpacklo_epi16(hi01, hi23));
    put(12, _mm256_unpackhi_epi16(hi01, hi23));
  }
  template <int C, int A, int B> static void dot() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

constexpr int tileRows = 16, panelWidth = 32;
constexpr int64_t panelStride = panelWidth * 4;
constexpr int64_t blockGroups = 256, blockRows = 512;

/// Packing of one panel of b, done in steps of four group rows: little enough to find room
/// between the tile products of one step of k.
template <class T> struct PanelPacker {
  using Form = typename T::Form;
  static constexpr int64_t stepsPerTile = tileRows / 4, perTile = tileRows * Form::group;
  const typename T::In *b = nullptr;
  int64_t rowStride = 0, colStride = 0, depth = 0, columns = 0;
  char *panel = nullptr;
  int64_t steps = 0, next = 0;
  bool whole = false;

  void start(const typename T::In *from, int64_t rs, int64_t cs, int64_t k, int64_t n, char *to) {
    b = from;
    rowStride = rs;
    colStride = cs;
    depth = k;
    columns = n;
    panel = to;
    next = 0;
    steps = ceilDiv(k, perTile) * stepsPerTile;
    whole = n == panelWidth && k % perTile == 0 && (cs == 1 || rs == 1);
  }
  void step() {
    if (next == steps)
      return;
    const int64_t now = next++;
    if (!whole) {
      if (now % stepsPerTile == 0)
        raggedTile(now / stepsPerTile);
      return;
    }
    char *dst = panel + now * 4 * panelStride;
    if (colStride == 1) {
      const auto *p = b + now * 4 * Form::group * rowStride;
      for (int g = 0; g < 4; ++g)
        T::interleave(p + g * Form::group * rowStride, rowStride, dst + g * panelStride);
    } else {
      const char *p = reinterpret_cast<const char *>(b + now * 4 * Form::group);
      const int64_t stride = colStride * int64_t(sizeof(typename T::In));
      Avx512::transposeFourDwords(p, stride, dst, panelStride);
      Avx512::transposeFourDwords(p + tileRows * stride, stride, dst + 64, panelStride);
    }
  }
  void finish() {
    while (next < steps)
      step();
  }

private:
  __attribute__((noinline)) void raggedTile(int64_t tile) {
    const int64_t along = tile * perTile, count = min64(perTile, depth - along);
    char *dst = panel + tile * tileRows * panelStride;
    // A column tile that is empty stays unwritten: no block of sums uses it.
    for (int64_t j = 0; j < columns; j += tileRows)
      packNeighbours<Avx512, Form>(b + along * rowStride + j * colStride, rowStride, colStride,
                                   count, min64(tileRows, columns - j), dst + j * 4, panelStride);
    // Zero the rest: a's padding is zero, but 0 * NaN is not.
    for (int64_t g = ceilDiv(count, Form::group); g < tileRows; ++g)
      for (int64_t half = 0; half < 128; half += 64)
        Avx512::storeI(dst + g * panelStride + half, Avx512::zeroI());
  }
};

/// Where tiles of a lie: direct in memory, or packed [row tile][k tile][16][64 bytes].
struct TilesOfA {
  const char *base;
  int64_t rowTile, kTile, stride; // bytes
};

/// Adds the product of RowTiles x ColTiles tiles to the sums while `packer` advances.
template <class T, int RowTiles, int ColTiles>
void multiplyBlock(const char *a, const TilesOfA &at, const char *panel, int64_t kTiles,
                   PanelPacker<T> &packer, int64_t packingSteps) {
  const char *a1 = a + at.rowTile;
  for (int64_t t = 0; t < kTiles; ++t) {
    tileLoad<4>(a, at.stride);
    tileLoad<6>(panel, panelStride);
    T::template dot<0, 4, 6>();
    if constexpr (ColTiles == 2) {
      tileLoad<7>(panel + 64, panelStride);
      T::template dot<1, 4, 7>();
    }
    if constexpr (RowTiles == 2) {
      tileLoad<5>(a1, at.stride);
      T::template dot<2, 5, 6>();
      if constexpr (ColTiles == 2)
        T::template dot<3, 5, 7>();
    }
    for (int64_t i = 0; i < packingSteps; ++i)
      packer.step();
    a += at.kTile;
    a1 += at.kTile;
    panel += tileRows * panelStride;
  }
}

template <class Out, int RowTiles, int ColTiles> void loadSums(const Out *c, int64_t stride) {
  tileLoad<0>(c, stride);
  if constexpr (ColTiles == 2)
    tileLoad<1>(c + 16, stride);
  const char *below = reinterpret_cast<const char *>(c) + 16 * stride;
  if constexpr (RowTiles == 2) {
    tileLoad<2>(below, stride);
    if constexpr (ColTiles == 2)
      tileLoad<3>(below + 64, stride);
  }
}

template <class Out, int RowTiles, int ColTiles> void storeSums(Out *c, int64_t stride) {
  tileStore<0>(c, stride);
  if constexpr (ColTiles == 2)
    tileStore<1>(c + 16, stride);
  char *below = reinterpret_cast<char *>(c) + 16 * stride;
  if constexpr (RowTiles == 2) {
    tileStore<2>(below, stride);
    if constexpr (ColTiles == 2)
      tileStore<3>(below + 64, stride);
  }
}

inline Avx512::F addLanes(Avx512::F a, Avx512::F b, float) { return Avx512::addF(a, b); }
inline Avx512::F addLanes(Avx512::F a, Avx512::F b, int32_t) {
  return Avx512::castF(Avx512::addI(Avx512::castI(a), Avx512::castI(b)));
}

/// Copies a block of sums of up to 32 x 32, `add` (or null) added to each row.
template <class Out>
void copySums(const Out *src, int64_t srcStride, Out *dst, int64_t dstStride, int64_t rows,
              int64_t columns, const Out *add) {
  for (int64_t j = 0; j < columns; j += 16) {
    const auto mask = Avx512::mask(columns - j);
    const auto plus = add ? Avx512::loadF(add + j, mask) : Avx512::zeroF();
    for (int64_t i = 0; i < rows; ++i) {
      auto v = Avx512::loadF(src + i * srcStride + j, mask);
      Avx512::storeF(dst + i * dstStride + j, add ? addLanes(v, plus, Out()) : v, mask);
    }
  }
}

/// One block of up to 32 x 32 sums.
template <class T, int RowTiles, int ColTiles>
void runBlock(const char *a, const TilesOfA &at, const char *panel, int64_t kTiles,
              typename T::Out *c, int64_t cRowStride, int64_t rows, int64_t columns,
              const typename T::Out *bias, bool load, PanelPacker<T> &packer,
              int64_t packingSteps) {
  using Out = typename T::Out;
  const bool whole = rows == RowTiles * 16 && columns == ColTiles * 16;
  alignas(64) Out edge[32 * 32];
  if (load && (bias || !whole)) {
    copySums(c, cRowStride, edge, 32, rows, columns, bias);
    loadSums<Out, RowTiles, ColTiles>(edge, 32 * 4);
  } else if (load) {
    loadSums<Out, RowTiles, ColTiles>(c, cRowStride * 4);
  } else if (bias) {
    const Out *row = bias;
    if (columns < ColTiles * 16) {
      copySums<Out>(bias, 0, edge, 0, 1, columns, nullptr);
      row = edge;
    }
    tileLoad<0>(row, 0);
    if constexpr (ColTiles == 2)
      tileLoad<1>(row + 16, 0);
    if constexpr (RowTiles == 2) {
      tileLoad<2>(row, 0);
      if constexpr (ColTiles == 2)
        tileLoad<3>(row + 16, 0);
    }
  } else {
    tileZero<0>();
    tileZero<1>();
    tileZero<2>();
    tileZero<3>();
  }
  multiplyBlock<T, RowTiles, ColTiles>(a, at, panel, kTiles, packer, packingSteps);
  if (whole)
    return storeSums<Out, RowTiles, ColTiles>(c, cRowStride * 4);
  storeSums<Out, RowTiles, ColTiles>(edge, 32 * 4);
  copySums<Out>(edge, 32, c, cRowStride, rows, columns, nullptr);
}

/// Packs rows x depth of a to tiles, zero behind the edges.
template <class T>
void packTiles(const typename T::In *a, int64_t rowStride, int64_t colStride, int64_t rows,
               int64_t depth, char *dst) {
  using F = typename T::Form;
  constexpr int64_t perTile = tileRows * F::group;
  for (int64_t i = 0; i < rows; i += tileRows)
    for (int64_t p = 0; p < depth; p += perTile, dst += 1024) {
      const typename T::In *tile = a + i * rowStride + p * colStride;
      const int64_t height = min64(tileRows, rows - i), count = min64(perTile, depth - p);
      int64_t filled = height;
      if (colStride == 1) {
        for (int64_t r = 0; r < height; ++r)
          packLine<Avx512, F>(tile + r * rowStride, count, dst + r * 64);
      } else {
        alignas(64) char turned[1024] = {};
        packNeighbours<Avx512, F>(tile, colStride, rowStride, count, height, turned, 64);
        Avx512::transposeDwords(turned, 64, dst, 64);
        filled = tileRows;
      }
      for (; filled < tileRows; ++filled)
        Avx512::storeI(dst + filled * 64, Avx512::zeroI());
    }
}

template <class T> void tileGemm(const pto::kernels::Gemm<typename T::In, typename T::Out> &x) {
  using In = typename T::In;
  constexpr int64_t G = T::Form::group, perTile = tileRows * G;
  if (x.m <= 0 || x.n <= 0)
    return;
  const int64_t panelBytes = roundUp(min64(ceilDiv(x.k, G), blockGroups), tileRows) * panelStride;
  const int64_t aBytes = roundUp(min64(x.m, blockRows), 16) * (panelBytes / panelWidth);
  char *panels = pto::kernels::packingScratch(size_t(2 * panelBytes + aBytes));
  char *aPacked = panels + 2 * panelBytes;
  TilesOfCall tiles;
  PanelPacker<T> packer;

  for (int64_t m0 = 0; m0 < x.m; m0 += blockRows) {
    const int64_t rows = min64(blockRows, x.m - m0);
    int64_t k0 = 0;
    do { // at least once: k may be 0
      const int64_t depth = min64(blockGroups * G, x.k - k0), kTiles = ceilDiv(depth, perTile);
      const In *a = x.a + m0 * x.aRowStride + k0 * x.aColStride;
      const int64_t rowBytes = x.aRowStride * int64_t(sizeof(In));
      TilesOfA at{reinterpret_cast<const char *>(a), 16 * rowBytes, 64, rowBytes};
      // Rows that alias in the cache are read directly nevertheless: packing them cost 4-28 %.
      const bool direct = x.aColStride == 1 && depth % perTile == 0 && rows % 16 == 0;
      if (!direct) {
        packTiles<T>(a, x.aRowStride, x.aColStride, rows, depth, aPacked);
        at = {aPacked, kTiles * 1024, 1024, 64};
      }
      auto startPacking = [&](int64_t n0, char *panel) {
        packer.start(x.b + k0 * x.bRowStride + n0 * x.bColStride, x.bRowStride, x.bColStride, depth,
                     min64(panelWidth, x.n - n0), panel);
      };
      char *panel = panels, *nextPanel = panels + panelBytes;
      startPacking(0, panel);
      packer.finish();
      for (int64_t n0 = 0; n0 < x.n; n0 += panelWidth) {
        const int64_t columns = min64(panelWidth, x.n - n0);
        int64_t packingSteps = 0;
        if (n0 + panelWidth < x.n) {
          startPacking(n0 + panelWidth, nextPanel);
          if (kTiles)
            packingSteps = ceilDiv(packer.steps, ceilDiv(rows, 32) * kTiles);
        }
        for (int64_t i = 0; i < rows; i += 32) {
          const int64_t height = min64(32, rows - i);
          auto run = height > 16    ? columns > 16 ? runBlock<T, 2, 2> : runBlock<T, 2, 1>
                     : columns > 16 ? runBlock<T, 1, 2>
                                    : runBlock<T, 1, 1>;
          run(at.base + i / 16 * at.rowTile, at, panel, kTiles, x.c + (m0 + i) * x.cRowStride + n0,
              x.cRowStride, height, columns, x.bias && k0 == 0 ? x.bias + n0 : nullptr,
              x.accumulate || k0 > 0, packer, packingSteps);
        }
        packer.finish();
        char *done = panel;
        panel = nextPanel;
        nextPanel = done;
      }
      k0 += depth;
    } while (k0 < x.k);
  }
}

} // namespace

void pto::kernels::useAmx(KernelTable &table) {
  table.gemmBf16 = [](const GemmHalf &x) { tileGemm<AmxBf16>(x); };
  table.gemmI8 = [](const GemmI8 &x) { tileGemm<AmxI8>(x); };
}
