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

/// What the queues know on one way through a function.
struct QueueClocks : KnownInstructions {
  struct Flag {
    bool isSet = false;
    Clock clock{};
    unsigned lastWait = 0; // number of the last wait on the waiting queue
  };
  Clock issued{};                                // the highest number of each queue on the way here
  std::map<std::array<unsigned, 3>, Flag> flags; // by setting queue, waiting queue, event

  /// After a branch only what both ways know is known.
  void merge(QueueClocks &other, const Clock &counts);
  void barrier(PIPE pipe, const Clock &counts);
  /// Whether a flag is not set, and its last wait known to have run: by the setting queue as it is
  /// now, or as it was when it knew `atSet`.
  bool isFree(unsigned from, unsigned to, unsigned event) const {
    return isFree(from, to, event, known[from]);
  }
  bool isFree(unsigned from, unsigned to, unsigned event, const Clock &atSet) const;

private:
  void raise(const Clock &counts);
};

class SyncModel {
public:
  /// Told about each thing that is wrong; must not change the function.
  struct Listener {
    virtual ~Listener() = default;
    /// `later` may run before `earlier` is done although both touch `region`.
    virtual void unordered(Operation *earlier, Operation *later, PIPE from, PIPE to,
                           const TouchedBytes &region) = 0;
    /// A flag is set again before it is known that the wait for its last set has run.
    virtual void flagInUse(Operation *set) = 0;
    /// A wait for a flag that nothing has set.
    virtual void neverSet(Operation *wait) = 0;
  };

  void walk(FunctionOpInterface function, Listener &listener);

private:
  struct Instance {
    unsigned pipe, number;
    SmallVector<TouchedBytes> regions;
    // The last one for which the windows in `regions` lay elsewhere, in an earlier iteration.
    unsigned agedNumber = 0;
    Operation *agedBy = nullptr;
  };
  struct State : QueueClocks {
    llvm::MapVector<Operation *, Instance> last;
  };

  void run(Block &block, State &state);
  void run(Operation *op, State &state);
  void loop(Operation *op, State &state);
  static void age(Operation *loop, State &state);
  void instruction(Operation *op, PIPE pipe, State &state);
  bool sync(Operation *op, State &state);
  void merge(State &into, State &other);
  unsigned next(State &state, unsigned pipe) { return state.issued[pipe] = ++counts_[pipe]; }

  Clock counts_{};
  Listener *listener_ = nullptr;
  unsigned loopDepth_ = 0;
  bool once_ = false; // loops are walked once
};

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_SYNCMODEL_H
