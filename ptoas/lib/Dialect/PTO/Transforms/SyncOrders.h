//===- SyncOrders.h - what sync insertion keeps of a function -------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCORDERS_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCORDERS_H

#include "TouchedMemory.h"

namespace mlir::pto {

struct Instruction {
  std::optional<unsigned> queue;
  bool inOrder = false; // behind all earlier ones of its queue
  SmallVector<TouchedBytes, 3> bytes;
};

// What a flag that is carried around a loop is for: an op of the block that waits, and the queues.
struct Crossing {
  Operation *consumer;
  unsigned from, to;
  bool operator<(const Crossing &other) const {
    return std::tie(consumer, from, to) < std::tie(other.consumer, other.from, other.to);
  }
};

// An order in front of an instruction: a barrier, or a flag that is set and waited for.
struct Order {
  Operation *first;        // the barrier, or the set_flag
  Operation *wait;         // null for a barrier
  unsigned triedEvents;    // bits, where the set stands now
  bool isNeeded = false;   // in the last walk
  bool isDisabled = false; // as if it were not there
  // A flag carried around a loop: where else it is set and waited for.
  Operation *loop = nullptr, *setInFront = nullptr, *waitBehind = nullptr;
  Crossing crossing{};
  FlagSpan span{}; // of it

  std::array<Operation *, 4> ops() const { return {first, wait, setInFront, waitBehind}; }
};

// An order that the walk has passed since the last instruction.
struct Pending {
  unsigned order, queue;
  Clock before; // what the queue knew in front of it
  Clock clock;  // what the order tells it
};

// By loop and queues: events used in it, and those of flags carried around it.
struct Events {
  unsigned used = 0, carried = 0;
};

// A place in a block behind an op (null: at the start), and what the queues know there.
struct Place {
  Operation *after;
  KnownInstructions queues;
  Clock counts;
  SpanWaits spans;

  Clock told(unsigned from) const { return queues.told(from, counts); }
};

// A block that is being walked.
struct Frame {
  Block *block;
  std::vector<Place> places;
  Operation *loop = nullptr; // that the walk is in
  Clock atLoop{};            // counts in front of it
};

inline bool isCovered(const Clock &need, const Clock &known) {
  for (unsigned q = 0; q < kQueues; ++q)
    if (need[q] > known[q])
      return false;
  return true;
}

// Behind `consumer`, in the last run of its block, the first place at which `from` knew what is
// asked for, and that the consumer had begun. Null if it was known in front of the consumer.
inline const Place *findCarriedPlace(const std::vector<Place> &places, Operation *consumer,
                                     unsigned from, unsigned to, const Clock &asked) {
  if (!isCovered(asked, places.back().told(from)))
    return nullptr;
  size_t first = 0;
  while (first < places.size() && places[first].after != consumer)
    ++first;
  unsigned begun = 0;
  if (first == places.size()) {
    first = 0; // too far in front to be among them
  } else if (first > 0) {
    if (isCovered(asked, places[first - 1].told(from)))
      return nullptr;
    begun = places[first - 1].counts[to] + 1;
  }
  for (size_t i = first; i < places.size(); ++i)
    if (places[i].after && isCovered(asked, places[i].told(from)) &&
        (from == to || places[i].queues.known[from][to] >= begun))
      return &places[i];
  return nullptr;
}

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCORDERS_H
