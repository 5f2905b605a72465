//===- TextFaults.h - refuse text that the parser would not survive -------===//
#ifndef PTOAS_LIB_DRIVER_TEXTFAULTS_H
#define PTOAS_LIB_DRIVER_TEXTFAULTS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// Brackets of any kind that may be open at one place of a `.pto` file.
constexpr unsigned kMaxNesting = 256;

/// Signs that an alias of a type, attribute or place may stand for, with all aliases written out.
constexpr uint64_t kMaxAlias = 1 << 16;

/// Signs of an affine map or set: a sum nests as deep as it is long.
constexpr size_t kMaxAffine = 1 << 15;

/// A place in a text and what is wrong there. No fault: `place` is null.
struct TextFault {
  const char *place = nullptr;
  std::string what;
};

/// The first place where more than `limit` brackets are open (parser, verifier and passes call
/// themselves once per level), an alias is larger than kMaxAlias, an affine map than kMaxAffine, or
/// where an array attribute has elements of type `index` (MLIR's parser asks that type for its
/// width).
TextFault findTextFault(llvm::StringRef text, unsigned limit = kMaxNesting);

/// Fails, with a diagnostic at the place, when the main buffer of `sources` has such a fault. To be
/// called before the text is parsed.
mlir::LogicalResult checkTextFaults(const llvm::SourceMgr &sources, mlir::MLIRContext &context);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_TEXTFAULTS_H
