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

static constexpr llvm::StringLiteral kNameAttr = "pypto.name";
static constexpr llvm::StringLiteral kLaunchPrefix = "__pypto_spmd_";

void ptoas::keepLaunchNames(ModuleOp module, llvm::SourceMgr &sources) {
  if (!sources.getMemoryBuffer(sources.getMainFileID())->getBuffer().contains(kLaunchPrefix))
    return;
  module->walk([&](func::FuncOp function) {
    if (function.isExternal())
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (std::string name = argumentName(function, i, sources);
          StringRef(name).starts_with(kLaunchPrefix))
        function.setArgAttr(i, kNameAttr, StringAttr::get(function.getContext(), name));
  });
}

StringRef ptoas::keptName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name && name.getValue().starts_with(kLaunchPrefix) ? name.getValue() : StringRef();
}
