//===- FifoEnds.h - the ops that use a FIFO, in either of their spellings -===//
//
// A pipe is named by a number (`id`, joined by aic/aiv_initialize_pipe) or by a
// handle (initialize_l2l_pipe, initialize_l2g2l_pipe). The ends of a handle's pipe
// in two functions belong together when their `flag_base` is the same.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_FIFOENDS_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_FIFOENDS_H

#include "ptoas/Dialect/PTO/IR/PTOOps.h"

namespace mlir::pto {

/// Which half of a slot a vector core has. 3 and 4 are 1 and 2 over an odd extent.
enum class FifoSplit { None, Rows, Cols };

struct FifoEnd {
  enum Kind { Push, Pop, Alloc, Free };
  Operation *op = nullptr;
  Kind kind = Push;
  int64_t fifo = 0; // of this module, at most 32 bits; below zero where a handle names it
  bool toVector = false;
  bool odd = false;
  FifoSplit split = FifoSplit::None;
  Value entry; // tile or tensor that is sent, received or bound; may be absent for Free
  Operation *init = nullptr; // what made the pipe

  bool carriesTile() const { return entry && isa<TileBufType>(entry.getType()); }
  /// Whether this end runs on one of the two vector cores.
  bool onVector() const { return toVector == (kind == Pop || kind == Free); }
};

/// Whether `op` makes a pipe, under a number or as a handle.
bool makesPipe(Operation *op);
/// Slots of a pipe: what it says, else 8, or 4 each way.
int64_t slotCountOf(Operation *init);
/// The FIFO of one direction of the pipe that `init` makes.
int64_t fifoNumber(Operation *init, bool toVector);
/// Fails, with an error, for a pipe whose number the run-time library cannot hold.
LogicalResult checkPipeNumber(Operation *op);
/// The end that `op` is; nothing when it uses no FIFO. Fails where a direction is not known.
FailureOr<std::optional<FifoEnd>> fifoEndOf(Operation *op);

/// The matrix that a tile or a tensor of FIFO slots holds: the last dimension is its columns.
struct FifoMatrix {
  Type element;
  int64_t rows = 1, cols = 1;
};
/// Fails for tensors with open extents.
FailureOr<FifoMatrix> matrixOf(Value entry);

/// What the fixed pipe does to the accumulators that a push sends.
struct PushEpilogue {
  enum Scale { None, Scalar, Columns };
  Type element;       // of the slot; none: of the tile
  bool bytes = false; // eight-bit integers, signed or not: the receiving end says which
  Scale scale = None;
  bool relu = false;
  bool rowMajor = true; // as the slot would lie in memory; only tensors of slots see it
};
FailureOr<PushEpilogue> epilogueOf(const FifoEnd &push);

/// The set_quant_scalar or set_quant_vector whose scales a push uses: the one before it. Fails
/// where the way to the push decides.
FailureOr<Operation *> scalesOf(const FifoEnd &push);

} // namespace mlir::pto
#endif
