//===- InputLimits.h - what is refused before it is parsed ----------------===//
#ifndef PTOAS_LIB_DRIVER_INPUTLIMITS_H
#define PTOAS_LIB_DRIVER_INPUTLIMITS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// Bytes of a `.pto` or `.ptobc` file.
constexpr uint64_t kMaxFileBytes = uint64_t(256) << 20;

/// Opens a file (`-`: standard input) that may be large or no text; null with `problem` set when it
/// cannot be read or is larger than kMaxFileBytes. A large file is refused without being read.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef path, std::string &problem);

/// Fails with a diagnostic when the main buffer of `sources` is no text (it holds a byte 0) or
/// nests too deeply.
mlir::LogicalResult checkText(const llvm::SourceMgr &sources, mlir::MLIRContext &context);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_INPUTLIMITS_H
