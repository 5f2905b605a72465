//===- irregular_generate.cpp - random bits, histograms, powers, arg ops --===//
#include "irregular_tile.h"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace ptoas::kernels;

/// Philox 4x32 (Salmon et al. 2011) with the given number of rounds. Lane l uses counter + l; its
/// four words go to four positions 64 elements apart (pto-isa 6.13).
PTO_RUNTIME void pto_random(const Tile *dst, uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1,
                            uint32_t c2, uint32_t c3, int32_t rounds) {
  int64_t total = dst->validRows * dst->validCols;
  for (int64_t base = 0; base < total; base += 256)
    for (int64_t lane = 0; lane < 64; ++lane) {
      uint64_t low = (uint64_t(c1) << 32 | c0) + uint64_t(base / 4 + lane);
      uint64_t carry = low < (uint64_t(c1) << 32 | c0);
      uint64_t high = (uint64_t(c3) << 32 | c2) + carry;
      uint32_t x[4] = {uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
      uint32_t key[2] = {k0, k1};
      for (int32_t round = 0; round < rounds; ++round) {
        uint64_t p = uint64_t(0xD2511F53u) * x[0], q = uint64_t(0xCD9E8D57u) * x[2];
        uint32_t next[4] = {uint32_t(q >> 32) ^ x[1] ^ key[0], uint32_t(q),
                            uint32_t(p >> 32) ^ x[3] ^ key[1], uint32_t(p)};
        std::copy(next, next + 4, x);
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
      }
      for (int64_t word = 0; word < 4; ++word) {
        int64_t i = base + word * 64 + lane;
        if (i < total)
          dst->ref<uint32_t>(i / dst->validCols, i % dst->validCols) = x[word];
      }
    }
}

/// Cumulative counts of one byte of the elements whose higher bytes equal the row's index.
PTO_RUNTIME void pto_histogram(const Tile *dst, const Tile *src, const Tile *index, int32_t byte) {
  int64_t bins = std::min<int64_t>(256, dst->cols);
  for (int64_t r = 0; r < src->validRows && r < dst->rows; ++r) {
    uint32_t counts[256] = {};
    int64_t prefix = r < index->rows ? loadInteger(index->at(r, 0), index->type) : 0;
    unsigned top = src->bytes() - 1;
    for (int64_t c = 0; c < src->validCols; ++c) {
      uint64_t x = uint64_t(loadInteger(src->at(r, c), src->type));
      if (unsigned(byte) < top && ((x >> (8 * (byte + 1))) & 0xff) != uint64_t(prefix & 0xff))
        continue;
      ++counts[(x >> (8 * byte)) & 0xff];
    }
    uint32_t sum = 0;
    for (int64_t k = 0; k < bins; ++k)
      storeNumber(dst->at(r, k), dst->type, sum += counts[k]);
  }
}

/// Column sums in pairs (pto-isa 6.6): rows 2i and 2i + 1, then the same of these sums. A last row
/// without a partner goes into the last pair, or the first one. Each sum is rounded.
PTO_RUNTIME void pto_col_sum_pairs(const Tile *dst, const Tile *src, int32_t intoLast) {
  auto rounded = [&](double value) {
    alignas(8) char bits[8];
    storeNumber(bits, src->type, value);
    return loadNumber(bits, src->type);
  };
  std::vector<double> sums(src->validRows);
  for (int64_t c = 0; c < std::min(dst->validCols, src->validCols); ++c) {
    for (int64_t r = 0; r < src->validRows; ++r)
      sums[r] = loadNumber(src->at(r, c), src->type);
    for (int64_t n = src->validRows; n > 1; n /= 2) {
      double odd = sums[n - 1];
      for (int64_t i = 0; i < n / 2; ++i)
        sums[i] = rounded(sums[2 * i] + sums[2 * i + 1]);
      if (n % 2)
        sums[intoLast ? n / 2 - 1 : 0] = rounded(sums[intoLast ? n / 2 - 1 : 0] + odd);
    }
    storeNumber(dst->at(0, c), dst->type, sums.empty() ? 0 : sums[0]);
  }
}

PTO_RUNTIME void pto_col_arg(const Tile *dst, const Tile *src, int32_t max) {
  for (int64_t c = 0; c < std::min(dst->validCols, src->validCols); ++c) {
    int64_t best = 0;
    double value = loadNumber(src->at(0, c), src->type);
    for (int64_t r = 1; r < src->validRows; ++r) {
      double x = loadNumber(src->at(r, c), src->type);
      if (max ? x > value : x < value) {
        value = x;
        best = r;
      }
    }
    storeNumber(dst->at(0, c), dst->type, double(best));
  }
}

PTO_RUNTIME void pto_part_arg(const Tile *dst, const Tile *dstIndex, const Tile *a, const Tile *b,
                              const Tile *aIndex, const Tile *bIndex, int32_t max) {
  for (int64_t r = 0; r < dst->validRows; ++r)
    for (int64_t c = 0; c < dst->validCols; ++c) {
      bool inA = r < a->validRows && c < a->validCols, inB = r < b->validRows && c < b->validCols;
      bool takeA = inA;
      if (inA && inB) {
        double x = loadNumber(a->at(r, c), a->type), y = loadNumber(b->at(r, c), b->type);
        takeA = max ? x > y : x < y; // ties take the second
      }
      if (!inA && !inB)
        continue;
      std::memcpy(dst->at(r, c), (takeA ? a : b)->at(r, c), dst->bytes());
      std::memcpy(dstIndex->at(r, c), (takeA ? aIndex : bIndex)->at(r, c), dstIndex->bytes());
    }
}

static void power(char *to, const char *base, const char *exponent, int64_t type) {
  if (type <= F64) {
    double x = loadNumber(base, type), y = loadNumber(exponent, type);
    storeNumber(to, type, std::pow(x, y));
    return;
  }
  int64_t y = loadInteger(exponent, type);
  uint64_t x = uint64_t(loadInteger(base, type)), result = 1;
  if (y < 0) // 1 / x^-y, truncated
    result = x == 1 ? 1 : x == ~uint64_t(0) ? (y % 2 ? x : 1) : 0;
  for (; y > 0; y >>= 1, x *= x)
    if (y & 1)
      result *= x;
  std::memcpy(to, &result, elementBytes(type));
}

PTO_RUNTIME void pto_power(const Tile *dst, const Tile *base, const Tile *exponent) {
  for (int64_t r = 0; r < dst->validRows; ++r)
    for (int64_t c = 0; c < dst->validCols; ++c)
      power(dst->at(r, c), base->at(r, c), exponent->at(r, c), dst->type);
}

PTO_RUNTIME void pto_power_scalar(const Tile *dst, const Tile *base, const void *exponent) {
  for (int64_t r = 0; r < dst->validRows; ++r)
    for (int64_t c = 0; c < dst->validCols; ++c)
      power(dst->at(r, c), base->at(r, c), static_cast<const char *>(exponent), dst->type);
}
