//===- CheckedRun.h - what a checked run asks of a program beforehand -----===//
#ifndef PTOAS_LIB_DRIVER_CHECKEDRUN_H
#define PTOAS_LIB_DRIVER_CHECKEDRUN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// What the assembler says of the module at its level (3 when the text places its tiles, else 2):
/// FIFOs, memory that does not suffice, with the table of what is live, and where tiles may start.
/// Changes nothing.
mlir::LogicalResult checkMemory(mlir::ModuleOp module);

/// Keeps what the text calls its tiles (`pypto.name` of allocations), for reports of the run.
void keepTileNames(mlir::ModuleOp module, llvm::SourceMgr &sources);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_CHECKEDRUN_H
