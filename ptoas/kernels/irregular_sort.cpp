//===- irregular_sort.cpp - sort32 and merges (pto-isa 6.11) --------------===//
//
// Records are 8 bytes: a FP32 value, or a FP16 value and two bytes of padding,
// then a 32-bit index. Order is descending and stable. NaN counts as smallest.
//
//===----------------------------------------------------------------------===//
#include "irregular_tile.h"
#include <algorithm>
#include <vector>

using namespace ptoas::kernels;

namespace {
struct Record {
  uint64_t bits;
};

double keyOf(const Record &record, int64_t type) {
  double key = loadNumber(&record.bits, type);
  return key == key ? key : -__builtin_inf();
}
} // namespace

PTO_RUNTIME void pto_sort32(const Tile *dst, const Tile *src, const Tile *index) {
  unsigned bytes = src->bytes();
  int64_t perRecord = 8 / dst->bytes();
  for (int64_t r = 0; r < src->validRows; ++r)
    for (int64_t from = 0; from < src->validCols; from += 32) {
      int64_t count = std::min<int64_t>(32, src->validCols - from);
      Record records[32] = {};
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(&records[i].bits, src->at(r, from + i), bytes);
        int64_t indexRow = r < index->rows ? r : 0; // one row of indices serves all
        uint32_t number = from + i < index->cols
                              ? uint32_t(loadInteger(index->at(indexRow, from + i), index->type))
                              : 0;
        std::memcpy(reinterpret_cast<char *>(&records[i].bits) + 4, &number, 4);
      }
      for (int64_t i = 1; i < count; ++i) { // insertion: short, and equal keys keep their order
        Record moving = records[i];
        int64_t at = i;
        for (; at > 0 && keyOf(records[at - 1], src->type) < keyOf(moving, src->type); --at)
          records[at] = records[at - 1];
        records[at] = moving;
      }
      for (int64_t i = 0; i < count; ++i) {
        int64_t to = (from + i) * perRecord;
        if (to + perRecord <= dst->cols)
          std::memcpy(dst->at(r, to), &records[i].bits, 8);
      }
    }
}

/// Merges lists of records; ties go to the list that stands first. Stops after one list ran out if
/// `exhausted`. `taken` receives how many of each were used.
static std::vector<Record> merge(const std::vector<std::vector<Record>> &lists, int64_t type,
                                 bool exhausted, int64_t *taken) {
  std::vector<Record> merged;
  std::vector<size_t> at(lists.size(), 0);
  for (;;) {
    int best = -1;
    bool ranOut = false;
    for (size_t i = 0; i < lists.size(); ++i) {
      if (at[i] == lists[i].size()) {
        ranOut |= !lists[i].empty();
        continue;
      }
      if (best < 0 || keyOf(lists[i][at[i]], type) > keyOf(lists[best][at[best]], type))
        best = int(i);
    }
    if (best < 0 || (exhausted && ranOut))
      break;
    merged.push_back(lists[best][at[best]++]);
  }
  for (size_t i = 0; i < lists.size() && taken; ++i)
    taken[i] = int64_t(at[i]);
  return merged;
}

static Record recordAt(const Tile *tile, int64_t number) {
  Record record = {};
  std::memcpy(&record.bits, tile->at(0, number * (8 / tile->bytes())), 8);
  return record;
}

/// Groups of four runs of `blockLength` elements each become one run.
PTO_RUNTIME void pto_merge_runs(const Tile *dst, const Tile *src, int64_t blockLength) {
  int64_t perRecord = 8 / src->bytes();
  int64_t run = blockLength / perRecord;
  int64_t total = src->validCols / perRecord;
  if (run <= 0)
    return;
  std::vector<Record> all;
  for (int64_t from = 0; from < total; from += 4 * run) {
    std::vector<std::vector<Record>> lists;
    for (int64_t k = 0; k < 4; ++k) {
      std::vector<Record> list;
      for (int64_t i = from + k * run; i < std::min(from + (k + 1) * run, total); ++i)
        list.push_back(recordAt(src, i));
      lists.push_back(std::move(list));
    }
    std::vector<Record> merged = merge(lists, src->type, false, nullptr);
    all.insert(all.end(), merged.begin(), merged.end());
  }
  // What finds no room is dropped after the merge.
  size_t room = size_t(dst->cols / perRecord);
  for (size_t i = 0; i < std::min(all.size(), room); ++i)
    std::memcpy(dst->at(0, int64_t(i) * perRecord), &all[i].bits, 8);
}

PTO_RUNTIME void pto_merge_lists(const Tile *dst, const Tile *s0, const Tile *s1, const Tile *s2,
                                 const Tile *s3, int32_t count, int32_t exhausted,
                                 int16_t *executed) {
  const Tile *sources[4] = {s0, s1, s2, s3};
  std::vector<std::vector<Record>> lists;
  for (int i = 0; i < count && i < 4; ++i) {
    std::vector<Record> list;
    int64_t records = sources[i]->validCols / (8 / sources[i]->bytes());
    for (int64_t k = 0; k < records; ++k)
      list.push_back(recordAt(sources[i], k));
    lists.push_back(std::move(list));
  }
  int64_t taken[4] = {};
  std::vector<Record> merged = merge(lists, dst->type, exhausted != 0, taken);
  int64_t perRecord = 8 / dst->bytes();
  for (size_t i = 0; i < merged.size() && int64_t(i + 1) * perRecord <= dst->cols; ++i)
    std::memcpy(dst->at(0, int64_t(i) * perRecord), &merged[i].bits, 8);
  for (int i = 0; i < 4; ++i)
    executed[i] = int16_t(taken[i]);
}
