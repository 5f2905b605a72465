//===- BytecodeWriter.cpp - modules to .ptobc ------------------------------===//
#include "BytecodeFormat.h"
#include "ptoas/Driver/Bytecode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ptoas::bytecode;

namespace {
/// A table of texts, each stored once.
class Pool {
public:
  uint64_t number(StringRef text) {
    auto [it, isNew] = numbers_.try_emplace(text, texts_.size());
    if (isNew)
      texts_.push_back(it->getKey());
    return it->getValue();
  }
  std::string bytes() const {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    llvm::encodeULEB128(texts_.size(), os);
    for (StringRef text : texts_) {
      llvm::encodeULEB128(text.size(), os);
      os << text;
    }
    return bytes;
  }

private:
  llvm::StringMap<uint64_t> numbers_;
  SmallVector<StringRef> texts_; // the keys of numbers_
};

class Writer {
public:
  explicit Writer(bool debugInfo) : debugInfo_(debugInfo) {}

  std::string write(ModuleOp module) {
    writeOp(module);
    std::string file = kMagic.str();
    auto word = [&](uint16_t value) {
      file += static_cast<char>(value & 0xff);
      file += static_cast<char>(value >> 8);
    };
    word(kVersion);
    word(debugInfo_ ? 1 : 0);
    auto section = [&](Section id, StringRef bytes) {
      llvm::raw_string_ostream os(file);
      os << static_cast<char>(id);
      llvm::encodeULEB128(bytes.size(), os);
      os << bytes;
    };
    std::string body;
    {
      llvm::raw_string_ostream os(body);
      llvm::encodeULEB128(valueTypes_.size(), os);
      for (uint64_t type : valueTypes_)
        llvm::encodeULEB128(type, os);
      os << ops_;
    }
    section(Section::Strings, strings_.bytes());
    section(Section::Types, types_.bytes());
    section(Section::Attrs, attrs_.bytes());
    section(Section::Module, body);
    if (debugInfo_)
      section(Section::DebugInfo, places_);
    return file;
  }

private:
  void put(uint64_t value) { llvm::encodeULEB128(value, out_); }

  // Values may be used before the place where they are defined is written.
  uint64_t number(Value value) {
    auto [it, isNew] = values_.try_emplace(value, valueTypes_.size());
    if (isNew)
      valueTypes_.push_back(types_.number(llvm::to_string(value.getType())));
    return it->second;
  }

  void writeLocation(Location loc) {
    if (!debugInfo_)
      return;
    llvm::raw_string_ostream os(places_);
    bool known = !isa<UnknownLoc>(loc);
    llvm::encodeULEB128(known ? strings_.number(llvm::to_string<Attribute>(loc)) + 1 : 0, os);
  }

  void writeOp(Operation *op) {
    put(strings_.number(op->getName().getStringRef()));
    DictionaryAttr attrs = op->getAttrDictionary();
    put(attrs.empty() ? 0 : attrs_.number(llvm::to_string<Attribute>(attrs)) + 1);
    put(op->getNumOperands());
    for (Value operand : op->getOperands())
      put(number(operand));
    put(op->getNumResults());
    for (Value result : op->getResults())
      put(number(result));
    put(op->getNumSuccessors());
    for (Block *successor : op->getSuccessors()) {
      uint64_t index = 0;
      for (Block &block : *successor->getParent()) {
        if (&block == successor)
          break;
        ++index;
      }
      put(index);
    }
    writeLocation(op->getLoc());
    put(op->getNumRegions());
    for (Region &region : op->getRegions()) {
      put(region.getBlocks().size());
      for (Block &block : region) {
        put(block.getNumArguments());
        for (Value argument : block.getArguments())
          put(number(argument));
        for (BlockArgument argument : block.getArguments())
          writeLocation(argument.getLoc());
        put(block.getOperations().size());
      }
      for (Block &block : region)
        for (Operation &inner : block)
          writeOp(&inner);
    }
  }

  bool debugInfo_;
  Pool strings_, types_, attrs_;
  llvm::DenseMap<Value, uint64_t> values_;
  SmallVector<uint64_t> valueTypes_;
  std::string ops_, places_;
  llvm::raw_string_ostream out_{ops_};
};
} // namespace

std::string ptoas::writeBytecode(ModuleOp module, const BytecodeOptions &options) {
  return Writer(options.debugInfo).write(module);
}
