//===- Places.cpp - file:line:col for operations that name none ------------===//
#include "Places.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static bool isPlaced(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return place && place.getLine() && !place.getFilename().empty();
}

bool ptoas::isEverythingPlaced(ModuleOp module) {
  // The module around a text without one has line 0.
  return !module
              ->walk([&](Operation *op) {
                return op == module || isPlaced(op) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
              })
              .wasInterrupted();
}

// `%name` without its sign; nothing for numbers and `argN`, which a printer has chosen.
static StringRef nameIn(SMRange range) {
  StringRef text(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  StringRef number = text;
  number.consume_front("arg");
  return llvm::all_of(number, llvm::isDigit) ? StringRef() : text;
}

static void nameResults(const AsmParserState::OperationDefinition &found) {
  unsigned results = found.op->getNumResults();
  std::string names;
  for (auto [i, group] : llvm::enumerate(found.resultGroups)) {
    unsigned end =
        i + 1 < found.resultGroups.size() ? found.resultGroups[i + 1].startIndex : results;
    StringRef name = nameIn(group.definition.loc);
    for (unsigned at = group.startIndex; at < end; ++at) {
      names += at ? "," : "";
      names += name;
      if (!name.empty() && end - group.startIndex > 1)
        names += "_" + std::to_string(at - group.startIndex);
    }
  }
  if (names.size() >= std::max(results, 1u)) // more than commas
    found.op->setLoc(
        NameLoc::get(StringAttr::get(found.op->getContext(), names), found.op->getLoc()));
}

OwningOpRef<ModuleOp> ptoas::parseWithPlaces(const llvm::SourceMgr &sources, MLIRContext &context,
                                             bool names) {
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  AsmParserState state;
  unsigned file = sources.getMainFileID();
  StringRef name = sources.getMemoryBuffer(file)->getBufferIdentifier();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, name, 0, 0));
  if (failed(parseAsmSourceFile(sources, module->getBody(), config, &state)))
    return {};
  for (const AsmParserState::OperationDefinition &found : state.getOpDefs()) {
    if (!isPlaced(found.op)) {
      auto [line, column] = sources.getLineAndColumn(found.loc.Start, file);
      found.op->setLoc(FileLineColLoc::get(&context, name, line, column));
    }
    if (names && found.op->getNumResults())
      nameResults(found);
  }
  if (names)
    for (const AsmParserState::BlockDefinition &found : state.getBlockDefs())
      for (auto [i, definition] : llvm::enumerate(found.arguments)) {
        StringRef argument = nameIn(definition.loc);
        if (argument.empty() || i >= found.block->getNumArguments())
          continue;
        BlockArgument value = found.block->getArgument(i);
        value.setLoc(NameLoc::get(StringAttr::get(&context, argument), value.getLoc()));
      }
  // A text that is one module is that module, as without places.
  Block &body = *module->getBody();
  if (llvm::hasSingleElement(body))
    if (auto inner = dyn_cast<ModuleOp>(body.front())) {
      inner->remove();
      return inner;
    }
  return module;
}

void ptoas::placeAsPrinted(ModuleOp module, llvm::SourceMgr &sources, StringRef file) {
  AsmState::LocationMap places;
  AsmState state(module, OpPrintingFlags(), &places);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, state);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file), llvm::SMLoc());
  module->walk([&](Operation *op) {
    if (auto place = places.find(op); place != places.end() && !isPlaced(op))
      op->setLoc(
          FileLineColLoc::get(op->getContext(), file, place->second.first, place->second.second));
  });
}
