//===- ptoas.cpp - the assembler ------------------------------------------===//
//
// ptoas <input|-> [-o FILE|-] [flags]: reads one module of `.pto` text, checks it,
// and writes it back with --emit-pto-ir. Exit status 0 or 1; messages on stderr.
//
//===----------------------------------------------------------------------===//
#include "mlir/Support/FileUtilities.h"
#include "ptoas/Driver/Assembler.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("ptoas options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<input.pto or ->"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file, - for stdout"),
                                   cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    arch("pto-arch", cl::desc("Target architecture: a2, a3 or a5 (overrides the module)"),
         cl::cat(category));
static cl::opt<std::string> level("pto-level", cl::desc("Assembly level: level1, level2 or level3"),
                                  cl::init("level2"), cl::cat(category));
static cl::opt<bool> insertSync("enable-insert-sync",
                                cl::desc("Insert flags and barriers (below level3, addresses too)"),
                                cl::cat(category));
static cl::opt<bool>
    verifySync("verify-sync",
               cl::desc("Report instructions that race for want of a flag or barrier"),
               cl::cat(category));
static cl::opt<bool> disableInferLayout("disable-infer-layout",
                                        cl::desc("Leave the layouts of views as written"),
                                        cl::cat(category));
static cl::opt<bool> emitPtoIr("emit-pto-ir", cl::desc("Write the checked module as .pto text"),
                               cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "Error: " << message << "\n";
  return 1;
}

static int run() {
  ptoas::AssemblerOptions options;
  if (arch.getNumOccurrences()) {
    options.arch = ptoas::parseArchName(arch);
    if (!options.arch)
      return fail("invalid --pto-arch=" + arch + ", expected a2, a3 or a5");
  }
  if (level != "level1" && level != "level2" && level != "level3")
    return fail("invalid --pto-level=" + level + ", expected level1, level2 or level3");
  options.level = level.back() - '0';
  options.insertSync = insertSync;
  options.verifySync = verifySync;
  options.inferLayout = !disableInferLayout;

  std::string message;
  ptoas::SourceFile source;
  if (mlir::failed(source.open(input, options, message)))
    return fail(message);
  if (mlir::failed(ptoas::checkModule(*source.module, options)))
    return fail("the module breaks a rule of its level or target");
  if (!emitPtoIr)
    return fail(
        "C++ emission is not available yet; --emit-pto-ir writes the checked module as .pto text");

  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(output, &message);
  if (!file)
    return fail(message);
  source.module->print(file->os(), mlir::OpPrintingFlags().enableDebugInfo());
  file->os() << "\n";
  file->keep();
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "ptoas " << PTOAS_VERSION << "\n"; });
  cl::ParseCommandLineOptions(argc, argv, "PTO assembler\n");
  return run();
}
