//===- PlainWords.h - MLIR's messages in the words of a `.pto` file --------===//
#ifndef PTOAS_LIB_DRIVER_PLAINWORDS_H
#define PTOAS_LIB_DRIVER_PLAINWORDS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// What MLIR's parser or verifier says, in words that need no knowledge of MLIR; a message that is
/// plain already comes back as it is. `word` is what the text has at the place of the message
/// (empty: unknown).
std::string plainWords(llvm::StringRef message, llvm::StringRef word, mlir::MLIRContext &context);

/// For as long as it lives, diagnostics of `context` are put into plain words on their way to the
/// handler that was there before.
class PlainWords : public mlir::ScopedDiagnosticHandler {
public:
  PlainWords(mlir::MLIRContext &context, llvm::SourceMgr &sources);
};

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_PLAINWORDS_H
