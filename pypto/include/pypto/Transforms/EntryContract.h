//===- EntryContract.h - what entries promise and how they are described --===//
//
// An entry is the orchestration that callers outside run. Its parameters are described
// twice: as the program declares them, and as the lowered code takes them.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_TRANSFORMS_ENTRYCONTRACT_H
#define PYPTO_TRANSFORMS_ENTRYCONTRACT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

namespace pypto {

bool isEntry(mlir::func::FuncOp func);

/// For each result of an entry the argument whose memory it is, in order; -1 for memory of its own.
/// Follows the names of the original program, so it is asked after import.
llvm::SmallVector<int64_t> returnLineage(mlir::func::FuncOp entry);

/// Every result of every entry is one of its arguments.
mlir::LogicalResult checkEntryReturns(mlir::ModuleOp module);

/// One entry. With `hostBuildGraph` its own code reads and writes no data of tensors; conditions of
/// tasks may, the device evaluates them. Runs after outlineScopes.
mlir::LogicalResult checkKernelContract(mlir::ModuleOp module, bool hostBuildGraph);

/// Parameters with the layout NZ: dense matrices that fill their blocks, read only, of which
/// kernels load windows. After lowerTensorToTile.
mlir::LogicalResult checkBlockedLayouts(mlir::ModuleOp module);

/// [batch, C/c0, R/16, 16, c0] for an NZ parameter that passed the check.
llvm::SmallVector<int64_t> blockedShape(TensorType type);

/// Kind of core that a kernel needs: "aic", "aiv" or "mix". Before lowerToPTO.
llvm::StringRef coreTypeOf(mlir::func::FuncOp kernel);

/// Exports `<entry>__orchestration` (simpler/c_api.h) for an entry whose lowered form has its name.
/// `signature` is the entry with tensor arguments. Without effect where one of them has elements
/// that no tensor in memory has.
void emitEntryRecord(mlir::func::FuncOp signature);

} // namespace pypto

#endif // PYPTO_TRANSFORMS_ENTRYCONTRACT_H
