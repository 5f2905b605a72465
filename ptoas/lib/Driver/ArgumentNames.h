//===- ArgumentNames.h - how the text calls a function's arguments --------===//
#ifndef PTOAS_LIB_DRIVER_ARGUMENTNAMES_H
#define PTOAS_LIB_DRIVER_ARGUMENTNAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SourceMgr.h"
#include <string>

namespace ptoas {

/// The name of an argument in the main buffer of `sources`, without `%`; empty when the argument's
/// location is not the place of its name there.
std::string argumentName(mlir::func::FuncOp function, unsigned argument, llvm::SourceMgr &sources);

/// Writes the names that only the text has but that say what an argument is (`__pypto_spmd_*`,
/// given by the launch) to the argument attribute `pypto.name`, which printed text and bytecode
/// keep.
void keepLaunchNames(mlir::ModuleOp module, llvm::SourceMgr &sources);

/// The name that `keepLaunchNames` kept, or none.
llvm::StringRef keptName(mlir::func::FuncOp function, unsigned argument);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_ARGUMENTNAMES_H
