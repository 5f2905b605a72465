//===- KernelCpp.cpp - a kernel as a C++ file -----------------------------===//
#include "KernelCpp.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace pypto {

std::string kernelCpp(ModuleOp module, StringRef kernel, StringRef wrapper, std::string &problem) {
  // What the assembler cannot do is no error of the program: its machine code is made another way.
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && problem.empty())
      problem = diagnostic.str();
    return success();
  });
  ptoas::AssemblerOptions options;
  options.level = 2;
  options.insertSync = options.assignAddresses = true;
  ptoas::cpp::Options cpp;
  cpp.syncTail = true;
  if (failed(verify(module)) || failed(ptoas::checkModule(module, options))) {
    problem = problem.empty() ? "the assembler refuses it" : problem;
    return "";
  }
  FailureOr<std::string> body = ptoas::cpp::emitModule(module, cpp);
  if (failed(body) || wrapper.empty()) {
    problem = problem.empty() ? "it has no C++ form" : problem;
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
