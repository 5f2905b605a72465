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
  template <int C, int A, int B> static void dot() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

struct AmxI8 {
  using In = int8_t;
  using Out = int32_t;
  using Form = FormI8Quad<false>;
  template <int C, int A, int B> static void dot() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

constexpr int tileRows = 16, panelWidth = 32;
constexpr int64_t panelStride = panelWidth * 4;
constexpr int64_t blockGroups = 256, blockRows = 512;

/// Packing of one panel of b, done in steps of 16 x 16 groups.
template <class T> struct PanelPacker {
  const typename T::In *b = nullptr;
  int64_t rowStride = 0, colStride = 0, depth = 0, columns = 0;
  char *panel = nullptr;
  int64_t steps = 0, next = 0;

  void start(const typename T::In *from, int64_t rs, int64_t cs, int64_t k, int64_t n, char *to) {
    b = from;
    rowStride = rs;
    colStride = cs;
    depth = k;
    columns = n;
    panel = to;
    next = 0;
    // Column tiles that are empty stay unwritten: no block of sums uses them.
    steps = ceilDiv(k, perStep) * ceilDiv(n, tileRows);
  }
  void step() {
    if (next == steps)
      return;
    const int64_t columnTiles = ceilDiv(columns, tileRows);
    const int64_t along = next / columnTiles * perStep, across = next % columnTiles * tileRows;
    ++next;
    const int64_t count = min64(perStep, depth - along);
    char *dst = panel + along / T::Form::group * panelStride + across * 4;
    packNeighbours<Avx512, typename T::Form>(b + along * rowStride + across * colStride, rowStride,
                                             colStride, count, min64(tileRows, columns - across),
                                             dst, panelStride);
    // The last tile row of groups is zero-filled: a's padding is zero, but 0 * NaN is not.
    for (int64_t g = ceilDiv(count, T::Form::group); g < tileRows; ++g)
      Avx512::storeI(dst + g * panelStride, Avx512::zeroI());
  }
  void finish() {
    while (next < steps)
      step();
  }
  static constexpr int64_t perStep = tileRows * T::Form::group;
};

/// Where tiles of a lie: direct in memory, or packed [row tile][k tile][16][64 bytes].
struct TilesOfA {
  const char *base;
  int64_t rowTile, kTile, stride; // bytes
};

/// Adds the product of RowTiles x ColTiles tiles to the sums while `packer` advances.
template <class T, int RowTiles, int ColTiles>
void multiplyBlock(const char *a, const TilesOfA &at, const char *panel, int64_t kTiles,
                   PanelPacker<T> &packer, int64_t stepsPerTile) {
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
    for (int64_t i = 0; i < stepsPerTile; ++i)
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
              int64_t stepsPerTile) {
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
  multiplyBlock<T, RowTiles, ColTiles>(a, at, panel, kTiles, packer, stepsPerTile);
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
      const bool direct = x.aColStride == 1 && depth % perTile == 0 && rows % 16 == 0 &&
                          (rowBytes % 1024 != 0 || x.n <= 2 * panelWidth);
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
        int64_t stepsPerTile = 0;
        if (n0 + panelWidth < x.n) {
          startPacking(n0 + panelWidth, nextPanel);
          if (kTiles)
            stepsPerTile = ceilDiv(packer.steps, ceilDiv(rows, 32) * kTiles);
        }
        for (int64_t i = 0; i < rows; i += 32) {
          const int64_t height = min64(32, rows - i);
          auto run = height > 16    ? columns > 16 ? runBlock<T, 2, 2> : runBlock<T, 2, 1>
                     : columns > 16 ? runBlock<T, 1, 2>
                                    : runBlock<T, 1, 1>;
          run(at.base + i / 16 * at.rowTile, at, panel, kTiles, x.c + (m0 + i) * x.cRowStride + n0,
              x.cRowStride, height, columns, x.bias && k0 == 0 ? x.bias + n0 : nullptr,
              x.accumulate || k0 > 0, packer, stepsPerTile);
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
