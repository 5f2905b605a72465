//===- Places.cpp - file:line:col for operations that name none ------------===//
#include "Places.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/AsmState.h"

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

OwningOpRef<ModuleOp> ptoas::parseWithPlaces(const llvm::SourceMgr &sources, MLIRContext &context) {
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  AsmParserState state;
  unsigned file = sources.getMainFileID();
  StringRef name = sources.getMemoryBuffer(file)->getBufferIdentifier();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, name, 0, 0));
  if (failed(parseAsmSourceFile(sources, module->getBody(), config, &state)))
    return {};
  for (const AsmParserState::OperationDefinition &found : state.getOpDefs()) {
    if (isPlaced(found.op))
      continue;
    auto [line, column] = sources.getLineAndColumn(found.loc.Start, file);
    found.op->setLoc(FileLineColLoc::get(&context, name, line, column));
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
