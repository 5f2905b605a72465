//===- SourceLines.cpp - which source lines a message shows ----------------===//
#include "SourceLines.h"
#include "llvm/ADT/STLExtras.h"

// Types of tiles make long lines, and modules without line breaks one of megabytes.
static constexpr size_t kMaxShown = 2000;

static bool isReadable(llvm::StringRef line) {
  return line.size() <= kMaxShown && llvm::all_of(line, [](unsigned char sign) {
           return (sign >= 0x20 && sign != 0x7f) || sign == '\t' || sign == '\r';
         });
}

void ptoas::showReadableLines(llvm::SourceMgr &sources, llvm::raw_ostream &os) {
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &message, void *stream) {
        auto &os = *static_cast<llvm::raw_ostream *>(stream);
        if (isReadable(message.getLineContents()))
          return message.print(nullptr, os);
        std::string place = message.getFilename().str() + ":" +
                            std::to_string(message.getLineNo()) + ":" +
                            std::to_string(message.getColumnNo() + 1);
        llvm::SMDiagnostic(place, message.getKind(), message.getMessage()).print(nullptr, os);
      },
      &os);
}
