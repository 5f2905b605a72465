//===- Messages.h - messages of the language server protocol --------------===//
//
// A message is a header `Content-Length: N`, an empty line, and N bytes of JSON.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TOOLS_LSP_MESSAGES_H
#define PTOAS_TOOLS_LSP_MESSAGES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace ptoas {

class MessageReader {
public:
  explicit MessageReader(int file) : file_(file) {}
  /// Waits for a message; none at the end of the file or when it is damaged.
  std::optional<std::string> next();

private:
  bool fill();
  int file_;
  std::string bytes_;
};

/// Whether objects and arrays of a JSON text stand more than `limit` deep in each other.
bool nestsDeeper(llvm::StringRef text, unsigned limit);

/// False when the other side is gone.
bool writeMessage(int file, llvm::StringRef body);

} // namespace ptoas

#endif // PTOAS_TOOLS_LSP_MESSAGES_H
