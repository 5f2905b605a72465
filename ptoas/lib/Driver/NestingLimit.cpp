//===- NestingLimit.cpp - refuse text that nests too deeply ---------------===//
#include "NestingLimit.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

// Minus signs in a row nest as well (affine expressions). Text that is no MLIR at all gets some
// answer, too.
const char *ptoas::findTooDeep(StringRef text, unsigned limit) {
  std::string open; // the closing sign of each open bracket
  unsigned minusSigns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char sign = text[i];
    if (sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r')
      continue;
    minusSigns = sign == '-' ? minusSigns + 1 : 0;
    switch (sign) {
    case '/':
      if (text.substr(i).starts_with("//"))
        i = std::min(text.find('\n', i), text.size());
      break;
    case '"':
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\')
          ++i;
      break;
    case '(':
      open += ')';
      break;
    case '[':
      open += ']';
      break;
    case '{':
      open += '}';
      break;
    case '<':
      open += '>';
      break;
    case '>': // also the end of `->` and the start of `>=`
      if (!open.empty() && open.back() == '>' && (i == 0 || text[i - 1] != '-'))
        open.pop_back();
      break;
    case ')':
    case ']':
    case '}':
      // A `<` that nothing closed was a comparison.
      while (!open.empty() && open.back() == '>')
        open.pop_back();
      if (!open.empty() && open.back() == sign)
        open.pop_back();
      break;
    }
    if (open.size() + minusSigns > limit)
      return text.data() + i;
  }
  return nullptr;
}

LogicalResult ptoas::checkNesting(const llvm::SourceMgr &sources, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  const char *place = findTooDeep(buffer->getBuffer(), kMaxNesting);
  if (!place)
    return success();
  auto [line, column] =
      sources.getLineAndColumn(llvm::SMLoc::getFromPointer(place), sources.getMainFileID());
  return emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line, column))
         << "brackets nest deeper than " << kMaxNesting << " levels";
}
