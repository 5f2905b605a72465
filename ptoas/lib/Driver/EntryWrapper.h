//===- EntryWrapper.h - call a kernel with arguments from an array --------===//
#ifndef PTOAS_LIB_DRIVER_ENTRYWRAPPER_H
#define PTOAS_LIB_DRIVER_ENTRYWRAPPER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptoas {

/// Adds `name(!llvm.ptr words)` to the module: it reads one 8-byte word per argument of
/// `kernel` (a pointer, or the bits of a scalar in the low bytes) and calls it.
mlir::LogicalResult addEntryWrapper(mlir::func::FuncOp kernel, llvm::StringRef name);

/// The word of a scalar argument from its text. Fails when the text is no such value.
mlir::FailureOr<uint64_t> parseScalarWord(mlir::Type type, llvm::StringRef text);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_ENTRYWRAPPER_H
