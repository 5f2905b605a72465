//===- Documents.h - open texts, and what the assembler says of them -------===//
#ifndef PTOAS_TOOLS_LSP_DOCUMENTS_H
#define PTOAS_TOOLS_LSP_DOCUMENTS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <mutex>
#include <optional>
#include <string>

namespace ptoas {

/// The texts that the editor has open, by URI, as its messages change them. Any thread may call.
class Documents {
public:
  /// Follows didOpen, didChange and didClose; other messages are ignored.
  void note(const llvm::json::Object &message);
  /// None when the document is not open, or a change of it could not be followed.
  std::optional<std::string> text(llvm::StringRef uri) const;

private:
  mutable std::mutex mutex_;
  llvm::StringMap<std::string> texts_;
};

/// The diagnostics of the assembler for a text, as objects of the protocol. The level is 3 when a
/// tile has an address, else 2.
llvm::json::Array assemblerDiagnostics(llvm::StringRef text, llvm::StringRef uri);

/// What MLIR's server says of a text, in plain words.
llvm::json::Array plainDiagnostics(llvm::json::Array diagnostics);

} // namespace ptoas

#endif // PTOAS_TOOLS_LSP_DOCUMENTS_H
