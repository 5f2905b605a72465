//===- NestingLimit.h - refuse text that nests too deeply -----------------===//
#ifndef PTOAS_LIB_DRIVER_NESTINGLIMIT_H
#define PTOAS_LIB_DRIVER_NESTINGLIMIT_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// Brackets of any kind that may be open at one place of a `.pto` file.
constexpr unsigned kMaxNesting = 256;

/// The first place where more than `limit` brackets are open; null when there is none.
const char *findTooDeep(llvm::StringRef text, unsigned limit = kMaxNesting);

/// Fails, with a diagnostic at the bracket that is one too many, when the main buffer of `sources`
/// nests deeper than kMaxNesting. To be called before the text is parsed: parser, verifier and
/// passes call themselves once per level.
mlir::LogicalResult checkNesting(const llvm::SourceMgr &sources, mlir::MLIRContext &context);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_NESTINGLIMIT_H
