//===- EntryWrapper.h - call a kernel with arguments from an array --------===//
#ifndef PTOAS_LIB_DRIVER_ENTRYWRAPPER_H
#define PTOAS_LIB_DRIVER_ENTRYWRAPPER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptoas {

/// Whether a value of `type` can be read from text into one word: index, integers of 1, 8, 16, 32
/// and 64 bits, floats of 8, 16, 32 and 64 bits.
bool isScalarArgument(mlir::Type type);

/// Adds `name(!llvm.ptr words)` to the module: it reads one 8-byte word per argument of
/// `kernel` (a pointer, or the bits of a scalar in the low bytes) and calls it. Fails, with a
/// diagnostic, for arguments of other types.
mlir::LogicalResult addEntryWrapper(mlir::func::FuncOp kernel, llvm::StringRef name);

/// The word of a scalar argument from its text. Fails when the text is no such value: no number,
/// out of the type's range (an integer may be meant signed or unsigned), or no scalar type at all.
mlir::FailureOr<uint64_t> parseScalarWord(mlir::Type type, llvm::StringRef text);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_ENTRYWRAPPER_H
