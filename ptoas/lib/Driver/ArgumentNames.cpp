//===- ArgumentNames.cpp - how the text calls a function's arguments ------===//
//
// MLIR forgets the names of values; what it keeps of an argument is where its name
// stands.
//
//===----------------------------------------------------------------------===//
#include "ArgumentNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

std::string ptoas::argumentName(func::FuncOp function, unsigned argument,
                                llvm::SourceMgr &sources) {
  auto where = dyn_cast<FileLineColLoc>(function.getArgument(argument).getLoc());
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  if (!where || where.getFilename().getValue() != buffer->getBufferIdentifier())
    return {};
  llvm::SMLoc loc =
      sources.FindLocForLineAndColumn(sources.getMainFileID(), where.getLine(), where.getColumn());
  if (!loc.isValid() || loc.getPointer() >= buffer->getBufferEnd() || *loc.getPointer() != '%')
    return {};
  StringRef rest(loc.getPointer() + 1, buffer->getBufferEnd() - loc.getPointer() - 1);
  return rest.take_while([](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); })
      .str();
}
