//===- TensorMap.h - who last wrote and who reads which bytes -------------===//
//
// One record per distinct region. A record knows its last writer, the readers since
// then, and the records that overlap it. Finding the predecessors of an access to a
// known region is a hash lookup and a walk over neighbours; only a region seen for the
// first time searches for overlaps, in a hierarchical grid over absolute addresses
// (a region of up to 2^k bytes lies in at most two cells of level k). Base addresses do
// not matter, so descriptors of one allocation with different bases meet.
//
// Single-threaded: only the orchestrator of the run uses it. Completion of a task does not
// touch it; a record's tasks are looked at when the record is.
//
// Records outlive runs: their tasks are then all complete, and the next run of the same
// program finds its regions and neighbours ready. `sweep` drops idle ones beyond a limit.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TENSOR_MAP_H
#define SIMPLER_TENSOR_MAP_H

#include "Region.h"
#include "Task.h"

#include <deque>
#include <vector>

namespace simpler {

class TensorMap {
public:
  struct Access {
    Task *task = nullptr;
    uint64_t sequence = 0;
  };

  struct Record {
    Region region;
    Access writer;
    std::vector<Access> readers;
    std::vector<Record *> neighbours;
    uint64_t hash;
    uint64_t cell[2];    // lowest and highest grid cell at `level`
    Record *cellNext[2]; // intrusive lists of those cells
    uint64_t visit;      // last overlap search that saw this record
    uint8_t level;
  };

  TensorMap();

  /// The record of a region, created when new.
  Record &find(const Region &region);

  /// Calls edge(access, writer) for each access a read of the record must follow.
  template <typename F> void beforeRead(Record &record, F &&edge) {
    edge(record.writer, record);
    for (Record *other : record.neighbours)
      edge(other->writer, *other);
  }
  /// The same for a write.
  template <typename F> void beforeWrite(Record &record, F &&edge) {
    edgesOfAll(record, edge);
    for (Record *other : record.neighbours)
      edgesOfAll(*other, edge);
  }

  void read(Record &record, Task *task);
  /// The task becomes the writer; accesses it wholly covers are forgotten, because
  /// whoever overlaps them overlaps the task as well.
  void write(Record &record, Task *task);

  size_t size() const { return all_.size(); }
  static bool alive(const Access &access) {
    return access.task && access.task->sequence == access.sequence && !access.task->complete();
  }

private:
  template <typename F> static void edgesOfAll(Record &record, F &&edge) {
    edge(record.writer, record);
    for (const Access &reader : record.readers)
      edge(reader, record);
  }

  struct Cell {
    uint64_t key = 0; // level and cell number, plus one; 0 = free
    Record *head = nullptr;
  };

  static constexpr size_t kSweepFloor = 4096;

  void link(Record &record);
  void searchOverlaps(Record &record);
  void consider(Record &record, Record &other);
  Cell *cellFor(uint8_t level, uint64_t number, bool create);
  void insertHashed(Record *record);
  void rebuild();
  void sweep();
  static uint64_t cellKey(uint8_t level, uint64_t number) {
    return (static_cast<uint64_t>(level) << 57 | number) + 1;
  }

  std::vector<Record *> table_; // open addressing over region hashes
  std::vector<Cell> cells_;     // open addressing over cell keys
  size_t cellsUsed_ = 0;
  std::vector<Record *> all_;
  std::deque<Record> storage_;
  std::vector<Record *> spare_;
  uint32_t levelCount_[64] = {};
  uint64_t levels_ = 0; // bit k: level k has records
  uint64_t visit_ = 0;
  size_t sweepAt_ = kSweepFloor;
};

inline void TensorMap::read(Record &record, Task *task) {
  auto &readers = record.readers;
  if (!readers.empty() && readers.back().task == task && readers.back().sequence == task->sequence)
    return;
  if (readers.size() == readers.capacity()) // forget finished readers before growing
    std::erase_if(readers, [](const Access &access) { return !alive(access); });
  readers.push_back({task, task->sequence});
}

inline void TensorMap::write(Record &record, Task *task) {
  record.writer = {task, task->sequence};
  record.readers.clear();
  for (Record *other : record.neighbours) {
    if (covers(record.region, other->region)) {
      other->writer = {};
      other->readers.clear();
    }
  }
}

} // namespace simpler

#endif // SIMPLER_TENSOR_MAP_H
