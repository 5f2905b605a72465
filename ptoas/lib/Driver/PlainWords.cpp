//===- PlainWords.cpp - MLIR's messages in the words of a `.pto` file ------===//
//
// Parser and verifier of MLIR speak of SSA values, regions and constraints. Who writes `.pto` text
// by hand or with a program of their own need not know these words, so each message that a damaged
// text can cause has a row here. Rows are tried in order; the first that fits is taken.
//
//===----------------------------------------------------------------------===//
#include "PlainWords.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace {
struct Row {
  llvm::StringLiteral pattern; // of the whole message, behind `'x' op ` if it starts so
  llvm::StringLiteral plain;   // \1… are groups of the pattern, \w is the word at the place
};
} // namespace

static constexpr llvm::StringLiteral kFileEnd = "the end of the file";

static constexpr Row kRows[] = {
    // Values and names.
    {"use of undeclared SSA value name", "no value \\w is defined up to here"},
    {"operand #([0-9]+) does not dominate this use",
     "operand \\1 (counted from 0) is not defined here: its definition stands behind this "
     "operation, or inside a loop or branch that has ended"},
    {"use of value '([^']*)' expects different type than prior uses: '(.*)' vs '(.*)'",
     "'\\1' has the type '\\3', but is used as '\\2'"},
    {"definition of SSA value '([^'#]*)(#0)?' has type '(.*)'",
     "'\\1' has the type '\\3', but an operation above uses it with another type"},
    {"redefinition of SSA value '(.*)'", "'\\1' is defined twice"},
    {"region entry argument '(.*)' is already in use", "'\\1' already names another value"},
    {"redefinition of symbol named '(.*)'", "the name '@\\1' is defined twice"},
    {"redefinition of type alias id '(.*)'", "the alias '!\\1' is defined twice"},
    {"redefinition of attribute alias id '(.*)'", "the alias '#\\1' is defined twice"},
    {"redefinition of block '(.*)'", "the block '\\1' is defined twice"},
    {"undefined symbol alias id '(.*)'", "the alias '\\1' is not defined"},
    {"reference to an undefined block", "the block \\w is not defined"},
    {"cannot name an operation with no results",
     "this operation gives no value, so nothing can stand in front of '='"},
    {"operation defines ([0-9]+) results but was provided ([0-9]+) to bind",
     "this operation gives \\1 value(s), but \\2 are named; one name for all is written %x:\\1"},
    {"invalid SSA value result number", "the operation of this value gives fewer results"},
    {"reference to invalid result number", "the operation of this value gives fewer results"},
    {"using value defined outside the region",
     "uses a value of the text around this function; pass it as an argument"},
    // Operations and what they consist of.
    {"expected operation name in quotes", "expected an operation, such as pto.tadd, got \\w"},
    {"block with no terminator, has [^\"]*\"([^\"]*)\".*",
     "a body must end with return, scf.yield or a branch; this one ends with '\\1'"},
    {"(expected non-empty function body|empty block: expect at least a terminator)",
     "a body must not be empty: it ends at least with return, scf.yield or a branch"},
    {"must have an else block if defining values", "gives values, so it needs an else as well"},
    {"([0-9]+)-th region iter_arg and [0-9]+-th yielded value have different type: '(.*)' != "
     "'(.*)'",
     "value \\1 (counted from 0) of the loop is '\\2', but scf.yield passes '\\3' on"},
    {"operand type ('.*') and result type ('.*') are cast incompatible",
     "cannot make \\2 from \\1"},
    {"result type mismatch at index ([0-9]+)",
     "result \\1 (counted from 0) has another type than the function declares"},
    {"expects the '(.*)' region to terminate with '(.*)'", "the '\\1' body must end with '\\2'"},
    {"region #[0-9]+ \\('(.*)'\\) failed to verify constraint: region with 1 blocks",
     "the body '\\1' must be one block, which begins without a label"},
    {"region #[0-9]+ (\\('(.*)'\\) )?failed to verify constraint: (.*)", "the body must be a \\3"},
    {"expects parent op '(.*)'", "must stand directly in '\\1'"},
    {"expects parent op to be one of '(.*)'", "must stand directly in one of '\\1'"},
    {"along control flow edge from (Operation )?([^ ]*) to [^:]*: (region branch point|parent "
     "operands|"
     ".*) has ([0-9]+) operands, but region successor needs ([0-9]+) inputs",
     "\\2 passes \\4 value(s) on where \\5 are needed"},
    {"along control flow edge from (Operation )?([^ ]*) to [^:]*: .*type #([0-9]+) '(.*)' should "
     "match .*"
     "type #[0-9]+ '(.*)'",
     "\\2 passes '\\4' on as value \\3 (counted from 0) where '\\5' is needed"},
    {"symbol's parent must have the SymbolTable trait", "must stand directly in a module"},
    {"must be the last operation in the parent block", "must be the last operation of its body"},
    {"expected '\\{' to begin a region", "expected '{' and a body"},
    {"expected '(.*)' to end region list", "expected '\\1' behind the bodies"},
    {"expected '=' after SSA name", "expected '=' behind the name of a value"},
    {"expected SSA (identifier|operand)", "expected a value, such as %x, got \\w"},
    {"expected valid ssa identifier", "expected a value, such as %x, got \\w"},
    {"expected ':' and type for SSA operand", "expected ':' and the type of the value"},
    {"expected valid keyword( or string)?", "expected a word, got \\w"},
    {"expected non-function type", "expected a type, got \\w"},
    {"expected '(.*)' in attribute dictionary", "expected '\\1' behind the attributes"},
    {"expected attribute value", "expected the value of an attribute, got \\w"},
    {"expected valid '@'-identifier for symbol name",
     "expected the name of a function, such as @kernel"},
    {"number of operands and types do not match: got ([0-9]+) operands and ([0-9]+) types",
     "lists \\1 value(s), but \\2 type(s)"},
    {"unbalanced '<' character in pretty dialect name",
     "expected '>', nothing closes the '<' that opens here"},
    {"unbalanced '(.*)' character in pretty dialect name",
     "nothing closes the '\\1' that opens here"},
    {"invalid block name in region with named arguments",
     "the first body of a function with named arguments begins without a label"},
    {"symbol declaration cannot have public visibility",
     "has no body; what is only declared is written func.func private"},
    {"'(.*)' does not reference a valid function",
     "calls '@\\1', which the module does not define"},
    // Types and attributes.
    {"(operand|result) #([0-9]+) must be (variadic of )?signless-fixed-width-integer-like, but got "
     "(.*)",
     "\\1 \\2 (counted from 0) must be an integer, such as i32, but is \\4"},
    {"(operand|result) #([0-9]+) must be (variadic of )?signless-integer-like, but got (.*)",
     "\\1 \\2 (counted from 0) must be an integer or index, but is \\4"},
    {"(operand|result) #([0-9]+) must be (variadic of )?floating-point-like, but got (.*)",
     "\\1 \\2 (counted from 0) must be a float, such as f32, but is \\4"},
    {"(operand|result) #([0-9]+) must be (variadic of )?([0-9]+)-bit signless integer, but got "
     "(.*)",
     "\\1 \\2 (counted from 0) must be i\\4, but is \\5"},
    {"(operand|result) #([0-9]+) must be (variadic of )?(.*), but got ('[^']*')",
     "\\1 \\2 (counted from 0) must be \\4, but is \\5"},
    {"('[^']*') must be signless-fixed-width-integer-like, but got (.*)",
     "\\1 must be an integer, such as i32, but is \\2"},
    {"('[^']*') must be signless-integer-like, but got (.*)",
     "\\1 must be an integer or index, but is \\2"},
    {"('[^']*') must be floating-point-like, but got (.*)",
     "\\1 must be a float, such as f32, but is \\2"},
    {"failed to verify that all of \\{(.*)\\} have same (.*)", "\\1 must have the same \\2"},
    {"failed to verify that (.*)", "breaks the rule: \\1"},
    {"failed to verify '(.*)': (.*)", "the parameter '\\1' of this type is not of the right kind"},
    {"attribute '(.*)' failed to satisfy constraint: (.*)",
     "attribute '\\1' is of the wrong kind, expected: \\2"},
    {"operand count \\(([0-9]+)\\) does not match with the total size \\(([0-9]+)\\) specified in "
     "attribute '(.*)'",
     "has \\1 operand(s), but \\3 adds up to \\2"},
    {"operand type mismatch: expected operand type '(.*)', but provided '(.*)' for operand number "
     "(.*)",
     "operand \\3 (counted from 0) must be '\\1', as the function declares, but is '\\2'"},
    {"incorrect number of operands for callee",
     "passes another number of operands than the function declares"},
    {"type of return operand ([0-9]+) \\('(.*)'\\) doesn't match function result type \\('(.*)'\\) "
     "in "
     "function (.*)",
     "returns '\\2' as result \\1 (counted from 0), but function \\4 declares '\\3'"},
    {"can only contain attributes with dialect-prefixed names, found: '(.*)'",
     "does not know the attribute '\\1'; a name for other tools has a dot in it"},
    {"failed to parse .* parameter '(.*)' which is to be a .*",
     "the parameter '\\1' of this type is missing or not of the right kind"},
    {"unknown attribute `(.*)` in dialect `(.*)`", "no attribute is called '#\\2.\\1'"},
    {"unknown  ?type `(.*)` in dialect `(.*)`", "no type is called '!\\2.\\1'"},
    {"invalid properties .* for op ([^ :]*): (.*)", "'\\1' op the part <{…}> is wrong: \\2"},
    {"invalid kind of attribute specified", "the attribute \\w is not of the kind expected here"},
    {"invalid kind of type specified: expected builtin\\.(.*), but found '(.*)'",
     "expected a type of the kind '\\1', got '\\2'"},
    {"requires attribute '(.*)_'", "requires attribute '\\1'"}, // a word of C++: auto
    {"invalid predicate attribute specification: \"(.*)\"", "unknown predicate '\\1'"},
    {"expected string or keyword containing one of the following enum values for attribute '(.*)' "
     "\\[(.*)\\]",
     "unknown \\1 \\w, expected \\2"},
    {"attribute names with a '.' are reserved for dialect-defined names",
     "an alias must not have a dot in its name"},
    {"type names with a '.' are reserved for dialect-defined names",
     "an alias must not have a dot in its name"},
    {"unexpected decimal integer literal for a floating point value",
     "a float needs a dot, as in 1.0"},
    {"floating point value not valid for specified type",
     "a number with a dot needs a float type, such as f32"},
    {"integer constant out of range for attribute", "the number \\w does not fit its type"},
    {"integer return type must be signless",
     "the type of a constant is an integer without a sign, such as i32, a float or index"},
    {"integer value too large", "the number \\w does not fit 64 bits"},
    {"invalid dimension", "the dimension \\w does not fit 64 bits"},
    {"expected static shape", "'?' cannot stand here: the extents must be numbers"},
    {"expected integer value", "expected an integer, got \\w"},
    {"expected (operand|attribute name|block name|integer literal)", "expected the \\1, got \\w"},
    {"expected three consecutive dots for an ellipsis", "unexpected '.'"},
    {"invalid SSA name", "expected the name of a value behind '%'"},
    {"@ identifier expected to start with letter or '_'",
     "a name behind '@' begins with a letter or '_', or stands in quotes"},
    {"operation location alias was never defined", "the alias of this place is not defined"},
    {"invalid type identifier", "expected the name of a type behind '!'"},
    {"expected location instance", "expected a place, such as loc(\"file.py\":3:5)"},
    // Notes.
    {"see existing symbol definition here", "the first one"},
    {"previously (defined|declared|referenced|used) here(.*)", "\\1 here\\2"},
    {"prior use here", "defined or first used here"},
    {"operand defined here.*", "the definition"},
    {"required by region isolation constraints", "of this function"},
    {"Available dialects: .*", ""},
    {"see current operation: .*", ""},
    {"region branch point", ""},
};

// "no operation is called 'pto.tad' here; did you mean 'pto.tadd'?"
static std::string unknownOp(StringRef name, MLIRContext &context) {
  std::string text = "no operation is called '" + name.str() + "' here; ";
  // `return` and the like need their dialect's name, except directly in a function.
  std::string best;
  unsigned distance = std::max<unsigned>(2, name.size() / 5) + 1; // one more than is taken
  for (RegisteredOperationName known : context.getRegisteredOperations()) {
    StringRef full = known.getStringRef();
    auto [dialect, word] = full.split('.');
    if (word == name)
      return text + "write '" + full.str() + "'";
    unsigned found = name.contains('.') ? full.edit_distance(name, true, distance) : distance;
    if (found < distance) {
      distance = found;
      best = full.str();
    }
  }
  if (!best.empty())
    return text + "did you mean '" + best + "'?";
  return text + "operations are those of pto, func, scf, arith, cf and memref";
}

static std::string fill(StringRef plain, ArrayRef<StringRef> groups, StringRef word) {
  std::string text;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] != '\\') {
      text += plain[i];
      continue;
    }
    char what = plain[++i];
    text += what == 'w' ? word : groups[what - '0'];
  }
  return text;
}

std::string ptoas::plainWords(StringRef message, StringRef word, MLIRContext &context) {
  using Pattern = std::pair<llvm::Regex, StringRef>;
  static const std::vector<Pattern> rows = [] {
    std::vector<Pattern> made;
    for (const Row &row : kRows)
      made.emplace_back(llvm::Regex(("^" + row.pattern + "$").str()), row.plain);
    return made;
  }();
  SmallVector<StringRef> groups;
  static const llvm::Regex noDialect("^Dialect `[^']*' not found for custom op '([^']*)'");
  static const llvm::Regex noOp("^custom op '([^']*)' is unknown");
  static const llvm::Regex noSuchOp("^unregistered operation '([^']*)' found in dialect");
  for (const llvm::Regex *pattern : {&noDialect, &noOp, &noSuchOp})
    if (pattern->match(message, &groups))
      return unknownOp(groups[1], context);

  // What is behind the name of the op; the parser writes it in front of what ops say themselves.
  std::string head;
  static const llvm::Regex custom("^custom op ('[^']*') "), named("^('[^']*') op ");
  if (custom.match(message, &groups) || named.match(message, &groups)) {
    head = (groups[1] + " op ").str();
    message = message.drop_front(groups[0].size());
    if (message.starts_with(head))
      message = message.drop_front(head.size());
  }
  std::string shown = word.empty()       ? "this"
                      : word == kFileEnd ? word.str()
                                         : "'" + word.str() + "'";
  for (auto &[pattern, plain] : rows) {
    if (!pattern.match(message, &groups))
      continue;
    // Such a message names the op itself.
    if (plain.starts_with("'\\1' op "))
      head.clear();
    return head + fill(plain, groups, shown);
  }
  // Without a row at least the word goes that stands for nothing in the text.
  std::string rest = message.str();
  for (StringRef jargon : {"SSA value name", "SSA value", "SSA name", "SSA operand"})
    for (size_t at; (at = rest.find(jargon)) != std::string::npos;)
      rest.replace(at, jargon.size(), "value");
  return head + rest;
}

// The name, number or sign that stands at or behind `offset`. What is missing at the start of a
// line is reported at the end of the one before.
static StringRef wordAt(StringRef text, size_t offset) {
  StringRef rest = text.substr(offset).ltrim();
  while (rest.starts_with("//"))
    rest = rest.drop_until([](char sign) { return sign == '\n'; }).ltrim();
  auto isPart = [](char sign) { return llvm::isAlnum(sign) || StringRef("_.$-").contains(sign); };
  if (rest.empty())
    return kFileEnd;
  size_t size = StringRef("%!#@^").contains(rest.front()) ? 1 : 0;
  size += rest.drop_front(size).take_while(isPart).size();
  return rest.take_front(std::clamp<size_t>(size, 1, 60));
}

static std::string wordAt(Location location, llvm::SourceMgr &sources) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place || place.getFilename().getValue() != buffer->getBufferIdentifier())
    return {};
  llvm::SMLoc at =
      sources.FindLocForLineAndColumn(sources.getMainFileID(), place.getLine(), place.getColumn());
  if (!at.isValid())
    return {};
  return wordAt(buffer->getBuffer(), at.getPointer() - buffer->getBufferStart()).str();
}

// MLIR complains of a number when it has read it, and of its type, at whatever follows: for a
// constant that is the next line.
static Location placeOf(Diagnostic &diagnostic, llvm::SourceMgr &sources) {
  Location location = diagnostic.getLocation();
  auto place = dyn_cast<FileLineColLoc>(location);
  if (!place || diagnostic.str() != "floating point value not valid for specified type")
    return location;
  unsigned file = sources.getMainFileID();
  llvm::SMLoc at = sources.FindLocForLineAndColumn(file, place.getLine(), place.getColumn());
  if (!at.isValid())
    return location;
  const char *start = sources.getMemoryBuffer(file)->getBufferStart();
  StringRef before = StringRef(start, at.getPointer() - start).rtrim();
  auto isPart = [](char sign) { return llvm::isAlnum(sign) || sign == '_' || sign == '.'; };
  while (!before.empty() && isPart(before.back()))
    before = before.drop_back();
  auto [line, column] = sources.getLineAndColumn(llvm::SMLoc::getFromPointer(before.end()), file);
  return FileLineColLoc::get(place.getFilename(), line, column);
}

ptoas::PlainWords::PlainWords(MLIRContext &context, llvm::SourceMgr &sources)
    : ScopedDiagnosticHandler(&context) {
  setHandler([&](Diagnostic &diagnostic) {
    auto plain = [&](Diagnostic &one) {
      return plainWords(one.str(), wordAt(one.getLocation(), sources), context);
    };
    Diagnostic changed(placeOf(diagnostic, sources), diagnostic.getSeverity());
    changed << plain(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      if (std::string text = plain(note); !text.empty())
        changed.attachNote(note.getLocation()) << text;
    diagnostic = std::move(changed);
    return failure(); // the next handler shows it
  });
}
