//===- TextFaults.cpp - refuse text that the parser would not survive -----===//
#include "TextFaults.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

/// Signs of names and numbers, with those that names of types, attributes and symbols begin with.
static bool isNameSign(char sign) {
  return llvm::isAlnum(sign) || StringRef("_.$!#%@^").contains(sign);
}

namespace {
/// How many signs an alias stands for when those that it uses are written out. A few lines can name
/// a type of more parts than any memory holds, which parser and printer would write out one day.
class AliasSizes {
public:
  /// A word that stands at `at`; false when it makes the alias that is being defined too large.
  bool word(StringRef word, StringRef text, size_t at, size_t depth) {
    bool isAlias = word.size() > 1 && (word[0] == '!' || word[0] == '#') && !word.contains('.');
    if (!isAlias)
      return true;
    StringRef rest = text.substr(at + word.size()).ltrim(" \t");
    if (rest.consume_front("=") && !rest.starts_with("=")) {
      end(at);
      name_ = word;
      begin_ = at;
      depth_ = depth;
      used_ = 0;
      return true;
    }
    if (name_.empty())
      return true;
    used_ += sizes_.lookup(word);
    return used_ <= ptoas::kMaxAlias;
  }
  /// A definition ends with the line on which its brackets are closed.
  void lineEnd(size_t at, size_t depth) {
    if (depth == depth_)
      end(at);
  }
  StringRef name() const { return name_; }
  size_t begin() const { return begin_; }

private:
  void end(size_t at) {
    if (!name_.empty())
      sizes_[name_] = used_ + (at - begin_);
    name_ = {};
  }

  llvm::StringMap<uint64_t> sizes_;
  StringRef name_; // of the alias that is being defined, if any
  size_t begin_ = 0, depth_ = 0;
  uint64_t used_ = 0; // signs of the aliases in it
};
} // namespace

// Minus signs in a row nest as well (affine expressions). Text that is no MLIR at all gets some
// answer, too.
ptoas::TextFault ptoas::findTextFault(StringRef text, unsigned limit) {
  std::string open; // the closing sign of each open bracket
  unsigned minusSigns = 0;
  bool behindArray = false;                         // `array` was the last word
  bool elements = false;                            // `array<` was the last thing
  size_t affine = StringRef::npos, affineDepth = 0; // `affine_map` that is open, brackets around it
  AliasSizes aliases;
  for (size_t i = 0; i < text.size(); ++i) {
    char sign = text[i];
    if (sign == '\n')
      aliases.lineEnd(i, open.size());
    if (sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r')
      continue;
    if (text.substr(i).starts_with("//")) {
      minusSigns = 0;
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    minusSigns = sign == '-' ? minusSigns + 1 : 0;
    if (isNameSign(sign)) {
      StringRef word = text.substr(i).take_while(isNameSign);
      if (elements && (word == "index" || sign == '!')) // an alias may stand for `index`
        return {text.data() + i, "the elements of an array attribute must be integers or floats, "
                                 "as in array<i32: 1, 2>"};
      if (!aliases.word(word, text, i, open.size()))
        return {text.data() + aliases.begin(),
                ("the alias '" + aliases.name() + "' stands for more than " + Twine(kMaxAlias) +
                 " signs")
                    .str()};
      if (word == "affine_map" || word == "affine_set") {
        affine = i;
        affineDepth = open.size();
      }
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
    if (open.size() <= affineDepth)
      affine = StringRef::npos;
    if (affine != StringRef::npos && i - affine > kMaxAffine)
      return {text.data() + affine,
              "an affine map or set of more than " + std::to_string(kMaxAffine) + " signs"};
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
