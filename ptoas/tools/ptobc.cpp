//===- ptobc.cpp - `.pto` text to `.ptobc` bytecode and back ----------------===//
//
// ptobc encode in.pto -o out.ptobc; ptobc decode in.ptobc -o out.pto. Exit status 0, 1 when the
// file is wrong, 2 when the command is. PTOBC_EMIT_DEBUGINFO=0 leaves source locations out,
// PTOBC_PRINT_LOC=1 prints them.
//
//===----------------------------------------------------------------------===//
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/Bytecode.h"
#include "ptoas/Driver/OutputFile.h"
#include "llvm/Support/InitLLVM.h"

static constexpr llvm::StringLiteral kUsage =
    "usage: ptobc encode <input.pto or -> -o <output.ptobc or ->\n"
    "       ptobc decode <input.ptobc or -> -o <output.pto or ->\n";

static int usage(const llvm::Twine &problem) {
  llvm::errs() << "ptobc: " << problem << "\n" << kUsage;
  return 2;
}

static bool isSet(const char *name, bool absent) {
  const char *value = std::getenv(name);
  return value && *value ? llvm::StringRef(value) != "0" : absent;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::ArrayRef<char *> words(argv + 1, argc - 1);
  if (words.empty())
    return usage("what to do is missing, encode or decode");
  llvm::StringRef command = words.front();
  if (command == "--help" || command == "-h" || command == "help") {
    llvm::outs() << kUsage
                 << "Without -o the result goes to stdout. PTOBC_EMIT_DEBUGINFO=0 leaves source "
                    "locations out,\nPTOBC_PRINT_LOC=1 prints them.\n";
    return 0;
  }
  if (command != "encode" && command != "decode")
    return usage("unknown command '" + command + "', expected encode or decode");
  llvm::StringRef input, output = "-";
  for (size_t i = 1; i < words.size(); ++i) {
    llvm::StringRef word = words[i];
    if (word == "-o") {
      if (++i == words.size())
        return usage("-o needs a file name");
      output = words[i];
    } else if (word.size() > 1 && word.starts_with("-")) {
      return usage("unknown flag '" + word + "'");
    } else if (!input.empty()) {
      return usage("one input only, got '" + input + "' and '" + word + "'");
    } else {
      input = word;
    }
  }
  if (input.empty())
    return usage("the input is missing");

  std::string problem;
  ptoas::SourceFile source;
  auto fail = [&] {
    llvm::errs() << "Error: " << problem << "\n";
    ptoas::dropOutput(output, input);
    return 1;
  };
  if (mlir::failed(source.open(input, {}, problem)))
    return fail();
  problem = ptoas::writeOutput(output, [&](llvm::raw_ostream &os) {
    if (command == "encode") {
      ptoas::BytecodeOptions options;
      options.debugInfo = isSet("PTOBC_EMIT_DEBUGINFO", true);
      os << ptoas::writeBytecode(*source.module, options);
      return;
    }
    mlir::OpPrintingFlags flags;
    if (isSet("PTOBC_PRINT_LOC", false))
      flags.enableDebugInfo();
    source.module->print(os, flags);
    os << "\n";
  });
  return problem.empty() ? 0 : fail();
}
