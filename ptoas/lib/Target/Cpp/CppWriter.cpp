//===- CppWriter.cpp - lines of C++ in LLVM style -------------------------===//
#include "CppWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"

using llvm::SmallString;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace ptoas::cpp {

namespace {
struct Bracket {
  size_t inside; // first character behind it
  size_t column; // where that character stands
};
struct Break {
  size_t at;        // first character of the next line
  unsigned bracket; // innermost one around it
  unsigned depth;
};
struct Scan {
  SmallVector<Bracket> brackets;
  SmallVector<Break> breaks;
};
} // namespace

// Brackets, and the places where a line may be broken: behind commas outside of strings. `<` opens
// a template list when no blank stands in front of it; comparisons and shifts have one.
static Scan scan(StringRef text) {
  Scan found;
  SmallVector<unsigned> open;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], before = i ? text[i - 1] : ' ';
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
    } else if (c == '(' || c == '{' || (c == '<' && before != ' ' && before != '<')) {
      open.push_back(found.brackets.size());
      found.brackets.push_back({i + 1, 0});
    } else if (c == ')' || c == '}' || (c == '>' && before != ' ' && before != '-')) {
      if (!open.empty())
        open.pop_back();
    } else if (c == ',' && !open.empty() && i + 1 < text.size() && text[i + 1] == ' ') {
      found.breaks.push_back({i + 2, open.back(), unsigned(open.size())});
    }
  }
  return found;
}

// Breaks at the shallowest comma that fits, the last of its depth, again and again.
static void breakLine(StringRef text, size_t column, std::string &out) {
  Scan found = scan(text);
  size_t start = 0, nextBreak = 0, nextBracket = 0;
  while (column + text.size() - start > CppWriter::kColumns) {
    const Break *best = nullptr;
    for (size_t i = nextBreak; i < found.breaks.size(); ++i) {
      const Break &candidate = found.breaks[i];
      // The blank behind the comma does not count.
      if (column + candidate.at - start > CppWriter::kColumns + 1)
        break;
      if (!best || candidate.depth <= best->depth)
        best = &candidate;
    }
    if (!best)
      break;
    for (; nextBracket < found.brackets.size() && found.brackets[nextBracket].inside <= best->at;
         ++nextBracket)
      found.brackets[nextBracket].column = column + found.brackets[nextBracket].inside - start;
    out += text.slice(start, best->at - 1);
    out += '\n';
    start = best->at;
    nextBreak = best - found.breaks.begin() + 1;
    column = found.brackets[best->bracket].column;
    out.append(column, ' ');
  }
  out += text.drop_front(start);
}

void CppWriter::line(const Twine &twine) {
  SmallString<160> storage;
  StringRef text = twine.toStringRef(storage);
  if (!comment_.empty() && !text.starts_with("}"))
    line(std::exchange(comment_, ""));
  ++lines_;
  text_.append(indent_, ' ');
  if (indent_ + text.size() <= kColumns || text.starts_with("//")) {
    text_ += text;
  } else {
    std::string broken;
    breakLine(text, indent_, broken);
    // An alias goes below its name when that takes no more lines.
    if (size_t equals = text.find(" = "); text.starts_with("using ") && equals != StringRef::npos) {
      std::string below = (text.take_front(equals + 2) + "\n").str();
      below.append(indent_ + 4, ' ');
      breakLine(text.drop_front(equals + 3), indent_ + 4, below);
      if (llvm::count(below, '\n') <= llvm::count(broken, '\n'))
        broken = std::move(below);
    }
    text_ += broken;
  }
  text_ += '\n';
}

void CppWriter::label(const Twine &name) {
  ++lines_;
  text_.append(indent_ < 2 ? 0 : indent_ - 2, ' ');
  text_ += name.str();
  text_ += ":\n";
}

void CppWriter::open(const Twine &head) {
  line(head + " {");
  indent();
}

void CppWriter::close(StringRef tail) {
  outdent();
  line(tail.empty() ? Twine("}") : "} " + tail);
}

void CppWriter::reopen(StringRef middle) {
  outdent();
  line("} " + middle + " {");
  indent();
}

} // namespace ptoas::cpp
