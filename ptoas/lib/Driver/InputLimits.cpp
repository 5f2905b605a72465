//===- InputLimits.cpp - what is refused before it is parsed ---------------===//
#include "InputLimits.h"
#include "TextFaults.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

// All that a pipe, a terminal or a device gives, up to one byte more than `limit`.
static std::error_code readStream(llvm::sys::fs::file_t file, std::string &bytes, uint64_t limit) {
  constexpr size_t kPiece = size_t(1) << 20;
  while (bytes.size() <= limit) {
    size_t size = bytes.size();
    bytes.resize(size + kPiece);
    llvm::Expected<size_t> got =
        llvm::sys::fs::readNativeFile(file, llvm::MutableArrayRef(bytes.data() + size, kPiece));
    bytes.resize(size + (got ? *got : 0));
    if (!got)
      return llvm::errorToErrorCode(got.takeError());
    if (!*got)
      break;
  }
  return {};
}

std::unique_ptr<llvm::MemoryBuffer> ptoas::openInput(StringRef path, std::string &problem) {
  namespace fs = llvm::sys::fs;
  auto refuse = [&](const llvm::Twine &what) {
    problem = what.str();
    return nullptr;
  };
  const std::string limit =
      "more than the " + std::to_string(kMaxFileBytes >> 20) + " MiB that a module may have";
  fs::file_status status;
  bool isRegular = path != "-" && !fs::status(path, status) && fs::is_regular_file(status);
  if (isRegular && status.getSize() > kMaxFileBytes)
    return refuse(path + " has " + llvm::Twine(status.getSize()) + " bytes, " + limit);
  auto cannot = [&](std::error_code error) { return refuse("'" + path + "': " + error.message()); };
  if (isRegular) {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? std::move(*file) : cannot(file.getError());
  }
  fs::file_t file = fs::getStdinHandle();
  if (path != "-") {
    llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(path);
    if (!opened)
      return cannot(llvm::errorToErrorCode(opened.takeError()));
    file = *opened;
  }
  std::string bytes;
  std::error_code error = readStream(file, bytes, kMaxFileBytes);
  if (path != "-")
    fs::closeFile(file);
  if (error)
    return cannot(error);
  StringRef name = path == "-" ? "<stdin>" : path;
  if (bytes.size() > kMaxFileBytes)
    return refuse(name + " gives " + limit);
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
}

LogicalResult ptoas::checkText(const llvm::SourceMgr &sources, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  auto refuse = [&](size_t offset) {
    auto place = llvm::SMLoc::getFromPointer(buffer->getBufferStart() + offset);
    auto [line, column] = sources.getLineAndColumn(place, sources.getMainFileID());
    return emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line, column));
  };
  if (text.size() > kMaxFileBytes)
    return refuse(0) << "the text has " << text.size() << " bytes, more than the "
                     << (kMaxFileBytes >> 20) << " MiB that a module may have";
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return refuse(zero) << "the file is no text: it holds a byte 0 here";
  if (text.starts_with("\xEF\xBB\xBF"))
    return refuse(0) << "the file starts with a byte order mark (bytes EF BB BF): save it as UTF-8 "
                        "without one";
  return checkTextFaults(sources, context);
}
