//===- ArgumentNames.cpp - how the text calls a function's arguments ------===//
//
// MLIR forgets the names of values; what it keeps of an argument is where its name
// stands.
//
//===----------------------------------------------------------------------===//
#include "ArgumentNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static StringRef nameAt(StringRef text) {
  if (!text.consume_front("%"))
    return {};
  return text.take_while([](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); });
}

/// The name in the function's header, for texts that give arguments a `loc(...)` of their own.
static StringRef nameInHeader(StringRef text, StringRef function, unsigned argument) {
  size_t at = text.find(("func.func @" + function + "(").str());
  if (at == StringRef::npos)
    return {};
  text = text.drop_front(text.find('(', at));
  bool inString = false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"' && text[i - 1] != '\\')
      inString = !inString;
    if (inString)
      continue;
    depth += (c == '(' || c == '{' || c == '<') - (c == ')' || c == '}' || c == '>');
    if (depth == 0)
      return {};
    if (c == '%' && depth == 1 && argument-- == 0)
      return nameAt(text.drop_front(i));
  }
  return {};
}

std::string ptoas::argumentName(func::FuncOp function, unsigned argument,
                                llvm::SourceMgr &sources) {
  auto where = function.getArgument(argument).getLoc()->findInstanceOf<FileLineColLoc>();
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  if (!where || where.getFilename().getValue() != buffer->getBufferIdentifier())
    return nameInHeader(buffer->getBuffer(), function.getName(), argument).str();
  llvm::SMLoc loc =
      sources.FindLocForLineAndColumn(sources.getMainFileID(), where.getLine(), where.getColumn());
  if (!loc.isValid() || loc.getPointer() >= buffer->getBufferEnd())
    return {};
  return nameAt(StringRef(loc.getPointer(), buffer->getBufferEnd() - loc.getPointer())).str();
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
