//===- Documents.cpp - open texts, and what the assembler says of them -----===//
#include "Documents.h"
#include "PlainWords.h"
#include "TextRanges.h"
#include "mlir/IR/Diagnostics.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/LSP/Protocol.h"

using namespace ptoas;
namespace json = llvm::json;

void Documents::note(const json::Object &message) {
  const json::Object *params = message.getObject("params");
  const json::Object *document = params ? params->getObject("textDocument") : nullptr;
  std::optional<llvm::StringRef> uri, method, text;
  if (document) {
    uri = document->getString("uri");
    method = message.getString("method");
    text = document->getString("text");
  }
  if (!uri || !method)
    return;
  std::lock_guard lock(mutex_);
  if (method == "textDocument/didOpen" && text) {
    texts_[*uri] = text->str();
  } else if (method == "textDocument/didClose") {
    texts_.erase(*uri);
  } else if (method == "textDocument/didChange") {
    std::vector<llvm::lsp::TextDocumentContentChangeEvent> changes;
    const json::Value *list = params->get("contentChanges");
    json::Path::Root root;
    auto known = texts_.find(*uri);
    if (known == texts_.end())
      return;
    if (!list || !fromJSON(*list, changes, root) ||
        failed(llvm::lsp::TextDocumentContentChangeEvent::applyTo(changes, known->second)))
      texts_.erase(known);
  }
}

std::optional<std::string> Documents::text(llvm::StringRef uri) const {
  std::lock_guard lock(mutex_);
  auto known = texts_.find(uri);
  return known == texts_.end() ? std::nullopt : std::optional(known->second);
}

// What stands at a place; the first line when the location is one of another file.
static json::Object rangeOf(mlir::Location loc, llvm::StringRef name,
                            const ptoas::TextRanges &ranges, llvm::StringRef message) {
  auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
  bool here = place && place.getFilename() == name;
  return ranges.at(here ? place.getLine() : 1, here ? place.getColumn() : 1, message);
}

// What the assembler says of one module.
static void checkModuleText(llvm::StringRef text, llvm::StringRef uri, json::Array &found) {
  mlir::DialectRegistry registry;
  registerPtoDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.allowUnregisteredDialects();
  ptoas::TextRanges ranges(text);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    // Numbers of the protocol: error, warning, information.
    int severity = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error     ? 1
                   : diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? 2
                                                                                   : 3;
    json::Array notes;
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      notes.push_back(json::Object{
          {"location",
           json::Object{{"uri", uri},
                        {"range", rangeOf(note.getLocation(), uri, ranges, note.str())}}},
          {"message", note.str()}});
    json::Object item{{"range", rangeOf(diagnostic.getLocation(), uri, ranges, diagnostic.str())},
                      {"severity", severity},
                      {"source", "ptoas"},
                      {"message", json::fixUTF8(diagnostic.str())}};
    if (!notes.empty())
      item["relatedInformation"] = std::move(notes);
    found.push_back(std::move(item));
    return mlir::success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, uri), llvm::SMLoc());
  AssemblerOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(sources, context, options);
  if (!module)
    return;
  module->walk([&](mlir::pto::AllocTileOp tile) {
    if (tile.getAddr())
      options.level = 3;
  });
  (void)checkModule(*module, options);
}

json::Array ptoas::assemblerDiagnostics(llvm::StringRef text, llvm::StringRef uri) {
  json::Array found;
  // Lines `// -----` part modules, as in -split-input-file. Each is read on its own, at its place.
  std::string part;
  while (true) {
    auto [line, rest] = text.split('\n');
    bool ends = line.size() == text.size();
    bool splits = line.starts_with("// -----");
    if (!splits)
      part += line;
    if (splits || ends)
      checkModuleText(part, uri, found);
    if (ends)
      return found;
    if (splits)
      part.assign(llvm::count(part, '\n'), '\n');
    part += '\n';
    text = rest;
  }
}

json::Array ptoas::plainDiagnostics(json::Array diagnostics) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (json::Value &value : diagnostics)
    if (json::Object *item = value.getAsObject())
      if (std::optional<llvm::StringRef> message = item->getString("message"))
        (*item)["message"] = plainWords(*message, "", context);
  return diagnostics;
}
