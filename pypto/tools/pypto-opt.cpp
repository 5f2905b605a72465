//===- pypto-opt.cpp - run steps of the compiler on a text module ---------===//
//
//   pypto-opt [file] [--outline-scopes] [--resolve-directions] [--lower-tensor-to-tile]
//             [--infer-memory-spaces] [--check-capacity[=a5]] [--tile-matmul-l0]
//             [--lower-orchestration] [--lower-to-pto] [--text-form] [--tight]
//
// Steps run in the order given. With --verify-diagnostics the errors must be those that
// `expected-error` comments announce. For tests and for looking at what a step does.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static LogicalResult runStep(llvm::StringRef name, ModuleOp module,
                             const pypto::PtoOptions &options) {
  if (name == "outline-scopes")
    return pypto::outlineScopes(module);
  if (name == "resolve-directions")
    return pypto::resolveDirections(module);
  if (name == "lower-tensor-to-tile")
    return pypto::lowerTensorToTile(module);
  if (name == "infer-memory-spaces")
    return pypto::inferMemorySpaces(module);
  if (name == "check-capacity" || name.consume_front("check-capacity="))
    return pypto::checkCapacity(module, name == "a5" ? "a5" : "a2a3");
  if (name == "tile-matmul-l0")
    return pypto::tileMatmulL0(module, options.reuseOperands);
  if (name == "lower-orchestration")
    return pypto::lowerOrchestration(module);
  if (name == "lower-to-pto")
    return pypto::lowerToPTO(module, options);
  llvm::errs() << "pypto-opt: no step named --" << name << "\n";
  return failure();
}

int main(int argc, char **argv) {
  std::string file = "-";
  std::vector<std::string> steps;
  pypto::PtoOptions options;
  bool verifyDiagnostics = false, locations = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (!arg.consume_front("--"))
      file = argv[i];
    else if (arg == "text-form")
      options.textForm = true;
    else if (arg == "tight")
      options.reuseOperands = true;
    else if (arg == "verify-diagnostics")
      verifyDiagnostics = true;
    else if (arg == "locations")
      locations = true;
    else
      steps.push_back(arg.str());
  }
  std::string error;
  auto buffer = openInputFile(file, &error);
  if (!buffer) {
    llvm::errs() << "pypto-opt: " << error << "\n";
    return 1;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadDialect<pypto::PyPTODialect, pto::PTODialect, func::FuncDialect, scf::SCFDialect,
                      arith::ArithDialect, LLVM::LLVMDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), {});
  std::optional<SourceMgrDiagnosticVerifierHandler> verifier;
  std::optional<SourceMgrDiagnosticHandler> printer;
  if (verifyDiagnostics)
    verifier.emplace(sources, &context);
  else
    printer.emplace(sources, &context);
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  bool ok = bool(module);
  for (const std::string &step : steps)
    ok = ok && succeeded(runStep(step, *module, options));
  if (verifyDiagnostics)
    return failed(verifier->verify());
  if (!ok)
    return 1;
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
