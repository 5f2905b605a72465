//===- TensorMap.cpp - creation, overlap search and sweeping of records ---===//
#include "TensorMap.h"

#include <algorithm>
#include <bit>

namespace simpler {

TensorMap::TensorMap() : table_(256), cells_(512) {}

TensorMap::Record &TensorMap::find(const Region &region) {
  uint64_t hash = region.hash();
  size_t mask = table_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Record *record = table_[i];
    if (!record)
      break;
    if (record->hash == hash && sameRegion(record->region, region))
      return *record;
  }
  if (all_.size() >= sweepAt_)
    sweep();
  Record *record;
  if (spare_.empty()) {
    record = &storage_.emplace_back();
  } else {
    record = spare_.back();
    spare_.pop_back();
  }
  record->region = region;
  record->writer = {};
  record->readers.clear();
  record->neighbours.clear();
  record->hash = hash;
  record->visit = 0;
  record->level = static_cast<uint8_t>(std::bit_width(region.hi - region.lo - 1));
  record->cell[0] = region.lo >> record->level;
  record->cell[1] = (region.hi - 1) >> record->level;
  searchOverlaps(*record);
  all_.push_back(record);
  if (all_.size() * 2 > table_.size() || cellsUsed_ * 2 + 4 > cells_.size()) {
    rebuild();
  } else {
    insertHashed(record);
    link(*record);
  }
  return *record;
}

void TensorMap::insertHashed(Record *record) {
  size_t mask = table_.size() - 1, i = record->hash & mask;
  while (table_[i])
    i = (i + 1) & mask;
  table_[i] = record;
}

TensorMap::Cell *TensorMap::cellFor(uint8_t level, uint64_t number, bool create) {
  uint64_t key = cellKey(level, number), mask = cells_.size() - 1;
  uint64_t hash = key * 0x9e3779b97f4a7c15ull;
  for (size_t i = (hash >> 32) & mask;; i = (i + 1) & mask) {
    if (cells_[i].key == key)
      return &cells_[i];
    if (cells_[i].key == 0) {
      if (!create)
        return nullptr;
      cells_[i].key = key;
      ++cellsUsed_;
      return &cells_[i];
    }
  }
}

void TensorMap::link(Record &record) {
  for (int end = 0; end < 2; ++end) {
    if (end == 1 && record.cell[1] == record.cell[0])
      break;
    Cell *cell = cellFor(record.level, record.cell[end], true);
    record.cellNext[end] = cell->head;
    cell->head = &record;
  }
  if (levelCount_[record.level]++ == 0)
    levels_ |= 1ull << record.level;
}

void TensorMap::consider(Record &record, Record &other) {
  if (other.visit == visit_)
    return; // seen in another cell
  other.visit = visit_;
  if (overlaps(record.region, other.region)) {
    record.neighbours.push_back(&other);
    other.neighbours.push_back(&record);
  }
}

void TensorMap::searchOverlaps(Record &record) {
  ++visit_;
  uint64_t lo = record.region.lo, last = record.region.hi - 1, cost = 0;
  for (uint64_t rest = levels_; rest; rest &= rest - 1) {
    int level = std::countr_zero(rest);
    cost += (last >> level) - (lo >> level) + 1;
  }
  if (cost > all_.size()) { // a large region over many small ones: look at each record instead
    for (Record *other : all_)
      consider(record, *other);
    return;
  }
  for (uint64_t rest = levels_; rest; rest &= rest - 1) {
    auto level = static_cast<uint8_t>(std::countr_zero(rest));
    for (uint64_t number = lo >> level; number <= last >> level; ++number) {
      Cell *cell = cellFor(level, number, false);
      if (!cell)
        continue;
      for (Record *other = cell->head; other;) {
        Record *next = other->cellNext[number != other->cell[0]];
        consider(record, *other);
        other = next;
      }
    }
  }
}

void TensorMap::rebuild() {
  size_t want = std::bit_ceil(std::max<size_t>({all_.size() * 4, table_.size(), 256}));
  table_.assign(want, nullptr);
  cells_.assign(want * 2, Cell());
  cellsUsed_ = 0;
  levels_ = 0;
  std::fill(std::begin(levelCount_), std::end(levelCount_), 0);
  for (Record *record : all_) {
    insertHashed(record);
    link(*record);
  }
}

void TensorMap::sweep() {
  ++visit_;
  size_t kept = 0;
  for (Record *record : all_) {
    if (!alive(record->writer))
      record->writer = {};
    std::erase_if(record->readers, [](const Access &access) { return !alive(access); });
    if (record->writer.task || !record->readers.empty()) {
      record->visit = visit_; // survives
      all_[kept++] = record;
    } else {
      spare_.push_back(record);
    }
  }
  all_.resize(kept);
  for (Record *record : all_)
    std::erase_if(record->neighbours, [&](Record *other) { return other->visit != visit_; });
  if (table_.size() > kSweepFloor * 4 && table_.size() > kept * 8)
    table_.resize(table_.size() / 2); // a burst is over; rebuild fills it again
  rebuild();
  sweepAt_ = std::max(kSweepFloor, kept * 2);
}

} // namespace simpler
