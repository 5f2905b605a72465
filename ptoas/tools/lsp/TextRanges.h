//===- TextRanges.h - how far what is wrong at a place reaches -------------===//
#ifndef PTOAS_TOOLS_LSP_TEXTRANGES_H
#define PTOAS_TOOLS_LSP_TEXTRANGES_H

#include "llvm/Support/JSON.h"
#include <optional>
#include <vector>

namespace ptoas {

/// Ranges of the protocol for places of a text.
class TextRanges {
public:
  explicit TextRanges(llvm::StringRef text);

  /// What stands at a line and a column (bytes, both from 1): an op with its operands and types, up
  /// to the body that it may have; else one token. A place directly behind a word that `message`
  /// quotes means that word. An empty range at the start for line 0.
  llvm::json::Object at(unsigned line, unsigned column, llvm::StringRef message) const;

private:
  llvm::json::Object position(size_t offset) const;

  llvm::StringRef text_;
  std::vector<size_t> lines_; // where they start
};

} // namespace ptoas

#endif // PTOAS_TOOLS_LSP_TEXTRANGES_H
