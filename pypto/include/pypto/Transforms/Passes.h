//===- Passes.h - the compiler's steps below the importer -----------------===//
//
// Plain functions on a module, in this order. Each reports errors through the
// context's diagnostics and returns failure; the module is then unusable.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_TRANSFORMS_PASSES_H
#define PYPTO_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"

namespace pypto {

/// Moves scope bodies to kernel functions; what they capture becomes parameters, what they return
/// an Out parameter.
mlir::LogicalResult outlineScopes(mlir::ModuleOp module);
/// Gives each tensor parameter of each kernel its direction from what the body does with it.
mlir::LogicalResult resolveDirections(mlir::ModuleOp module);
/// Refuses reads of created tensors and tiles that nothing can have written before.
mlir::LogicalResult checkUnwrittenReads(mlir::ModuleOp module);
/// Kernels: tensor values become 2-D tiles, loads and stores explicit.
mlir::LogicalResult lowerTensorToTile(mlir::ModuleOp module);
/// Kernels: gives each tile its memory and inserts moves.
mlir::LogicalResult inferMemorySpaces(mlir::ModuleOp module);
/// Kernels: the tiles that live at once must fit the memories of `platform`.
mlir::LogicalResult checkCapacity(mlir::ModuleOp module, llvm::StringRef platform);

/// Kernels: cuts products that exceed the left and right memories along K (text form only). With
/// `tight`, operands are moved there in front of each product and not before loops.
mlir::LogicalResult tileMatmulL0(mlir::ModuleOp module, bool tight);

struct PtoOptions {
  /// What the text contract wants where native code is better off without: physical extents that
  /// are whole boxes, the kind of core, no C entry.
  bool textForm = false;
  /// The architecture of the text.
  bool a5 = false;
  /// Results take over the buffers of operands: for kernels that do not fit otherwise.
  bool reuseOperands = false;
};
/// Kernels to the pto dialect (level2), each with its C entry unless textForm.
mlir::LogicalResult lowerToPTO(mlir::ModuleOp module, const PtoOptions &options);
/// Orchestrations to scf, arith and calls of simpler's C interface.
mlir::LogicalResult lowerOrchestration(mlir::ModuleOp module);

} // namespace pypto

#endif // PYPTO_TRANSFORMS_PASSES_H
