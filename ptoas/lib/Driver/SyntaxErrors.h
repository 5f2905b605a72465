//===- SyntaxErrors.h - parsing that goes on behind a syntax error ---------===//
#ifndef PTOAS_LIB_DRIVER_SYNTAXERRORS_H
#define PTOAS_LIB_DRIVER_SYNTAXERRORS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// Parses the main buffer of `sources` without verifying it. A text with errors gives null; each of
/// its functions and aliases has reported the first of its syntax errors then, and the functions
/// without one the first broken rule of each op, in the order of the text. `prepare` changes a
/// module before its rules are looked at. `names`: as for `parseWithPlaces`.
mlir::OwningOpRef<mlir::ModuleOp> parseText(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                            llvm::function_ref<void(mlir::ModuleOp)> prepare,
                                            bool names = false);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_SYNTAXERRORS_H
