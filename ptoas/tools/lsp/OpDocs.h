//===- OpDocs.h - documentation of ops, from their records -----------------===//
#ifndef PTOAS_TOOLS_LSP_OPDOCS_H
#define PTOAS_TOOLS_LSP_OPDOCS_H

#include "llvm/ADT/StringRef.h"

namespace ptoas {
/// Markdown about an op ("pto.tadd"); empty for names that are none.
llvm::StringRef getOpDocumentation(llvm::StringRef name);
} // namespace ptoas

#endif // PTOAS_TOOLS_LSP_OPDOCS_H
