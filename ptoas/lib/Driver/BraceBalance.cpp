//===- BraceBalance.cpp - which `{` nothing closes, which `}` is too many --===//
#include "BraceBalance.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace {
struct Brace {
  size_t offset, indent;
  bool opens, isFirst; // in its line
  bool ofFunction;
};

struct Line {
  size_t
      indent; // blanks in front of the first sign that is no comment; of the line that it goes on
  size_t codeEnd;    // behind the last such sign of the lines up to this one
  size_t firstBrace; // index of the first brace at or behind the line
  bool startsFunction;
  bool ofFunction; // that line, or one that it goes on
};

struct Scan {
  std::vector<Brace> braces;
  std::vector<Line> lines; // those that have more than comments
};
} // namespace

size_t ptoas::skipQuiet(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

static Scan scan(StringRef text) {
  Scan found;
  size_t lineStart = 0, codeEnd = 0, brackets = 0;
  bool isFresh = true; // nothing of this line yet
  bool inFunctionLine = false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      lineStart = ++at;
      isFresh = true;
      continue;
    }
    if (llvm::isSpace(text[at]) || text.substr(at).starts_with("//")) {
      at = std::max(at + 1, ptoas::skipQuiet(text, at));
      continue;
    }
    if (isFresh) {
      StringRef rest = text.substr(at);
      bool function = rest.consume_front("func.func") && (rest.empty() || !llvm::isAlnum(rest[0]));
      bool goesOn = !found.lines.empty() && (brackets || rest.starts_with("attributes"));
      if (goesOn)
        found.lines.push_back(
            {found.lines.back().indent, codeEnd, found.braces.size(), false, inFunctionLine});
      else
        found.lines.push_back({at - lineStart, codeEnd, found.braces.size(), function, function});
      inFunctionLine = found.lines.back().ofFunction;
    }
    if (text[at] == '{' || text[at] == '}') {
      const Line &line = found.lines.back();
      found.braces.push_back({at, line.indent, text[at] == '{', isFresh, line.ofFunction});
      brackets = 0;
    }
    brackets += text[at] == '(' || text[at] == '[';
    brackets -= brackets && (text[at] == ')' || text[at] == ']');
    isFresh = false;
    at = std::max(at + 1, ptoas::skipQuiet(text, at));
    codeEnd = at;
  }
  found.lines.push_back({0, codeEnd, found.braces.size(), false, false});
  return found;
}

static bool isBalanced(const Scan &found) {
  int64_t open = 0, last = 0;
  bool inFunction = false;
  size_t next = 0;
  for (const Line &line : found.lines) {
    for (; next < line.firstBrace; ++next)
      open += found.braces[next].opens ? 1 : -1;
    if (line.startsFunction) {
      if (inFunction && open != last)
        return false;
      inFunction = true;
      last = open;
    }
  }
  return open == 0;
}

std::vector<ptoas::LooseBrace> ptoas::findLooseBraces(StringRef text) {
  Scan found = scan(text);
  std::vector<LooseBrace> loose;
  if (isBalanced(found))
    return loose;
  std::vector<Brace> open;
  auto giveUp = [&] {
    // The body ends in front of the next line that is not further in than the one that opens it.
    const Brace &brace = open.back();
    auto line = llvm::upper_bound(found.lines, brace.offset, [](size_t offset, const Line &line) {
      return offset < line.codeEnd;
    });
    while (line != found.lines.end() - 1 && line->indent > brace.indent)
      ++line;
    loose.push_back({brace.offset, true, line->codeEnd});
    open.pop_back();
  };
  size_t next = 0;
  for (const Line &line : found.lines) {
    for (; next < line.firstBrace; ++next) {
      const Brace &brace = found.braces[next];
      if (brace.opens) {
        open.push_back(brace);
        continue;
      }
      if (brace.isFirst)
        while (!open.empty() && open.back().indent > brace.indent)
          giveUp();
      if (open.empty() || (brace.isFirst && open.back().indent < brace.indent))
        loose.push_back({brace.offset, false});
      else
        open.pop_back();
    }
    // Functions do not stand in functions.
    if (line.startsFunction)
      while (llvm::any_of(open, [](const Brace &brace) { return brace.ofFunction; }))
        giveUp();
  }
  while (!open.empty())
    giveUp();
  llvm::sort(loose, [](auto &a, auto &b) { return a.offset < b.offset; });
  return loose;
}

std::string ptoas::balanceBraces(StringRef text, const std::vector<LooseBrace> &loose) {
  std::string balanced = text.str();
  std::vector<size_t> inserted;
  for (const LooseBrace &brace : loose)
    if (brace.opens)
      inserted.push_back(brace.closeAt);
    else
      balanced[brace.offset] = ' ';
  llvm::sort(inserted, std::greater<>());
  for (size_t at : inserted)
    balanced.insert(at, 1, '}');
  return balanced;
}
