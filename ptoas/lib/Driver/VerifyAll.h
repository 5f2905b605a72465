//===- VerifyAll.h - every broken rule of a module, not only the first ----===//
#ifndef PTOAS_LIB_DRIVER_VERIFYALL_H
#define PTOAS_LIB_DRIVER_VERIFYALL_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// The rules of each op on its own: what functions and names that an op refers to are like is not
/// looked at. Counts of operands that the generic form of an op leaves out are filled in first.
mlir::LogicalResult verifyOps(mlir::ModuleOp module);

/// Like mlir::verify, but goes on behind an op that breaks a rule: each op reports the first of its
/// own. What the module breaks as a whole (order of definitions and uses) is looked at when all ops
/// are right.
mlir::LogicalResult verifyAll(mlir::ModuleOp module);

/// Remarks on forms of earlier versions that are read, one per form.
void noteEarlierForms(mlir::ModuleOp module);

/// The same for types that only have another name today.
void noteEarlierTypes(const llvm::SourceMgr &sources, mlir::MLIRContext &context);

/// Warns of attributes that a `pto` op does not know and therefore ignores (misspelt ones). Names
/// with a dot are left alone.
void warnUnknownAttributes(mlir::ModuleOp module);

/// Warns of clauses of pto.tload (`pad_value = …`), which no instruction takes.
void warnLoadClauses(mlir::ModuleOp module);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_VERIFYALL_H
