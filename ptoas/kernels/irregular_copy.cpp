//===- irregular_copy.cpp - strided copies and atomic stores --------------===//
#include "irregular_tile.h"
#include <algorithm>

using namespace ptoas::kernels;

static void copyElement(char *dst, const char *src, int bytes) { std::memcpy(dst, src, bytes); }

PTO_RUNTIME void pto_copy_2d(char *dst, int64_t dstRow, int64_t dstCol, const char *src,
                             int64_t srcRow, int64_t srcCol, int64_t rows, int64_t cols,
                             int32_t bytes) {
  for (int64_t r = 0; r < rows; ++r) {
    char *d = dst + r * dstRow * bytes;
    const char *s = src + r * srcRow * bytes;
    if (dstCol == 1 && srcCol == 1) {
      std::memmove(d, s, std::max<int64_t>(cols, 0) * bytes);
      continue;
    }
    for (int64_t c = 0; c < cols; ++c)
      copyElement(d + c * dstCol * bytes, s + c * srcCol * bytes, bytes);
  }
}

/// Rows of a view with up to four row dimensions to rows `pitch` apart.
PTO_RUNTIME void pto_copy_rows(char *dst, int64_t pitch, const char *src, int64_t srcCol,
                               int64_t rows, int64_t cols, int32_t bytes, int64_t n0, int64_t s0,
                               int64_t n1, int64_t s1, int64_t n2, int64_t s2, int64_t n3,
                               int64_t s3) {
  int64_t row = 0;
  for (int64_t a = 0; a < n0; ++a)
    for (int64_t b = 0; b < n1; ++b)
      for (int64_t c = 0; c < n2; ++c)
        for (int64_t d = 0; d < n3 && row < rows; ++d, ++row)
          pto_copy_2d(dst + row * pitch * bytes, 0, 1,
                      src + (a * s0 + b * s1 + c * s2 + d * s3) * bytes, 0, srcCol, 1, cols, bytes);
}

/// `table`: five times (size, view stride, tile stride). Elements outside the tile's capacity are
/// left alone.
PTO_RUNTIME void pto_copy_dims(const int64_t *table, char *view, char *tile, int64_t capacity,
                               int32_t bytes, int32_t load) {
  const int64_t *t = table;
  for (int64_t a = 0; a < t[0]; ++a)
    for (int64_t b = 0; b < t[3]; ++b)
      for (int64_t c = 0; c < t[6]; ++c)
        for (int64_t d = 0; d < t[9]; ++d)
          for (int64_t e = 0; e < t[12]; ++e) {
            int64_t v = a * t[1] + b * t[4] + c * t[7] + d * t[10] + e * t[13];
            int64_t i = a * t[2] + b * t[5] + c * t[8] + d * t[11] + e * t[14];
            if (i < 0 || i >= capacity)
              continue;
            if (load)
              copyElement(tile + i * bytes, view + v * bytes, bytes);
            else
              copyElement(view + v * bytes, tile + i * bytes, bytes);
          }
}

/// Between a tile in boxes and its copy with strides. `order`: rows, columns, rows and columns of a
/// box, steps from box to box down and across, steps inside a box down and across.
PTO_RUNTIME void pto_copy_boxes(char *copy, int64_t rowStride, int64_t colStride, char *boxes,
                                const int64_t *order, int32_t bytes, int32_t back) {
  auto [rows, cols, boxRows, boxCols, boxRowStep, boxColStep, rowStep, colStep] =
      *reinterpret_cast<const int64_t (*)[8]>(order);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; c += boxCols) {
      char *box =
          boxes +
          (r / boxRows * boxRowStep + c / boxCols * boxColStep + r % boxRows * rowStep) * bytes;
      char *line = copy + (r * rowStride + c * colStride) * bytes;
      int64_t count = std::min(boxCols, cols - c);
      if (back)
        pto_copy_2d(box, 0, colStep, line, 0, colStride, 1, count, bytes);
      else
        pto_copy_2d(line, 0, colStride, box, 0, colStep, 1, count, bytes);
    }
}

/// Adds to memory that other threads may add to as well.
template <typename Word, typename Add> static void addAtomically(char *where, Add add) {
  auto *p = reinterpret_cast<Word *>(where);
  Word old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, add(old), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

PTO_RUNTIME void pto_atomic_add(char *dst, int64_t dstRow, int64_t dstCol, int32_t dstType,
                                const char *src, int64_t srcRow, int64_t srcCol, int32_t srcType,
                                int64_t rows, int64_t cols) {
  unsigned dstBytes = elementBytes(dstType), srcBytes = elementBytes(srcType);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      char *d = dst + (r * dstRow + c * dstCol) * dstBytes;
      const char *s = src + (r * srcRow + c * srcCol) * srcBytes;
      switch (dstType) {
      case F32: {
        float x = float(loadNumber(s, srcType));
        addAtomically<uint32_t>(d, [x](uint32_t old) {
          float f;
          std::memcpy(&f, &old, 4);
          f += x;
          std::memcpy(&old, &f, 4);
          return old;
        });
        break;
      }
      case F16: {
        // The addend has the destination's type before it is added.
        float x = halfToFloat(floatToHalf(float(loadNumber(s, srcType))));
        addAtomically<uint16_t>(d, [x](uint16_t old) { return floatToHalf(halfToFloat(old) + x); });
        break;
      }
      case BF16: {
        float x = brainToFloat(floatToBrain(float(loadNumber(s, srcType))));
        addAtomically<uint16_t>(d,
                                [x](uint16_t old) { return floatToBrain(brainToFloat(old) + x); });
        break;
      }
      case F64: {
        double x = loadNumber(s, srcType);
        addAtomically<uint64_t>(d, [x](uint64_t old) {
          double f;
          std::memcpy(&f, &old, 8);
          f += x;
          std::memcpy(&old, &f, 8);
          return old;
        });
        break;
      }
      default: {
        int64_t x = srcType <= F64 ? int64_t(loadNumber(s, srcType)) : loadInteger(s, srcType);
        if (dstBytes == 1)
          __atomic_fetch_add(reinterpret_cast<uint8_t *>(d), uint8_t(x), __ATOMIC_RELAXED);
        else if (dstBytes == 2)
          __atomic_fetch_add(reinterpret_cast<uint16_t *>(d), uint16_t(x), __ATOMIC_RELAXED);
        else if (dstBytes == 4)
          __atomic_fetch_add(reinterpret_cast<uint32_t *>(d), uint32_t(x), __ATOMIC_RELAXED);
        else
          __atomic_fetch_add(reinterpret_cast<uint64_t *>(d), uint64_t(x), __ATOMIC_RELAXED);
      }
      }
    }
}

/// The same for windows of up to five dimensions; `table` as in pto_copy_dims.
PTO_RUNTIME void pto_atomic_add_dims(const int64_t *table, char *view, int32_t viewType,
                                     const char *tile, int32_t tileType, int64_t capacity) {
  const int64_t *t = table;
  unsigned viewBytes = elementBytes(viewType), tileBytes = elementBytes(tileType);
  for (int64_t a = 0; a < t[0]; ++a)
    for (int64_t b = 0; b < t[3]; ++b)
      for (int64_t c = 0; c < t[6]; ++c)
        for (int64_t d = 0; d < t[9]; ++d) {
          int64_t v = a * t[1] + b * t[4] + c * t[7] + d * t[10];
          int64_t i = a * t[2] + b * t[5] + c * t[8] + d * t[11];
          if (i < 0 || i >= capacity)
            continue;
          int64_t step = std::max<int64_t>(t[14], 1);
          int64_t fits = std::min(t[12], (capacity - i + step - 1) / step);
          pto_atomic_add(view + v * viewBytes, 0, t[13], viewType, tile + i * tileBytes, 0, t[14],
                         tileType, 1, fits);
        }
}

/// Per row the counted elements of a, then those of b (pto-isa 6.10). Counts are bytes, of elements
/// of the index type; `written` (or null) takes the count of the row.
PTO_RUNTIME void pto_concat_counted(const Tile *dst, const Tile *written, const Tile *a,
                                    const Tile *b, const Tile *countA, const Tile *countB) {
  for (int64_t r = 0; r < dst->validRows; ++r) {
    int64_t at = 0;
    auto append = [&](const Tile *part, const Tile *counts) {
      int64_t bytes = loadInteger(counts->at(r, 0), counts->type);
      int64_t n = std::clamp<int64_t>(bytes / int64_t(counts->bytes()), 0, part->cols);
      n = std::min(n, dst->cols - at);
      for (int64_t c = 0; c < n; ++c)
        copyElement(dst->at(r, at + c), part->at(r, c), int(dst->bytes()));
      at += n;
    };
    append(a, countA);
    append(b, countB);
    if (written)
      storeNumber(written->at(r, 0), written->type, double(at * int64_t(countA->bytes())));
  }
}

PTO_RUNTIME void pto_tile_transpose(const Tile *dst, const Tile *src) {
  int64_t rows = std::min(src->validRows, dst->cols), cols = std::min(src->validCols, dst->rows);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      copyElement(dst->at(c, r), src->at(r, c), src->bytes());
}
