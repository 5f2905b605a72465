//===- pto-opt.cpp - run passes over `.pto` text or bytecode ----------------===//
#include "InputLimits.h"
#include "Places.h"
#include "SourceLines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/Bytecode.h"
#include "ptoas/Driver/OutputFile.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "Error: " << message << "\n";
  return 1;
}

// The text of a bytecode file; null with messages on stderr.
static std::unique_ptr<llvm::MemoryBuffer> decode(const llvm::MemoryBuffer &bytes,
                                                  const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module =
      ptoas::readBytecode(bytes.getBuffer(), bytes.getBufferIdentifier(), context);
  if (!module)
    return nullptr;
  std::string text;
  llvm::raw_string_ostream os(text);
  // Without places of its own an operation has the one in this text.
  OpPrintingFlags flags = OpPrintingFlags().assumeVerified(false).printGenericOpForm();
  module->print(os, flags.enableDebugInfo(ptoas::isEverythingPlaced(*module)));
  return llvm::MemoryBuffer::getMemBufferCopy(text, bytes.getBufferIdentifier());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  pto::registerPTOPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  auto [input, output] = registerAndParseCLIOptions(argc, argv, "PTO pass driver\n", registry);
  llvm::InitLLVM init(argc, argv);
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> buffer = ptoas::openInput(input, problem);
  if (!buffer)
    return fail("could not open input file: " + problem);
  if (ptoas::isBytecode(buffer->getBuffer())) {
    buffer = decode(*buffer, registry);
    if (!buffer)
      return 1;
  } else {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer->getMemBufferRef(), false),
                               llvm::SMLoc());
    ptoas::showReadableLines(sources, llvm::errs());
    MLIRContext context(MLIRContext::Threading::DISABLED);
    SourceMgrDiagnosticHandler handler(sources, &context);
    if (failed(ptoas::checkText(sources, context)))
      return 1;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (failed(
          MlirOptMain(os, std::move(buffer), registry, MlirOptMainConfig::createFromCLOptions())))
    return 1;
  problem = ptoas::writeOutput(output, [&](llvm::raw_ostream &file) { file << text; });
  return problem.empty() ? 0 : fail(problem);
}
