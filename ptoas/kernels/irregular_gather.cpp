//===- irregular_gather.cpp - gather and scatter (pto-isa 6.12) -----------===//
//
// Indices are data, so every one is checked: outside the source a gather gives
// zero and a scatter writes nothing, unless the op names another rule.
//
//===----------------------------------------------------------------------===//
#include "irregular_tile.h"
#include <algorithm>
#include <vector>

using namespace ptoas::kernels;

PTO_RUNTIME void pto_gather_index(const Tile *dst, const Tile *src, const Tile *index) {
  unsigned bytes = dst->bytes();
  int64_t rows = std::min(dst->validRows, index->rows),
          cols = std::min(dst->validCols, index->cols);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      const char *from = src->flat(loadInteger(index->at(r, c), index->type));
      if (from)
        std::memcpy(dst->at(r, c), from, bytes);
      else
        std::memset(dst->at(r, c), 0, bytes);
    }
}

/// Which of four neighbours a pattern keeps; patterns of two repeat.
static bool keeps(int32_t pattern, int64_t position) {
  switch (pattern) { // values of pto's MaskPattern; read from the right
  case 1:
    return position % 2 == 0; // P0101
  case 2:
    return position % 2 == 1; // P1010
  case 3:
    return position % 4 == 0; // P0001
  case 4:
    return position % 4 == 1; // P0010
  case 5:
    return position % 4 == 2; // P0100
  case 6:
    return position % 4 == 3; // P1000
  default:
    return true;
  }
}

PTO_RUNTIME void pto_gather_mask(const Tile *dst, const Tile *src, int32_t pattern,
                                 int32_t byColumn) {
  unsigned bytes = std::min(dst->bytes(), src->bytes());
  int64_t outer = byColumn ? src->validCols : src->validRows;
  int64_t inner = byColumn ? src->validRows : src->validCols;
  for (int64_t o = 0; o < outer; ++o) {
    int64_t to = 0;
    for (int64_t i = 0; i < inner; ++i) {
      if (!keeps(pattern, i))
        continue;
      int64_t r = byColumn ? to : o, c = byColumn ? o : to;
      if (r >= dst->rows || c >= dst->cols)
        break;
      std::memcpy(dst->at(r, c), byColumn ? src->at(i, o) : src->at(o, i), bytes);
      ++to;
    }
  }
}

PTO_RUNTIME void pto_gather_compare(const Tile *dst, const Tile *counts, const Tile *src,
                                    const void *key, int32_t mode, int32_t offset) {
  double wanted = loadNumber(key, src->type);
  for (int64_t r = 0; r < src->validRows; ++r) {
    int64_t found = 0;
    for (int64_t c = 0; c < src->validCols; ++c) {
      double x = loadNumber(src->at(r, c), src->type);
      bool hit = mode == 0   ? x == wanted
                 : mode == 1 ? x != wanted
                 : mode == 2 ? x < wanted
                 : mode == 3 ? x <= wanted
                 : mode == 4 ? x > wanted
                             : x >= wanted;
      if (!hit)
        continue;
      if (r < dst->rows && found < dst->cols)
        storeNumber(dst->at(r, found), dst->type, double(c + offset));
      ++found;
    }
    // One count per row, along whichever extent the tile has.
    if (counts->rows > r)
      storeNumber(counts->at(r, 0), counts->type, double(found));
    else if (counts->cols > r)
      storeNumber(counts->at(0, r), counts->type, double(found));
  }
}

/// Blocks of 32 bytes from byte offsets in the source tile.
PTO_RUNTIME void pto_gather_blocks(const Tile *dst, const Tile *src, const Tile *offsets) {
  int64_t perBlock = 32 / dst->bytes();
  int64_t size = src->rows * src->cols * int64_t(src->bytes());
  for (int64_t r = 0; r < dst->validRows; ++r)
    for (int64_t block = 0; block * perBlock < dst->validCols; ++block) {
      if (r >= offsets->rows || block >= offsets->cols)
        break;
      int64_t from = loadInteger(offsets->at(r, block), offsets->type);
      int64_t count = std::min(perBlock, dst->cols - block * perBlock);
      for (int64_t i = 0; i < count; ++i) {
        int64_t at = from + i * int64_t(src->bytes());
        char *to = dst->at(r, block * perBlock + i);
        if (at >= 0 && at + int64_t(src->bytes()) <= size)
          std::memcpy(to, src->data + at, src->bytes());
        else
          std::memset(to, 0, dst->bytes());
      }
    }
}

PTO_RUNTIME void pto_scatter_index(const Tile *dst, const Tile *src, const Tile *index) {
  unsigned bytes = dst->bytes();
  // The source may be the target itself.
  std::vector<char> values;
  std::vector<int64_t> places;
  for (int64_t r = 0; r < src->validRows; ++r)
    for (int64_t c = 0; c < src->validCols; ++c) {
      values.insert(values.end(), src->at(r, c), src->at(r, c) + bytes);
      places.push_back(
          r < index->rows && c < index->cols ? loadInteger(index->at(r, c), index->type) : -1);
    }
  for (int64_t r = 0; r < dst->rows; ++r)
    for (int64_t c = 0; c < dst->cols; ++c)
      std::memset(dst->at(r, c), 0, bytes);
  for (size_t i = 0; i < places.size(); ++i)
    if (char *to = dst->flat(places[i]))
      std::memcpy(to, values.data() + i * bytes, bytes);
}

PTO_RUNTIME void pto_scatter_mask(const Tile *dst, const Tile *src, int32_t pattern,
                                  int32_t byColumn) {
  unsigned bytes = dst->bytes();
  int64_t outer = byColumn ? dst->cols : dst->rows, inner = byColumn ? dst->rows : dst->cols;
  int64_t have = byColumn ? src->validRows : src->validCols;
  int64_t lines = byColumn ? src->validCols : src->validRows;
  for (int64_t o = 0; o < outer; ++o) {
    int64_t from = 0;
    for (int64_t i = 0; i < inner; ++i) {
      char *to = byColumn ? dst->at(i, o) : dst->at(o, i);
      if (o < lines && keeps(pattern, i) && from < have) {
        std::memcpy(to, byColumn ? src->at(from, o) : src->at(o, from), bytes);
        ++from;
      } else {
        std::memset(to, 0, bytes);
      }
    }
  }
}

/// Puts an index in range: 0 undefined and 3 zero give -1, 1 clamps, 2 wraps.
static int64_t fit(int64_t index, int64_t extent, int32_t clampCode, int32_t wrapCode,
                   int32_t rule) {
  if (index >= 0 && index < extent)
    return index;
  if (extent <= 0)
    return -1;
  if (rule == clampCode)
    return index < 0 ? 0 : extent - 1;
  if (rule == wrapCode)
    return ((index % extent) + extent) % extent;
  return -1;
}

static int64_t vectorIndex(const Tile *index, int64_t i) {
  bool line = index->rows == 1;
  if (i >= (line ? index->cols : index->rows))
    return -1;
  return loadInteger(line ? index->at(0, i) : index->at(i, 0), index->type);
}

PTO_RUNTIME void pto_memory_gather(const Tile *dst, const Tile *memory, const Tile *index,
                                   int32_t byRow, int32_t rule) {
  unsigned bytes = dst->bytes();
  for (int64_t r = 0; r < dst->validRows; ++r) {
    int64_t row = byRow ? fit(vectorIndex(index, r), memory->rows, 1, 2, rule) : 0;
    for (int64_t c = 0; c < dst->validCols; ++c) {
      const char *from = nullptr;
      if (byRow) {
        if (row >= 0 && c < memory->cols)
          from = memory->at(row, c);
      } else if (r < index->rows && c < index->cols) {
        int64_t i =
            fit(loadInteger(index->at(r, c), index->type), memory->rows * memory->cols, 1, 2, rule);
        if (i >= 0)
          from = memory->flat(i);
      }
      if (from)
        std::memcpy(dst->at(r, c), from, bytes);
      else
        std::memset(dst->at(r, c), 0, bytes);
    }
  }
}

template <typename Word>
static void update(char *to, const char *value, int64_t type, int32_t how) {
  auto *p = reinterpret_cast<Word *>(to);
  Word old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
  do {
    if (how == 0) {
      std::memcpy(&next, value, sizeof(Word));
    } else {
      double x = loadNumber(&old, type), y = loadNumber(value, type);
      double z = how == 1 ? x + y : how == 2 ? std::max(x, y) : std::min(x, y);
      storeNumber(&next, type, z);
    }
  } while (!__atomic_compare_exchange_n(p, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

PTO_RUNTIME void pto_memory_scatter(const Tile *memory, const Tile *src, const Tile *index,
                                    int32_t byRow, int32_t rule, int32_t combine) {
  // Scatter's rules: 1 skip, 2 clamp, 3 wrap.
  auto put = [&](char *to, const char *value) {
    switch (src->bytes()) {
    case 1:
      return update<uint8_t>(to, value, src->type, combine);
    case 2:
      return update<uint16_t>(to, value, src->type, combine);
    case 4:
      return update<uint32_t>(to, value, src->type, combine);
    default:
      return update<uint64_t>(to, value, src->type, combine);
    }
  };
  for (int64_t r = 0; r < src->validRows; ++r) {
    int64_t row = byRow ? fit(vectorIndex(index, r), memory->rows, 2, 3, rule) : 0;
    for (int64_t c = 0; c < src->validCols; ++c) {
      if (byRow) {
        if (row >= 0 && c < memory->cols)
          put(memory->at(row, c), src->at(r, c));
      } else if (r < index->rows && c < index->cols) {
        int64_t i =
            fit(loadInteger(index->at(r, c), index->type), memory->rows * memory->cols, 2, 3, rule);
        if (i >= 0)
          put(memory->flat(i), src->at(r, c));
      }
    }
  }
}
