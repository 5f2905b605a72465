//===- KernelCpp.cpp - a kernel as a C++ file -----------------------------===//
#include "KernelCpp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace pypto {

/// Runs `step` and keeps its first error: what the assembler cannot do is no error of the program,
/// whose machine code is made another way.
template <typename Step> static bool succeeds(ModuleOp module, std::string &problem, Step step) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && problem.empty())
      problem = diagnostic.str();
    return success();
  });
  if (succeeded(step()))
    return true;
  if (problem.empty())
    problem = "the assembler refuses it";
  return false;
}

/// Addresses as constants of the function, each once (spec compiler 12.1).
static void collectAddresses(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    std::map<int64_t, Value> known;
    SmallVector<Operation *> constants;
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    function.walk([&](pto::AllocTileOp alloc) {
      auto constant = alloc.getAddr().getDefiningOp<arith::ConstantIntOp>();
      Value &address = known[constant.value()];
      if (!address)
        address = arith::ConstantIntOp::create(b, function.getLoc(), constant.value(), 64);
      alloc.getAddrMutable().assign(address);
      constants.push_back(constant);
    });
    for (Operation *constant : constants)
      constant->erase();
  }
}

bool placeTiles(ModuleOp module, std::string &problem) {
  ptoas::AssemblerOptions options;
  options.level = 2;
  options.assignAddresses = true;
  if (!succeeds(module, problem, [&] {
        return success(succeeded(verify(module)) && succeeded(ptoas::checkModule(module, options)));
      }))
    return false;
  collectAddresses(module);
  return true;
}

std::string kernelCpp(ModuleOp module, StringRef kernel, StringRef wrapper, std::string &problem) {
  ptoas::AssemblerOptions options;
  options.level = 3;
  options.insertSync = true;
  ptoas::cpp::Options cpp;
  cpp.syncTail = true;
  FailureOr<std::string> body = failure();
  if (!succeeds(module, problem, [&] {
        if (failed(ptoas::checkModule(module, options)))
          return failure();
        body = ptoas::cpp::emitModule(module, cpp);
        return success(succeeded(body) && !wrapper.empty());
      })) {
    if (succeeded(body))
      problem = "it has no C++ form";
    return "";
  }
  // The assembler's includes and its entry become those of this file.
  std::string entry = ("__global__ AICORE void " + kernel + "(").str();
  std::string text = "#include <pto/pto-inst.hpp>\n#include \"tensor.h\"\n";
  if (wrapper.contains("get_block_") || wrapper.contains("get_sub_block_"))
    text += "#include \"intrinsic.h\"\n";
  text += "\n// --- ptoas-generated code ---\n";
  for (StringRef line : llvm::split(StringRef(*body), '\n')) {
    if (line.starts_with("#include"))
      continue;
    if (line.starts_with(entry))
      text += "static AICORE void " + kernel.str() + "(" + line.drop_front(entry.size()).str();
    else
      text += line;
    text += '\n';
  }
  return text + "\n// --- Kernel entry point ---\n" + wrapper.str();
}

} // namespace pypto
