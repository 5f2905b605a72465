//===- TextRanges.cpp - how far what is wrong at a place reaches -----------===//
#include "TextRanges.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace ptoas;
using llvm::StringRef;

TextRanges::TextRanges(StringRef text) : text_(text) {
  lines_.push_back(0);
  for (size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n')
      lines_.push_back(at + 1);
}

static bool isWord(char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); }

static size_t behindString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// Behind the token that starts at `at`; at the end of a line there is none.
static size_t behindToken(StringRef text, size_t at) {
  if (at >= text.size() || text[at] == '\n' || text[at] == '\r')
    return at;
  if (text[at] == '"')
    return behindString(text, at);
  size_t end = at + 1;
  if (isWord(text[at]) || StringRef("%!#@^").contains(text[at]))
    while (end < text.size() && isWord(text[end]))
      ++end;
  return end;
}

// Whether a line goes on with what the line in front of it began.
static bool continues(StringRef text, size_t line) {
  StringRef rest = text.drop_front(line).ltrim(" \t\r\n");
  return llvm::any_of(std::initializer_list<StringRef>{"(", ":", "->", "ins(", "outs("},
                      [&](StringRef start) { return rest.starts_with(start); });
}

// Behind the op whose name starts at `at`: its end, or the body that opens.
static size_t behindOp(StringRef text, size_t at) {
  size_t end = at;
  unsigned depth = 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '"') {
      at = end = behindString(text, at);
      continue;
    }
    if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\n' && !depth && !continues(text, at))
      break;
    if (StringRef("([{").contains(c)) {
      StringRef behind = text.drop_front(at + 1).ltrim(" \t\r");
      if (c == '{' && !depth && (behind.starts_with("\n") || behind.starts_with("//")))
        break; // a body
      ++depth;
    } else if (StringRef(")]}").contains(c)) {
      if (!depth)
        break; // what stands around the op
      --depth;
    }
    ++at;
    if (!llvm::isSpace(c))
      end = at;
  }
  return end;
}

llvm::json::Object TextRanges::position(size_t offset) const {
  size_t line = llvm::upper_bound(lines_, offset) - lines_.begin() - 1;
  // The protocol counts in units of UTF-16.
  StringRef before = text_.slice(lines_[line], offset);
  llvm::SmallVector<llvm::UTF16> units;
  bool wide = llvm::convertUTF8ToUTF16String(before, units);
  return llvm::json::Object{{"line", int64_t(line)},
                            {"character", int64_t(wide ? units.size() : before.size())}};
}

// Where the word in front of `at` starts, if the message quotes it.
static std::optional<size_t> quotedBefore(StringRef text, size_t at, StringRef message) {
  StringRef line = text.take_front(at).rsplit('\n').second;
  StringRef before = line.rtrim(" ");
  size_t length = before.size() -
                  before.find_last_not_of("abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.-") -
                  1;
  StringRef word = before.take_back(length);
  if (word.empty() || !message.contains(("'" + word + "'").str()))
    return std::nullopt;
  size_t start = at - (line.size() - before.size()) - length;
  return start && StringRef("%!#@^").contains(text[start - 1]) ? start - 1 : start;
}

llvm::json::Object TextRanges::at(unsigned line, unsigned column, StringRef message) const {
  size_t start = 0, end = 0;
  if (line && line <= lines_.size()) {
    size_t limit = line < lines_.size() ? lines_[line] - 1 : text_.size();
    start = std::min(lines_[line - 1] + std::max(column, 1u) - 1, limit);
    if (start < text_.size() && !isWord(text_[start]))
      start = quotedBefore(text_, start, message).value_or(start);
    end = behindToken(text_, start);
    StringRef token = text_.slice(start, end);
    // Names of ops have a dot; numbers and what other tokens hold do not count.
    if (!token.empty() && llvm::isAlpha(token[0]) && token.contains('.'))
      end = std::max(end, behindOp(text_, start));
  }
  return llvm::json::Object{{"start", position(start)}, {"end", position(end)}};
}
