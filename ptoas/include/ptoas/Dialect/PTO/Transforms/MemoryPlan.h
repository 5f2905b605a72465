//===- MemoryPlan.h - addresses of the tiles of a function ----------------===//
#ifndef PTOAS_DIALECT_PTO_TRANSFORMS_MEMORYPLAN_H
#define PTOAS_DIALECT_PTO_TRANSFORMS_MEMORYPLAN_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::pto {

/// Bytes of an on-chip memory space.
int64_t getCapacity(AddressSpace space, Arch arch);
/// Bytes that an address in the space must be a multiple of.
int64_t getAlignment(AddressSpace space);

/// One allocation: `alloc_tile`, `alloc_multi_tile` or an automatic `reserve_buffer`.
struct PlannedBuffer {
  Operation *alloc;
  AddressSpace space;
  int64_t bytes;       // all slots
  unsigned begin, end; // positions of the first and the last op that may touch it
  int64_t address = -1;
  unsigned number = 0; // in the order of the text
};

struct MemoryPlan {
  llvm::MapVector<Operation *, PlannedBuffer> buffers;
  llvm::SmallDenseMap<AddressSpace, int64_t, 8> peak; // highest byte used
};

/// Places every allocation without an address. Fails, with a table of what is live at the
/// fullest point, when a space is too small.
FailureOr<MemoryPlan> planMemory(FunctionOpInterface function);

/// Whether no two buffers that hold data at the same time share bytes. Works from the trace of the
/// function with every loop run twice, not from the planner's positions.
LogicalResult verifyPlan(FunctionOpInterface function, const MemoryPlan &plan);

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_TRANSFORMS_MEMORYPLAN_H
