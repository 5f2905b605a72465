//===- TextFaults.cpp - refuse text that the parser would not survive -----===//
#include "TextFaults.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

/// Signs of names and numbers, with those that names of types, attributes and symbols begin with.
static bool isNameSign(char sign) {
  return llvm::isAlnum(sign) || StringRef("_.$!#%@^").contains(sign);
}

// Minus signs in a row nest as well (affine expressions). Text that is no MLIR at all gets some
// answer, too.
ptoas::TextFault ptoas::findTextFault(StringRef text, unsigned limit) {
  std::string open; // the closing sign of each open bracket
  unsigned minusSigns = 0;
  bool behindArray = false; // `array` was the last word
  bool elements = false;    // `array<` was the last thing
  for (size_t i = 0; i < text.size(); ++i) {
    char sign = text[i];
    if (sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r')
      continue;
    if (text.substr(i).starts_with("//")) {
      minusSigns = 0;
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    minusSigns = sign == '-' ? minusSigns + 1 : 0;
    if (isNameSign(sign)) {
      StringRef word = text.substr(i).take_while(isNameSign);
      if (elements && (word == "index" || sign == '!')) // an alias may stand for `index`
        return {text.data() + i, "the elements of an array attribute must be integers or floats, "
                                 "as in array<i32: 1, 2>"};
      behindArray = word == "array";
      elements = false;
      i += word.size() - 1;
      continue;
    }
    elements = behindArray && sign == '<';
    behindArray = false;
    switch (sign) {
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
      return {text.data() + i, "brackets nest deeper than " + std::to_string(limit) + " levels"};
  }
  return {};
}

LogicalResult ptoas::checkTextFaults(const llvm::SourceMgr &sources, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  TextFault fault = findTextFault(buffer->getBuffer());
  if (!fault.place)
    return success();
  auto [line, column] =
      sources.getLineAndColumn(llvm::SMLoc::getFromPointer(fault.place), sources.getMainFileID());
  return emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line, column))
         << fault.what;
}
