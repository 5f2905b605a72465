//===- TileRoots.h - which allocation a tile value names ------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TILEROOTS_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TILEROOTS_H

#include "ptoas/Dialect/PTO/IR/PTOOps.h"

namespace mlir::pto {

/// The allocations that `value` may name: through windows, reshapes, slots, and values carried by
/// structured control flow.
void collectRoots(Value value, SmallPtrSetImpl<Operation *> &roots);

/// The allocations that an op touches through its operands or results.
void collectTouchedRoots(Operation *op, SmallPtrSetImpl<Operation *> &roots);

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_TILEROOTS_H
