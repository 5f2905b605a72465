//===- SyncModel.h - which instructions are ordered before which ----------===//
//
// Hardware queues ("pipes") run side by side. The scalar queue issues everything in
// program order and waits for its own instructions only; an instruction of another
// queue is ordered behind an earlier one only through flags, or through a barrier of
// the queue. The model walks a function in program order with one vector clock per
// queue, every loop twice and every branch on its own, and reports each pair of
// instructions that touch the same bytes, one of them writing, without an order.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCMODEL_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCMODEL_H

#include "GlobalWindow.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/MapVector.h"
#include <array>
#include <map>
#include <set>

namespace mlir::pto {

/// Bytes that an instruction touches.
struct TouchedBytes {
  bool isGlobal;
  const void *root; // allocation or base pointer; null: any
  AddressSpace space;
  int64_t begin, end; // addresses; begin < 0: not known, then roots are compared
  bool isWrite;
  // Of global memory: the part of the tensor; null: any. In an earlier iteration of `agedBy`.
  std::shared_ptr<const GlobalWindow> window = nullptr;
  Operation *agedBy = nullptr;

  /// What was touched is looked at from the next iteration of `loop`. Whether that changes it.
  bool age(Operation *loop);
};
bool mayOverlap(const TouchedBytes &earlier, const TouchedBytes &later);
/// Whether every byte of `inner` is one of `outer`, for sure.
bool covers(const TouchedBytes &outer, const TouchedBytes &inner);

/// The queue of an instruction; none for ops that are not instructions.
std::optional<PIPE> getInstructionPipe(Operation *op);
SmallVector<TouchedBytes> getRegions(Operation *op);
/// Whether an instruction of `pipe` runs behind all earlier ones of its queue without more ado.
bool runsInOrder(Operation *op, PIPE pipe);

/// How often a loop with constant bounds runs.
std::optional<int64_t> getTripCount(Operation *loop);

/// Numbers of instructions, by queue: those up to it.
constexpr unsigned kQueues = 12;
using Clock = std::array<unsigned, kQueues>;
unsigned queueOf(PIPE pipe);
void join(Clock &into, const Clock &other);

/// Which instructions each queue knows to be done. `counts` are the numbers given out so far.
struct KnownInstructions {
  std::array<Clock, kQueues> known{};

  /// What a queue tells with a flag that it sets now.
  Clock told(unsigned from, const Clock &counts) const;
};

/// The ops of a block between a wait for a flag and the next set of it behind them. Whoever has
/// waited knows that all that the setting queue did in there before is done, whatever way led here:
/// each time, the set has followed, and a wait has followed it.
struct FlagSpan {
  Operation *wait, *set;
  // Bits: queues all of whose instructions the setting queue knows to be done when it sets. Of
  // those the same can be said.
  unsigned queues = ~0u;

  bool contains(Operation *op) const;
};
/// Spans that queues know somebody to have waited in front of: what they say holds up to these
/// numbers.
struct SpanWaits {
  struct Wait {
    unsigned span, queue;
    Clock counts;
  };
  SmallVector<Wait, 0> waits;

  void wait(unsigned span, unsigned queue, const Clock &counts);
  /// What a queue knows, as it tells it with a flag; and what another learns from that.
  SpanWaits of(unsigned queue) const;
  void learn(unsigned queue, const SpanWaits &told);
  /// Keeps what is known on both ways.
  void merge(const SpanWaits &other);
};

/// What the queues know on one way through a function.
struct QueueClocks : KnownInstructions {
  struct Flag {
    bool isSet = false;  // on some way here
    bool isSure = false; // on all of them
    Clock clock{};
    SpanWaits spans;
    unsigned lastWait = 0; // number of the last wait on the waiting queue
    Operation *setBy = nullptr;
    Operation *waitedBy = nullptr; // of `lastWait`, or around all that may be it
  };
  Clock issued{};                                // the highest number of each queue on the way here
  std::map<std::array<unsigned, 3>, Flag> flags; // by setting queue, waiting queue, event

  /// After a branch only what both ways know is known.
  void merge(QueueClocks &other, const Clock &counts);
  void barrier(PIPE pipe, const Clock &counts);
  /// Whether a flag is not set, and its last wait known to have run by the setting queue: as it is
  /// when it knows `atSet`, or as `isKnown` says.
  bool isFree(unsigned from, unsigned to, unsigned event, const Clock &atSet,
              llvm::function_ref<bool(const Flag &)> isKnown) const;

private:
  void raise(const Clock &counts);
};

/// The queues of which `from` knows all.
unsigned knownQueues(const QueueClocks &clocks, unsigned from, const Clock &counts);

class SyncModel {
public:
  /// Told about each thing that is wrong; must not change the function.
  struct Listener {
    virtual ~Listener() = default;
    /// `later` may run before `earlier` is done although both touch `region`.
    virtual void unordered(Operation *earlier, Operation *later, PIPE from, PIPE to,
                           const TouchedBytes &region) = 0;
    /// A flag is set again before it is known that the wait for its last set has run, or, if
    /// `lastSet` is given, before there was a wait for that.
    virtual void flagInUse(Operation *set, Operation *lastSet) = 0;
    /// A wait for a flag that nothing has set, on some way here.
    virtual void neverSet(Operation *wait, bool onAllWays) = 0;
    /// Nothing waits for a flag until the function ends.
    virtual void leftSet(Operation *set) = 0;
  };

  /// What a wait for an event that only the program knows tells: what all sets of an event between
  /// these queues tell, or all that any could: what is found then is wrong whatever the events are.
  enum class UnknownEvents { TellLittle, TellMuch };
  void walk(FunctionOpInterface function, Listener &listener,
            UnknownEvents unknown = UnknownEvents::TellLittle);
  /// The first op with an event that only the program knows.
  static Operation *findUnknownEvent(FunctionOpInterface function);

private:
  struct FlagUse {
    bool isSet;
    unsigned from, to;
    unsigned event; // from kUnknown on: a value, by the order in which they are met
    Value unknown;
  };
  static constexpr unsigned kUnknown = 64;
  struct State;
  std::optional<FlagUse> describe(Operation *op);
  void collectSpans(FunctionOpInterface function);
  void setFlag(Operation *op, const FlagUse &use, State &state);
  void waitFlag(Operation *op, const FlagUse &use, State &state);
  bool isKnown(const SpanWaits &waits, Operation *op, unsigned opQueue, unsigned number,
               unsigned queue) const;

  struct Instance {
    unsigned pipe, number;
    SmallVector<TouchedBytes> regions;
    // Bits, by region: written by a later instruction, which is all that is left to wait for.
    uint64_t covered = 0;
    // The last ones for which the windows in `regions` lay elsewhere, in an earlier iteration of a
    // loop.
    SmallVector<std::pair<Operation *, unsigned>, 1> aged;

    void age(Operation *loop, unsigned number);
  };
  struct State : QueueClocks {
    llvm::MapVector<Operation *, Instance> last;
    SpanWaits spans;
  };

  void run(Block &block, State &state);
  void run(Operation *op, State &state);
  void loop(Operation *op, State &state);
  void age(Operation *loop, State &state);
  void instruction(Operation *op, PIPE pipe, State &state);
  bool sync(Operation *op, State &state);
  void merge(State &into, State &other);
  unsigned next(State &state, unsigned pipe) { return state.issued[pipe] = ++counts_[pipe]; }

  Clock counts_{};
  Listener *listener_ = nullptr;
  unsigned loopDepth_ = 0;
  bool once_ = false;        // loops are walked once
  bool learnsSpans_ = false; // what is walked for: FlagSpan::queues
  std::vector<FlagSpan> spans_;
  llvm::DenseMap<Operation *, unsigned> spanOf_; // by set
  std::map<std::array<unsigned, 3>, SmallVector<unsigned, 2>> spansOfFlag_;
  UnknownEvents unknownEvents_ = UnknownEvents::TellLittle;
  std::vector<Value> unknown_;
  std::set<std::pair<unsigned, unsigned>> unknownPairs_; // queues
};

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCMODEL_H
