//===- BytecodeReader.cpp - .ptobc to modules ------------------------------===//
//
// Nothing of a file is trusted: every number is compared with what is left or known, and
// what a count announces is only made when its bytes are there.
//
//===----------------------------------------------------------------------===//
#include "BytecodeFormat.h"
#include "TextFaults.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "ptoas/Driver/Bytecode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LEB128.h"

using namespace mlir;
using namespace ptoas::bytecode;

namespace {
class Reader {
public:
  Reader(StringRef name, MLIRContext &context)
      : context_(context), where_(FileLineColLoc::get(&context, name, 1, 1)) {}

  OwningOpRef<ModuleOp> read(StringRef file);

private:
  /// A cursor over some bytes of the file.
  struct Cursor {
    const uint8_t *at = nullptr, *end = nullptr;
    size_t left() const { return end - at; }
  };

  LogicalResult fail(const Twine &what) {
    if (!reported_)
      emitError(where_) << "bytecode: " << what;
    reported_ = true;
    return failure();
  }
  std::nullptr_t stop(const Twine &what) {
    (void)fail(what);
    return nullptr;
  }
  LogicalResult number(Cursor &from, uint64_t &value) {
    unsigned size = 0;
    const char *problem = nullptr;
    value = llvm::decodeULEB128(from.at, &size, from.end, &problem);
    if (problem)
      return fail("the file ends inside a number or holds one of more than 64 bits");
    from.at += size;
    return success();
  }
  // The number of things of at least one byte each that follow.
  LogicalResult count(Cursor &from, uint64_t &value, StringRef what) {
    if (failed(number(from, value)))
      return failure();
    if (value > from.left())
      return fail(Twine(value) + " " + what + " do not fit into the rest of the file");
    return success();
  }
  LogicalResult index(Cursor &from, uint64_t &value, size_t size, StringRef what) {
    if (failed(number(from, value)))
      return failure();
    if (value >= size)
      return fail(what + " " + Twine(value) + " does not exist, there are " + Twine(size));
    return success();
  }

  LogicalResult texts(Cursor from, std::vector<StringRef> &into);
  template <typename T, typename ParseFn>
  LogicalResult parseAll(ArrayRef<StringRef> texts, StringRef what, SmallVectorImpl<T> &into,
                         ParseFn parse);
  LogicalResult values(Cursor &from);
  LogicalResult define(uint64_t number, Value value);
  Operation *readOp(ArrayRef<Block *> siblings, unsigned depth);
  LogicalResult readRegion(Region &region, unsigned depth);
  LogicalResult readLocation(Location &loc);

  MLIRContext &context_;
  Location where_;
  bool reported_ = false;
  std::vector<StringRef> strings_;
  SmallVector<Type> types_;
  SmallVector<Attribute> attrs_;
  Cursor body_, places_;
  bool hasPlaces_ = false;
  llvm::DenseMap<uint64_t, Location> locations_;
  SmallVector<Type> valueTypes_;
  /// Null until the value is defined; uses before that take a stand-in, which goes at the end.
  std::vector<Value> values_;
  std::vector<OwningOpRef<UnrealizedConversionCastOp>> standIns_;
};
} // namespace

LogicalResult Reader::texts(Cursor from, std::vector<StringRef> &into) {
  uint64_t total = 0;
  if (failed(count(from, total, "texts")))
    return failure();
  for (uint64_t i = 0; i < total; ++i) {
    uint64_t size = 0;
    if (failed(count(from, size, "bytes of a text")))
      return failure();
    into.push_back(StringRef(reinterpret_cast<const char *>(from.at), size));
    from.at += size;
  }
  return success();
}

// The text of a type or attribute comes from the file, so it is limited as text files are.
template <typename T, typename ParseFn>
LogicalResult Reader::parseAll(ArrayRef<StringRef> texts, StringRef what, SmallVectorImpl<T> &into,
                               ParseFn parse) {
  for (auto [i, text] : llvm::enumerate(texts)) {
    if (text.contains('\0'))
      return fail(what + " " + Twine(i) + " is no text");
    if (ptoas::TextFault fault = ptoas::findTextFault(text); fault.place)
      return fail(what + " " + Twine(i) + ": " + fault.what);
    std::string problem;
    size_t read = 0;
    T item = [&] {
      ScopedDiagnosticHandler handler(&context_, [&](Diagnostic &diag) {
        if (problem.empty())
          problem = diag.str();
        return success();
      });
      return parse(text, read);
    }();
    if (!item || read != text.size())
      return fail(what + " " + Twine(i) + ": " +
                  (problem.empty() ? Twine("there is text behind it") : Twine(problem)));
    into.push_back(item);
  }
  return success();
}

LogicalResult Reader::values(Cursor &from) {
  uint64_t total = 0;
  if (failed(count(from, total, "values")))
    return failure();
  for (uint64_t i = 0; i < total; ++i) {
    uint64_t type = 0;
    if (failed(index(from, type, types_.size(), "type")))
      return failure();
    valueTypes_.push_back(types_[type]);
  }
  values_.resize(total);
  standIns_.resize(total);
  return success();
}

LogicalResult Reader::define(uint64_t number, Value value) {
  if (values_[number])
    return fail("value " + Twine(number) + " is defined twice");
  values_[number] = value;
  return success();
}

LogicalResult Reader::readLocation(Location &loc) {
  if (!hasPlaces_)
    return success();
  uint64_t place = 0;
  if (failed(index(places_, place, strings_.size() + 1, "location")))
    return failure();
  if (place == 0)
    return success();
  auto known = locations_.find(place);
  if (known == locations_.end()) {
    SmallVector<Attribute, 1> parsed;
    if (failed(parseAll(strings_[place - 1], "location", parsed, [&](StringRef text, size_t &read) {
          return parseAttribute(text, &context_, Type(), &read);
        })))
      return failure();
    auto location = dyn_cast<LocationAttr>(parsed.front());
    if (!location)
      return fail("location " + Twine(place - 1) + " is another attribute");
    known = locations_.try_emplace(place, Location(location)).first;
  }
  loc = known->second;
  return success();
}

LogicalResult Reader::readRegion(Region &region, unsigned depth) {
  uint64_t blocks = 0, ops = 0;
  if (failed(count(body_, blocks, "blocks")))
    return failure();
  SmallVector<Block *> made;
  SmallVector<uint64_t> sizes;
  for (uint64_t i = 0; i < blocks; ++i) {
    Block *block = made.emplace_back(new Block);
    region.push_back(block);
    uint64_t arguments = 0, value = 0;
    if (failed(count(body_, arguments, "arguments")))
      return failure();
    for (uint64_t j = 0; j < arguments; ++j)
      if (failed(index(body_, value, values_.size(), "value")) ||
          failed(define(value, block->addArgument(valueTypes_[value], where_))))
        return failure();
    for (BlockArgument argument : block->getArguments()) {
      Location loc = UnknownLoc::get(&context_);
      if (failed(readLocation(loc)))
        return failure();
      argument.setLoc(loc);
    }
    if (failed(count(body_, ops, "ops")))
      return failure();
    sizes.push_back(ops);
  }
  for (auto [block, size] : llvm::zip(made, sizes))
    for (uint64_t i = 0; i < size; ++i) {
      Operation *op = readOp(made, depth);
      if (!op)
        return failure();
      block->push_back(op);
    }
  return success();
}

Operation *Reader::readOp(ArrayRef<Block *> siblings, unsigned depth) {
  if (depth > ptoas::kMaxNesting)
    return stop("regions nest deeper than " + Twine(ptoas::kMaxNesting) + " levels");
  uint64_t name = 0, attrs = 0, total = 0, value = 0;
  if (failed(index(body_, name, strings_.size(), "string")) ||
      failed(index(body_, attrs, attrs_.size() + 1, "attribute")) ||
      failed(count(body_, total, "operands")))
    return nullptr;
  StringRef opName = strings_[name];
  if (opName.empty() || opName.contains('\0'))
    return stop("string " + Twine(name) + " is no name of an op");
  context_.getOrLoadDialect(opName.split('.').first); // names of dialects not loaded are opaque
  OperationState state(where_, OperationName(opName, &context_));
  if (attrs) {
    auto dictionary = dyn_cast<DictionaryAttr>(attrs_[attrs - 1]);
    if (!dictionary)
      return stop("attribute " + Twine(attrs - 1) + " is no dictionary");
    state.attributes = dictionary;
  }
  for (uint64_t i = 0; i < total; ++i) {
    if (failed(index(body_, value, values_.size(), "value")))
      return nullptr;
    if (!values_[value] && !standIns_[value]) {
      OpBuilder builder(&context_);
      standIns_[value] =
          UnrealizedConversionCastOp::create(builder, where_, valueTypes_[value], ValueRange());
    }
    state.operands.push_back(values_[value] ? values_[value] : standIns_[value]->getResult(0));
  }
  SmallVector<uint64_t> results;
  if (failed(count(body_, total, "results")))
    return nullptr;
  for (uint64_t i = 0; i < total; ++i) {
    if (failed(index(body_, value, values_.size(), "value")))
      return nullptr;
    results.push_back(value);
    state.types.push_back(valueTypes_[value]);
  }
  if (failed(count(body_, total, "successors")))
    return nullptr;
  for (uint64_t i = 0; i < total; ++i) {
    if (failed(index(body_, value, siblings.size(), "block")))
      return nullptr;
    state.successors.push_back(siblings[value]);
  }
  Location loc = UnknownLoc::get(&context_);
  if (failed(readLocation(loc)) || failed(count(body_, total, "regions")))
    return nullptr;
  state.location = loc;
  // The op takes the regions over only when all of it could be read.
  for (uint64_t i = 0; i < total; ++i)
    if (failed(readRegion(*state.addRegion(), depth + 1)))
      return nullptr;
  if (auto registered = state.name.getRegisteredInfo()) {
    NamedAttrList inherent = state.attributes;
    if (failed(registered->verifyInherentAttrs(inherent, [&] { return emitError(loc); }))) {
      reported_ = true;
      return nullptr;
    }
  }
  Operation *op = Operation::create(state);
  for (auto [number, result] : llvm::zip(results, op->getResults()))
    if (failed(define(number, result))) {
      op->dropAllUses();
      op->destroy();
      return nullptr;
    }
  return op;
}

OwningOpRef<ModuleOp> Reader::read(StringRef file) {
  if (file.size() < kHeaderSize)
    return stop("the file ends inside its header");
  auto word = [&](size_t at) {
    return static_cast<uint8_t>(file[at]) | static_cast<uint8_t>(file[at + 1]) << 8;
  };
  if (word(6) != kVersion)
    return stop("version " + Twine(word(6)) + " is not supported, only version " + Twine(kVersion));
  Cursor all{file.bytes_begin() + kHeaderSize, file.bytes_end()};
  Cursor sections[DebugInfo + 1];
  while (all.left()) {
    uint8_t id = *all.at++;
    uint64_t size = 0;
    if (failed(count(all, size, "bytes of a section")))
      return nullptr;
    if (id <= DebugInfo)
      sections[id] = {all.at, all.at + size};
    all.at += size;
  }
  for (Section needed : {Strings, Types, Attrs, Module})
    if (!sections[needed].at)
      return stop("section " + Twine(unsigned(needed)) + " is missing");
  std::vector<StringRef> typeTexts, attrTexts;
  if (failed(texts(sections[Strings], strings_)) || failed(texts(sections[Types], typeTexts)) ||
      failed(texts(sections[Attrs], attrTexts)) ||
      failed(parseAll(
          typeTexts, "type", types_,
          [&](StringRef text, size_t &read) { return parseType(text, &context_, &read); })) ||
      failed(parseAll(attrTexts, "attribute", attrs_, [&](StringRef text, size_t &read) {
        return parseAttribute(text, &context_, Type(), &read);
      })))
    return nullptr;
  body_ = sections[Module];
  places_ = sections[DebugInfo];
  hasPlaces_ = places_.at != nullptr;
  if (failed(values(body_)))
    return nullptr;
  OwningOpRef<Operation *> op(readOp({}, 0));
  if (!op)
    return nullptr;
  for (auto [i, standIn] : llvm::enumerate(standIns_)) {
    if (!standIn)
      continue;
    if (!values_[i])
      return stop("value " + Twine(i) + " is used but nowhere defined");
    standIn->getResult(0).replaceAllUsesWith(values_[i]);
  }
  if (body_.left())
    return stop("there are bytes behind the module");
  auto module = dyn_cast<ModuleOp>(*op);
  if (!module)
    return stop("the outermost op is '" + op.get()->getName().getStringRef() + "', not a module");
  op.release();
  return module;
}

bool ptoas::isBytecode(StringRef bytes) { return bytes.starts_with(kMagic); }

OwningOpRef<ModuleOp> ptoas::readBytecode(StringRef bytes, StringRef name, MLIRContext &context) {
  return Reader(name, context).read(bytes);
}
