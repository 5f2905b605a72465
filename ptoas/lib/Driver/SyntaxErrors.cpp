//===- SyntaxErrors.cpp - parsing that goes on behind a syntax error -------===//
//
// MLIR's parser ends at the first error. The function (or alias) that holds it is then overwritten
// with blanks and the rest is parsed again, until nothing is wrong any more: places stay what they
// are in the file, and what depends on the part that was taken out is not complained about.
//
//===----------------------------------------------------------------------===//
#include "SyntaxErrors.h"
#include "BraceBalance.h"
#include "Places.h"
#include "VerifyAll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

// Each costs a pass over the text.
static constexpr unsigned kMaxParts = 20;

namespace {
/// A function with all that stands behind it up to the next one, or an alias; bytes of the text.
struct Part {
  size_t begin, end;
  std::string alias; // `!name` or `#name`
  bool isClosed = true;
};
} // namespace

// Behind the bracket that closes what opens first at or behind `from`; npos if nothing does before
// `limit`.
static size_t closingBrace(StringRef text, size_t from, size_t limit) {
  unsigned depth = 0;
  bool sawBody = false;
  for (size_t at = from; at < limit;) {
    if (size_t behind = ptoas::skipQuiet(text, at); behind != at) {
      at = behind;
      continue;
    }
    depth += text[at] == '{';
    if (text[at] == '}' && depth)
      --depth;
    sawBody |= text[at] == '{';
    ++at;
    // `attributes {…} {…}`: the last one on this level is the body.
    if (sawBody && !depth && text[at - 1] == '}' && !text.slice(at, limit).ltrim().starts_with("{"))
      return at;
  }
  return StringRef::npos;
}

static std::string aliasAt(StringRef line) {
  if (!line.starts_with("!") && !line.starts_with("#"))
    return {};
  StringRef name =
      line.drop_front().take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
  StringRef rest = line.drop_front(1 + name.size()).ltrim(" \t");
  return !name.empty() && rest.starts_with("=") && !rest.starts_with("==")
             ? line.take_front(1 + name.size()).str()
             : std::string();
}

static bool startsFunction(StringRef line) {
  return line.consume_front("func.func") && (line.empty() || !llvm::isAlnum(line.front()));
}

// Functions and aliases, in the order of the text. Both start a line.
static SmallVector<Part> findParts(StringRef text) {
  SmallVector<Part> parts;
  for (size_t line = 0; line < text.size();) {
    size_t next = std::min(text.find('\n', line), text.size() - 1) + 1;
    StringRef words = text.slice(line, next).ltrim(" \t");
    size_t begin = line + (text.slice(line, next).size() - words.size());
    std::string alias = aliasAt(words);
    if (!alias.empty() || startsFunction(words)) {
      if (!parts.empty() && parts.back().end > begin)
        parts.back().end = begin;
      parts.push_back({begin, alias.empty() ? text.size() : next, alias});
    }
    line = next;
  }
  for (Part &part : parts) {
    if (!part.alias.empty())
      continue;
    // A declaration has no body.
    size_t close = closingBrace(text, part.begin, part.end);
    bool hasBody = text.slice(part.begin, part.end).contains('{');
    part.isClosed = !hasBody || close != StringRef::npos;
  }
  // The last function does not reach over the brackets that close the modules around it.
  if (!parts.empty() && parts.back().alias.empty()) {
    Part &last = parts.back();
    size_t close = closingBrace(text, last.begin, last.end);
    if (close != StringRef::npos)
      last.end = close;
    else if (size_t brace = text.rfind('}'); brace != StringRef::npos && brace > last.begin)
      last.end = brace;
  }
  return parts;
}

namespace {
class Recovery {
public:
  Recovery(llvm::SourceMgr &sources, MLIRContext &context, bool names)
      : context(context), names(names), buffer(*sources.getMemoryBuffer(sources.getMainFileID())),
        text(buffer.getBuffer()) {}

  OwningOpRef<ModuleOp> run(llvm::function_ref<void(ModuleOp)> prepare) {
    if (OwningOpRef<ModuleOp> module = parse(text)) {
      report();
      return module;
    }
    std::vector<ptoas::LooseBrace> loose = ptoas::findLooseBraces(text);
    if (!loose.empty()) {
      drop(found.begin()); // it does not say which brace it is
      bool tooMany = loose.size() > kMaxParts;
      if (tooMany)
        loose.resize(kMaxParts);
      balanced = ptoas::balanceBraces(text, loose);
      reportBraces(loose);
      if (tooMany) {
        report();
        return giveUp();
      }
      text = balanced;
    }
    for (size_t at = 0; at < text.size(); ++at)
      if (at == 0 || text[at - 1] == '\n')
        lines.push_back(at);
    parts = findParts(text);
    remaining = text.str();
    takeOut(loose);
    OwningOpRef<ModuleOp> rest;
    unsigned taken = 0;
    if (!loose.empty())
      rest = parse(remaining);
    while (!rest && taken < kMaxParts && takeOut()) {
      ++taken;
      rest = parse(remaining);
    }
    if (rest) {
      prepare(*rest);
      keep([&] { (void)ptoas::verifyOps(*rest); });
    }
    report();
    return !rest && taken == kMaxParts ? giveUp() : nullptr;
  }

private:
  using Place = std::pair<unsigned, unsigned>;

  // Line and column; behind everything for places of other files (`loc("x.py":1:2)`).
  Place placeOf(const Diagnostic &diagnostic) const {
    auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
    return place && place.getFilename().getValue() == buffer.getBufferIdentifier()
               ? Place(place.getLine(), place.getColumn())
               : Place(UINT_MAX, UINT_MAX);
  }

  size_t offsetOf(const Diagnostic &diagnostic) const {
    auto [line, column] = placeOf(diagnostic);
    if (line == 0 || line > lines.size())
      return text.size();
    return std::min<size_t>(lines[line - 1] + std::max(column, 1u) - 1, text.size());
  }

  std::string keyOf(const Diagnostic &diagnostic) const {
    auto [line, column] = placeOf(diagnostic);
    return llvm::utostr(line) + ":" + llvm::utostr(column) + ":" + diagnostic.str();
  }

  // Runs `action` and keeps what it reports, unless that was reported before.
  void keep(llvm::function_ref<void()> action) {
    fresh = found.size();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (seen.insert(keyOf(diagnostic)).second)
        found.push_back(std::move(diagnostic));
    });
    action();
  }

  OwningOpRef<ModuleOp> parse(StringRef source) {
    OwningOpRef<ModuleOp> module;
    keep([&] {
      llvm::SourceMgr copy;
      copy.AddNewSourceBuffer(
          llvm::MemoryBuffer::getMemBuffer(source, buffer.getBufferIdentifier(), false),
          llvm::SMLoc());
      if (names) {
        module = ptoas::parseWithPlaces(copy, context, names);
        return;
      }
      ParserConfig config(&context, /*verifyAfterParse=*/false);
      module = parseSourceFile<ModuleOp>(copy, config);
      if (module && !ptoas::isEverythingPlaced(*module))
        module = ptoas::parseWithPlaces(copy, context);
    });
    return module;
  }

  // In the order of the text; what has the same place in the order in which it was found.
  void report() {
    SmallVector<std::tuple<Place, size_t>> order;
    for (size_t i = 0; i < found.size(); ++i)
      order.push_back({placeOf(found[i]), i});
    llvm::sort(order);
    for (auto [place, i] : order)
      context.getDiagEngine().emit(std::move(found[i]));
    found.clear();
  }

  void drop(std::vector<Diagnostic>::iterator first) {
    for (auto at = first; at != found.end(); ++at)
      seen.erase(keyOf(*at));
    found.erase(first, found.end());
  }

  bool isBlank(const Part &part) const { return remaining[part.begin] == ' '; }

  void blank(const Part &part) {
    for (size_t at = part.begin; at < part.end; ++at)
      if (remaining[at] != '\n')
        remaining[at] = ' ';
  }

  std::nullptr_t giveUp() {
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), 1, 1))
        << "too many syntax errors, the rest of the file was not checked";
    return nullptr;
  }

  void reportBraces(const std::vector<ptoas::LooseBrace> &loose) {
    for (const ptoas::LooseBrace &brace : loose) {
      StringRef before = text.take_front(brace.offset);
      unsigned line = before.count('\n') + 1;
      unsigned column = before.size() - (before.rfind('\n') + 1) + 1;
      auto place = FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line, column);
      keep([&] {
        emitError(place) << (brace.opens ? "expected '}', nothing closes the '{' that opens here"
                                         : "this '}' closes nothing");
      });
    }
  }

  // What is inside such functions may now stand elsewhere than it was meant to.
  void takeOut(const std::vector<ptoas::LooseBrace> &loose) {
    for (const ptoas::LooseBrace &brace : loose) {
      size_t shift = llvm::count_if(loose, [&](const ptoas::LooseBrace &other) {
        return other.opens && other.closeAt <= brace.offset;
      });
      for (const Part &part : parts)
        if (part.begin <= brace.offset + shift && brace.offset + shift < part.end)
          blank(part);
    }
  }

  // Takes the part that holds the newest error out of what remains; false if there is none.
  bool takeOut() {
    auto error = std::find_if(found.begin() + fresh, found.end(), [](const Diagnostic &d) {
      return d.getSeverity() == DiagnosticSeverity::Error;
    });
    if (error == found.end())
      return false;
    size_t at = offsetOf(*error);
    for (const Part &part : parts) {
      if (part.begin > at || isBlank(part))
        continue;
      if (at < part.end) {
        // Who uses an alias that was taken out is not to blame.
        std::string message = error->str();
        if (llvm::any_of(missing, [&](const std::string &alias) {
              return StringRef(message).contains("alias id '" + alias + "'");
            }))
          drop(error);
        if (!part.alias.empty())
          missing.push_back(part.alias.substr(1));
        blank(part);
        return true;
      }
      // A function that nothing closes swallows what follows, and the error stands far behind it.
      if (!part.isClosed) {
        drop(error);
        unsigned line = llvm::upper_bound(lines, part.begin) - lines.begin();
        auto start = FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line,
                                         part.begin - lines[line - 1] + 1);
        keep([&] { emitError(start) << "expected '}' to close the function that starts here"; });
        blank(part);
        return true;
      }
    }
    return false;
  }

  MLIRContext &context;
  bool names;
  const llvm::MemoryBuffer &buffer;
  StringRef text;
  std::string balanced; // what `text` is when braces are missing
  std::string remaining;
  SmallVector<size_t> lines; // where they start
  SmallVector<Part> parts;
  std::vector<Diagnostic> found;
  size_t fresh = 0; // the first one of the last parse
  llvm::StringSet<> seen;
  std::vector<std::string> missing; // aliases without their sign
};
} // namespace

OwningOpRef<ModuleOp> ptoas::parseText(llvm::SourceMgr &sources, MLIRContext &context,
                                       llvm::function_ref<void(ModuleOp)> prepare, bool names) {
  return Recovery(sources, context, names).run(prepare);
}
