//===- ArgumentNames.h - how the text calls a function's arguments --------===//
#ifndef PTOAS_LIB_DRIVER_ARGUMENTNAMES_H
#define PTOAS_LIB_DRIVER_ARGUMENTNAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SourceMgr.h"
#include <string>

namespace ptoas {

/// The name of an argument in the main buffer of `sources`, without `%`; empty when the argument's
/// location is not the place of its name there.
std::string argumentName(mlir::func::FuncOp function, unsigned argument,
                         llvm::SourceMgr &sources);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_ARGUMENTNAMES_H
