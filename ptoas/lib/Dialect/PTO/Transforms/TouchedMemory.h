//===- TouchedMemory.h - who touched which bytes last ---------------------===//
//
// What sync insertion knows on one way through a function: the clocks of the queues, and
// for each part of a memory the instructions that still have to be waited for.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TOUCHEDMEMORY_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TOUCHEDMEMORY_H

#include "SyncModel.h"

namespace mlir::pto {

// Instructions that are known to have touched the same bytes.
constexpr unsigned kMaxSites = 16;
// Windows of global memory that are told apart.
constexpr unsigned kMaxWindows = 64;

// The last instructions of each queue that read and wrote the same bytes; 0: none.
struct Accesses {
  struct Site {
    Operation *op;
    unsigned queue, number;
    bool isWrite;
  };
  TouchedBytes bytes;
  Clock read{}, written{};
  // The same by instruction, for flags carried around loops; `hasMore`: not all of them.
  SmallVector<Site, 2> sites{};
  bool hasMore = false;

  void add(const Site &site) {
    unsigned &last = (site.isWrite ? written : read)[site.queue];
    last = std::max(last, site.number);
    for (Site &mine : sites)
      if (mine.op == site.op && mine.isWrite == site.isWrite) {
        mine.number = std::max(mine.number, site.number);
        return;
      }
    if (sites.size() < kMaxSites)
      sites.push_back(site);
    else
      hasMore = true;
  }
};

inline bool isSame(const TouchedBytes &a, const TouchedBytes &b) {
  return a.root == b.root && a.begin == b.begin && a.end == b.end && a.agedBy == b.agedBy &&
         (a.window ? a.window->value : Value()) == (b.window ? b.window->value : Value());
}

struct TouchedMemory : QueueClocks {
  // By space; 0: global. No elements in place: each branch that is being walked has such a state.
  std::array<SmallVector<Accesses, 0>, 16> memory;
  SpanWaits spans; // of orders

  void merge(TouchedMemory &other, const Clock &counts) {
    QueueClocks::merge(other, counts);
    spans.merge(other.spans);
    for (unsigned space = 0; space < memory.size(); ++space)
      for (const Accesses &theirs : other.memory[space])
        absorb(space, theirs);
  }

  Accesses &find(unsigned space, const TouchedBytes &bytes) {
    for (Accesses &accesses : memory[space])
      if (isSame(accesses.bytes, bytes))
        return accesses;
    if (bytes.window && memory[space].size() >= kMaxWindows)
      forgetWindows();
    return memory[space].emplace_back(Accesses{bytes, {}, {}});
  }

  // The next iteration of `loop` begins.
  void age(Operation *loop) {
    SmallVector<Accesses, 4> aged;
    llvm::erase_if(memory[0], [&](Accesses &accesses) {
      if (!accesses.bytes.age(loop))
        return false;
      aged.push_back(accesses);
      return true;
    });
    for (const Accesses &accesses : aged)
      absorb(0, accesses);
  }

private:
  void absorb(unsigned space, const Accesses &theirs) {
    Accesses &mine = find(space, theirs.bytes);
    join(mine.read, theirs.read);
    join(mine.written, theirs.written);
    mine.hasMore |= theirs.hasMore;
    for (const Accesses::Site &site : theirs.sites)
      mine.add(site);
  }

  // So many windows would be looked through again and again: they become their whole tensors.
  void forgetWindows() {
    for (Accesses &accesses : std::exchange(memory[0], {})) {
      accesses.bytes.window = nullptr;
      accesses.bytes.agedBy = nullptr;
      absorb(0, accesses);
    }
  }
};

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TOUCHEDMEMORY_H
