//===- Bytecode.h - modules as .ptobc files -------------------------------===//
//
// A .ptobc file begins with the bytes "PTOBC\0", a 16-bit version and 16 bits of flags
// (little-endian), and goes on with sections: a byte that names the section, its size,
// its bytes. Numbers are LEB128. Types, attributes and locations are stored as text, so a
// file outlives changes of the libraries that read it. Version 1 has the sections
// STRINGS 1, TYPES 2, ATTRS 3, MODULE 6 and DEBUGINFO 7; others are skipped.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DRIVER_BYTECODE_H
#define PTOAS_DRIVER_BYTECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ptoas {

/// Whether `bytes` begin as a .ptobc file does, of whatever version.
bool isBytecode(llvm::StringRef bytes);

struct BytecodeOptions {
  /// Keep the source locations of ops.
  bool debugInfo = true;
};
/// The bytes of `module`. The module is not verified.
std::string writeBytecode(mlir::ModuleOp module, const BytecodeOptions &options = {});

/// Null when `bytes` are damaged or of another version; the error goes to the context at location
/// `name`:1:1. The module is not verified. Takes memory in proportion to the bytes.
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::StringRef bytes, llvm::StringRef name,
                                               mlir::MLIRContext &context);

} // namespace ptoas

#endif // PTOAS_DRIVER_BYTECODE_H
