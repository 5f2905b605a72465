//===- CppOutput.cpp - from `.pto` text to C++ text -----------------------===//
#include "ptoas/Driver/CppOutput.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

ptoas::CppText ptoas::assembleToCpp(std::string_view text, std::string_view name,
                                    const CppRequest &request) {
  CppText out;
  AssemblerOptions options;
  options.level = request.level;
  options.insertSync = request.insertSync;
  options.assignAddresses = options.keepNames = true;
  if (!request.arch.empty()) {
    options.arch = parseArchName(request.arch);
    if (!options.arch) {
      out.messages = "Error: invalid arch '" + request.arch + "', expected a2, a3 or a5\n";
      return out;
    }
  }
  if (request.level < 1 || request.level > 3) {
    out.messages = "Error: invalid level " + std::to_string(request.level) + ", expected 1 to 3\n";
    return out;
  }
  DialectRegistry registry;
  registerPtoDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  llvm::raw_string_ostream messages(out.messages);
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()),
                                           llvm::StringRef(name.data(), name.size())),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context, messages);
  OwningOpRef<ModuleOp> module = parseModule(sources, context, options);
  if (!module || failed(checkModule(*module, options)))
    return out;
  cpp::Options cppOptions;
  cppOptions.sourceLocations = request.sourceLocations;
  cppOptions.syncTail = request.insertSync;
  FailureOr<std::string> source = cpp::emitModule(*module, cppOptions);
  if (failed(source))
    return out;
  out.ok = true;
  out.source = std::move(*source);
  return out;
}
