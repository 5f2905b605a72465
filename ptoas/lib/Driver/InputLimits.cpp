//===- InputLimits.cpp - what is refused before it is parsed ---------------===//
#include "InputLimits.h"
#include "TextFaults.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

std::unique_ptr<llvm::MemoryBuffer> ptoas::openInput(StringRef path, std::string &problem) {
  auto isTooLarge = [&](uint64_t bytes) {
    if (bytes <= kMaxFileBytes)
      return false;
    problem = path.str() + " has " + std::to_string(bytes) + " bytes, more than the " +
              std::to_string(kMaxFileBytes >> 20) + " MiB that a module may have";
    return true;
  };
  uint64_t bytes = 0;
  if (path != "-" && !llvm::sys::fs::file_size(path, bytes) && isTooLarge(bytes))
    return nullptr;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &problem);
  if (!buffer || isTooLarge(buffer->getBufferSize()))
    return nullptr;
  return buffer;
}

LogicalResult ptoas::checkText(const llvm::SourceMgr &sources, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  auto refuse = [&](size_t offset) {
    auto place = llvm::SMLoc::getFromPointer(buffer->getBufferStart() + offset);
    auto [line, column] = sources.getLineAndColumn(place, sources.getMainFileID());
    return emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line, column));
  };
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return refuse(zero) << "the file is no text: it holds a byte 0 here";
  if (text.starts_with("\xEF\xBB\xBF"))
    return refuse(0) << "the file starts with a byte order mark (bytes EF BB BF): save it as UTF-8 "
                        "without one";
  return checkTextFaults(sources, context);
}
